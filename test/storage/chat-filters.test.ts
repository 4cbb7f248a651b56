/** Tests filters and orders of chats by fields of the API, on PostgreSQL. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatPatch } from '#actors/model.ts';
import type { ChatFilter } from '#actors/ports.ts';
import { owner } from '#test/contract/samples.ts';
import { Bench, chat } from '#test/ports/entries.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const [bench, people] = [new Bench(storage, 'rchats'), new Bench(storage, 'rpeople')];

// All rows are stored before the first test is declared, because the runner may end between two tests while a file still waits.
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
const extra = { lead_name: 'Silva', lead_tags: ['hot', 'new', 'by:mail'], lead_isTicketOpen: true, lead_kanbanOrder: 5 };
await bench.store();
await bench.commit(...chats.map((patch) => chat(patch)), chat({ chatId: '1@s.whatsapp.net', extra }));

/** Chats that are stored by the number, and by the LID. */
const [number, lid] = ['5511999990002@s.whatsapp.net', '100000000000003@lid'];
await people.store();
await people.commit(
  chat({ chatId: number, chatLid: '100000000000002@lid' }),
  chat({ chatId: lid }),
  chat({ chatId: '120363000000000009@g.us' }),
);

const listed = async (filters: readonly ChatFilter[], more: object = {}): Promise<string> => {
  const { chats: page, total } = await storage.chats.find(bench.record.id, {
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

test('chats: an unknown field is refused before a statement is built', async () => {
  for (const field of ['nothing', 'constructor', '__proto__', `name" or 1=1 --`]) {
    await assert.rejects(listed([filter(field, '=', 'x')]), TypeError);
    await assert.rejects(listed([], { sort: { field, descending: true } }), TypeError);
  }
});

const named: readonly (readonly [name: string, chatId: string])[] = [
  [number, number],
  ['5511999990002@c.us', number],
  ['5511999990002:57@s.whatsapp.net', number],
  ['100000000000002@lid', number],
  ['100000000000002:12@lid', number],
  [`${owner}:5511999990002`, number],
  [`${owner}:100000000000002`, number],
  [lid, lid],
  [`${owner}:100000000000003@lid`, lid],
  [`${owner}:120363000000000009`, '120363000000000009@g.us'],
];
const find = (field: string, operator: ChatFilter['operator'], value: string) =>
  storage.chats.find(people.record.id, { filters: [{ field, operator, value }], any: false, sort: null, limit: 10, offset: 0 });

for (const [name, chatId] of named)
  test(`chats: ${name} is the same chat in every field that names one`, async () => {
    for (const field of ['wa_chatid', 'wa_fastid', 'wa_chatlid'])
      for (const operator of ['~', '='] as const) {
        const { chats: found } = await find(field, operator, name);
        assert.deepEqual(
          found.map((one) => one.chatId),
          [chatId],
          `${field} ${operator}`,
        );
      }
    assert.equal((await find('wa_chatid', '!=', name)).chats.length, 2);
  });

test('chats: a part of an id is searched in all of them', async () => {
  assert.equal((await find('wa_chatid', '~', '000000')).chats.length, 2);
  assert.equal((await find('wa_chatid', '=', '000000')).chats.length, 0);
});

for (const phone of ['5511999990002', '+55 11 99999 0002', '(11) 99999-0002', '990002'])
  test(`chats: a phone is found as ${phone}, however it is grouped`, async () => {
    const { chats: found } = await find('phone', '~', phone);
    assert.deepEqual(
      found.map((one) => one.phone),
      ['+55 11 99999 0002'],
    );
  });
