/** The rules of definitions: the rows that a commit writes or removes, and the deleted labels to remove from all chats. */
import { type Channel, channelOf, type ChannelPatch, type Definition, type DefinitionKind, type Entry, type Label } from '#actors/model.ts';
import { fullLabelId } from '#src/contract/views.ts';
import { keyText } from '../postgres/parameters.ts';
import { makeRowSet } from './columns.ts';

export interface DefinitionOutcome {
  readonly definitions: readonly Definition[];
  readonly goneDefinitions: readonly Definition[];
  /** The full ids of deleted labels, as chats contain them. */
  readonly goneLabels: readonly string[];
}

/** Returns the ids of the definitions that an entry changes. */
export const definedIn = (entry: Entry): readonly string[] => {
  if (entry.kind === 'definition' || entry.kind === 'definitionGone') return [keyText(entry.definition.value.id)];
  if (entry.kind === 'channel') return [keyText(entry.channel.id)];
  if (entry.kind === 'news' && entry.news.type === 'labels') return [keyText(entry.news.label.id)];
  return entry.kind === 'history' && entry.past.of === 'labels' ? entry.past.items.map(({ id }) => keyText(id)) : [];
};

const withKeyText = (definition: Definition): Definition =>
  ({ ...definition, value: { ...definition.value, id: keyText(definition.value.id) } }) as Definition;

const nameOf = (of: DefinitionKind, id: string): string => `${of} ${id}`;

const isSame = (one: object, other: object): boolean => {
  const entries = (value: object): string => JSON.stringify(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return entries(one) === entries(other);
};

export class DefinitionLedger {
  readonly #owner: string;
  readonly #kept = new Map<string, Definition>();
  readonly #changed = new Map<string, { readonly definition: Definition; readonly gone: boolean }>();
  readonly #goneLabels = new Set<string>();

  constructor(known: readonly Definition[], owner: string) {
    this.#owner = owner;
    for (const definition of known) this.#kept.set(nameOf(definition.of, definition.value.id), definition);
  }

  apply(entry: Extract<Entry, { kind: 'definition' | 'channel' | 'definitionGone' }>): void {
    if (entry.kind === 'channel') return this.#channel(entry.channel, entry.create);
    if (entry.kind === 'definition') this.put(entry.definition);
    else this.#remove(entry.definition);
  }

  /** Notes a definition to store. Returns false if its id is empty, or its values are stored already. */
  put(given: Definition): boolean {
    const definition = withKeyText(given);
    const name = nameOf(definition.of, definition.value.id);
    const known = this.#kept.get(name);
    if (definition.value.id === '' || (known && isSame(known.value, definition.value))) return false;
    this.#kept.set(name, definition);
    this.#changed.set(name, { definition, gone: false });
    return true;
  }

  #remove(given: Definition): void {
    const definition = withKeyText(given);
    const name = nameOf(definition.of, definition.value.id);
    this.#kept.delete(name);
    this.#changed.set(name, { definition, gone: true });
  }

  /** Changes a label. Returns the label; null if nothing changed. A deleted label keeps its name and its colour, and is removed from all chats. */
  label(given: Label): Label | null {
    const name = nameOf('label', keyText(given.id));
    const known = this.#kept.get(name)?.value as Label | undefined;
    const label = given.deleted && known ? { ...known, deleted: true } : given;
    if (!this.put({ of: 'label', value: label })) return null;
    const full = fullLabelId(this.#owner, keyText(label.id));
    if (label.deleted) this.#goneLabels.add(full);
    return label;
  }

  /** Changes a channel. A partial change of a channel that is not stored is dropped. The next complete record of the channel contains the change. */
  #channel(channel: ChannelPatch, create: boolean): void {
    const known = this.#kept.get(nameOf('channel', keyText(channel.id)))?.value as Channel | undefined;
    if (known || create) this.put({ of: 'channel', value: known ? { ...known, ...channel } : channelOf(channel) });
  }

  outcome(): DefinitionOutcome {
    const changed = [...this.#changed.values()];
    return {
      definitions: changed.flatMap(({ definition, gone }) => (gone ? [] : [definition])),
      goneDefinitions: changed.flatMap(({ definition, gone }) => (gone ? [definition] : [])),
      goneLabels: [...this.#goneLabels],
    };
  }
}

// The columns of definitions, and the part of a commit that writes them.

/** A select list whose rows have the type `Definition`. */
export const definitionFields = 'kind as "of", value';

export const rowOfDefinition = ({ of, value }: Definition, at: number) => ({ kind: of, id: value.id, value, created: at, updated: at });

/** Upserts definitions. The time of creation stays. */
export const definitionRows = (first: number) => {
  const rows = makeRowSet({ kind: 'text', id: 'text', value: 'jsonb', created: 'bigint', updated: 'bigint' }, first);
  const sql = `insert into definition (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from}
    on conflict (instance_id, kind, id) do update set value = excluded.value, updated = excluded.updated`;
  return { ...rows, sql };
};

export const goneDefinitionRows = (first: number) => {
  const rows = makeRowSet({ kind: 'text', id: 'text' }, first);
  const sql = `delete from definition using ${rows.from}
    where instance_id = $1 and definition.kind = any(${rows.array('kind')}) and definition.id = any(${rows.array('id')})
      and definition.kind = fresh.kind and definition.id = fresh.id`;
  return { ...rows, sql };
};
