/** Tests the end of a session with many keys. It is reported at once, a new pairing waits for the deletion, and each statement is short. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instance } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
/** Milliseconds. One statement that moved these keys took several seconds. */
const limits = { statement: 2_000, connection: 10_000 };
const storage = await database.storage({ limits });
const run = (text: string, values: readonly unknown[] = []) => database.admin.rows<Record<string, number>>({ name: '', text }, values);
const keys = 300_000;
const atOnce = 50_000;
const session = { credentials: '{"a":1}', keys: [{ type: 'session', id: 'old', value: 'old' }] };

const instanceWithKeys = async (id: string): Promise<void> => {
  await storage.instances.insert({ ...instance.record, id, token: id });
  await storage.vault.write(id, 1, session);
  for (let from = 0; from < keys; from += atOnce)
    await run(
      `insert into signal_key (instance_id, type, id, sealed) select instance_id, type, 'copy' || n, sealed from signal_key, generate_series($2::int, $3::int) as n
        where instance_id = $1 and id = 'old'`,
      [id, from, from + atOnce - 1],
    );
};

const keysOf = async (id: string): Promise<number | undefined> =>
  (await run('select count(*)::int as count from signal_key where instance_id = $1', [id]))[0]?.['count'];

test(`leaving keys: a session with ${keys} keys ends at once, and is paired again when they are gone`, async (t) => {
  await instanceWithKeys('r1');
  const begun = performance.now();
  await storage.vault.discard('r1', 1, 'setAside', 'logged out');
  const told = performance.now() - begun;
  assert.equal(await storage.vault.credentials('r1'), null);
  await storage.vault.cleared('r1');
  t.diagnostic(`told after ${Math.round(told)} ms, cleared after ${Math.round(performance.now() - begun)} ms`);
  assert.equal(await keysOf('r1'), 0);
  await storage.vault.write('r1', 1, session);
  assert.equal((await storage.vault.keys('r1', 'session', ['old'])).get('old'), 'old');
  const kept = await run(
    `select (select count(*)::int from retired_credential) as credentials, (select count(*)::int from retired_key) as keys`,
  );
  assert.deepEqual(kept, [{ credentials: 1, keys: 0 }]);
  assert.deepEqual(await storage.removals.pending(), []);
});

test('leaving keys: the next start deletes the keys that a kill left, and no key of the next session', async () => {
  await instanceWithKeys('r2');
  // A process that is killed right after it marked the keys leaves this row.
  await run(`insert into leaving_keys values ('r2')`);
  const [removal] = await storage.removals.pending();
  assert.deepEqual(removal, { kind: 'keys', id: 'r2' });
  // The next pairing and the background deletion run at the same time.
  const removing = (async () => {
    while (await storage.removals.removePiece(removal!));
  })();
  await storage.vault.cleared('r2');
  await storage.vault.write('r2', 1, { credentials: '{"b":2}', keys: [{ type: 'session', id: 'new', value: 'new' }] });
  await removing;
  await until(async () => (await storage.removals.pending()).length === 0, 'nothing is marked');
  assert.equal(await keysOf('r2'), 1);
  assert.equal(await storage.vault.credentials('r2'), '{"b":2}');
});
