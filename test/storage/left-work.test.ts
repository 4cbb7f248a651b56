/** Tests the search for work that earlier owners left: one statement finds it for a whole batch of instances. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Message } from '#actors/model.ts';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { leftWorkStatements, createLeftWorkStore } from '#src/storage/stores/leases.ts';
import { instance, message, owner, webhook } from '#test/contract/samples.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';
import { planOf } from '#test/support/plans.ts';

const database = await testDatabase();
const storage = await database.storage();
const pool = await openDatabase({ url: database.url, log: quietLog, poolSize: 1 });
after(() => pool.close());
let statements = 0;
const rows = (...args: Parameters<Database['rows']>) => {
  statements += 1;
  return pool.rows(...args);
};
const left = createLeftWorkStore({ ...pool, rows: rows as Database['rows'] });
const run = (text: string, values: readonly unknown[] = []) => database.admin.rows<{ id: string }>({ name: '', text }, values);

const ids = Array.from({ length: 200 }, (_, at) => `r${String(at).padStart(14, '0')}`);
for (const id of ids) await storage.instances.insert({ ...instance.record, id, token: id, epoch: 1 });

const queue = async (id: string, messageId: string, queuedSend: Message['queuedSend']): Promise<void> => {
  const queued = { ...message, messageId, fromMe: true, wasSentByApi: true, status: 'Queued', queuedSend } as const;
  await storage.journal.commit({ id, owner, epoch: 1 }, [{ kind: 'queued', message: queued, chat: { chatId: message.chatId } }], () => []);
};

const wait = (webhookId: string, instanceId: string, notBefore: number) =>
  run(
    `insert into outbox (webhook_id, instance_id, event_id, type, message_type, lane, body, attempts, at, not_before)
      values ($1, $2, '', 'messages', '', '', '', 0, 1, $3)`,
    [webhookId, instanceId, notBefore],
  );

test('left work: one statement finds queues, interrupted messages, webhooks and campaigns of a whole batch', async () => {
  const [a, b, c] = ids as [string, string, string];
  for (const [id, instanceId] of [
    ['own', a],
    ['quiet', a],
    ['everywhere', null],
  ] as const)
    await storage.webhooks.save({ ...webhook, id, instanceId }, 1);
  await queue(a, 'Q1', { send: null, delay: 0, readChat: false, readMessages: false });
  await queue(b, 'Q2', null);
  await wait('own', a, 0);
  await wait('everywhere', a, 5);
  await wait('everywhere', c, 0);
  await run(
    `insert into campaign (instance_id, id, info, status, scheduled_for, delay_min, delay_max, total, created, updated)
      values ($1, 'f', '', 'waiting', 1, 0, 0, 1, 1, 1), ($2, 'f', '', 'done', 1, 0, 0, 1, 1, 1)`,
    [b, c],
  );
  const found = new Map((await left.of(ids)).map(({ webhooks, ...one }) => [one.id, { ...one, webhooks: webhooks.toSorted() }]));
  assert.equal(statements, 1);
  const nothing = { queued: 0, webhooks: [], isInterrupted: false, hasCampaign: false };
  assert.deepEqual(found.get(a), { ...nothing, id: a, queued: 1, webhooks: ['everywhere', 'own'] });
  assert.deepEqual(found.get(b), { ...nothing, id: b, isInterrupted: true, hasCampaign: true });
  assert.deepEqual(found.get(c), { ...nothing, id: c, webhooks: ['everywhere'] });
  for (const id of ids.slice(3)) assert.deepEqual(found.get(id), { ...nothing, id });
});

test('left work: the cost of a take depends on the taken instances only, not on the waiting rows of others', async () => {
  const many = `insert into outbox (webhook_id, instance_id, event_id, type, message_type, lane, body, attempts, at, not_before)
    select 'everywhere', 'x' || n, '', 'messages', '', '', '', 0, 1, n % 2 from generate_series(1, 20000) as n`;
  await run(many);
  await run('analyze outbox');
  const plan = await planOf(database.admin, leftWorkStatements.of);
  const reads = plan.filter((node) => node['Relation Name'] === 'outbox');
  assert.ok(reads.length > 0 && reads.every((node) => node['Node Type'] !== 'Seq Scan'), 'it reads the whole outbox');
});
