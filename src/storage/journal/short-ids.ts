/**
 * Short ids of messages (`r` and 7 hex digits, 28 random bits). Among 50,000 messages of an instance, about five pairs draw the same id. A taken id is
 * replaced before the message is reported. The index on short ids is not unique, because older rows may have equal ids.
 */
import type { Entry, Message, UsedSendKey } from '#actors/model.ts';
import type { RenamedMessage } from '#actors/ports.ts';
import type { Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/parameters.ts';
import type { StoredMessage } from './columns.ts';

/** The error of a write whose new messages have short ids of stored messages. The write changed nothing. */
export class IdsTaken extends Error {
  readonly ids: ReadonlySet<string>;

  constructor(ids: readonly string[]) {
    super('short ids of messages are taken');
    this.ids = new Set(ids);
  }
}

/** Returns an SQL condition: no message of the instance $1 has one of these ids. It needs one index look-up for each id. `ids`: an array parameter. */
export const noneTaken = (ids: string): string => `not exists (
    select from unnest(${ids}) as drawn (id), lateral (select from message where instance_id = $1 and message.id = drawn.id offset 0) as taken)`;

export const shortIdStatements = {
  /** $2: ids. */
  taken: { name: 'journal-taken', text: `select distinct id from message where instance_id = $1 and id = any($2::text[])` },
} as const satisfies Readonly<Record<string, Statement>>;

type Named = Pick<Message, 'messageId' | 'chatId' | 'id'>;
type Nameless = Omit<Named, 'id'>;
const nameOf = ({ messageId, chatId }: Nameless): string => `${keyText(messageId)} ${keyText(chatId)}`;

/** The messages of one commit that get new short ids, because their first ids are taken. */
export class ShortIds {
  readonly #draw: () => string;
  readonly #renamed = new Map<string, RenamedMessage>();

  constructor(draw: () => string) {
    this.#draw = draw;
  }

  /** Draws new ids for messages whose id an earlier message of the commit has. Returns true if it drew any. */
  part(fresh: readonly StoredMessage[]): boolean {
    const seen = new Set<string>();
    const later = fresh.filter(({ id }) => seen.size === seen.add(id).size);
    for (const message of later) this.#rename(message);
    return later.length > 0;
  }

  /** Draws new ids for messages whose id is taken. */
  redraw(fresh: readonly StoredMessage[], taken: ReadonlySet<string>): void {
    for (const message of fresh) if (taken.has(message.id)) this.#rename(message);
  }

  /** Returns the entries with their new ids. */
  applied(entries: readonly Entry[]): readonly Entry[] {
    return this.#renamed.size === 0 ? entries : entries.map((entry) => this.#entry(entry));
  }

  /** Returns the messages that were stored under another id than the id in their entries. */
  renamed(fresh: readonly StoredMessage[]): readonly RenamedMessage[] {
    return this.#renamed.size === 0 ? [] : fresh.flatMap((message) => this.#renamed.get(nameOf(message)) ?? []);
  }

  #rename({ messageId, chatId }: Nameless): void {
    this.#renamed.set(nameOf({ messageId, chatId }), { messageId, chatId, id: this.#draw() });
  }

  #message<T extends Named>(message: T): T {
    const id = this.#renamed.get(nameOf(message))?.id;
    return id === undefined ? message : { ...message, id };
  }

  /** Renames the message that is stored as the answer of an idempotency key. */
  #key(key: UsedSendKey): UsedSendKey {
    const { answer } = key;
    return answer?.ok && 'messageId' in answer.value ? { ...key, answer: { ok: true, value: this.#message(answer.value) } } : key;
  }

  #entry(entry: Entry): Entry {
    if (entry.kind === 'message' || entry.kind === 'postEdited') return { ...entry, message: this.#message(entry.message) };
    if (entry.kind === 'queued')
      return { ...entry, message: this.#message(entry.message), ...(entry.key ? { key: this.#key(entry.key) } : {}) };
    if (entry.kind !== 'history' || entry.past.of !== 'messages') return entry;
    const items = entry.past.items.map((item) => ({ ...item, message: this.#message(item.message) }));
    return { ...entry, past: { of: 'messages', items } };
  }
}
