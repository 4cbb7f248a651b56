/**
 * How many chats an instance has, in all and by kind, and how many fit the filters that were asked for: counted by the database once, then kept in
 * memory by what the journal commits. Nothing is kept for instances that nobody asks about.
 *
 * A count is trusted for a limited time, since another process may have owned the instance in between.
 */
import type { Chat, InstanceId } from '#actors/model.ts';
import { createLruMap, type LruMap } from '#src/lru-map.ts';
import type { Statement } from '../postgres/database.ts';
import type { ChatOutcome } from './chat-ledger.ts';

/** By the names of `totalChatsStats`: the condition, for one chat and in SQL. */
const counted = {
  total: { of: () => true, sql: 'true' },
  unread: { of: ({ unreadCount }: Chat) => unreadCount > 0, sql: 'unread_count > 0' },
  archived: { of: ({ archived }: Chat) => archived, sql: 'archived' },
  pinned: { of: ({ pinned }: Chat) => pinned, sql: 'pinned' },
  blocked: { of: ({ blocked }: Chat) => blocked, sql: 'blocked' },
  groups: { of: ({ isGroup }: Chat) => isGroup, sql: 'is_group' },
  groups_admin: { of: ({ isGroup, groupAdmin }: Chat) => isGroup && groupAdmin, sql: 'is_group and group_admin' },
  groups_member: { of: ({ isGroup, groupMember }: Chat) => isGroup && groupMember, sql: 'is_group and group_member' },
  groups_announce: { of: ({ isGroup, groupAnnounce }: Chat) => isGroup && groupAnnounce, sql: 'is_group and group_announce' },
} as const;

type CountName = keyof typeof counted;
export type ChatStats = Readonly<Record<CountName, number>>;

const kinds = Object.entries(counted) as readonly [CountName, { of(chat: Chat): boolean; readonly sql: string }][];

/** What the database would count of these chats. */
export const countChats = (chats: readonly Chat[]): ChatStats =>
  Object.fromEntries(kinds.map(([name, { of }]) => [name, chats.filter(of).length])) as ChatStats;

/** $1 is the instance. */
export const chatStatsStatement: Statement = {
  name: 'chat-stats',
  text: `select ${kinds.map(([name, { sql }]) => `count(*) filter (where ${sql})::int as ${name}`).join(', ')} from chat where instance_id = $1`,
};

/** Milliseconds. */
const lifetime = 60_000;
/** Instances, and filters of each, that are remembered. */
const limits = { instances: 1_000, filters: 50 };
/** Stands for a chat that was added, among the names of fields. */
const added = '';

interface Counts {
  readonly until: number;
  /** Grows with each commit that changes chats. */
  version: number;
  /** The version in which a field was changed last, in any chat. */
  readonly changed: Map<string, number>;
  /** Grows with each commit that changes one of the stats. */
  moves: number;
  stats: Record<CountName, number> | null;
  readonly totals: LruMap<{ readonly at: number; readonly total: number }>;
}

export interface ChatCounts {
  /** What was committed. */
  note(instance: InstanceId, chats: readonly ChatOutcome[]): void;
  /** Nothing is certain any more: a write failed, or may have. */
  forget(instance: InstanceId): void;
  /** `count` asks the database; its answer is kept unless a commit changed it meanwhile. */
  stats(instance: InstanceId, count: () => Promise<ChatStats>): Promise<ChatStats>;
  /** How many chats fit some filters. `key` names the filters with their values, `fields` is what the answer depends on. */
  total(instance: InstanceId, key: string, fields: readonly string[], count: () => Promise<number>): Promise<number>;
}

const changedNames = ({ before, changes, unreadAdded }: ChatOutcome): readonly string[] => {
  if (before === null) return [added];
  const { extra, ...columns } = changes;
  return [...Object.keys(columns), ...Object.keys(extra ?? {}), ...(unreadAdded > 0 ? ['unreadCount'] : [])];
};

export const createChatCounts = (now: () => number): ChatCounts => {
  const instances = createLruMap<Counts>(limits.instances);
  const countsOf = (instance: InstanceId): Counts => {
    const known = instances.get(instance);
    if (known !== undefined && now() < known.until) return known;
    const fresh: Counts = {
      until: now() + lifetime,
      version: 0,
      changed: new Map(),
      moves: 0,
      stats: null,
      totals: createLruMap(limits.filters),
    };
    instances.set(instance, fresh);
    return fresh;
  };
  return {
    note(instance, chats) {
      const counts = instances.get(instance);
      if (counts === undefined || chats.length === 0) return;
      counts.version += 1;
      for (const chat of chats) {
        for (const name of changedNames(chat)) counts.changed.set(name, counts.version);
        for (const [name, { of }] of kinds) {
          const moved = Number(of(chat.after)) - Number(chat.before !== null && of(chat.before));
          if (moved === 0) continue;
          counts.moves += 1;
          if (counts.stats !== null) counts.stats[name] += moved;
        }
      }
    },
    forget: (instance) => instances.delete(instance),
    async stats(instance, count) {
      const counts = countsOf(instance);
      if (counts.stats !== null) return { ...counts.stats };
      const before = counts.moves;
      const stats = await count();
      if (counts.moves === before) counts.stats = { ...stats };
      return stats;
    },
    async total(instance, key, fields, count) {
      const counts = countsOf(instance);
      const isCurrent = (at: number): boolean => [added, ...fields].every((name) => (counts.changed.get(name) ?? 0) <= at);
      const kept = counts.totals.get(key);
      if (kept !== undefined && isCurrent(kept.at)) return kept.total;
      const at = counts.version;
      const total = await count();
      if (isCurrent(at)) counts.totals.set(key, { at, total });
      return total;
    },
  };
};
