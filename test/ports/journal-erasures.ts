/** Tests every journal when the owner clears or deletes a chat, deletes a message for the account alone, or stars one. */
import assert from 'node:assert/strict';
import type { Entry, Message } from '#actors/model.ts';
import { arrived, type Bench, type Case, fresh, kindsOf, queued, sent } from './entries.ts';

const second = 1_700_000_000_000;
const me = { sender: 'me@lid', senderPn: 'me@s.whatsapp.net', senderLid: 'me@lid', at: 5_000 };

let count = 0;
/** Returns a chat that no other test uses. */
const place = () => ({ chatId: `551190001${(count += 1)}@s.whatsapp.net`, chatLid: '' });

const erased = (last: Message, change: Partial<Extract<Entry, { kind: 'chatErased' }>> = {}): Entry => ({
  kind: 'chatErased',
  chatId: last.chatId,
  gone: false,
  keepStarred: false,
  until: Math.floor(last.timestamp / 1000) * 1000 + 999,
  last: [last.messageId],
  ...change,
});
const starred = ({ messageId, chatId }: Message, on: boolean): Entry => ({ kind: 'starred', messageId, chatId, starred: on, ...me });

const stored = async ({ stores, record }: Bench, chat: string): Promise<readonly string[]> =>
  (await stores.messages.find(record.id, { chatId: chat, limit: 100, offset: 0 })).messages.map(({ messageId }) => messageId).toReversed();

const ids = (...messages: readonly Message[]): readonly string[] => messages.map(({ messageId }) => messageId);

export const erasures: readonly Case[] = [
  [
    'a chat that is cleared loses its messages and what it shows of them, with one event; later messages and those that wait stay',
    async (bench) => {
      const chat = place();
      const { chatId } = chat;
      const [first, last] = [fresh({ ...chat, timestamp: second - 9_000 }), fresh({ ...chat, timestamp: second })];
      const waiting = sent({ ...chat, timestamp: second - 1 });
      const other = fresh({ ...place(), timestamp: second });
      await bench.commit(arrived(first), arrived(last), arrived(other), queued(waiting));
      const cleared = await bench.commit(erased(last));
      assert.deepEqual(kindsOf(cleared), ['chats']);
      assert.deepEqual([await stored(bench, chatId), await stored(bench, other.chatId)], [ids(waiting), ids(other)]);
      const { unreadCount, lastMessageText, lastMessageTimestamp } = (await bench.chat(chatId)) ?? {};
      assert.deepEqual([unreadCount, lastMessageText, lastMessageTimestamp], [0, '', second]);
      const next = fresh({ ...chat, timestamp: second + 2_000 });
      await bench.commit(arrived(next));
      assert.deepEqual(kindsOf(await bench.commit(erased(last))), [], 'a repetition says nothing new');
      assert.deepEqual([await stored(bench, chatId), (await bench.chat(chatId))?.unreadCount], [ids(waiting, next), 1]);
    },
  ],
  [
    'a message that arrived behind the last one in the same second stays',
    async (bench) => {
      const chat = place();
      const [last, behind] = [fresh({ ...chat, timestamp: second }), fresh({ ...chat, timestamp: second })];
      await bench.commit(arrived(last), arrived(behind));
      await bench.commit(erased(last));
      assert.deepEqual(await stored(bench, chat.chatId), ids(behind));
    },
  ],
  [
    'a message of the same commit goes with the chat',
    async (bench) => {
      const message = fresh({ ...place(), timestamp: second });
      await bench.commit(arrived(message), erased(message));
      assert.deepEqual(await stored(bench, message.chatId), []);
    },
  ],
  [
    'starred messages stay in a chat that is cleared without them',
    async (bench) => {
      const chat = place();
      const [star, last] = [fresh({ ...chat, timestamp: second - 1_000 }), fresh({ ...chat, timestamp: second })];
      await bench.commit(arrived(star), arrived(last), starred(star, true));
      await bench.commit(erased(last, { keepStarred: true }));
      assert.deepEqual(await stored(bench, chat.chatId), ids(star));
      await bench.commit(erased(last));
      assert.deepEqual(await stored(bench, chat.chatId), []);
    },
  ],
  [
    'a chat that is deleted goes with its messages, without an event, and comes back with the next one',
    async (bench) => {
      const chat = place();
      const { chatId } = chat;
      const last = fresh({ ...chat, timestamp: second });
      await bench.commit(arrived(last));
      assert.deepEqual(kindsOf(await bench.commit(erased(last, { gone: true }))), []);
      assert.deepEqual([await bench.chat(chatId), await stored(bench, chatId)], [null, []]);
      const next = fresh({ ...chat, timestamp: second + 1_000 });
      await bench.commit(arrived(next));
      await bench.commit(erased(last, { gone: true }));
      assert.deepEqual([(await bench.chat(chatId))?.unreadCount, await stored(bench, chatId)], [1, ids(next)]);
    },
  ],
  [
    'a star is kept, with an event when it changes',
    async (bench) => {
      const message = fresh(place());
      await bench.commit(arrived(message));
      const told: unknown[] = [];
      for (const on of [true, true, false]) {
        told.push(...kindsOf(await bench.commit(starred(message, on))));
        assert.equal((await bench.message(message.messageId))?.starred ?? false, on);
      }
      assert.deepEqual(told, ['messages_update Starred', 'messages_update Unstarred']);
      assert.deepEqual(kindsOf(await bench.commit(starred(fresh(), true))), [], 'a message that is not stored has no star');
    },
  ],
  [
    'the account may delete the message of anybody for itself',
    async (bench) => {
      const message = fresh(place());
      await bench.commit(arrived(message));
      const { messageId, chatId } = message;
      const deletion = { kind: 'deleted', messageId, chatId, fromMe: true, ...me } as const;
      assert.deepEqual(kindsOf(await bench.commit(deletion)), [], 'for everybody it may not');
      assert.deepEqual(kindsOf(await bench.commit({ ...deletion, forMe: true })), ['messages_update Deleted']);
      const { status, text } = (await bench.message(messageId)) ?? {};
      assert.deepEqual([status, text], ['Deleted', '']);
    },
  ],
];
