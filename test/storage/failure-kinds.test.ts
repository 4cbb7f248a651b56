/** Tests the handling of each error of PostgreSQL, raised by a real server in a running statement. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recorder } from '#actors/delivery/recorder.ts';
import type { Entry } from '#actors/model.ts';
import { StorageFailure } from '#actors/ports.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { explained, explainedOfDriver } from '#src/storage/postgres/failures.ts';
import { quietMeter } from '#test/fakes/meter.ts';
import { settle, testPolicy, World } from '#test/fakes/world.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';
import { sqlStates } from './sqlstates.ts';

const database = await testDatabase();

const raise = (state: string) => ({ name: '', text: `do $$ begin raise exception using errcode = '${state}'; end $$` });
const entry: Entry = { kind: 'event', type: 'messages', lane: '', payload: {} };

/** Records into storage whose next commit fails with this error, and whose later commits succeed. */
const recordInto = async (failure: unknown) => {
  const world = new World();
  let failures = 1;
  const stored: number[] = [];
  const recorder = new Recorder({
    instance: 'r1',
    time: world.time,
    log: world.log,
    meter: quietMeter,
    workers: supervisedWorkers(world.ports, testPolicy, {}),
    limits: { maxWait: 0, maxBatch: 10 },
    commit: async (entries) => {
      if ((failures -= 1) >= 0) throw failure;
      stored.push(entries.length);
      return { events: [], deliveries: [] };
    },
    keep: () => Promise.resolve(),
    committed: () => undefined,
  });
  recorder.record([entry]);
  await settle();
  const trouble = recorder.trouble;
  await world.time.pass(10_000);
  return { stored: stored.length === 1, refused: world.log.of('entry.refused').length === 1, trouble };
};

test('failures: only classes 22 and 23 refuse an entry; after any other error of PostgreSQL it is stored later', async () => {
  // The server raises listed and unlisted states.
  const states = [...sqlStates, '99999', '7ZZZZ'];
  const pool = await openDatabase({ url: database.url, log: quietLog, poolSize: 1 });
  try {
    for (const state of states) {
      const error = await pool.rows(raise(state), []).then(
        () => assert.fail(`${state} is no error`),
        (reason: unknown) => reason,
      );
      const isRefusal = /^2[23]/.test(state);
      assert.equal(error instanceof StorageFailure, !isRefusal, `${state}: ${String(error)}`);
      const { stored, refused } = await recordInto(error);
      assert.deepEqual({ stored, refused }, { stored: !isRefusal, refused: isRefusal }, state);
    }
  } finally {
    await pool.close();
  }
});

for (const [state, name, shown] of [
  ['42P01', 'StorageBroken', /^the database fails: .*\(42P01\)$/],
  ['XX001', 'StorageBroken', /\(XX001\)$/],
  ['58030', 'StorageBroken', /\(58030\)$/],
  ['42501', 'StorageBroken', /\(42501\)$/],
  ['P0001', 'StorageBroken', /^the database fails: P0001$/],
  ['53100', 'StorageFull', /^$/],
  ['57P03', 'StorageUnavailable', /^$/],
] as const)
  test(`failures: ${state} is ${name}, and the recorder says what it waits for`, async () => {
    const error = (await database.admin.rows(raise(state), []).catch((reason: unknown) => reason)) as Error;
    assert.equal(error.name, name);
    const { stored, trouble } = await recordInto(error);
    assert.ok(stored);
    assert.match(trouble, shown);
  });

for (const [title, error] of [
  ['an error of a socket that has no code', new Error('Received unexpected bindComplete message from backend.')],
  ['a certificate that has expired', Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' })],
  ['a machine without a free port', Object.assign(new Error('connect'), { code: 'EADDRNOTAVAIL' })],
  ['a machine without free files', Object.assign(new Error('connect'), { code: 'EMFILE' })],
] as const)
  test(`failures: ${title} is a database that is away`, () => {
    assert.equal((explainedOfDriver(error) as Error).name, 'StorageUnavailable');
  });

test('failures: an error of the gateway itself is no failure of the database', () => {
  const mistake = new TypeError('x is not a function');
  assert.equal(explained(mistake), mistake);
  assert.equal(explainedOfDriver(mistake), mistake);
});
