/** Tests key writes of several sessions in one statement: none of them waits for another, or fails with it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { EpochLost, StorageSlow, StorageUnavailable } from '#actors/ports.ts';
import type { VaultChange } from '#src/platform/wire/vault-port.ts';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { createSealer } from '#src/storage/vault/sealing.ts';
import { DatabaseVault } from '#src/storage/vault/vault.ts';
import { instance } from '#test/contract/samples.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';

const base = await testDatabase();
const storage = await base.storage();
const ids = Array.from({ length: 20 }, (_, n) => `s${n}`);
for (const id of ids) await storage.instances.insert({ ...instance.record, id, token: id });

/** The time-out of a statement is two seconds, so that a wait for a lock fails within the test. */
const database = await openDatabase({ url: base.url, log: quietLog, poolSize: 4, limits: { statement: 2_000, connection: 3_000 } });
after(() => database.close());

/** Opens a vault that records its statements. The error is thrown by the first shared statement. */
const setup = (error: Error | null = null) => {
  const names: string[] = [];
  let first = error;
  const noting: Database = {
    ...database,
    async rows(statement, values) {
      names.push(statement.name);
      const thrown = statement.name === 'vault-write-several' ? first : null;
      if (thrown === null) return database.rows(statement, values);
      first = null;
      throw thrown;
    },
  };
  const vault = new DatabaseVault(noting, createSealer(Buffer.alloc(32, 7)), { now: Date.now, log: quietLog });
  return { vault, names };
};

const change = (value: string | null): VaultChange => ({ keys: [{ type: 'session', id: '1', value }], isPatient: true });
const sessionOf = async ({ vault }: ReturnType<typeof setup>, id: string) => (await vault.keys(id, 'session', ['1'])).get('1');

test('gathered writes: sessions that write at the same moment share a statement for inserts, deletions and the log', async () => {
  const set = setup();
  const { vault, names } = set;
  await vault.write('s0', 1, { keys: [{ type: 'session', id: 'gone', value: 'x' }] });
  await vault.log('s0', 1, [{ seq: 5, stanza: Buffer.of(1) }]);
  await vault.log('s1', 1, [{ seq: 5, stanza: Buffer.of(1) }]);
  names.length = 0;
  const removing = { keys: [{ type: 'session', id: 'gone', value: null }], handled: [5], isPatient: true };
  await Promise.all([vault.write('s0', 1, removing), vault.write('s1', 1, change('one')), vault.write('s2', 1, change('two'))]);
  assert.deepEqual(names, ['vault-write-several']);
  assert.deepEqual([await sessionOf(set, 's1'), await sessionOf(set, 's2')], ['one', 'two']);
  assert.equal((await vault.keys('s0', 'session', ['gone'])).size, 0);
  const logged = await Promise.all(['s0', 's1'].map(async (id) => (await vault.logged(id, 9)).stanzas.length));
  assert.deepEqual(logged, [0, 1], 'the same number in another log stays');
});

test('gathered writes: credentials, many rows, a single session and an urgent write have their own statement', async () => {
  const { vault, names } = setup();
  const many = { handled: Array.from({ length: 65 }, (_, n) => n), keys: [], isPatient: true };
  await Promise.all([
    vault.write('s0', 1, { credentials: '{}', keys: [], isPatient: true }),
    vault.write('s1', 1, many),
    vault.write('s2', 1, change('lone')),
    vault.write('s3', 1, { ...change('urgent'), isPatient: false }),
  ]);
  assert.deepEqual(
    names,
    Array.from({ length: 4 }, () => 'vault-write'),
  );
});

test('gathered writes: more than sixteen sessions take several statements', async () => {
  const set = setup();
  await Promise.all(ids.map((id) => set.vault.write(id, 1, change(`of ${id}`))));
  assert.deepEqual(set.names, ['vault-write-several', 'vault-write-several']);
  for (const id of ids) assert.equal(await sessionOf(set, id), `of ${id}`);
});

test('gathered writes: a session whose row is locked, or has another owner, delays no other session', async () => {
  const { vault } = setup();
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const locking = base.admin.transaction(async (runner) => {
    await runner.rows({ name: '', text: `select from instance where id = 's1' for update` }, []);
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const waiting = vault.write('s1', 1, change('locked'));
  const [lost, other] = await Promise.allSettled([vault.write('s2', 0, change('late')), vault.write('s3', 1, change('free'))]);
  assert.equal(other.status, 'fulfilled');
  assert.ok(lost.status === 'rejected' && lost.reason instanceof EpochLost);
  release.resolve();
  await Promise.all([locking, waiting]);
});

test('gathered writes: a former owner of an instance stores nothing beside the present owner', async () => {
  const set = setup();
  const { vault } = set;
  for (const epochs of [
    [0, 1],
    [1, 0],
  ]) {
    const writes = epochs.map((epoch) => vault.write('s6', epoch, change(`of epoch ${epoch}`)));
    const [first, second] = await Promise.allSettled([...writes, vault.write('s7', 1, change('of another'))]);
    const former = epochs[0] === 0 ? first : second;
    assert.ok(former?.status === 'rejected' && former.reason instanceof EpochLost);
    assert.equal(await sessionOf(set, 's6'), 'of epoch 1');
    await vault.write('s6', 1, { keys: [{ type: 'session', id: '1', value: null }] });
  }
});

for (const [title, error] of [
  ['refused for its data', new Error('22P02')],
  ['too slow', new StorageSlow('57014')],
] as const)
  test(`gathered writes: a statement that is ${title} is followed by one of each session`, async () => {
    const { vault, names } = setup(error);
    await Promise.all([vault.write('s4', 1, change('a')), vault.write('s5', 1, change('b'))]);
    assert.deepEqual(names, ['vault-write-several', 'vault-write', 'vault-write']);
  });

test('gathered writes: while storage is away all sessions fail after one attempt', async () => {
  const { vault, names } = setup(new StorageUnavailable('away'));
  const all = await Promise.allSettled([vault.write('s4', 1, change('a')), vault.write('s5', 1, change('b'))]);
  assert.ok(all.every((one) => one.status === 'rejected' && one.reason instanceof StorageUnavailable));
  assert.deepEqual(names, ['vault-write-several']);
});
