/** Tests the contract of every store of messages: by id, chat, origin and tracking id, newest first, in pages; unread and waiting messages. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Message } from '#actors/model.ts';
import { message as sample, owner } from '#test/contract/samples.ts';
import { arrived, type Bench, benchOf, type Open, queued, status } from './entries.ts';

const messages = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6'].map((messageId, at): Message => ({
  ...sample,
  id: `r000000${at}`,
  messageId,
  chatId: at % 2 === 0 ? 'even@s.whatsapp.net' : 'odd@g.us',
  chatLid: '',
  timestamp: 1_000 * Math.floor(at / 2),
  trackSource: at < 2 ? 'crm' : '',
  trackId: at === 1 ? 'order' : '',
  messageType: ['ImageMessage', 'Conversation', 'call'][at % 3] ?? '',
  fromMe: at > 3,
}));

const finds: readonly (readonly [query: object, found: string])[] = [
  [{}, 'm6 m5 m4 m3 m2 m1'],
  [{ limit: 2 }, 'm6 m5 …'],
  [{ limit: 2, offset: 4 }, 'm2 m1'],
  [{ limit: 2, offset: 40 }, ''],
  [{ id: 'm3' }, 'm3'],
  [{ id: 'r0000002' }, 'm3'],
  [{ id: `${owner}:m3` }, 'm3'],
  [{ id: `${owner}:r0000002` }, 'm3'],
  [{ id: 'm3', chatId: 'odd@g.us' }, ''],
  [{ chatId: 'odd@g.us' }, 'm6 m4 m2'],
  [{ trackSource: 'crm' }, 'm2 m1'],
  [{ trackSource: 'crm', trackId: 'order' }, 'm2'],
  [{ trackId: '' }, ''],
  [{ messageType: 'Conversation' }, 'm5 m2'],
  [{ messageType: 'ImageMessage' }, 'm4 m1'],
  [{ messageType: 'call', limit: 1 }, 'm6 …'],
  [{ messageType: 'call', chatId: 'odd@g.us' }, 'm6'],
  [{ messageType: `call' or '1'='1` }, ''],
  [{ fromMe: true }, 'm6 m5'],
  [{ fromMe: false, limit: 3 }, 'm4 m3 m2 …'],
  [{ fromMe: false, messageType: 'ImageMessage', trackSource: 'crm' }, 'm1'],
  [{ id: `x' or '1'='1` }, ''],
  [{ id: 'zero\0' }, ''],
];

/** Two people. The number of one became known after messages were stored under the LID; that of the other was known from the start. */
const [late, early] = ['5511999990001', '5511999990002'];
const people: readonly (readonly [id: string, chatId: string, chatLid: string, at: number])[] = [
  ['l1', '100000000000001@lid', '', 11],
  ['l2', `${late}@s.whatsapp.net`, '100000000000001@lid', 12],
  ['l3', '100000000000001@lid', '', 13],
  ['e1', `${early}@s.whatsapp.net`, '100000000000002@lid', 14],
  ['g1', '120363000000000009@g.us', '', 15],
];

/** Names of chats, with the messages and the chat that are found under them. */
const names: readonly (readonly [name: string, messages: string, chat: string])[] = [
  [late, 'l3 l2 l1', `${late}@s.whatsapp.net`],
  ['100000000000001@lid', 'l3 l2 l1', '100000000000001@lid'],
  [early, 'e1', `${early}@s.whatsapp.net`],
  [`${early}@s.whatsapp.net`, 'e1', `${early}@s.whatsapp.net`],
  [`${early}@c.us`, 'e1', `${early}@s.whatsapp.net`],
  [`${early}:57@s.whatsapp.net`, 'e1', `${early}@s.whatsapp.net`],
  ['100000000000002@lid', 'e1', `${early}@s.whatsapp.net`],
  ['100000000000002:12@lid', 'e1', `${early}@s.whatsapp.net`],
  [`${owner}:${early}`, 'e1', `${early}@s.whatsapp.net`],
  [`${owner}:100000000000002`, 'e1', `${early}@s.whatsapp.net`],
  [`${owner}:100000000000002@lid`, 'e1', `${early}@s.whatsapp.net`],
  ['120363000000000009@g.us', 'g1', '120363000000000009@g.us'],
  [`${owner}:120363000000000009`, 'g1', '120363000000000009@g.us'],
  ['5511999990003', '', ''],
];

const idsOf = (found: readonly { readonly messageId: string }[]): string => found.map(({ messageId }) => messageId).join(' ');

const declareNames = (bench: () => Bench): void => {
  for (const [name, expected, chatId] of names)
    test(`${name} names one chat, by whichever address it is kept`, async () => {
      const { stores, record } = bench();
      assert.equal(idsOf((await stores.messages.find(record.id, { chatId: name, limit: 10, offset: 0 })).messages), expected);
      assert.equal(idsOf(await stores.messages.unread(record.id, name, 10)), expected);
      assert.equal((await bench().chat(name))?.chatId ?? '', chatId);
    });

  test('those of a chat go in pieces, under both of its addresses, up to a time; what waits to be sent stays', async () => {
    const one = await benchOf(async () => bench().stores, 'rgone');
    const { messages } = one.stores;
    for (const [messageId, chatId, chatLid, timestamp] of people)
      await one.commit(arrived({ ...sample, messageId, chatId, chatLid, timestamp }));
    await one.commit(queued({ ...sample, messageId: 'q1', chatId: `${late}@s.whatsapp.net`, chatLid: '', timestamp: 12 }));
    const left = async (): Promise<string> => idsOf((await messages.find(one.record.id, { limit: 20, offset: 0 })).messages);
    const removed = (until: number, limit: number) =>
      messages.removeOf({ instanceId: one.record.id, epoch: one.record.epoch }, late, until, limit);
    assert.deepEqual([await removed(12, 1), await removed(12, 5), await removed(12, 5)], [1, 1, 0]);
    assert.equal(await left(), 'g1 e1 l3 q1');
  });

  test('those of a chat go without those of a second chat under the other form of the number', async () => {
    const one = await benchOf(async () => bench().stores, 'rtwins');
    const { messages } = one.stores;
    const [with9, without9] = ['5511999990009@s.whatsapp.net', '551199990009@s.whatsapp.net'];
    for (const [messageId, chatId, timestamp] of [
      ['w1', with9, 21],
      ['w2', without9, 22],
    ] as const)
      await one.commit(arrived({ ...sample, messageId, chatId, chatLid: '', timestamp }));
    const { id: instanceId, epoch } = one.record;
    assert.equal(idsOf((await messages.find(instanceId, { chatId: with9, limit: 9, offset: 0 })).messages), 'w2 w1');
    assert.equal(idsOf(await messages.unread(instanceId, with9, 9)), 'w1');
    assert.equal((await messages.oldest(instanceId, without9))?.messageId, 'w2');
    assert.equal(await messages.removeOf({ instanceId, epoch }, with9, 99, 9), 1);
    assert.equal(idsOf((await messages.find(instanceId, { limit: 9, offset: 0 })).messages), 'w2');
  });

  test('pages over both addresses of a chat follow one another', async () => {
    const { stores, record } = bench();
    const pages = [0, 1, 2, 3].map((offset) => stores.messages.find(record.id, { chatId: late, limit: 1, offset }));
    const ids = (await Promise.all(pages)).map((page) => `${page.messages[0]?.messageId}${page.more ? '+' : ''}`);
    assert.deepEqual(ids, ['l3+', 'l2+', 'l1', 'undefined']);
  });
};

const declareNewest = (bench: () => Bench): void => {
  test('the time of the newest message of all instances is known', async () => {
    const { stores } = bench();
    const one = await benchOf(async () => stores, 'rnewest');
    const before = await stores.messages.newestAt();
    assert.ok(before !== null && before >= 15);
    for (const [messageId, ahead] of [
      ['new', 70],
      ['old', -1],
    ] as const)
      await one.commit(arrived({ ...sample, messageId, timestamp: before + ahead }));
    assert.equal(await stores.messages.newestAt(), before + 70);
  });
};

const declareQueue = (bench: () => Bench): void => {
  test('those that wait come oldest first', async () => {
    const { stores, record } = bench();
    const waiting = ['q1', 'q2', 'q3'].map((messageId): Message => ({
      ...sample,
      messageId,
      queuedSend: messageId === 'q1' ? { send: null, delay: 0, readChat: false, readMessages: false } : null,
      timestamp: 99 - Number(messageId[1]),
    }));
    await bench().commit(...waiting.map(queued), status(['q2'], 'Failed', { chatId: sample.chatId }));
    const { messages: store } = stores;
    assert.equal(idsOf(await store.queued(record.id, 10)), 'q1');
    assert.equal(idsOf(await store.interrupted(record.id, 96, 10)), 'q3');
    assert.equal(idsOf(await store.interrupted(record.id, 95, 10)), '');
    assert.equal(idsOf(await store.queued('rmessages other', 10)), '');
    const queues = (await store.queueing()).filter(({ id }) => id.startsWith('rmessages'));
    assert.deepEqual(queues, [{ id: record.id, queued: 1 }]);
  });
};

export const messageStoreSuite = (kind: string, open: Open): void => {
  describe(`messages, ${kind}`, () => {
    let opened: readonly [plain: Bench, people: Bench];
    before(async () => {
      const plain = await benchOf(open, 'rmessages');
      const [other, known] = await Promise.all(['rmessages other', 'rmessages people'].map((id) => benchOf(async () => plain.stores, id)));
      opened = [plain, known!];
      for (const bench of [plain, other!]) await bench.commit(...messages.map((message) => arrived(message)));
      await known!.commit(
        ...people.map(([messageId, chatId, chatLid, timestamp]) =>
          arrived({ ...sample, messageId, chatId, chatLid, timestamp, fromMe: false }),
        ),
      );
    });

    for (const [query, expected] of finds)
      test(`${JSON.stringify(query)} finds '${expected}'`, async () => {
        const [{ stores, record }] = opened;
        const page = await stores.messages.find(record.id, { limit: 100, offset: 0, ...query });
        assert.equal(`${idsOf(page.messages)}${page.more ? ' …' : ''}`, expected);
      });

    test('one by its id, or null', async () => {
      assert.equal((await opened[0].message('m1'))?.chatId, 'even@s.whatsapp.net');
      assert.equal((await opened[0].message(`${owner}:r0000001`))?.messageId, 'm2');
      assert.equal(await opened[0].message('nothing'), null);
    });

    test('several by any form of their ids, those that are unknown left out', async () => {
      const [{ stores, record }] = opened;
      const named = await stores.messages.named(record.id, ['m1', 'r0000001', `${owner}:m3`, 'm1', 'nothing', 'zero\0']);
      assert.deepEqual(
        [...named].map(([id, { messageId, chatId, fromMe }]) => [id, messageId, chatId, fromMe]),
        [
          ['m1', 'm1', 'even@s.whatsapp.net', false],
          ['r0000001', 'm2', 'odd@g.us', false],
          [`${owner}:m3`, 'm3', 'even@s.whatsapp.net', false],
        ],
      );
    });

    declareNames(() => opened[1]);
    declareNewest(() => opened[0]);
    declareQueue(() => opened[0]);
  });
};
