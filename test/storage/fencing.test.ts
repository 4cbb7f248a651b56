/** Tests that a former owner of an instance writes nothing to its keys, record, journal or outbox, however late its statement arrives. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Delivery, Entry } from '#actors/model.ts';
import type { Runner } from '#src/storage/postgres/database.ts';
import { instance, message, owner, webhook } from '#test/contract/samples.ts';
import { testDatabase, waitsForLock } from '#test/support/database.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
const storage = await database.storage({ now: () => 7_000 });
const { id } = instance.record;
await storage.instances.insert(instance.record);
await storage.instances.insert({ ...instance.record, id: 'other', token: 'other' });
await storage.webhooks.save({ ...webhook, instanceId: id }, 1);
const run = (text: string, values: readonly unknown[] = [], runner: Runner = database.admin) => runner.rows({ name: '', text }, values);

const first = { ...message, messageId: 'FIRST' };
const stored: Entry = { kind: 'message', message: first, chat: { chatId: first.chatId }, unread: true };
await storage.journal.commit({ id, owner, epoch: 1 }, [stored, { ...stored, message: { ...first, messageId: 'SECOND' } }], () => [
  webhook.id,
]);
await storage.vault.write(id, 1, { credentials: '{}', keys: [{ type: 'session', id: '1', value: 'first' }] });
await storage.vault.log(id, 1, [{ seq: 1, stanza: Buffer.of(1) }]);
const [row, parked] = (await storage.outbox.due(webhook.id, id, 0, { rows: 10, bytes: 1e6 })).rows as readonly [Delivery, Delivery];

const last = { attempts: 1, status: 200, error: '' };
const sent = { ...first, messageId: 'SENT', fromMe: true, wasSentByApi: true, status: 'Queued' } as const;
const status: Entry = {
  kind: 'status',
  messageIds: ['FIRST'],
  chatId: first.chatId,
  status: 'Read',
  sender: '',
  senderPn: '',
  senderLid: '',
  fromMe: false,
  at: 1,
};
const commit =
  (...entries: Entry[]) =>
  (epoch: number) =>
    storage.journal.commit({ id, owner, epoch }, entries, () => [webhook.id]);
const claimed = ({ seq, instanceId }: Delivery, epoch: number) => ({ seq, instanceId, epoch });

/** Writes keys of two instances in one statement. */
const writeBoth = async (epoch: number): Promise<void> => {
  const change = { keys: [{ type: 'session', id: '1', value: 'late' }], handled: [1], isPatient: true };
  const both = await Promise.allSettled([id, 'other'].map((one) => storage.vault.write(one, epoch, change)));
  const [mine, other] = both;
  assert.equal(mine?.status, other?.status);
  if (mine?.status === 'rejected') throw mine.reason;
};

/** Every write of an instance, and the tables that it may change. */
const writes: readonly (readonly [title: string, write: (epoch: number) => Promise<unknown>])[] = [
  ['journal: a message with its chat and its event', commit({ ...stored, message: { ...first, messageId: 'THIRD' } })],
  ['journal: a message that is sent', commit({ kind: 'queued', message: sent, chat: { chatId: sent.chatId } })],
  ['journal: a receipt', commit(status)],
  ['journal: a chat that was read', commit({ kind: 'chatRead', chatId: first.chatId })],
  [
    'journal: a chat that is cleared',
    commit({ kind: 'chatErased', chatId: first.chatId, gone: false, keepStarred: false, until: 1e15, last: [] }),
  ],
  ['journal: a chat that is removed', commit({ kind: 'chatRemoved', chatId: first.chatId })],
  ['messages: those of a chat that are removed', (epoch) => storage.messages.removeOf({ instanceId: id, epoch }, first.chatId, 1e15, 10)],
  ['journal: an event alone', commit({ kind: 'event', type: 'presence', lane: 'l', payload: {} })],
  ['instances: the record', (epoch) => storage.instances.update(id, epoch, { wanted: 'asleep' })],
  ['outbox: a delivery that ended', (epoch) => storage.outbox.archive([{ ...claimed(row, epoch), ...last, dead: false, endedAt: 1 }])],
  ['outbox: a delivery that is not wanted', (epoch) => storage.outbox.remove([claimed(row, epoch)])],
  ['outbox: a delivery that is parked', (epoch) => storage.outbox.postpone(claimed(parked, epoch), 9_000, last)],
  ['vault: keys', (epoch) => storage.vault.write(id, epoch, { keys: [{ type: 'session', id: '1', value: 'late' }] })],
  ['vault: keys of two instances', (epoch) => writeBoth(epoch)],
  ['vault: credentials', (epoch) => storage.vault.write(id, epoch, { credentials: '{"late":1}', keys: [] })],
  ['vault: a received stanza', (epoch) => storage.vault.log(id, epoch, [{ seq: 2, stanza: Buffer.of(2) }])],
  ['vault: one more try of a stanza', (epoch) => storage.vault.tried(id, epoch, [1])],
  ['vault: a stanza that is done with', (epoch) => storage.vault.write(id, epoch, { keys: [], handled: [1] })],
  ['vault: credentials that are set aside', (epoch) => storage.vault.discard(id, epoch, 'setAside', 'late')],
  ['vault: credentials that are deleted', (epoch) => storage.vault.discard(id, epoch, 'delete', '')],
  ['webhooks: one that is replaced', (epoch) => storage.webhooks.save({ ...webhook, instanceId: id, url: 'https://late.example' }, epoch)],
  ['webhooks: one that is added', (epoch) => storage.webhooks.save({ ...webhook, id: 'late', instanceId: id }, epoch)],
  ['webhooks: one that is removed', (epoch) => storage.webhooks.remove({ ...webhook, instanceId: id }, epoch)],
  ['instances: the whole instance', (epoch) => storage.instances.remove(id, epoch)],
];

const tables = ['instance', 'credential', 'signal_key', 'inbound', 'retired_credential', 'message', 'chat', 'webhook', 'outbox', 'archive'];
/** Returns all rows of all tables as text. */
const content = async (): Promise<string> => {
  const parts = await Promise.all(tables.map((table) => run(`select ${table}.* from ${table} order by ${table}::text`)));
  return JSON.stringify(parts);
};

test('fencing: under an old epoch nothing is written', async (t) => {
  await run('update instance set epoch = 2');
  const before = await content();
  for (const [title, write] of writes)
    await t.test(title, async () => {
      await assert.rejects(write(1), { name: 'EpochLost' });
      assert.equal(await content(), before);
    });
  await run('update instance set epoch = 1');
});

test('fencing: a write that arrives while the epoch is raised waits for the raise, and then writes nothing', async (t) => {
  for (const [title, write] of writes)
    await t.test(title, async () => {
      const before = await content();
      let late: Promise<unknown> = Promise.resolve();
      await database.admin.transaction(async (taker) => {
        await run('select id from instance for update', [], taker);
        await run('update instance set epoch = 2', [], taker);
        late = assert.rejects(write(1), { name: 'EpochLost' });
        await until(async () => (await waitsForLock(database.admin)) > 0, 'the write waits');
      });
      await late;
      await run('update instance set epoch = 1');
      assert.equal(await content(), before);
    });
});

test('fencing: rows with a valid claim are written although others of the same call have a void claim', async () => {
  const ids = ['r00000000000011', 'r00000000000012'];
  const rows: Delivery[] = [];
  for (const name of ids) {
    await storage.instances.insert({ ...instance.record, id: name, token: name });
    const hook = { ...webhook, id: `w${name}`, instanceId: name };
    await storage.webhooks.save(hook, 1);
    const event: Entry = { kind: 'event', type: 'call', lane: '', payload: {} };
    rows.push(...(await storage.journal.commit({ id: name, owner, epoch: 1 }, [event], () => [hook.id])).deliveries);
  }
  await run('update instance set epoch = 2 where id = $1', [ids[1]]);
  const ended = rows.map((one) => ({ ...claimed(one, 1), ...last, dead: false, endedAt: 1 }));
  await assert.rejects(storage.outbox.archive(ended), { name: 'EpochLost' });
  const left = await run('select instance_id as id from outbox where instance_id = any($1)', [ids]);
  assert.deepEqual(left, [{ id: ids[1] }]);
  // The archive is repeated for one row, as its courier does. The repetition is idempotent.
  await storage.outbox.archive(ended.slice(0, 1));
});
