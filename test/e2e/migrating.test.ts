/** Tests an upgrade of the database as operators see it. A waiting start says so, and a gateway of the previous version keeps working. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Migration } from '@mikro-orm/migrations';
import { ConcurrentIndexes } from '#src/storage/migrations/concurrent.ts';
import { migrations } from '#src/storage/migrations/list.ts';
import { migrate } from '#src/storage/open.ts';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { quietLog } from '#test/support/database.ts';
import { ExternalServer } from '#test/support/external-server.ts';
import { freePort } from '#test/support/ports.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let server: ExternalServer;
let database: Database;
let scene: Scene;
let port: number;
before(async () => {
  server = await ExternalServer.open();
  port = await freePort();
  scene = await Scene.open({ DATABASE_URL: server.url, PORT: String(port) });
  database = await openDatabase({ url: server.url, log: quietLog, poolSize: 2, limits: { statement: 120_000, connection: 10_000 } });
});
after(async () => {
  await database?.close();
  await scene?.close();
  await server?.close();
});

class AddColumn extends Migration {
  override up(): void {
    this.addSql(`alter table message add column of_test text not null default ''`);
  }
}
class AddIndex extends ConcurrentIndexes {
  protected override readonly indexes = ['message_of_test on message (text)'];
}

/** The time for which the backup holds its lock. In milliseconds. */
const backupMs = 7_000;

test('migrating: a gateway sends and receives while another version migrates its tables, even if the migration waits for a backup', async (t) => {
  const account = await scene.paired();
  await scene.works(account);
  const statuses: number[] = [];
  const backup = database.transaction(async (runner) => {
    await runner.rows({ name: '', text: 'lock table message in access share mode' }, []);
    await Promise.all([wait(backupMs), until(() => statuses.length > 20, 'texts are sent behind the lock')]);
  });
  const steps = [...migrations, { name: '9001-add-column', class: AddColumn }, { name: '9002-add-index', class: AddIndex }];
  const state = { over: false };
  const migrating = migrate(server.url, quietLog, { steps }).finally(() => (state.over = true));
  const ids: string[] = [];
  let longest = 0;
  while (!state.over) {
    const begun = performance.now();
    statuses.push((await account.send(contact, `during a migration ${statuses.length}`)).status);
    longest = Math.max(longest, performance.now() - begun);
    ids.push(await scene.write(account, `during a migration ${ids.length}`));
    await wait(50);
  }
  await Promise.all([migrating, backup]);
  t.diagnostic(`${statuses.length} sends, the longest ${Math.round(longest)} ms`);
  assert.deepEqual(
    statuses.filter((status) => status !== 200),
    [],
  );
  await scene.stored(account, ids);
  await scene.told(ids);
  assert.equal((await scene.gateway.call('GET', '/health/ready')).status, 200);
});

test('migrating: a start reports the migration from the first second on, and continues after it', async () => {
  await scene.gateway.end('SIGTERM');
  const at = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  // Another process that migrates holds the same lock.
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  const holding = database.transaction(async (runner) => {
    await runner.rows({ name: '', text: 'select pg_advisory_xact_lock(7110481293)' }, []);
    await done;
  });
  await until(
    async () => (await database.rows({ name: '', text: `select 1 from pg_locks where locktype = 'advisory'` }, [])).length > 0,
    'the lock is held',
  );
  const starting = scene.gateway.start();
  try {
    await until(
      () =>
        at('/health').then(
          ({ ok }) => ok,
          () => false,
        ),
      'the start answers',
    );
    assert.partialDeepStrictEqual(await (await at('/health')).json(), { status: 'migrating' });
    assert.equal((await at('/health/live')).status, 200);
    const ready = await at('/health/ready');
    assert.deepEqual(
      [ready.status, await ready.json()],
      [503, { error: 'another process migrates the database', reasons: ['another process migrates the database'] }],
    );
    const send = await fetch(`http://127.0.0.1:${port}/send/text`, { method: 'POST', body: '{}' });
    assert.deepEqual([send.status, send.headers.get('retry-after')], [503, '5']);
    await send.text();
  } finally {
    finish();
    await holding;
  }
  await starting;
  await until(async () => (await at('/health/ready')).status === 200, 'the gateway is ready');
});
