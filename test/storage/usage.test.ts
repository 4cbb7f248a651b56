/** Tests the report on the size of the database: exact for small tables, a bounded sample for large ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageStatements } from '#src/storage/stores/monitoring.ts';
import { instance, message, owner } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const { epoch } = instance.record;
const run = <T = object>(text: string): Promise<readonly T[]> => database.admin.rows<T>({ name: '', text }, []);

const storeFile = (instanceId: string, hash: string, size: number) =>
  storage.fileRows.add({
    name: `${instanceId}-${hash}`,
    instanceId,
    hash: hash.repeat(64),
    size,
    mimetype: 'image/jpeg',
    filename: '',
    messageId: '',
    madeOf: '',
    created: 1,
    used: 1,
  });

/** Copies the first message of an instance, with a text that fills a third of a page. In pieces, because a statement has a time limit. */
const fill = async (id: string, copies: number): Promise<void> => {
  for (let from = 1; from <= copies; from += 1_000)
    await run(`insert into message select r.* from message m, generate_series(${from}, ${from + 999}) n,
        lateral jsonb_populate_record(m, jsonb_build_object('message_id', 'copy' || n, 'seq', 1000000 + n, 'text', repeat('x', 2500))) r
      where m.instance_id = '${id}' and m.message_id = 'm0'`);
};

test('usage: a small database is counted exactly, the largest instances first', async () => {
  assert.deepEqual((await storage.databaseUse()).messages.instances, []);
  for (const [id, texts] of Object.entries({ ra: ['a'], rb: ['b'.repeat(900), 'c'.repeat(900)] })) {
    await storage.instances.insert({ ...instance.record, id, token: id });
    const entries = texts.map((text, at) => ({
      kind: 'message' as const,
      message: { ...message, messageId: `m${at}`, text },
      chat: { chatId: message.chatId },
      unread: false,
    }));
    await storage.journal.commit({ id, owner, epoch }, entries, () => []);
  }
  await storeFile('ra', 'a', 3_000);
  await storeFile('ra', 'b', 4_000);
  await storeFile('rb', 'a', 3_000);
  const { bytes, version, tables, messages, files } = await storage.databaseUse();
  assert.ok(bytes > 1_000_000);
  assert.match(version, /^\d+\.\d+/);
  assert.deepEqual(
    [messages.isExact, messages.instances.map(({ instanceId, rows }) => [instanceId, rows])],
    [
      true,
      [
        ['rb', 2],
        ['ra', 1],
      ],
    ],
  );
  assert.deepEqual(files, {
    isExact: true,
    bytes: 10_000,
    instances: [
      { instanceId: 'ra', rows: 2, bytes: 7_000 },
      { instanceId: 'rb', rows: 1, bytes: 3_000 },
    ],
  });
  // The bytes of instances are their shares of the whole table.
  const whole = tables.find(({ name }) => name === 'message')?.bytes ?? 0;
  assert.ok(Math.abs(messages.instances.reduce((sum, one) => sum + one.bytes, 0) - whole) <= 2);
  assert.equal(messages.bytes, whole);
});

test('usage: a sample of a large table reads a bounded number of pages, and is close to the true value', async () => {
  await fill('ra', 9_000);
  await fill('rb', 3_000);
  const [{ pages } = { pages: 0 }] = await run<{ pages: number }>(`select (pg_relation_size('message') / 8192)::int as pages`);
  assert.ok(pages > 3_000, `the table has ${pages} pages only`);
  const { messages } = await storage.databaseUse();
  assert.equal(messages.isExact, false);
  const rowsOf = (id: string) => messages.instances.find(({ instanceId }) => instanceId === id)?.rows ?? 0;
  assert.ok(Math.abs(rowsOf('ra') - 9_000) < 1_500, `ra: ${rowsOf('ra')}`);
  assert.ok(Math.abs(rowsOf('rb') - 3_000) < 1_500, `rb: ${rowsOf('rb')}`);
  const [plan] = await run<{ 'QUERY PLAN': readonly { readonly Plan: Record<string, number> }[] }>(
    `explain (analyze, buffers, format json) ${usageStatements.message.text}`,
  );
  const read = plan?.['QUERY PLAN'][0]?.Plan ?? {};
  const blocks = (read['Shared Hit Blocks'] ?? 0) + (read['Shared Read Blocks'] ?? 0);
  assert.ok(blocks > 500 && blocks < 2_600, `${blocks} of ${pages} pages were read`);
});
