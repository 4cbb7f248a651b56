/** The stored rows that the entries of one commit concern. They come from the database, or from the cache of recent commits. */
import type { Call, Chat, ChatPatch, Contact, Definition, Entry, Message, Past } from '#actors/model.ts';
import type { Runner, Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/parameters.ts';
import { chatFields, type StoredMessage, storedMessageFields } from './columns.ts';
import { definedIn, definitionFields } from './definitions.ts';
import type { Known, Outcome } from './outcome.ts';
import { changedGroup, contactFields, contactsIn, groupFields, groupOfRow, type GroupRow } from './people.ts';

// The keys of all rows that the entries of a commit concern. The rows are read before the ledger starts.

interface PostNumber {
  readonly chatId: string;
  readonly serverId: number;
}

interface Concerned {
  /** Messages that may be stored already. */
  readonly messageIds: ReadonlySet<string>;
  /** Messages that an entry changes. Their chats are read too, because an entry may name a chat by another address. */
  readonly updatedIds: ReadonlySet<string>;
  readonly chatIds: ReadonlySet<string>;
  /** People whose names an entry contains. */
  readonly contactIds: ReadonlySet<string>;
  /** Ids of definitions of all kinds. */
  readonly definitionIds: ReadonlySet<string>;
  /** Groups that an entry changes. */
  readonly groupIds: ReadonlySet<string>;
  /** Channel posts that an entry names by their number. */
  readonly posts: readonly PostNumber[];
}

export const concernedBy = (entries: readonly Entry[]): Concerned => {
  const messageIds = new Set<string>();
  const updatedIds = new Set<string>();
  const chatIds = new Set<string>();
  const groupIds = new Set<string>();
  const contactIds = new Set<string>();
  const definitionIds = new Set<string>();
  const posts: PostNumber[] = [];
  const message = ({ messageId, chatId }: Message): void => {
    messageIds.add(keyText(messageId));
    chatIds.add(keyText(chatId));
  };
  const chat = ({ chatId }: Pick<ChatPatch, 'chatId'>): void => void chatIds.add(keyText(chatId));
  const call = ({ id, chatId }: Call): void => {
    messageIds.add(keyText(id));
    chatIds.add(keyText(chatId));
  };
  const past = (part: Past): void => {
    if (part.of === 'messages') for (const item of part.items) message(item.message);
    if (part.of === 'calls') for (const item of part.items) call(item);
    if (part.of === 'chats' || part.of === 'chat_labels') for (const item of part.items) chat(item);
  };
  for (const entry of entries) {
    if ((entry.kind === 'message' || entry.kind === 'status') && entry.revises) messageIds.add(keyText(entry.revises.messageId));
    if (entry.kind === 'message' || entry.kind === 'queued' || entry.kind === 'postEdited') message(entry.message);
    if (entry.kind === 'postCounts') for (const { serverId } of entry.counts) posts.push({ chatId: keyText(entry.chatId), serverId });
    if (entry.kind === 'composed') updatedIds.add(keyText(entry.message.messageId));
    if (entry.kind === 'status' || entry.kind === 'messagesRead') for (const id of entry.messageIds) updatedIds.add(keyText(id));
    if (entry.kind === 'deleted' || entry.kind === 'downloaded' || entry.kind === 'starred') updatedIds.add(keyText(entry.messageId));
    if (entry.kind === 'chat') chat(entry.chat);
    if (entry.kind === 'retagged' || entry.kind === 'chatErased') chat(entry);
    if (entry.kind === 'chatRead' || entry.kind === 'chatUnread' || entry.kind === 'chatRemoved' || entry.kind === 'chatLabel') chat(entry);
    if (entry.kind === 'news' && entry.news.type === 'call') call(entry.news.call);
    if (entry.kind === 'history') past(entry.past);
    if (entry.kind === 'samePerson' || entry.kind === 'blocklist')
      for (const { chatId, chatLid } of entry.people) for (const id of [chatId, chatLid]) chatIds.add(keyText(id));
    for (const id of contactsIn(entry)) contactIds.add(id);
    for (const id of definedIn(entry)) definitionIds.add(id);
    const groupId = changedGroup(entry);
    if (groupId !== null) groupIds.add(groupId);
  }
  return { messageIds, updatedIds, chatIds, groupIds, contactIds, definitionIds, posts };
};

/** Returns SQL that reads messages of the instance $1 by their ids. `offset 0` forces one index look-up for each id, whatever the planner estimates. */
const messagesOf = (ids: string): string => `unnest(${ids}::text[]) as wanted,
          lateral (select * from message where instance_id = $1 and message_id = wanted offset 0) as message`;

export const knownStatements = {
  /** $2: platform ids of messages. $3: chats. $4: platform ids of messages whose chats are read too. $5: groups. $6: contacts. */
  known: {
    name: 'journal-known',
    text: `select
      (select json_agg(m) from (
        select ${storedMessageFields} from ${messagesOf('$2')} order by message.seq) as m) as messages,
      (select json_agg(c) from (
        select ${chatFields} from chat where instance_id = $1 and chat_id = any(
          $3::text[] || array(select message.chat_id from ${messagesOf('$4')}))
        order by chat_id) as c) as chats,
      (select json_agg(g) from (
        select ${groupFields} from chat_group where instance_id = $1 and group_id = any($5::text[]) order by group_id) as g) as groups,
      (select json_agg(k) from (
        select ${contactFields} from contact where instance_id = $1 and contact_id = any($6::text[] || array(
          select id from unnest($3::text[]) as concerned (id)
            where id <> all(array(select chat_id from chat where instance_id = $1 and chat_id = any($3::text[])))))
        order by contact_id) as k) as contacts`,
  },
  blocked: { name: 'journal-blocked', text: `select ${chatFields} from chat where instance_id = $1 and blocked` },
  /** $2: ids. */
  definitions: {
    name: 'journal-definitions',
    text: `select ${definitionFields} from definition where instance_id = $1 and id = any($2::text[])`,
  },
  /** $2: channels. $3: numbers of posts in these channels. Each pair names a post. */
  posts: {
    name: 'journal-posts',
    text: `select ${storedMessageFields} from unnest($2::text[], $3::bigint[]) as wanted (channel, number), lateral (
        select * from message where instance_id = $1 and chat_id = wanted.channel and post is not null
          and (post ->> 'serverId')::bigint = wanted.number offset 0) as message`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface KnownRow {
  readonly messages: readonly StoredMessage[] | null;
  readonly chats: readonly Chat[] | null;
  readonly groups: readonly GroupRow[] | null;
  readonly contacts: readonly Contact[] | null;
}

/** Reads posts by their numbers. Posts that were already read by their ids are left out. */
const readPosts = async (
  runner: Runner,
  instance: string,
  posts: Concerned['posts'],
  known: readonly StoredMessage[],
): Promise<readonly StoredMessage[]> => {
  if (posts.length === 0) return [];
  const values = [instance, posts.map(({ chatId }) => chatId), posts.map(({ serverId }) => serverId)];
  const rows = await runner.rows<StoredMessage>(knownStatements.posts, values);
  return rows.filter((row) => !known.some(({ messageId, chatId }) => messageId === row.messageId && chatId === row.chatId));
};

export const readKnown = async (runner: Runner, instance: string, entries: readonly Entry[]): Promise<Known> => {
  const concerned = concernedBy(entries);
  const known = await readNamed(runner, instance, concerned);
  const posts = await readPosts(runner, instance, concerned.posts, known.messages);
  // A complete list of blocked people also unblocks chats that it does not name.
  const blocked = entries.some(({ kind }) => kind === 'blocklist') ? await runner.rows<Chat>(knownStatements.blocked, [instance]) : [];
  if (posts.length + blocked.length === 0) return known;
  const read = new Set(known.chats.map(({ chatId }) => chatId));
  const others = blocked.filter(({ chatId }) => !read.has(chatId));
  return { ...known, messages: [...known.messages, ...posts], chats: [...known.chats, ...others] };
};

const readNamed = async (
  runner: Runner,
  instance: string,
  { messageIds, updatedIds, chatIds, groupIds, contactIds, definitionIds }: Concerned,
): Promise<Known> => {
  // Definitions have a separate query, because nearly all commits change no definition.
  const definitions =
    definitionIds.size === 0 ? [] : await runner.rows<Definition>(knownStatements.definitions, [instance, [...definitionIds]]);
  if (messageIds.size + updatedIds.size + chatIds.size + groupIds.size === 0)
    return { messages: [], chats: [], groups: [], contacts: [], definitions };
  const [row] = await runner.rows<KnownRow>(knownStatements.known, [
    instance,
    [...messageIds.union(updatedIds)],
    [...chatIds],
    [...updatedIds],
    [...groupIds],
    [...contactIds],
  ]);
  return {
    messages: row?.messages ?? [],
    chats: row?.chats ?? [],
    groups: (row?.groups ?? []).map(groupOfRow),
    contacts: row?.contacts ?? [],
    definitions,
  };
};

// The cache of messages that were sent within the last minute, and of chats that were written within the last minutes. The steps of a send (queued, then
// sent), its receipts, and the messages of a chat then need no read. A message that arrives counts as new. If the message is stored already, the database
// refuses its row, and the journal reads the rows and retries.
//
// The journal is the only writer of chats while its process owns the instance. Rows are cached for one epoch, so another owner in between invalidates the
// cache. If an operator changes a chat in the database, events may show the old values until the cached copy expires. The journal does not overwrite such a
// change, because it writes only the fields that its entries change.

/** An instance in one epoch of its ownership. */
interface CacheOwner {
  readonly id: string;
  readonly epoch: number;
}

/** Lifetimes of cached rows. Most messages are acknowledged within seconds and delivered within a minute. People answer within minutes. In milliseconds. */
const lifetimes = { waiting: 5_000, sent: 60_000, chats: 600_000 };
/** The largest numbers of cached rows, of all instances together. A chat takes 1 to 2 KB, and so does a text message. */
const limits = { waiting: 500, sent: 1_000, chats: 5_000 };
/** The largest size of the encoded form of a cached sent message. Messages with previews or long texts are larger, and are not cached. In bytes. */
const largestSent = 8_192;

class Shelf<T> {
  readonly #limit: number;
  readonly #lifetime: number;
  readonly #now: () => number;
  readonly #rows = new Map<string, { readonly value: T; readonly until: number }>();

  constructor(limit: number, lifetime: number, now: () => number) {
    this.#limit = limit;
    this.#lifetime = lifetime;
    this.#now = now;
  }

  get(key: string): T | undefined {
    const row = this.#rows.get(key);
    return row !== undefined && this.#now() < row.until ? row.value : undefined;
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  put(key: string, value: T): void {
    this.#rows.delete(key);
    this.#rows.set(key, { value, until: this.#now() + this.#lifetime });
    if (this.#rows.size > this.#limit) for (const oldest of this.#rows.keys()) return void this.#rows.delete(oldest);
  }

  drop(key: string): void {
    this.#rows.delete(key);
  }

  forget(prefix: string): void {
    for (const key of this.#rows.keys()) if (key.startsWith(prefix)) this.#rows.delete(key);
  }
}

const steps: ReadonlySet<Entry['kind']> = new Set([
  'message',
  'queued',
  'sendKey',
  'composed',
  'status',
  'news',
  'event',
  'recipient',
  'campaign',
  'optOut',
]);
/** Types of news that change rows which are not cached. */
const storedNews: ReadonlySet<string> = new Set(['call', 'groups', 'labels']);
/** Returns true if the cache may contain all rows that the entry changes. The cache has no rows of calls, groups, labels and earlier messages. */
const isStep = (entry: Entry): boolean => {
  if (entry.kind === 'news') return !storedNews.has(entry.news.type);
  return steps.has(entry.kind) && !('revises' in entry);
};
/** Returns all rows, or null if any row is missing. */
const whole = <T extends object>(rows: readonly (T | undefined)[]): readonly T[] | null => {
  const found = rows.filter((row) => row !== undefined);
  return found.length === rows.length ? found : null;
};
const isOwn = ({ fromMe, wasSentByApi }: StoredMessage): boolean => fromMe && wasSentByApi;

export class JournalCache {
  readonly #waiting: Shelf<StoredMessage>;
  readonly #sent: Shelf<StoredMessage>;
  readonly #chats: Shelf<Chat>;

  constructor(now: () => number) {
    this.#waiting = new Shelf(limits.waiting, lifetimes.waiting, now);
    this.#sent = new Shelf(limits.sent, lifetimes.sent, now);
    this.#chats = new Shelf(limits.chats, lifetimes.chats, now);
  }

  /** Returns the cached rows that the entries concern, except for new messages; null on a cache miss. */
  known({ id, epoch }: CacheOwner, entries: readonly Entry[]): Known | null {
    const instance = `${id} ${epoch}`;
    if (!entries.every(isStep)) return null;
    const { messageIds, updatedIds, chatIds } = concernedBy(entries);
    const names = [...updatedIds].filter((name) => !messageIds.has(name)).map((name) => `${instance} ${name}`);
    const updated = whole(names.map((name) => this.#waiting.get(name) ?? this.#sent.get(name)));
    if (updated === null) return null;
    const wanted = new Set([...chatIds, ...updated.map(({ chatId }) => chatId)]);
    const concerned = whole([...wanted].map((chatId) => this.#chats.get(`${instance} ${chatId}`)));
    return concerned && { messages: updated, chats: concerned, groups: [] };
  }

  /** Caches the rows of a commit. */
  keep({ id, epoch }: CacheOwner, known: Known, outcome: Outcome): void {
    const instance = `${id} ${epoch}`;
    const chats = this.#chats;
    const { freshMessages, changedMessages, composedMessages, revisedMessages, removedChats } = outcome;
    for (const chatId of removedChats) chats.drop(`${instance} ${chatId}`);
    const lively = freshMessages.length > 0;
    if (lively) for (const chat of known.chats) if (!removedChats.includes(chat.chatId)) chats.put(`${instance} ${chat.chatId}`, chat);
    for (const { after } of outcome.chats) {
      const key = `${instance} ${after.chatId}`;
      if (lively || chats.has(key)) chats.put(key, after);
    }
    for (const message of [...freshMessages, ...composedMessages])
      if (isOwn(message)) this.#put(`${instance} ${message.messageId}`, message);
    for (const message of changedMessages) {
      const key = `${instance} ${message.messageId}`;
      if (this.#waiting.has(key) || this.#sent.has(key)) this.#put(key, message);
    }
    for (const { messageId } of revisedMessages) this.#drop(`${instance} ${messageId}`);
  }

  /** Invalidates the cache of the instance, or of all instances (null), after a write that failed or may have failed. */
  forget(instance: string | null): void {
    for (const shelf of [this.#waiting, this.#sent, this.#chats]) shelf.forget(instance === null ? '' : `${instance} `);
  }

  #put(key: string, message: StoredMessage): void {
    this.#drop(key);
    if (message.status === 'Queued') this.#waiting.put(key, message);
    // The encoded form (`raw`) is dropped, because no receipt needs it. A message that is read from the database has no encoded form either.
    else if ((message.raw?.length ?? 0) <= largestSent) this.#sent.put(key, { ...message, raw: null });
  }

  #drop(key: string): void {
    this.#waiting.drop(key);
    this.#sent.drop(key);
  }
}
