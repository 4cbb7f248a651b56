/** What the stores answer: messages, chats by filters and order, waiting deliveries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatPatch, Entry, Message } from '#actors/model.ts';
import type { ChatFilter } from '#actors/ports.ts';
import { instance, message as sample, owner, webhook } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const id = instance.record.id;
for (const [at, one] of [id, 'rother'].entries()) {
  await storage.instances.insert({ ...instance.record, id: one, token: one });
  await storage.webhooks.save({ ...webhook, id: `hook${at}`, instanceId: one });
}

const texts = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6'];
const messages = texts.map((messageId, at): Message => ({
  ...sample,
  id: `r000000${at}`,
  messageId,
  chatId: at % 2 === 0 ? 'even@s.whatsapp.net' : 'odd@g.us',
  timestamp: 1_000 * Math.floor(at / 2),
  trackSource: at < 2 ? 'crm' : '',
  trackId: at === 1 ? 'order' : '',
}));
const entryOf = (message: Message): Entry => ({ kind: 'message', message, chat: { chatId: message.chatId }, unread: true });
await storage.journal.commit({ id, owner, epoch: 1 }, messages.map(entryOf), () => ['hook0']);
await storage.journal.commit({ id: 'rother', owner, epoch: 1 }, messages.map(entryOf), () => ['hook1']);

// Everything is stored before the first test is declared: the runner may end between two tests while a file still waits.
const chats: readonly ChatPatch[] = [
  {
    chatId: '1@s.whatsapp.net',
    name: 'Ana 100%',
    unreadCount: 3,
    labels: [`${owner}:7`, `${owner}:20`],
    lastMessageTimestamp: 300,
    archived: true,
  },
  { chatId: '2@s.whatsapp.net', name: 'ana_b', unreadCount: 0, labels: [`${owner}:17`], lastMessageTimestamp: 100 },
  { chatId: '3@g.us', name: 'Bruno', unreadCount: 12, lastMessageTimestamp: 200, groupAdmin: true },
];
const chatInstance = { id: 'rchats', owner, epoch: 1 };
await storage.instances.insert({ ...instance.record, id: chatInstance.id, token: 'chats' });
await storage.journal.commit(
  chatInstance,
  chats.map((chat): Entry => ({ kind: 'chat', chat, create: true })),
  () => [],
);
const extra = { lead_name: 'Silva', lead_tags: ['hot', 'new', 'by:mail'], lead_isTicketOpen: true, lead_kanbanOrder: 5 };
await database.admin.rows({ name: '', text: `update chat set extra = $1 where chat_id = '1@s.whatsapp.net'` }, [JSON.stringify(extra)]);

// Two people: the number of one became known when messages stood under the LID already, that of the other was known from the beginning.
const people = { id: 'rpeople', owner, epoch: 1 };
await storage.instances.insert({ ...instance.record, id: people.id, token: 'people' });
const [late, early] = ['5511999990001', '5511999990002'];
const parts: readonly (readonly [id: string, chatId: string, chatLid: string, at: number])[] = [
  ['l1', '100000000000001@lid', '', 1],
  ['l2', `${late}@s.whatsapp.net`, '100000000000001@lid', 2],
  ['l3', '100000000000001@lid', '', 3],
  ['e1', `${early}@s.whatsapp.net`, '100000000000002@lid', 4],
  ['g1', '120363000000000009@g.us', '', 5],
];
await storage.journal.commit(
  people,
  parts.map(([messageId, chatId, chatLid, at]): Entry => {
    const message = { ...sample, messageId, chatId, chatLid, timestamp: at };
    return { kind: 'message', message, chat: { chatId, ...(chatLid === '' ? {} : { chatLid }) }, unread: true };
  }),
  () => [],
);

const named: readonly (readonly [name: string, messages: string, chat: string])[] = [
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
];
for (const [name, expected, chatId] of named)
  test(`messages and chats: ${name} names one chat, by whichever address it is kept`, async () => {
    const page = await storage.messages.find(people.id, { chatId: name, limit: 10, offset: 0 });
    assert.equal(page.messages.map(({ messageId }) => messageId).join(' '), expected);
    assert.equal((await storage.messages.unread(people.id, name, 10)).map(({ messageId }) => messageId).join(' '), expected);
    assert.equal((await storage.chats.get(people.id, name))?.chatId, chatId);
    if (!/[@:]/.test(name)) return;
    for (const field of ['wa_chatid', 'wa_fastid', 'wa_chatlid']) {
      const filters = [{ field, operator: '~', value: name } as const];
      const { chats: found, total } = await storage.chats.find(people.id, { filters, any: false, sort: null, limit: 10, offset: 0 });
      assert.ok(found.some((chat) => chat.chatId === chatId) && total === (expected.includes('l') ? 2 : 1), `${field}: ${total}`);
    }
  });

for (const phone of ['5511999990002', '+55 11 99999 0002', '(11) 99999-0002', '990002'])
  test(`chats: a phone is found as ${phone}, however it is grouped`, async () => {
    const filters = [{ field: 'phone', operator: '~', value: phone } as const];
    const { chats: found } = await storage.chats.find(people.id, { filters, any: false, sort: null, limit: 10, offset: 0 });
    assert.deepEqual(
      found.map((chat) => chat.phone),
      ['+55 11 99999 0002'],
    );
  });

test('messages: pages over both addresses of a chat follow one another', async () => {
  const pages = [0, 1, 2, 3].map((offset) => storage.messages.find(people.id, { chatId: late, limit: 1, offset }));
  const ids = (await Promise.all(pages)).map(({ messages: [one], more }) => `${one?.messageId}${more ? '+' : ''}`);
  assert.deepEqual(ids, ['l3+', 'l2+', 'l1', 'undefined']);
});

const found = async (query: object): Promise<string> => {
  const page = await storage.messages.find(id, { limit: 100, offset: 0, ...query });
  return `${page.messages.map(({ messageId }) => messageId).join(' ')}${page.more ? ' …' : ''}`;
};

const finds: readonly (readonly [object, string])[] = [
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
  [{ id: `x' or '1'='1` }, ''],
  [{ id: 'zero\0' }, ''],
];
for (const [query, expected] of finds) {
  test(`messages: ${JSON.stringify(query)} finds '${expected}'`, async () => assert.equal(await found(query), expected));
}

test('messages: one by its id, or null', async () => {
  assert.equal((await storage.messages.byId(id, 'm1'))?.chatId, 'even@s.whatsapp.net');
  assert.equal(await storage.messages.byId(id, 'nothing'), null);
});

test('messages: those that wait come oldest first', async () => {
  for (const messageId of ['q1', 'q2', 'q3']) {
    const queuedSend = messageId === 'q1' ? { send: null, delay: 0, readChat: false, readMessages: false } : null;
    const message = { ...sample, messageId, queuedSend, timestamp: 99 - Number(messageId[1]) };
    await storage.journal.commit({ id, owner, epoch: 1 }, [{ kind: 'queued', message, chat: { chatId: message.chatId } }], () => []);
  }
  const change = {
    kind: 'status',
    messageIds: ['q2'],
    chatId: sample.chatId,
    status: 'Failed',
    sender: '',
    senderPn: '',
    senderLid: '',
    fromMe: true,
    at: 1,
  } as const;
  await storage.journal.commit({ id, owner, epoch: 1 }, [change], () => []);
  const ids = async (messages: Promise<readonly Message[]>) => (await messages).map(({ messageId }) => messageId);
  assert.deepEqual(await ids(storage.messages.queued(id, 10)), ['q1']);
  assert.deepEqual(await ids(storage.messages.interrupted(id, 96, 10)), ['q3']);
  assert.deepEqual(await ids(storage.messages.interrupted(id, 95, 10)), []);
  assert.deepEqual(await storage.messages.queued('rother', 10), []);
  assert.deepEqual(
    (await storage.messages.queueing()).filter((one) => one.id === id),
    [{ id, queued: 1 }],
  );
});

const listed = async (filters: readonly ChatFilter[], more: object = {}): Promise<string> => {
  const { chats: page, total } = await storage.chats.find(chatInstance.id, {
    filters,
    any: false,
    sort: null,
    limit: 10,
    offset: 0,
    ...more,
  });
  return `${page.map(({ chatId }) => chatId[0]).join('')}/${total}`;
};
const filter = (field: string, operator: ChatFilter['operator'], value: ChatFilter['value']): ChatFilter => ({ field, operator, value });

const filtered: readonly (readonly [string, readonly ChatFilter[], object, string])[] = [
  ['no filter sorts by the last message', [], {}, '132/3'],
  ['a page counts all', [], { limit: 1, offset: 1 }, '3/3'],
  ['a page behind the end', [], { limit: 2, offset: 5 }, '/3'],
  ['contains, whatever the case', [filter('name', '~', 'ANA')], {}, '12/2'],
  ['contains takes signs of patterns as they are', [filter('name', '~', '0%')], {}, '1/1'],
  ['contains takes an underscore as it is', [filter('name', '~', 'a_b')], {}, '2/1'],
  ['does not contain', [filter('name', '!~', 'ana')], {}, '3/1'],
  ['equals', [filter('name', '=', 'Bruno')], {}, '3/1'],
  ['differs', [filter('name', '!=', 'Bruno')], {}, '12/2'],
  ['number at least', [filter('wa_unreadCount', '>=', '3')], {}, '13/2'],
  ['number below', [filter('wa_unreadCount', '<', 3)], {}, '2/1'],
  ['number, no number given', [filter('wa_unreadCount', '=', 'many')], {}, '/0'],
  ['boolean', [filter('wa_archived', '=', true)], {}, '1/1'],
  ['boolean as text', [filter('wa_archived', '=', 'false')], {}, '32/2'],
  ['boolean differs', [filter('wa_isGroup', '!=', 'true')], {}, '12/2'],
  ['list contains part of an entry', [filter('wa_label', '~', '7')], {}, '12/2'],
  ['list has an entry', [filter('lead_tags', '=', 'new')], {}, '1/1'],
  ['list has no entry of which this is a part', [filter('lead_tags', '=', 'ne')], {}, '/0'],
  ['list has no such entry', [filter('lead_tags', '!=', 'new')], {}, '32/2'],
  ['an entry of a tag is not taken apart', [filter('lead_tags', '=', 'mail')], {}, '/0'],
  ['label by its bare id', [filter('wa_label', '=', '7')], {}, '1/1'],
  ['label by its full id', [filter('wa_label', '=', `${owner}:17`)], {}, '2/1'],
  ['label of another account', [filter('wa_label', '=', '551100:7')], {}, '/0'],
  ['label that no chat has, though one begins like it', [filter('wa_label', '=', '1')], {}, '/0'],
  ['label by no part of its owner', [filter('wa_label', '=', owner)], {}, '/0'],
  ['label not there', [filter('wa_label', '!=', '7')], {}, '32/2'],
  ['lead text', [filter('lead_name', '~', 'silv')], {}, '1/1'],
  ['lead text absent counts as empty', [filter('lead_name', '=', '')], {}, '32/2'],
  ['lead list', [filter('lead_tags', '=', 'hot')], {}, '1/1'],
  ['lead boolean', [filter('lead_isTicketOpen', '=', true)], {}, '1/1'],
  ['lead number', [filter('lead_kanbanOrder', '>', 4)], {}, '1/1'],
  ['owner', [filter('owner', '=', owner)], {}, '132/3'],
  ['fast id', [filter('wa_fastid', '=', `${owner}:2`)], {}, '2/1'],
  ['all of several', [filter('name', '~', 'ana'), filter('wa_unreadCount', '>', 0)], {}, '1/1'],
  ['any of several', [filter('name', '=', 'Bruno'), filter('wa_archived', '=', true)], { any: true }, '13/2'],
  ['sorted up', [], { sort: { field: 'wa_unreadCount', descending: false } }, '213/3'],
  ['sorted down by a lead field', [], { sort: { field: 'lead_kanbanOrder', descending: true }, limit: 1 }, '1/3'],
  ['a value that tries to be a statement', [filter('name', '=', `'; drop table chat; --`)], {}, '/0'],
  ['a value with a zero', [filter('name', '~', 'a\0')], {}, '12/2'],
];
for (const [title, filters, more, expected] of filtered) {
  test(`chats: ${title}`, async () => assert.equal(await listed(filters, more), expected));
}

test('chats: an unknown field is refused, before any statement is made of it', async () => {
  for (const field of ['nothing', 'constructor', '__proto__', `name" or 1=1 --`]) {
    await assert.rejects(listed([filter(field, '=', 'x')]), TypeError);
    await assert.rejects(listed([], { sort: { field, descending: true } }), TypeError);
  }
});

test('chats: counts over all of them', async () => {
  const stats = await storage.chats.stats(chatInstance.id);
  assert.deepEqual(stats, {
    total: 3,
    unread: 2,
    archived: 1,
    pinned: 0,
    blocked: 0,
    groups: 1,
    groups_admin: 1,
    groups_member: 0,
    groups_announce: 0,
  });
});
