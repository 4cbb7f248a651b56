/**
 * Caches messages that the journal sent within the last minute, and chats that it wrote within the last minutes. The steps of a send (queued, then sent),
 * the receipts that follow, and the messages of a chat then need no read.
 * A message that arrives counts as new. If the message is not new, the database refuses its row, and the journal reads and retries.
 *
 * The journal is the only writer of chats while its process owns the instance. Another owner in between has another epoch, and rows are cached for
 * one epoch. If a person changes a chat in the database by hand, events may show the chat without the change until the cached copy expires. The
 * journal writes only the fields that its own entries change, so it overwrites nothing.
 */
import type { Chat, Entry } from '#actors/model.ts';
import type { StoredMessage } from './columns.ts';
import { concernedBy } from './known-rows.ts';
import type { Known, Outcome } from './outcome.ts';

/** An instance under one ownership. */
export interface CacheOwner {
  readonly id: string;
  readonly epoch: number;
}

export interface JournalCache {
  /** Returns the cached rows that the entries concern, except for new messages; null on a cache miss. */
  known(owner: CacheOwner, entries: readonly Entry[]): Known | null;
  /** Keeps the rows of a commit. */
  keep(owner: CacheOwner, known: Known, outcome: Outcome): void;
  /** Invalidates the cache of the instance after a write that failed or may have failed. */
  forget(instance: string): void;
}

/** Milliseconds. Most messages are acknowledged within seconds, and delivered within a minute. People of a conversation answer within minutes. */
const lifetimes = { waiting: 5_000, sent: 60_000, chats: 600_000 };
/** Most cached rows of all instances together. A chat takes 1 to 2 KB, and so does a text. */
const limits = { waiting: 500, sent: 1_000, chats: 5_000 };
/** Bytes of the encoded form of a sent message that is cached. Previews and long texts are larger. */
const largestSent = 8_192;

const createShelf = <T>(limit: number, lifetime: number, now: () => number) => {
  const rows = new Map<string, { readonly value: T; readonly until: number }>();
  return {
    get(key: string): T | undefined {
      const row = rows.get(key);
      return row !== undefined && now() < row.until ? row.value : undefined;
    },
    has: (key: string): boolean => rows.has(key),
    put(key: string, value: T): void {
      rows.delete(key);
      rows.set(key, { value, until: now() + lifetime });
      if (rows.size > limit) for (const oldest of rows.keys()) return void rows.delete(oldest);
    },
    drop: (key: string): void => void rows.delete(key),
    forget(prefix: string): void {
      for (const key of rows.keys()) if (key.startsWith(prefix)) rows.delete(key);
    },
  };
};

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
/** News that store rows which the cache does not keep. */
const storedNews: ReadonlySet<string> = new Set(['call', 'groups', 'labels']);
/** Returns true if the cache holds all rows that the entry changes. The cache has no rows of calls, groups, labels and earlier messages. */
const isStep = (entry: Entry): boolean => {
  if (entry.kind === 'news') return !storedNews.has(entry.news.type);
  return steps.has(entry.kind) && !('revises' in entry);
};
/** All of them, or null when one is missing. */
const whole = <T extends object>(rows: readonly (T | undefined)[]): readonly T[] | null => {
  const found = rows.filter((row) => row !== undefined);
  return found.length === rows.length ? found : null;
};
const isOwn = ({ fromMe, wasSentByApi }: StoredMessage): boolean => fromMe && wasSentByApi;

export const createJournalCache = (now: () => number): JournalCache => {
  const waiting = createShelf<StoredMessage>(limits.waiting, lifetimes.waiting, now);
  const sent = createShelf<StoredMessage>(limits.sent, lifetimes.sent, now);
  const chats = createShelf<Chat>(limits.chats, lifetimes.chats, now);
  const drop = (key: string): void => {
    waiting.drop(key);
    sent.drop(key);
  };
  const put = (key: string, message: StoredMessage): void => {
    drop(key);
    if (message.status === 'Queued') waiting.put(key, message);
    // A message that was read has no encoded form either. No receipt needs it.
    else if ((message.raw?.length ?? 0) <= largestSent) sent.put(key, { ...message, raw: null });
  };
  return {
    known({ id, epoch }, entries) {
      const instance = `${id} ${epoch}`;
      if (!entries.every(isStep)) return null;
      const { messageIds, updatedIds, chatIds } = concernedBy(entries);
      const names = [...updatedIds].filter((name) => !messageIds.has(name)).map((name) => `${instance} ${name}`);
      const updated = whole(names.map((name) => waiting.get(name) ?? sent.get(name)));
      if (updated === null) return null;
      const wanted = new Set([...chatIds, ...updated.map(({ chatId }) => chatId)]);
      const concerned = whole([...wanted].map((chatId) => chats.get(`${instance} ${chatId}`)));
      return concerned && { messages: updated, chats: concerned, groups: [] };
    },
    keep({ id, epoch }, known, { freshMessages, changedMessages, composedMessages, revisedMessages, removedChats, chats: changedChats }) {
      const instance = `${id} ${epoch}`;
      for (const chatId of removedChats) chats.drop(`${instance} ${chatId}`);
      const lively = freshMessages.length > 0;
      if (lively) for (const chat of known.chats) if (!removedChats.includes(chat.chatId)) chats.put(`${instance} ${chat.chatId}`, chat);
      for (const { after } of changedChats) {
        const key = `${instance} ${after.chatId}`;
        if (lively || chats.has(key)) chats.put(key, after);
      }
      for (const message of [...freshMessages, ...composedMessages]) if (isOwn(message)) put(`${instance} ${message.messageId}`, message);
      for (const message of changedMessages) {
        const key = `${instance} ${message.messageId}`;
        if (waiting.has(key) || sent.has(key)) put(key, message);
      }
      for (const { messageId } of revisedMessages) drop(`${instance} ${messageId}`);
    },
    forget(instance) {
      waiting.forget(`${instance} `);
      sent.forget(`${instance} `);
      chats.forget(`${instance} `);
    },
  };
};
