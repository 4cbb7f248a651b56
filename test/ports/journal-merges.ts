/** Tests every journal when the LID of the chat of a person is linked to a number. */
import assert from 'node:assert/strict';
import type { Entry, Message } from '#actors/model.ts';
import { EpochLost } from '#actors/ports.ts';
import { arrived, type Bench, type Case, chat, fresh, kindsOf, queued, sent, status } from './entries.ts';

let count = 0;
/** Returns a person that no other test uses, by number and by LID. */
const person = () => {
  count += 1;
  return { chatId: `551190002${count}@s.whatsapp.net`, chatLid: `77000${count}@lid` };
};
type Pair = ReturnType<typeof person>;

const same = (...people: readonly Pair[]): Entry => ({ kind: 'samePerson', people });
const byLid = ({ chatLid }: Pair, change: Partial<Message> = {}): Message => fresh({ chatId: chatLid, chatLid: '', ...change });
const byNumber = ({ chatId }: Pair, change: Partial<Message> = {}): Message => fresh({ chatId, chatLid: '', ...change });

const stored = async ({ stores, record }: Bench, chatId: string): Promise<readonly string[]> => {
  const { messages } = await stores.messages.find(record.id, { chatId, limit: 100, offset: 0 });
  return messages
    .filter((message) => message.chatId === chatId)
    .map(({ messageId }) => messageId)
    .toSorted();
};
const ids = (...messages: readonly Message[]): readonly string[] => messages.map(({ messageId }) => messageId).toSorted();

export const merges: readonly Case[] = [
  [
    'two chats of one person become one, with messages, unread ones, last message, labels, notes, marks and lead fields of both',
    async (bench) => {
      const pair = person();
      const [old, early, late] = [
        byNumber(pair, { timestamp: 1_000 }),
        byLid(pair, { timestamp: 2_000 }),
        byLid(pair, { timestamp: 3_000 }),
      ];
      await bench.commit(
        arrived(old),
        arrived(early),
        arrived(late),
        chat({ chatId: pair.chatId, labels: ['o:1'], notes: 'one', pinned: true, extra: { lead_name: 'Ana', lead_tags: ['a'] } }),
        chat({
          chatId: pair.chatLid,
          labels: ['o:2'],
          notes: 'two',
          muteEndTime: 9,
          pushName: 'Nan',
          extra: { lead_email: 'x', lead_tags: ['b'] },
        }),
      );
      const before = await bench.chat(pair.chatId);
      assert.deepEqual(kindsOf(await bench.commit(same(pair))), ['chats']);
      const after = await bench.chat(pair.chatId);
      assert.deepEqual([after?.id, after?.chatId, after?.chatLid], [before?.id, pair.chatId, pair.chatLid]);
      assert.deepEqual([after?.unreadCount, after?.lastMessageText, after?.lastMessageTimestamp], [3, late.text, 3_000]);
      assert.deepEqual([after?.labels, after?.notes, after?.pinned, after?.muteEndTime], [['o:1', 'o:2'], 'one\ntwo', true, 9]);
      assert.deepEqual(
        [after?.pushName, after?.name, after?.extra],
        ['Nan', 'Nan', { lead_name: 'Ana', lead_email: 'x', lead_tags: ['a', 'b'] }],
      );
      assert.deepEqual(await stored(bench, pair.chatId), ids(old, early, late));
      assert.deepEqual(await stored(bench, pair.chatLid), []);
      const { chats } = await bench.stores.chats.find(bench.record.id, { filters: [], any: false, sort: null, limit: 1_000, offset: 0 });
      assert.equal(chats.filter((one) => [one.chatId, one.chatLid].includes(pair.chatLid)).length, 1);
      assert.deepEqual(kindsOf(await bench.commit(same(pair))), [], 'a repetition finds nothing');
      assert.deepEqual(await bench.chat(pair.chatId), after);
    },
  ],
  [
    'a chat under a LID alone becomes that of the number, and keeps its short id',
    async (bench) => {
      const pair = person();
      const message = byLid(pair);
      await bench.commit(arrived(message, { pushName: 'Nan' }));
      const before = await bench.chat(pair.chatLid);
      assert.deepEqual(kindsOf(await bench.commit(same(pair))), ['chats']);
      const { phone = '', ...after } = (await bench.chat(pair.chatId)) ?? {};
      assert.deepEqual({ ...after, phone: before?.phone }, { ...before, chatId: pair.chatId, chatLid: pair.chatLid });
      assert.match(phone, /^\+55 /);
      assert.deepEqual(await stored(bench, pair.chatId), ids(message));
    },
  ],
  [
    'a message that stands under both addresses stands once',
    async (bench) => {
      const pair = person();
      const message = byNumber(pair);
      await bench.commit(arrived(message), arrived({ ...message, id: 'rabcdef0', chatId: pair.chatLid }));
      await bench.commit(same(pair));
      assert.deepEqual([await stored(bench, pair.chatId), await stored(bench, pair.chatLid)], [ids(message), []]);
    },
  ],
  [
    'a message of the same commit goes with its chat',
    async (bench) => {
      const pair = person();
      const [message, next] = [byLid(pair), byNumber(pair)];
      await bench.commit(arrived(message), same(pair), arrived(next));
      assert.deepEqual(
        [await stored(bench, pair.chatId), await bench.chat(pair.chatLid)],
        [ids(message, next), await bench.chat(pair.chatId)],
      );
      assert.equal((await bench.chat(pair.chatId))?.unreadCount, 2);
    },
  ],
  [
    'a message that waits under the LID gets its status under the number',
    async (bench) => {
      const pair = person();
      const message = sent({ chatId: pair.chatLid, chatLid: '' });
      await bench.commit(queued(message));
      await bench.commit(same(pair));
      await bench.commit(status([message.messageId], 'Sent', { chatId: pair.chatLid, fromMe: true, sender: '' }));
      const { chatId, status: is } = (await bench.message(message.id)) ?? {};
      assert.deepEqual([chatId, is], [pair.chatId, 'Sent']);
    },
  ],
  [
    'people without a chat under their LID change nothing',
    async (bench) => {
      const pair = person();
      await bench.commit(arrived(byNumber(pair)));
      const before = await bench.chat(pair.chatId);
      assert.deepEqual(kindsOf(await bench.commit(same(pair, person()))), []);
      assert.deepEqual(await bench.chat(pair.chatId), before);
    },
  ],
  [
    'a contact who wants no campaigns under the LID wants none under the number',
    async (bench) => {
      const pair = person();
      await bench.commit(arrived(byLid(pair)), { kind: 'optOut', chatId: pair.chatLid, at: 5 });
      await bench.commit(same(pair));
      assert.equal(await bench.stores.optOuts.has(bench.record.id, [pair.chatId]), true);
    },
  ],
  [
    'a former owner merges nothing',
    async (bench) => {
      const pair = person();
      await bench.commit(arrived(byLid(pair)), arrived(byNumber(pair)));
      const { record, stores } = bench;
      const old = { ...record, epoch: record.epoch - 1 };
      await assert.rejects(() => stores.journal.commit(old, [same(pair)], () => []), EpochLost);
      assert.notDeepEqual(await bench.chat(pair.chatId), await bench.chat(pair.chatLid));
      assert.equal((await stored(bench, pair.chatLid)).length, 1);
    },
  ],
];
