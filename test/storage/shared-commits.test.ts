/** Tests the setting by which commits of many sessions wait for one another, on the real server. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { instance } from '#test/contract/samples.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { SharedCommits } from '#src/storage/postgres/shared-commits.ts';
import { createSealer } from '#src/storage/vault/sealing.ts';
import { DatabaseVault } from '#src/storage/vault/vault.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';

const base = await testDatabase();
const usual = '5';

const setup = async (t: TestContext) => {
  const clock = { now: 0 };
  const sharedCommits = new SharedCommits(() => clock.now);
  const database = await openDatabase({ url: base.url, log: quietLog, poolSize: 1, sharedCommits });
  t.after(() => database.close());
  const siblings = async () =>
    (await database.rows<{ now: string }>({ name: '', text: `select current_setting('commit_siblings') as now` }, []))[0]?.now;
  const write = (from: number, to: number) => {
    for (let n = from; n < to; n += 1) sharedCommits.note(`s${n}`);
  };
  return { clock, siblings, write, database, sharedCommits };
};

test('shared commits: commits of 64 writing instances wait, and those of fewer do not', async (t) => {
  const { siblings, write } = await setup(t);
  write(0, 63);
  write(0, 63);
  assert.equal(await siblings(), usual);
  write(63, 64);
  assert.equal(await siblings(), '0');
});

test('shared commits: a period in which fewer instances write ends the wait', async (t) => {
  const { clock, siblings, write } = await setup(t);
  write(0, 100);
  assert.equal(await siblings(), '0');
  clock.now = 5_000;
  write(0, 10);
  assert.equal(await siblings(), '0', 'the last whole period had 100');
  clock.now = 10_000;
  write(0, 1);
  assert.equal(await siblings(), usual);
});

test('shared commits: the vault counts the instances that write', async (t) => {
  const { siblings, sharedCommits, database } = await setup(t);
  const storage = await base.storage();
  await storage.instances.insert({ ...instance.record, id: 's0', token: 's0' });
  const noted: string[] = [];
  const noteWriter = (id: string) => (noted.push(id), sharedCommits.note(id));
  const vault = new DatabaseVault(database, createSealer(Buffer.alloc(32, 7)), { now: Date.now, log: quietLog, noteWriter });
  await vault.write('s0', 1, { keys: [{ type: 'session', id: '1', value: 'x' }], isPatient: true });
  assert.deepEqual(noted, ['s0']);
  assert.equal(await siblings(), usual);
});

test('shared commits: a server that refuses the setting is asked once for each connection, and nothing fails', async () => {
  const sharedCommits = new SharedCommits();
  const asked: string[] = [];
  const client = {
    processID: 1,
    release: () => undefined,
    query: async ({ text }: { readonly text: string }) => {
      asked.push(text);
      throw Object.assign(new Error('unrecognized configuration parameter'), { code: '42704' });
    },
  };
  for (let n = 0; n < 64; n += 1) sharedCommits.note(`s${n}`);
  await sharedCommits.settle(client);
  await sharedCommits.settle(client);
  assert.deepEqual(asked, ['set commit_siblings = 0']);
});
