/** The rules of groups: what of a group is written after its changes, in the order in which they happened. */
import { groupAfter, type Entry, type Group, type GroupChange } from '#actors/model.ts';
import { keyText } from '../postgres/texts.ts';

type Listed = Extract<Entry, { kind: 'groupsListed' }>;

export interface GroupOutcome {
  /** To be stored as they are. */
  readonly groups: readonly Group[];
  /** Ids of groups whose rows go. */
  readonly goneGroups: readonly string[];
  /** The last complete list: all other groups go. Null when there was none. */
  readonly groupList: Pick<Listed, 'groupIds' | 'at'> | null;
}

/** Groups whose stored form has to be known before entries are applied. A whole group needs none: what it does not name is kept by the statement. */
export const changedGroup = (entry: Entry): string | null => {
  if (entry.kind !== 'news' || entry.news.type !== 'groups') return null;
  const { groupId, change } = entry.news.group;
  return change.kind === 'entered' || change.kind === 'other' ? null : keyText(groupId);
};

const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The groups that the entries of one commit are about. */
export class GroupLedger {
  /** Null: gone. */
  readonly #groups = new Map<string, Group | null>();
  readonly #changed = new Set<string>();
  #list: GroupOutcome['groupList'] = null;

  constructor(known: readonly Group[]) {
    for (const group of known) this.#groups.set(group.id, group);
  }

  apply(entry: Extract<Entry, { kind: 'group' | 'groupGone' | 'groupsListed' }>): void {
    if (entry.kind === 'group') return this.#whole(entry.group);
    if (entry.kind === 'groupsListed') return this.#listed(entry);
    this.#put(keyText(entry.groupId), null);
  }

  #whole(group: Group): void {
    const id = keyText(group.id);
    if (id !== '') this.#put(id, { ...this.#groups.get(id), ...group, id });
  }

  #listed({ groupIds, at }: Listed): void {
    const ids = new Set(groupIds.map(keyText));
    for (const [id, group] of this.#groups) if (group !== null && !ids.has(id)) this.#put(id, null);
    this.#list = { groupIds: [...ids], at };
  }

  /** A group that is not stored learns nothing of a change: the next whole one has it. */
  change(change: GroupChange): void {
    const id = keyText(change.groupId);
    if (change.change.kind === 'entered') return this.#whole(change.change.group);
    const known = this.#groups.get(id);
    if (!known) return;
    const after = groupAfter(known, change);
    if (after === null || !isSame(after, known)) this.#put(id, after);
  }

  outcome(): GroupOutcome {
    const changed = [...this.#changed].map((id) => [id, this.#groups.get(id) ?? null] as const);
    return {
      groups: changed.flatMap(([, group]) => group ?? []),
      goneGroups: changed.flatMap(([id, group]) => (group === null ? [id] : [])),
      groupList: this.#list,
    };
  }

  #put(id: string, group: Group | null): void {
    this.#groups.set(id, group);
    this.#changed.add(id);
  }
}
