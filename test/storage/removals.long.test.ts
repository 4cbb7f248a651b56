/** Tests the removal of instances and webhooks with many rows. They disappear at once, and their rows are deleted in pieces across interruptions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Removal } from '#actors/ports.ts';
import { EpochLost } from '#actors/ports.ts';
import { tablesOfInstances } from '#src/storage/stores/removals.ts';
import { instance, message, owner, webhook } from '#test/contract/samples.ts';
import { putCampaign } from '#test/support/campaign-rows.ts';
import { removeRows } from '#test/support/removals.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const { chatbots, instances, webhooks, journal, outbox, removals, vault } = storage;
const { epoch } = instance.record;
const run = (text: string, values: readonly unknown[] = []) => database.admin.rows<Record<string, unknown>>({ name: '', text }, values);

await webhooks.save({ ...webhook, id: 'global', instanceId: null }, 0);

const group = { id: '1@g.us', owner: { id: '', pn: '', lid: '' }, createdAt: null, members: [] };
const label = { id: '7', name: 'New', color: 3, deleted: false };
const arrived = (messageId: string) =>
  ({ kind: 'message', message: { ...message, messageId }, chat: { chatId: 'c' }, unread: true }) as const;

let made = 0;
/** Creates an instance with a row in each table, a webhook, and waiting and past deliveries. */
const place = async (): Promise<{ id: string; hook: string }> => {
  const [id, hook] = [`r${(made += 1)}`, `w${made}`];
  await instances.insert({ ...instance.record, id, token: id });
  await webhooks.save({ ...webhook, id: hook, instanceId: id }, 1);
  const { deliveries } = await journal.commit(
    { id, owner, epoch },
    [
      ...['m1', 'm2', 'm3'].map(arrived),
      { kind: 'chat', chat: { chatId: '1@s.whatsapp.net', contactName: 'Ana' }, create: false },
      { kind: 'definition', definition: { of: 'label', value: label } },
      { kind: 'group', group },
      { kind: 'groupsListed', groupIds: [group.id], at: 1 },
    ],
    () => [hook, 'global'],
  );
  const past = deliveries.filter((_, n) => n < 4);
  await outbox.archive(
    past.map(({ seq }, n) => ({ seq, instanceId: id, epoch, dead: n < 2, attempts: 1, status: 200, error: '', endedAt: 1 })),
  );
  await vault.write(id, epoch, { credentials: '{}', keys: [{ type: 'session', id: 's', value: 'v' }] });
  await vault.discard(id, epoch, 'setAside', 'test');
  await vault.write(id, epoch, { credentials: '{}', keys: [{ type: 'session', id: 's', value: 'v' }] });
  // An older version stored retired keys as well.
  await run(`insert into retired_key (instance_id, type, id, sealed) values ($1, 'session', 's', '')`, [id]);
  await vault.log(id, epoch, [{ seq: 1, stanza: Buffer.of(1) }]);
  const chat = { chatId: 'c', contactId: 1, sourceId: '', conversationId: 1, name: '', image: '' };
  await storage.chatwootRows.saveChat({ instanceId: id, epoch }, 'x', chat);
  await storage.chatwootRows.saveMessage({ instanceId: id, epoch }, 'x', { key: 'm1', conversationId: 1, id: 1, progress: 0 }, 1);
  await chatbots.saveKey({ instanceId: id, epoch }, { id: 'a1', provider: 'openai', baseUrl: '' }, 'the key');
  await storage.refused.keep({ instanceId: id, epoch }, arrived('refused'), '22003');
  await chatbots.addTokens({ instanceId: id, epoch }, '2026-08-19', 7);
  const news = { kind: 'deleted', accountId: 1, inboxId: 1, conversationId: 1, id: 1, sourceId: '' } as const;
  await storage.chatwootRows.addReply({ instanceId: id, epoch }, 'x', news, 1, 10);
  await putCampaign(storage, { instanceId: id, epoch });
  await storage.stepLog.append([{ instanceId: id, steps: [{ n: 1 }] }], 30);
  await run(`insert into passkey_code values ($1, $1, false, 1)`, [id]);
  await run(`insert into receipt_count values ($1, 'm1', 1, 1, 0)`, [id]);
  await run(`insert into receipt_mark values ($1, 1, 1)`, [id]);
  await run(`insert into lease (instance_id, incarnation, epoch, since, cause) values ($1, gen_random_uuid(), $2, 1, 'start')`, [
    id,
    epoch,
  ]);
  return { id, hook };
};

/** Tables with deletions of their own. Leases and codes are deleted with the row of their instance. */
const goneOtherwise = ['webhook', 'outbox', 'archive', 'lease', 'passkey_code'];

const rowsOf = async (id: string): Promise<number> => {
  let count = 0;
  for (const table of [...tablesOfInstances, ...goneOtherwise])
    count += Number((await run(`select count(*)::int as count from ${table} where instance_id = $1`, [id]))[0]?.['count']);
  return count;
};
test('removals: an instance and its secrets are gone at once, its rows are deleted in pieces, and no other instance loses any', async () => {
  const [one, other] = [await place(), await place()];
  const [before, kept] = [await rowsOf(one.id), await rowsOf(other.id)];
  await instances.remove(one.id, epoch);
  assert.ok(!(await instances.all()).some(({ id }) => id === one.id));
  assert.ok(!(await webhooks.all()).some(({ id }) => id === one.hook));
  assert.equal(await instances.update(one.id, epoch, { name: 'late' }), false);
  assert.equal(await vault.credentials(one.id), null);
  await assert.rejects(vault.write(one.id, epoch, { credentials: '{}', keys: [] }), EpochLost);
  const late = await journal.commit({ id: one.id, owner, epoch }, [arrived('late')], () => [one.hook, 'global']);
  assert.deepEqual(late, { events: [], deliveries: [] });
  assert.ok((await rowsOf(one.id)) > before / 2, 'rows are left');
  assert.ok((await removeRows(removals)) >= tablesOfInstances.length - 5);
  assert.equal(await rowsOf(one.id), 0);
  assert.deepEqual(
    await run(`select id from instance where id = $1 union all select id from webhook where id = $2`, [one.id, one.hook]),
    [],
  );
  assert.deepEqual([await removals.pending(), await rowsOf(other.id)], [[], kept]);
});

test('removals: the token of a removed instance can be reused, and its id cannot', async () => {
  const { id } = await place();
  await instances.remove(id, epoch);
  await instances.insert({ ...instance.record, id: 'heir', token: id });
  await instances.remove(id, epoch);
  await removeRows(removals);
  assert.ok((await instances.all()).some((record) => record.id === 'heir' && record.token === id));
});

test('removals: a webhook is gone at once, its deliveries are deleted in pieces, and those of other webhooks stay', async () => {
  const { id, hook } = await place();
  const of = async (webhookId: string): Promise<number> =>
    Number(
      (
        await run(
          `select (select count(*) from outbox where webhook_id = $1) + (select count(*) from archive where webhook_id = $1) as count`,
          [webhookId],
        )
      )[0]?.['count'],
    );
  const shared = await of('global');
  await webhooks.remove({ id: hook, instanceId: id }, 1);
  assert.ok(!(await webhooks.all()).some((one) => one.id === hook));
  assert.deepEqual(await removals.pending(), [{ kind: 'webhook', id: hook }] satisfies Removal[]);
  assert.equal(await of(hook), 3);
  await removeRows(removals);
  assert.deepEqual([await of(hook), await of('global')], [0, shared]);
  assert.ok((await rowsOf(id)) > 0);
});

test('removals: an interrupted one is found and finished by the next start, also after several interruptions', async () => {
  const { id } = await place();
  await instances.remove(id, epoch);
  for (let restarts = 0; restarts < 30; restarts += 1) {
    const next = await database.storage();
    const [removal] = await next.removals.pending();
    assert.ok(removal);
    await next.removals.removePiece(removal);
    await next.close();
  }
  await removeRows(removals);
  assert.deepEqual([await removals.pending(), await rowsOf(id)], [[], 0]);
});

test('removals: they cover every table that refers to an instance', async () => {
  const found = await run(
    `select table_name as name from information_schema.columns where column_name = 'instance_id' and table_schema = 'public'`,
  );
  // Rows of files are deleted by the file store, with their bytes. Entries of the audit log outlive their instance.
  const known = [...tablesOfInstances, ...goneOtherwise, 'file', 'audit_entry'];
  assert.deepEqual(found.map(({ name }) => String(name)).toSorted(), known.toSorted());
});

test('removals: every piece of a large instance, from the first to the last, takes bounded time', async () => {
  const { id } = await place();
  const columns = await run(`select column_name as name from information_schema.columns where table_name = 'message'`);
  const copied = columns.map(({ name }) => String(name)).filter((name) => name !== 'message_id' && name !== 'seq');
  const list = copied.map((name) => `"${name}"`).join(', ');
  await run(
    `insert into message (message_id, ${list}) select 'n' || n, ${list}
     from (select * from message where instance_id = $1 limit 1) as one, generate_series(1, 40000) as n`,
    [id],
  );
  await instances.remove(id, epoch);
  const times: number[] = [];
  for (const removal of await removals.pending())
    for (let more = true; more;) {
      const begun = performance.now();
      more = await removals.removePiece(removal);
      times.push(performance.now() - begun);
    }
  assert.ok(times.length >= 20, `${times.length} pieces`);
  assert.ok(Math.max(...times) < 10_000, `the longest piece took ${Math.max(...times)} ms`);
  assert.equal(await rowsOf(id), 0);
});
