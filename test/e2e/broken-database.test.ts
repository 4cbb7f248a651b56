/** Tests a database that replies with errors of its own. Arriving messages wait, readiness names the error, and nothing is lost. */
import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import type { Account } from '#test/support/account.ts';
import { quietLog, testLimits } from '#test/support/database.ts';
import { Scene, contact } from '#test/support/scene.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { until } from '#test/support/until.ts';
import { embeddedUrl } from '#test/support/embedded-url.ts';

const patience = 120_000;
/** The size of the disk in megabytes: the files of the server, its write-ahead log, and some room. */
const diskSize = 300;
/** The limit of the log in bytes, which is on the disk too. */
const logRoom = 1_000_000;

const disk = SmallDisk.open(diskSize);
let scene: Scene;
let database: Database;
before(async () => {
  // A text whose keys cannot be stored is given up soon.
  scene = await Scene.open({ SEND_TIMEOUT_MS: '5000' }, disk?.folder);
  database = await connect();
});
after(async () => {
  await database?.close();
  await scene?.close();
  disk?.close();
});

const dataFolder = (): string => join(scene.gateway.dataDir, 'postgres', 'data');
const connect = (): Promise<Database> =>
  openDatabase({
    url: embeddedUrl(scene.gateway.dataDir),
    log: quietLog,
    poolSize: 1,
    application: 'test',
    limits: testLimits,
  });
const run = (text: string) => database.rows({ name: '', text }, []);

const readiness = () => scene.gateway.call('GET', '/health/ready');
const isReady = async (): Promise<boolean> => (await readiness()).status === 200;

/** Waits until readiness names the reason. */
const names = async (reason: RegExp): Promise<void> => {
  let seen: unknown;
  await until(
    async () => {
      const { status, body } = await readiness();
      seen = body['reasons'];
      return status === 503 && Array.isArray(seen) && seen.some((text) => reason.test(String(text)));
    },
    () => `readiness says ${String(reason)} instead of ${JSON.stringify(seen)}`,
  );
};

const writeMany = async (account: Account, count: number, about: string): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await scene.write(account, `${about} ${n}`));
  return ids;
};

/** Asserts that the session is still connected, every message is stored and reported once, and texts are delivered again. */
const assertNothingLost = async (account: Account, ids: readonly string[]): Promise<void> => {
  await until(isReady, 'the gateway is ready', patience);
  await scene.stored(account, ids, patience);
  await scene.told(ids, patience);
  await scene.works(account);
  assert.doesNotMatch(scene.gateway.printed, /entries\.lost|entry\.refused|unhandledRejection|crashed/);
};

test('broken database: messages that arrive while a table is missing, as in a restore, are stored when the table is back', async () => {
  const account = await scene.paired();
  await scene.works(account);
  await run('alter table chat rename to chat_away');
  const missing = wait(4_000);
  const ids = await writeMany(account, 10, 'while the table is missing');
  await names(/^the database fails: relation "chat" does not exist \(42P01\)$/);
  const { status } = await account.send(contact, 'while the table is missing');
  assert.equal(status, 503);
  await missing;
  await run('alter table chat_away rename to chat');
  await assertNothingLost(account, ids);
});

test('broken database: messages that arrive while a right is revoked are stored when it is granted again', async () => {
  const account = await scene.paired();
  await scene.works(account);
  await run(`create role guest`);
  await run(`grant select, insert, update, delete on all tables in schema public to guest`);
  await run(`alter role postgres set role guest`);
  await run(`revoke insert on outbox from guest`);
  await run(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'dormouse%' and pid <> pg_backend_pid()`);
  const ids = await writeMany(account, 5, 'without a right');
  await names(/^the database fails: permission denied .*\(42501\)$/);
  await run('alter role postgres reset role');
  await run(`grant insert on outbox to guest`);
  await run(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'dormouse%' and pid <> pg_backend_pid()`);
  await assertNothingLost(account, ids);
  await scene.gateway.prints(/storage\.broken/);
});

/** Inverts four bytes in the first page of a file. */
const flip = (file: string): void => {
  const handle = openSync(file, 'r+');
  const at = 8_192 - 64;
  const bytes = Buffer.alloc(4);
  readSync(handle, bytes, 0, 4, at);
  writeSync(
    handle,
    bytes.map((byte) => ~byte),
    0,
    4,
    at,
  );
  closeSync(handle);
};

test('broken database: messages of a contact whose chat lies in a damaged page are stored when the page is repaired', async () => {
  const account = await scene.paired();
  await scene.works(account);
  const [{ path } = { path: '' }] = await database.rows<{ path: string }>(
    { name: '', text: `select pg_relation_filepath('chat') as path` },
    [],
  );
  await database.close();
  // The server keeps good pages in memory, so the damage shows after its next start.
  await scene.gateway.end('SIGTERM');
  const file = join(dataFolder(), path);
  flip(file);
  await scene.gateway.start();
  await account.reaches('connected');
  const ids = await writeMany(account, 30, 'into a damaged page');
  await names(/^the database fails: invalid page in block 0 .*\(XX001\)$/);
  flip(file);
  database = await connect();
  await assertNothingLost(account, ids);
});

test(
  'broken database: a full disk is named by readiness, by sends and by the log, and nothing is lost',
  { skip: disk === null },
  async () => {
    const account = await scene.paired();
    await scene.works(account);
    disk?.keepRoomFor(join(scene.gateway.dataDir, 'postgres', 'server.log'), logRoom);
    const ids: string[] = [];
    let named = false;
    let refused: unknown;
    for (const deadline = Date.now() + patience; !(named && refused !== undefined) && Date.now() < deadline;) {
      disk?.fill();
      ids.push(await scene.write(account, `onto a full disk ${'x'.repeat(2_000)}`));
      const { status, body } = await account.send(contact, `from a full disk ${'x'.repeat(2_000)}`);
      // The first failed write may be that of a text that has left. Its outcome is then unknown.
      if (status === 503) refused = body['error'];
      else assert.ok(status === 200 || status === 504, JSON.stringify(body));
      named ||=
        ((await readiness()).body['reasons'] as readonly string[] | undefined)?.includes('the disk of the database is full') ?? false;
    }
    assert.equal(refused, 'the disk of the database is full');
    assert.ok(named, 'readiness names the full disk');
    // No row is written meanwhile. A checkpoint of the server can free segments of its write-ahead log, whose room has to be filled as well.
    for (const until = Date.now() + 2_500; Date.now() < until; await wait(50)) disk?.fill();
    assert.equal(await isReady(), false, 'the gateway stays unready while nothing is written');
    disk?.drain();
    await assertNothingLost(account, ids);
    await scene.gateway.prints(/storage\.diskFull[\s\S]*storage\.diskHasRoom/);
    assert.match(readFileSync(join(scene.gateway.dataDir, 'postgres', 'server.log'), 'utf8'), /No space left on device/);
  },
);

interface RefusedSeen {
  readonly instanceId: string;
  readonly id: string;
  readonly tries: number;
}

const refusedEntries = async (): Promise<readonly RefusedSeen[]> =>
  (await scene.gateway.call('GET', '/admin/refused')).body['entries'] as readonly RefusedSeen[];

test('broken database: an entry whose data the database refuses is kept, and stored when an administrator retries it', async () => {
  const account = await scene.paired();
  await scene.works(account);
  await run(`alter table message add constraint no_poison check (text <> 'poison')`);
  const before = await scene.write(account, 'before');
  const poison = await scene.write(account, 'poison');
  const behind = await scene.write(account, 'behind');
  await scene.stored(account, [before, behind]);
  await until(async () => (await refusedEntries()).length === 1, 'the entry is listed');
  const [kept] = await refusedEntries();
  assert.partialDeepStrictEqual(kept, { kind: 'message', error: '23514', tries: 1 });
  await scene.gateway.prints(/entry\.refused/);
  assert.equal(await isReady(), true, 'one entry makes nothing unready');
  const readable = await run(`select 1 from refused_entry where encode(sealed, 'escape') like '%poison%'`);
  assert.deepEqual(readable, [], 'its content is encrypted');
  // The stored entries survive the process.
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  await account.reaches('connected');
  const path = `/admin/refused/${kept?.instanceId}/${kept?.id}`;
  const again = await scene.gateway.call('POST', `${path}/retry`);
  assert.deepEqual([again.status, again.body['error']], [409, 'the database refuses the entry again: 23514']);
  assert.equal((await refusedEntries())[0]?.tries, 2);
  await run('alter table message drop constraint no_poison');
  assert.equal((await scene.gateway.call('POST', `${path}/retry`)).status, 200);
  assert.deepEqual(await refusedEntries(), []);
  await scene.stored(account, [poison]);
  await scene.told([poison]);
  assert.equal((await scene.gateway.call('DELETE', path)).status, 404);
});
