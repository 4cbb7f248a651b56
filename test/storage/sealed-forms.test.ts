/**
 * Tests that values of each instance are encrypted with a key of their own. A database of the last release is read, and converted when every node reads the
 * new form.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sealedColumns } from '#src/storage/vault/resealing.ts';
import { stepOf, type FormChoice, type FormState, type FormStep } from '#src/storage/vault/sealed-upkeep.ts';
import { createSealer, sealedIdOf } from '#src/storage/vault/sealing.ts';
import type { Storage } from '#src/storage/open.ts';
import type { Statement } from '#src/storage/postgres/database.ts';
import { instance, webhook } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';
import { until } from '#test/support/until.ts';
import { readPinned } from '#test/support/upgrade.ts';

const database = await testDatabase();
const key = Buffer.alloc(32, 7);
const { id } = instance.record;
const pace = { graceMs: 100, lookMs: 10 };
const run = (text: string, values: readonly unknown[] = []) => database.admin.rows({ name: '', text }, values);

/** Stores the check value as releases with a single key did. */
const asLastReleaseLeft = async (): Promise<void> => {
  const check = createSealer(key, null, { derived: false }).seal(sealedIdOf('setting', '', 'check', 'encryption.check'), 'dormouse');
  await run(`update setting set value = $1 where name = 'encryption.check'`, [check.toString('base64')]);
  await run(`delete from setting where name = 'encryption.form'`);
};
const pinned = new Map(readPinned<readonly Statement[]>('statements.json').map((statement) => [statement.name, statement]));
const newNode = {
  name: 'new',
  incarnation: '00000000-0000-4000-8000-000000000002',
  capacity: 1,
  load: 0,
  draining: false,
  astray: 0,
  version: '0.2.0',
};
const oldNode = '00000000-0000-4000-8000-000000000001';
/** Starts a node of the last release, with the statement of that release. */
const joinOld = (name = 'old') => database.admin.rows(pinned.get('node-join')!, [name, oldNode, null, 60_000, 1, 0, false, '0.1.0']);
const leaveOld = () => database.admin.rows(pinned.get('node-leave')!, [oldNode]);

const forms = async (): Promise<string> => {
  const found = new Set<number>();
  for (const { table, column } of sealedColumns)
    for (const row of await run(`select distinct get_byte(${column}, 0) as form from "${table}" where ${column} is not null`))
      found.add(Number(row['form']));
  return [...found].sort().join(',');
};
const checkForm = async (): Promise<number> =>
  Buffer.from(String((await run(`select value from setting where name = 'encryption.check'`))[0]?.['value']), 'base64')[0]!;

const write = async (storage: Storage, n: number): Promise<void> => {
  const [record] = await storage.instances.all();
  const epoch = record?.epoch ?? 1;
  await storage.vault.write(id, epoch, { credentials: `{"n":${n}}`, keys: [{ type: 'session', id: String(n), value: `key ${n}` }] });
  await storage.webhooks.save({ ...webhook, id: 'ofInstance', instanceId: id, secret: `secret ${n}` }, 1);
  await storage.webhooks.save({ ...webhook, id: 'global', instanceId: null, secret: `secret ${n}` }, 0);
};
const assertReads = async (storage: Storage, n: number): Promise<void> => {
  assert.equal(await storage.vault.credentials(id), `{"n":${n}}`);
  assert.equal((await storage.vault.keys(id, 'session', [String(n)])).get(String(n)), `key ${n}`);
  assert.deepEqual(
    (await storage.webhooks.all()).map(({ secret }) => secret),
    [`secret ${n}`, `secret ${n}`],
  );
  assert.equal((await storage.instances.all())[0]?.token, 'the token');
};

const first = await database.storage();
await first.instances.insert({ ...instance.record, token: 'the token', aiApikey: 'the api key' });
await first.close();

test('sealing: a value of one instance does not open under the key of another one, whatever name it has', () => {
  const sealer = createSealer(key);
  const [mine, theirs] = [sealedIdOf('credential', 'a'), { ...sealedIdOf('credential', 'a'), owner: 'b' }];
  const sealed = sealer.seal(mine, 'secret');
  assert.equal(sealer.open(mine, sealed), 'secret');
  assert.throws(() => sealer.open(theirs, sealed));
  assert.throws(() => sealer.open(sealedIdOf('credential', 'b'), sealed));
  assert.throws(() => sealer.open({ ...mine, owner: '' }, sealed));
});

test('sealing: a new database has only the new form', async () => {
  assert.equal(await forms(), '2');
  assert.equal(await checkForm(), 2);
});

test('sealing: nodes write the former form while a node of the last release lives, and then the new one', async () => {
  await asLastReleaseLeft();
  await joinOld();
  const storage = await database.storage({ shared: true, sealingPace: pace });
  await storage.leases!.join(newNode, 60_000, null);
  for (const n of [1, 2]) {
    await write(storage, n);
    await assertReads(storage, n);
  }
  assert.equal(await checkForm(), 1, 'a node of the last release still starts');
  assert.ok((await forms()).includes('1'));
  const [credential] = await run('select get_byte(sealed, 0) as form from credential');
  assert.equal(credential?.['form'], 1);

  await leaveOld();
  await until(async () => (await checkForm()) === 2, 'the check is sealed in the new form');
  await storage.resealed;
  assert.equal(await forms(), '2');
  await assertReads(storage, 2);
  await write(storage, 3);
  assert.equal(await forms(), '2');
  await storage.close();
});

test('sealing: a node of the last release under the name of a newer node counts as older', async () => {
  await leaveOld();
  await asLastReleaseLeft();
  await run(`update node set until = 0 where name = 'new'`);
  await joinOld('new');
  const storage = await database.storage({ shared: true, sealingPace: pace });
  await write(storage, 4);
  const [credential] = await run('select get_byte(sealed, 0) as form from credential');
  assert.equal(credential?.['form'], 1);
  assert.equal(await checkForm(), 1);
  await storage.close();
});

test('sealing: a single gateway reads a database of the last release, and converts it at once', async () => {
  await leaveOld();
  assert.equal(await forms(), '1,2');
  const storage = await database.storage();
  await assertReads(storage, 4);
  await storage.resealed;
  assert.equal(await forms(), '2');
  assert.equal(await checkForm(), 2);
  await assertReads(storage, 4);
  await storage.close();
});

test('sealing: a change of the key runs before the conversion', async () => {
  await asLastReleaseLeft();
  const next = Buffer.alloc(32, 9);
  const storage = await database.storage({ encryptionKey: next, formerEncryptionKey: key });
  await assertReads(storage, 4);
  await storage.resealed;
  assert.equal(await checkForm(), 2);
  assert.equal(await forms(), '2');
  await storage.close();
  const after = await database.storage({ encryptionKey: next });
  await assertReads(after, 4);
  await after.close();
});

const usual: FormState & FormChoice = {
  form: null,
  now: 10_000,
  anyOlder: false,
  derived: false,
  onDuty: true,
  changesKey: false,
  graceMs: 1_000,
};
const steps: readonly (readonly [string, Partial<FormState & FormChoice>, FormStep])[] = [
  ['the door is shut when every node reads the new form', {}, 'shut'],
  ['an older node keeps the door open', { anyOlder: true }, 'wait'],
  ['a change of the key comes first', { changesKey: true }, 'wait'],
  ['a node that passed the door has time to join', { form: '9001' }, 'wait'],
  ['an older node that passed the door is waited for', { form: '9000', anyOlder: true }, 'wait'],
  ['the new form is written after that time', { form: '9000' }, 'write'],
  ['other nodes have as much time to write the new form', { form: '8001', derived: true }, 'wait'],
  ['the node on duty seals the rest anew', { form: '8000', derived: true }, 'reseal'],
  ['the others do not', { form: '8000', derived: true, onDuty: false }, 'wait'],
  ['nothing is left to do', { form: 'derived', anyOlder: true }, 'done'],
];
for (const [title, change, expected] of steps)
  test(`sealing, next step: ${title}`, () => assert.equal(stepOf({ ...usual, ...change }, { ...usual, ...change }), expected));
