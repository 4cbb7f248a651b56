/**
 * Caches the counts of chats of an instance: the total, the counts by kind, label and attendant, and the counts for filters. The database counts once. Then
 * each commit of the journal updates the counts in memory. The counts of an instance are cached at the first request for them.
 *
 * A cached count expires, because another process may have owned the instance since the count, and changed its chats.
 */
import { chatKinds, type Chat, type ChatKind, type ChatStats, type ChatTally, type InstanceId } from '#actors/model.ts';
import { attendantField } from '#src/contract/views.ts';
import { LruMap } from '#src/base/lru-map.ts';
import type { Statement } from '../postgres/database.ts';
import type { ChatOutcome } from './chat-ledger.ts';

/** The condition of each kind of chat, as a function and in SQL. */
const kinds: Readonly<Record<ChatKind, { of(chat: Chat): boolean; readonly sql: string }>> = {
  all: { of: () => true, sql: 'true' },
  open: { of: ({ archived, blocked }) => !archived && !blocked, sql: 'not archived and not blocked' },
  archived: { of: ({ archived }) => archived, sql: 'archived' },
  groups: { of: ({ isGroup }) => isGroup, sql: 'is_group' },
  blocked: { of: ({ blocked }) => blocked, sql: 'blocked' },
};

const attendantOf = ({ extra }: Chat): string => {
  const attendant = extra[attendantField];
  return typeof attendant === 'string' ? attendant : '';
};

type Section = keyof ChatStats;

/** Returns the counts that include a chat, each as its section and name. */
const placesOf = (chat: Chat): readonly (readonly [section: Section, name: string])[] => [
  ...chatKinds.filter((kind) => kinds[kind].of(chat)).map((kind) => ['kinds', kind] as const),
  ...chat.labels.map((label) => ['labels', label] as const),
  ...(attendantOf(chat) === '' ? [] : [['attendants', attendantOf(chat)] as const]),
];

/** The counts by section and name. Clients choose the names, and may choose `__proto__`. Names are therefore keys of maps, not of objects. */
type Tallies = Readonly<Record<Section, Map<string, ChatTally>>>;

const none: ChatTally = { total: 0, unread: 0 };

/** Adds a chat to the counts, or subtracts it. A label or an attendant without chats is removed from the counts. */
const add = (tallies: Tallies, chat: Chat, sign: 1 | -1): void => {
  for (const [section, name] of placesOf(chat)) {
    const { total, unread } = tallies[section].get(name) ?? none;
    if (total + sign === 0) tallies[section].delete(name);
    else tallies[section].set(name, { total: total + sign, unread: unread + (chat.unreadCount > 0 ? sign : 0) });
  }
};

const statsOf = ({ kinds: byKind, labels, attendants }: Tallies): ChatStats => ({
  kinds: Object.fromEntries(chatKinds.map((kind) => [kind, byKind.get(kind) ?? none])) as Record<ChatKind, ChatTally>,
  labels: new Map(labels),
  attendants: new Map(attendants),
});

const talliesOf = ({ kinds: byKind, labels, attendants }: ChatStats): Tallies => ({
  kinds: new Map(Object.entries(byKind)),
  labels: new Map(labels),
  attendants: new Map(attendants),
});

/** Returns the counts of these chats. They are the same as the counts of the database. */
export const countChats = (chats: readonly Chat[]): ChatStats => {
  const tallies: Tallies = { kinds: new Map(), labels: new Map(), attendants: new Map() };
  for (const chat of chats) add(tallies, chat, 1);
  return statsOf(tallies);
};

const tally = (where: string): string =>
  `json_build_object('total', count(*) filter (where ${where}), 'unread', count(*) filter (where (${where}) and unread_count > 0))`;

/** Returns SQL for a JSON object with a tally for each value of `text`. */
const tallyBy = (text: string, from: string): string =>
  `(select coalesce(json_object_agg(name, tally), '{}') from (
    select ${text} as name, ${tally('true')} as tally from ${from} group by 1) as named)`;

/** $1: the instance. */
export const chatStatsStatement: Statement = {
  name: 'chat-stats',
  text: `select json_build_object(${chatKinds.map((kind) => `'${kind}', ${tally(kinds[kind].sql)}`).join(', ')}) as kinds,
    ${tallyBy('label', `chat, unnest(labels) as label where instance_id = $1 and labels <> '{}' and label is not null`)} as labels,
    ${tallyBy(`extra->>'${attendantField}'`, `chat where instance_id = $1 and extra->>'${attendantField}' <> ''`)} as attendants
    from chat where instance_id = $1`,
};

export interface CountedRow {
  readonly kinds: ChatStats['kinds'];
  readonly labels: Readonly<Record<string, ChatTally>>;
  readonly attendants: Readonly<Record<string, ChatTally>>;
}

export const statsOfRow = ({ kinds: byKind, labels, attendants }: CountedRow): ChatStats => ({
  kinds: byKind,
  labels: new Map(Object.entries(labels)),
  attendants: new Map(Object.entries(attendants)),
});

/** The time after which cached counts expire. In milliseconds. */
const lifetime = 60_000;
/** The numbers of cached instances, and of cached filters of each instance. The cache may contain twice as many. */
const limits = { instances: 1_000, filters: 50 };
/** The key in `changed` that stands for the creation of a chat. */
const added = '';

interface Counts {
  readonly until: number;
  /** Grows with each commit that changes chats. */
  version: number;
  /** The version of the last change of each field, in any chat. */
  readonly changed: Map<string, number>;
  /** Grows with each commit that changes one of the stats. */
  moves: number;
  stats: Tallies | null;
  /** The value of `ChatCounts.counted` directly after `stats` were cached. */
  countedAt: number;
  readonly totals: LruMap<{ readonly at: number; readonly total: number }>;
}

const changedNames = ({ before, changes, unreadAdded }: ChatOutcome): readonly string[] => {
  if (before === null) return [added];
  const { extra, ...columns } = changes;
  return [...Object.keys(columns), ...Object.keys(extra ?? {}), ...(unreadAdded > 0 ? ['unreadCount'] : [])];
};

const signature = (chat: Chat): string => JSON.stringify([placesOf(chat), chat.unreadCount > 0]);

/** Returns true if the change of a chat changes one of the stats. Most messages change none. */
const moves = ({ before, after }: ChatOutcome): boolean => before === null || signature(before) !== signature(after);

export class ChatCounts {
  readonly #now: () => number;
  #instances = new LruMap<Counts>(limits.instances);
  #counted = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The number of query results that were cached so far. A commit reads this number before its write. */
  get counted(): number {
    return this.#counted;
  }

  /**
   * Updates the counts after a commit with these chats. `begun`: the value of `counted` before the write. A query result that was cached during the write may
   * include these chats already, so it is dropped.
   */
  note(instance: InstanceId, chats: readonly ChatOutcome[], begun: number): void {
    const counts = this.#instances.get(instance);
    if (counts === undefined || chats.length === 0) return;
    counts.version += 1;
    for (const chat of chats) {
      for (const name of changedNames(chat)) counts.changed.set(name, counts.version);
      if (!moves(chat)) continue;
      counts.moves += 1;
      if (counts.countedAt > begun) counts.stats = null;
      if (counts.stats === null) continue;
      if (chat.before !== null) add(counts.stats, chat.before, -1);
      add(counts.stats, chat.after, 1);
    }
  }

  /** Invalidates the counts of the instance, or of all instances (null), after a write that failed or may have failed. */
  forget(instance: InstanceId | null): void {
    if (instance === null) this.#instances = new LruMap(limits.instances);
    else this.#instances.delete(instance);
  }

  /** Returns the counts by kind, label and attendant. `count` queries the database. Its result is cached unless a commit changed the counts meanwhile. */
  async stats(instance: InstanceId, count: () => Promise<ChatStats>): Promise<ChatStats> {
    const counts = this.#of(instance);
    if (counts.stats !== null) return statsOf(counts.stats);
    const before = counts.moves;
    const stats = await count();
    if (counts.moves !== before) return stats;
    this.#counted += 1;
    counts.countedAt = this.#counted;
    counts.stats = talliesOf(stats);
    return stats;
  }

  /** Returns the number of chats that match filters. `key` names the filters with their values, and `fields` names the fields on which the result depends. */
  async total(instance: InstanceId, key: string, fields: readonly string[], count: () => Promise<number>): Promise<number> {
    const counts = this.#of(instance);
    const isCurrent = (at: number): boolean => [added, ...fields].every((name) => (counts.changed.get(name) ?? 0) <= at);
    const kept = counts.totals.get(key);
    if (kept !== undefined && isCurrent(kept.at)) return kept.total;
    const at = counts.version;
    const total = await count();
    if (isCurrent(at)) counts.totals.set(key, { at, total });
    return total;
  }

  #of(instance: InstanceId): Counts {
    const known = this.#instances.get(instance);
    if (known !== undefined && this.#now() < known.until) return known;
    const fresh: Counts = {
      until: this.#now() + lifetime,
      version: 0,
      changed: new Map(),
      moves: 0,
      stats: null,
      countedAt: 0,
      totals: new LruMap(limits.filters),
    };
    this.#instances.set(instance, fresh);
    return fresh;
  }
}
