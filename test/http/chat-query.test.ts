/** Tests the query language of POST /chat/find. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatFilter, ChatQuery } from '#actors/gateway.ts';
import { chatQueryOf } from '#src/http/routes/chat.ts';

type Body = Parameters<typeof chatQueryOf>[0];

const queryOf = (body: Body): ChatQuery => {
  const query = chatQueryOf(body);
  assert.ok(query.ok, JSON.stringify(query));
  return query.value;
};

const filters: readonly (readonly [title: string, body: Body, expected: readonly ChatFilter[]])[] = [
  ['a text contains', { name: 'ana' }, [{ field: 'name', operator: '~', value: 'ana' }]],
  ['a text has every operator', { name: '!~ana' }, [{ field: 'name', operator: '!~', value: 'ana' }]],
  ['a text differs from nothing', { lead_email: '!=' }, [{ field: 'lead_email', operator: '!=', value: '' }]],
  ['a text may be sent as a number', { phone: 5511 }, [{ field: 'phone', operator: '~', value: '5511' }]],
  ['a number equals', { wa_unreadCount: 2 }, [{ field: 'wa_unreadCount', operator: '=', value: 2 }]],
  ['a number is compared', { wa_lastMsgTimestamp: '>=1700000000000' }, [{ field: 'wa_lastMsgTimestamp', operator: '>=', value: 1.7e12 }]],
  ['a number may have spaces', { wa_unreadCount: '> 0' }, [{ field: 'wa_unreadCount', operator: '>', value: 0 }]],
  ['a flag equals', { wa_isGroup: true }, [{ field: 'wa_isGroup', operator: '=', value: true }]],
  ['a flag may be a word', { wa_archived: '!=False' }, [{ field: 'wa_archived', operator: '!=', value: false }]],
  ['a list has an entry', { lead_tags: 'new' }, [{ field: 'lead_tags', operator: '=', value: 'new' }]],
  ['a list has an entry that contains', { lead_tags: '~ne' }, [{ field: 'lead_tags', operator: '~', value: 'ne' }]],
  ['a text equals', { lead_status: '=won' }, [{ field: 'lead_status', operator: '=', value: 'won' }]],
  ['the quick id is a field like others', { wa_fastid: '551:552' }, [{ field: 'wa_fastid', operator: '~', value: '551:552' }]],
  ['empty texts do not filter', { name: '', wa_isGroup: '' }, []],
  ['unknown fields are ignored, those of every object too', { nothing: 'x', constructor: 'x', toString: 'x' }, []],
];

for (const [title, body, expected] of filters) {
  test(`chatQueryOf: ${title}`, () => assert.deepEqual(queryOf(body).filters, expected));
}

/** Fields of text by which chats can be found. */
const manyFields = [
  'name',
  'phone',
  'wa_name',
  'wa_contactName',
  'wa_chatid',
  'wa_chatlid',
  'wa_fastid',
  'owner',
  'lead_name',
  'lead_fullName',
  'lead_email',
  'lead_personalid',
  'lead_status',
  'lead_notes',
  'lead_assignedAttendant_id',
  ...Array.from({ length: 9 }, (_, n) => `lead_field0${n + 1}`),
]
  .filter((name) => queryOf({ [name]: '~a' }).filters.length === 1)
  .slice(0, 19);

const refusals: readonly (readonly [title: string, body: Body, message: string])[] = [
  ['a number that is none', { wa_unreadCount: '>many' }, 'wa_unreadCount must be a whole number'],
  ['a number that is only an operator', { wa_unreadCount: '>' }, 'wa_unreadCount must be a whole number'],
  ['a number that is no safe integer', { wa_unreadCount: 1e300 }, 'wa_unreadCount must be a whole number'],
  ['a flag that is none', { wa_isGroup: 'maybe' }, 'wa_isGroup must be true or false'],
  ['a flag that is compared', { wa_isGroup: '>true' }, 'wa_isGroup cannot be compared by >'],
  ['a list that is compared', { lead_tags: '>=a' }, 'lead_tags cannot be compared by >='],
  ['more filters than are taken', Object.fromEntries(manyFields.map((name) => [name, '~a'])), 'at most 18 filters are taken, these are 19'],
  ['a sort by what is no field', { sort: '-password' }, 'sort must be a field of the chat, with a minus before it for descending order'],
];

for (const [title, body, message] of refusals) {
  test(`chatQueryOf: refuses ${title}`, () => {
    assert.deepEqual(chatQueryOf(body), { ok: false, refusal: { reason: 'invalid', message } });
  });
}

test('chatQueryOf: reads order, page and junction', () => {
  assert.deepEqual(queryOf({ sort: '-wa_lastMsgTimestamp', operator: 'or', limit: 10, offset: 5 }), {
    filters: [],
    any: true,
    sort: { field: 'wa_lastMsgTimestamp', descending: true },
    limit: 10,
    offset: 5,
  });
  assert.deepEqual(queryOf({ sort: 'name' }).sort, { field: 'name', descending: false });
});

test('chatQueryOf: the limit is 2000 chats if the request has no positive limit, and at most 5000', () => {
  assert.deepEqual(
    [undefined, 0, -1, -5, 7, 1e6].map((limit) => queryOf({ limit }).limit),
    [2000, 2000, 2000, 2000, 7, 5000],
  );
});
