/** Messages and chats in memory. Tests with PostgreSQL cover the names of people and the filters of chats. */
import type { Chat, Claim, KnownContact, Message } from '#actors/model.ts';
import type { ChatQuery, ChatStore, MessageQuery, MessageStore, NamedMessage, ReadKey, ReceiptQuery } from '#actors/ports.ts';
import { chatIdsOf } from '#src/contract/views.ts';
import { countChats } from '#src/storage/journal/chat-counts.ts';
import { contactsOf } from './contacts.ts';
import type { MessageRow } from './records.ts';
import type { FakeDatabase } from './storage.ts';

/** Returns all ids of a chat, its phone-number id and its LID, if one of them is given. */
const sameChat = (chats: readonly Chat[], name: string, ids = chatIdsOf(name)): ReadonlySet<string> => {
  const others = chats.flatMap(({ chatId, chatLid }) => (ids.includes(chatLid) ? [chatId] : ids.includes(chatId) ? [chatLid] : []));
  return new Set([...ids, ...others.filter((id) => id !== '')]);
};
/** Returns the ids of one stored chat. If the name is a complete id, the other form of its number is not used. */
const exactChat = (chats: readonly Chat[], name: string): ReadonlySet<string> =>
  sameChat(chats, name, chatIdsOf(name).includes(name) ? [name] : chatIdsOf(name));

const withoutOwner = (id: string): string => id.slice(id.indexOf(':') + 1);
const isNamed = ({ id, messageId }: Message, name: string): boolean =>
  [name, withoutOwner(name)].some((one) => one === id || one === messageId);

/** Returns a stored message without the fields that no answer has. */
const plain = ({ instanceId: _of, unread: _unread, deletedAt: _deleted, ...message }: MessageRow): Message => message;

export class FakeMessages implements MessageStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  find = (instance: string, query: MessageQuery) =>
    this.#db.run('messages.find', () => {
      const chats = query.chatId === undefined ? null : sameChat(this.#db.chatsOf(instance), query.chatId);
      const all = this.#newest(instance).filter(
        (message) =>
          (query.messageType === undefined || message.messageType === query.messageType) &&
          (query.fromMe === undefined || message.fromMe === query.fromMe) &&
          (query.id === undefined || isNamed(message, query.id)) &&
          (chats === null || chats.has(message.chatId)) &&
          (query.trackSource === undefined || (query.trackSource !== '' && message.trackSource === query.trackSource)) &&
          (query.trackId === undefined || (query.trackId !== '' && message.trackId === query.trackId)),
      );
      const end = query.offset + query.limit;
      return { messages: all.slice(query.offset, end).map(plain), more: all.length > end };
    });

  byId = (instance: string, id: string) =>
    this.#db.run('messages.byId', () => {
      const found = this.#newest(instance).find((message) => isNamed(message, id));
      return found ? plain(found) : null;
    });

  named = (instance: string, ids: readonly string[]): Promise<ReadonlyMap<string, NamedMessage>> =>
    this.#db.run('messages.named', () => {
      const newest = this.#newest(instance);
      return new Map(
        ids.flatMap((id) => {
          const found = newest.find((message) => isNamed(message, id));
          return found ? [[id, found] as const] : [];
        }),
      );
    });

  receipts = (instance: string, { messageId, state, limit, offset }: ReceiptQuery) =>
    this.#db.run('messages.receipts', () => {
      const all = [...this.#db.receipts]
        .filter(([key, { readAt, playedAt }]) => {
          const isFar = state === 'Read' ? readAt + playedAt > 0 : state !== 'Played' || playedAt > 0;
          return isFar && key.startsWith(`${instance} ${messageId} `);
        })
        .map(([, receipt]) => receipt)
        .toSorted((a, b) => (a.member < b.member ? -1 : 1));
      return {
        receipts: all.slice(offset, offset + limit),
        more: all.length > offset + limit,
        counts: { delivered: 0, read: 0, played: 0 },
      };
    });

  oldest = (instance: string, chatId: string) =>
    this.#db.run('messages.oldest', () => {
      const chats = exactChat(this.#db.chatsOf(instance), chatId);
      const found = this.#newest(instance).findLast((message) => chats.has(message.chatId));
      return found ? plain(found) : null;
    });

  removeOf = ({ instanceId }: Claim, chatId: string, until: number, limit: number) =>
    this.#db.run('messages.removeOf', () => {
      const chats = exactChat(this.#db.chatsOf(instanceId), chatId);
      const gone = [...this.#db.messages].filter(
        ([, row]) => row.instanceId === instanceId && chats.has(row.chatId) && row.timestamp <= until && row.status !== 'Queued',
      );
      for (const [key] of gone.slice(0, limit)) this.#db.messages.delete(key);
      return Math.min(limit, gone.length);
    });

  unread = (instance: string, chatId: string, limit: number): Promise<readonly ReadKey[]> =>
    this.#db.run('messages.unread', () => {
      const chats = exactChat(this.#db.chatsOf(instance), chatId);
      const unread = this.#newest(instance).filter((message) => message.unread && chats.has(message.chatId));
      return unread.slice(0, limit).map(({ chatId: chat, messageId, sender }) => ({ chatId: chat, messageId, sender }));
    });

  queueing = () =>
    this.#db.run('messages.queueing', () => {
      const counts = new Map<string, number>();
      for (const { instanceId, status, queuedSend } of this.#db.messages.values())
        if (status === 'Queued') counts.set(instanceId, (counts.get(instanceId) ?? 0) + (queuedSend ? 1 : 0));
      return [...counts].map(([id, queued]) => ({ id, queued }));
    });

  newestAt = () =>
    this.#db.run('messages.newestAt', () =>
      this.#db.messages.size === 0 ? null : Math.max(...[...this.#db.messages.values()].map(({ timestamp }) => timestamp)),
    );

  queued = (instance: string, limit: number) =>
    this.#db.run('messages.queued', () => this.#waiting(instance, ({ queuedSend }) => queuedSend !== null).slice(0, limit));

  interrupted = (instance: string, before: number, limit: number) =>
    this.#db.run('messages.interrupted', () =>
      this.#waiting(instance, ({ queuedSend, timestamp }) => queuedSend === null && timestamp <= before).slice(0, limit),
    );

  #newest(instance: string): readonly MessageRow[] {
    return this.#db
      .messagesOf(instance)
      .toReversed()
      .toSorted((a, b) => b.timestamp - a.timestamp);
  }

  #waiting(instance: string, test: (message: Message) => boolean): readonly Message[] {
    const waiting = this.#db.messagesOf(instance).filter((message) => message.status === 'Queued' && test(message));
    return waiting.map(plain);
  }
}

export class FakeChats implements ChatStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  find = (instance: string, { filters, sort, limit, offset }: ChatQuery) =>
    this.#db.run('chats.find', () => {
      if (filters.length > 0 || sort !== null) throw new Error('filters and orders of chats are a matter for PostgreSQL');
      const all = this.#db
        .chatsOf(instance)
        .toSorted((a, b) => b.lastMessageTimestamp - a.lastMessageTimestamp || (a.chatId < b.chatId ? 1 : -1));
      return { chats: all.slice(offset, offset + limit), total: all.length };
    });

  get = (instance: string, name: string) =>
    this.#db.run('chats.get', () => {
      const chats = this.#db.chatsOf(instance);
      const ids = chatIdsOf(name);
      return chats.find(({ chatId }) => ids.includes(chatId)) ?? chats.find(({ chatLid }) => ids.includes(chatLid)) ?? null;
    });

  contacts = (instance: string) =>
    this.#db.run('chats.contacts', () => {
      const chats = this.#db.chatsOf(instance);
      const saved = contactsOf(this.#db, instance)
        .filter(({ name }) => name !== '')
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const talked = chats
        .filter(({ chatId }) => /@(s\.whatsapp\.net|lid)$/.test(chatId))
        .toSorted((a, b) => b.lastMessageTimestamp - a.lastMessageTimestamp || (a.chatId < b.chatId ? 1 : -1))
        .map(({ chatId, chatLid, contactName, pushName }): KnownContact => ({
          chatId,
          chatLid,
          known:
            contactName !== '' || saved.some(({ contactId }) => contactId === chatId) ? 'named' : pushName === '' ? 'number' : 'pushName',
        }));
      const others = saved.filter(({ contactId }) => !chats.some(({ chatId }) => chatId === contactId));
      return [...talked, ...others.map(({ contactId, lid }): KnownContact => ({ chatId: contactId, chatLid: lid, known: 'named' }))];
    });

  timers = (instance: string) =>
    this.#db.run('chats.timers', () =>
      this.#db
        .chatsOf(instance)
        .filter(({ isGroup, ephemeralExpiration }) => !isGroup && ephemeralExpiration > 0)
        .map(({ chatId, ephemeralExpiration }) => ({ chatId, seconds: ephemeralExpiration }))
        .toSorted((a, b) => (a.chatId < b.chatId ? -1 : 1)),
    );

  tagged = (instance: string, tag: string, after: string, limit: number) =>
    this.#db.run('chats.tagged', () =>
      this.#db
        .chatsOf(instance)
        .filter(({ chatId, extra }) => chatId > after && Array.isArray(extra['lead_tags']) && extra['lead_tags'].includes(tag))
        .map(({ chatId }) => chatId)
        .toSorted()
        .slice(0, limit),
    );

  stats = (instance: string) => this.#db.run('chats.stats', () => countChats(this.#db.chatsOf(instance)));
}
