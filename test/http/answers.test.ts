/** Tests pages whose size in bytes is limited. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat, group, message } from '#test/contract/samples.ts';
import { asInstance, setUp } from './setup.ts';
import { countChats } from '#src/storage/journal/chat-counts.ts';
import { pageWithin, serialise, withPage } from '#src/http/answers.ts';

const answerBytes = 65_536;

test('POST /message/find: a page ends before the message that would exceed the limit, and has the offset of the next page', async (t) => {
  const { app, gateway } = await setUp(t, { answerBytes });
  const all = Array.from({ length: 100 }, (_, at) => ({ ...message, id: `r${at}`, text: 'é'.repeat(1_000) }));
  gateway.findMessages = async (_id, { limit, offset }) => ({
    messages: all.slice(offset, offset + limit),
    more: offset + limit < all.length,
  });
  const seen: string[] = [];
  for (let offset = 0; ;) {
    const reply = await app.inject({ method: 'POST', url: '/message/find', headers: asInstance, payload: { limit: 50, offset } });
    assert.ok(Buffer.byteLength(reply.body) <= answerBytes, `${Buffer.byteLength(reply.body)} bytes`);
    assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8');
    const page = reply.json();
    seen.push(...page.messages.map(({ id }: { readonly id: string }) => id));
    assert.deepEqual([page.returnedMessages, page.limit, page.offset, page.nextOffset], [page.messages.length, 50, offset, seen.length]);
    if (!page.hasMore) break;
    assert.ok(page.messages.length < 50);
    offset = page.nextOffset;
  }
  assert.deepEqual(
    seen,
    all.map(({ id }) => id),
  );
});

test('POST /chat/find: a page ends before the chat that would exceed the limit, and has the offset of the next page', async (t) => {
  const { app, gateway } = await setUp(t, { answerBytes });
  const all = Array.from({ length: 90 }, (_, at) => ({ ...chat, id: `r${at}`, notes: 'x'.repeat(1_000) }));
  gateway.findChats = async (_id, { limit, offset }) => ({
    chats: all.slice(offset, offset + limit),
    total: all.length,
    stats: countChats([]),
  });
  let [offset, pages] = [0, 0];
  for (let more = true; more; pages += 1) {
    const reply = await app.inject({ method: 'POST', url: '/chat/find', headers: asInstance, payload: { offset } });
    assert.ok(Buffer.byteLength(reply.body) <= answerBytes, `${Buffer.byteLength(reply.body)} bytes`);
    const { chats, pagination } = reply.json();
    assert.deepEqual(pagination, {
      totalRecords: 90,
      limit: 2000,
      offset,
      nextOffset: offset + chats.length,
      hasMore: offset + chats.length < 90,
    });
    assert.equal(chats[0].id, `r${offset}`);
    offset = pagination.nextOffset;
    more = pagination.hasMore;
  }
  assert.ok(offset === 90 && pages > 2, `${pages} pages to ${offset}`);
});

for (const [title, count] of [
  ['all groups when they fit', 250],
  ['groups until the answer is full', 2_000],
] as const)
  test(`GET /group/list: reads the groups in batches, and answers with ${title}`, async (t) => {
    const { app, gateway } = await setUp(t, { answerBytes: 524_288 });
    const all = Array.from({ length: count }, (_, at) => ({ ...group, id: `${at}@g.us`, members: [] }));
    const reads: number[] = [];
    gateway.listGroups = async (_id, { limit, offset }) => {
      reads.push(offset);
      return { ok: true, value: { groups: all.slice(offset, offset + limit), total: count } };
    };
    const reply = await app.inject({ url: '/group/list', headers: asInstance });
    assert.ok(Buffer.byteLength(reply.body) <= 524_288, `${Buffer.byteLength(reply.body)} bytes`);
    const { groups, pagination } = reply.json();
    const shown = groups.map(({ JID }: { readonly JID: string }) => JID);
    assert.deepEqual(
      shown,
      all.slice(0, shown.length).map(({ id }) => id),
    );
    assert.deepEqual([pagination.nextOffset, pagination.hasMore], [shown.length, shown.length < count]);
    assert.deepEqual([shown.length === count, reads], [count === 250, Array.from({ length: reads.length }, (_, n) => n * 100)]);
    assert.ok(reads.length > 2 && reads.length < 20, `${reads.length} reads`);
  });

test('page: an item that is larger than the limit is returned alone', () => {
  const page = pageWithin(['x'.repeat(5_000), 'y'], (text) => ({ text }), 2_000);
  assert.deepEqual([page.views.length, page.cut], [1, true]);
});

for (const [title, items, more] of [
  ['items and more', [1, 'zwei', { three: '"' }], { a: 1, b: [null] }],
  ['no items', [], { a: 1 }],
  ['nothing more', [1], {}],
] as const) {
  test(`page: the text of an answer with ${title} is its JSON`, () => {
    const answer = withPage(
      'list',
      pageWithin<unknown, unknown>(items, (item) => item, 100_000),
      more,
    );
    assert.deepEqual(JSON.parse(serialise(answer)), JSON.parse(JSON.stringify(answer)));
    assert.deepEqual(JSON.parse(serialise(answer)), { list: items, ...more });
  });
}
