/**
 * Tests backup and restore of the embedded server while clients write. Rows that were committed before the end are in the backup, and an interruption does no
 * harm.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { backUp, type BackupOptions } from '#src/storage/backup/backup.ts';
import { restore } from '#src/storage/backup/restore.ts';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { quietLog } from '#test/support/database.ts';
import { copyPreparedDatabase } from '#test/support/prepared-database.ts';
import { databaseServers, removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { root } from '#test/source-tree.ts';

const folder = temporaryFolder();
const place = (name: string): string => join(folder, name);
const dataDir = place('data');
const settings = { fsync: 'off', full_page_writes: 'off', wal_keep_size: '0' };

let server: EmbeddedServer;
let database: Database;
/** The last number that was committed. */
let committed = 0;
const clients = { write: true };
let writers: Promise<unknown> = Promise.resolve();

const query = <T>(from: Database, text: string, values: readonly unknown[] = []): Promise<readonly T[]> =>
  from.rows<T>({ name: '', text }, values);

/** Writes rows, changes rows, and creates and drops tables. */
const write = async (): Promise<void> => {
  for (let number = 1; clients.write; number += 1) {
    await query(database, `insert into noted select $1::int, repeat('x', 500)`, [number]);
    committed = number;
    await query(database, 'update tallied set sum = sum + $1', [number]);
    if (number % 20 === 0) await query(database, `create table passing_${number} as select generate_series(1, 1000)`);
    if (number % 20 === 10 && number > 20) await query(database, `drop table passing_${number - 10}`);
    // Without a pause the writes would use most of the processor time of the file.
    await wait(5);
  }
};

before(async () => {
  await mkdir(join(dataDir, 'files', 'ab'), { recursive: true });
  await writeFile(join(dataDir, 'files', 'ab', 'abcd'), 'kept bytes');
  await writeFile(join(dataDir, 'encryption.key'), 'key');
  await writeFile(join(dataDir, 'gateway.pid'), '1');
  copyPreparedDatabase(dataDir);
  server = await EmbeddedServer.start({ dataDir, log: quietLog, settings });
  database = await openDatabase({ url: server.url, log: quietLog, poolSize: 2 });
  await query(database, 'create table noted (number int primary key, filling text)');
  await query(database, 'create table tallied (sum bigint)');
  await query(database, 'insert into tallied values (0)');
  writers = write();
});

after(async () => {
  clients.write = false;
  await writers;
  await database.close();
  await server.close(true);
  await removeFolder(folder);
});

const options = (name: string): BackupOptions => ({ dataDir, to: place(name), version: '1', log: quietLog, settings });

test('backup: one that is made under load has every row that was committed before its end, also after two interruptions', async () => {
  const target = options('backup');
  let copies = 0;
  for (const most of [200, 500]) {
    const ending = new AbortController();
    const onProgress: BackupOptions['onProgress'] = (_stage, { files }) => {
      copies += 1;
      if (files === most) ending.abort(new Error('interrupted'));
    };
    await assert.rejects(backUp({ ...target, signal: ending.signal, onProgress }), /interrupted/);
    await assert.rejects(restore({ from: target.to, dataDir: place('too-early'), log: quietLog }), /holds no whole backup/);
  }
  assert.equal(copies, 700);
  const least = committed;
  const { files } = await backUp(target);
  const most = committed;
  assert.ok(most > least, 'the clients wrote meanwhile');
  assert.ok(files.some(({ path }) => path === 'files/ab/abcd'));
  assert.ok(!files.some(({ path }) => path.endsWith('.pid')));
  assert.deepEqual(await query(database, 'select 1 from pg_replication_slots'), [], 'the server keeps no log for the backup any more');

  const restored = place('restored');
  const ending = new AbortController();
  const onProgress = ({ files: done }: { readonly files: number }): void => void (done === 300 && ending.abort(new Error('interrupted')));
  await assert.rejects(
    restore({ from: target.to, dataDir: restored, log: quietLog, settings, signal: ending.signal, onProgress }),
    /interrupted/,
  );
  assert.deepEqual(await readdir(join(restored, 'postgres.restoring')), ['data'], 'half a database has no name that a start would take');
  const { instances } = await restore({ from: target.to, dataDir: restored, log: quietLog, settings });
  assert.equal(instances, 0);
  assert.equal(await readFile(join(restored, 'files', 'ab', 'abcd'), 'utf8'), 'kept bytes');
  assert.deepEqual(databaseServers(restored), [], 'the server of the copy does not run on');

  const copy = await EmbeddedServer.start({ dataDir: restored, log: quietLog, settings });
  const reader = await openDatabase({ url: copy.url, log: quietLog, poolSize: 1 });
  try {
    const [row] = await query<{ count: number; last: number; sum: number }>(
      reader,
      'select count(*)::int as count, max(number)::int as last, (select sum::float8 from tallied) as sum from noted',
    );
    assert.ok(row);
    assert.equal(row.count, row.last, 'no row is missing in between');
    assert.ok(row.last >= least && row.last <= most + 1, `${least} <= ${row.last} <= ${most}`);
    const sumTo = (last: number): number => (last * (last + 1)) / 2;
    assert.ok(row.sum === sumTo(row.last) || row.sum === sumTo(row.last - 1), 'tables fit together');
  } finally {
    await reader.close();
    await copy.close(true);
  }
});

test('backup: the folder of the sandbox is left out, and a folder with only a sandbox is named with the command for it', async () => {
  const sandbox = join(dataDir, 'sandbox');
  await mkdir(sandbox);
  copyPreparedDatabase(sandbox);
  await writeFile(join(sandbox, 'encryption.key'), 'key');
  const whole = await backUp(options('without-sandbox'));
  assert.deepEqual(
    [...whole.folders, ...whole.files.map(({ path }) => path)].filter((path) => path.startsWith('sandbox')),
    [],
  );
  assert.ok(whole.files.some(({ path }) => path === 'files/ab/abcd'));
  await mkdir(place('alone'));
  await rename(sandbox, join(place('alone'), 'sandbox'));
  await assert.rejects(
    backUp({ ...options('alone-backup'), dataDir: place('alone') }),
    new RegExp(
      `no database of the embedded server. The sandbox has one, which this command copies: DATA_DIR=${place('alone')}/sandbox npm run backup$`,
    ),
  );
});

test('backup: the command says that the key is not in the backup', async () => {
  await rename(join(dataDir, 'encryption.key'), place('kept.key'));
  const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir };
  const args = [join(root, 'src', 'backup.ts'), '--to', place('keyless')];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
  assert.match(stdout, /begun \S+ No encryption key is in it: keep the ENCRYPTION_KEY of the gateway too\./);
  await rename(place('kept.key'), join(dataDir, 'encryption.key'));
});

test('backup: a complete one is never overwritten, and none is made inside its source', async () => {
  await assert.rejects(backUp(options('backup')), /holds a whole backup already/);
  for (const name of ['backup', '..backup'])
    await assert.rejects(backUp({ ...options(''), to: join(dataDir, name) }), /is in the data folder/);
  await assert.rejects(backUp({ ...options('none'), dataDir: place('nothing') }), /has no database of the embedded server/);
  // The copy goes to the folder `data` of the target, which may be the data folder itself, also through a link.
  const parent = place('parent');
  await mkdir(parent);
  await symlink(dataDir, join(parent, 'data'));
  const version = await readFile(join(dataDir, 'postgres', 'data', 'PG_VERSION'), 'utf8');
  for (const [source, to] of [
    [join(parent, 'data'), parent],
    [dataDir, parent],
  ] as const)
    await assert.rejects(backUp({ ...options(''), dataDir: source, to }), /over the data folder/);
  assert.equal(await readFile(join(dataDir, 'postgres', 'data', 'PG_VERSION'), 'utf8'), version);
});

test('restore: a damaged file, a folder in use, another key and another major version are refused', async () => {
  const from = place('backup');
  await assert.rejects(restore({ from, dataDir, log: quietLog }), /holds a database already/);
  const other = place('other-key');
  await mkdir(other);
  await writeFile(join(other, 'encryption.key'), 'other');
  await assert.rejects(restore({ from, dataDir: other, log: quietLog }), /is another key than that of the backup/);
  await appendFile(join(from, 'data', 'encryption.key'), '!');
  await assert.rejects(restore({ from, dataDir: place('a'), log: quietLog }), /damaged: data\/encryption\.key has changed/);
  const list = JSON.parse(await readFile(join(from, 'backup.json'), 'utf8')) as object;
  await writeFile(join(from, 'backup.json'), JSON.stringify({ ...list, major: '17' }));
  await assert.rejects(restore({ from, dataDir: place('b'), log: quietLog }), /data of PostgreSQL 17, and this release has 18/);
});
