/** Tests backups of damaged databases, and impossible targets. The command refuses with a reason, and leaves no server running. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, open, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { backUp, listName } from '#src/storage/backup/backup.ts';
import { restore } from '#src/storage/backup/restore.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { quietLog } from '#test/support/database.ts';
import { copyPreparedDatabase } from '#test/support/prepared-database.ts';
import { databaseServers, removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { root } from '#test/source-tree.ts';

const folder = temporaryFolder();
const place = (name: string): string => join(folder, name);
const settings = { fsync: 'off' };
const pageBytes = 8_192;
after(() => removeFolder(folder));

/** Makes a data folder, and returns it with the path of a file of a relation. */
const dataWith = async (name: string, relation: string): Promise<{ dataDir: string; file: string }> => {
  const dataDir = place(name);
  await mkdir(dataDir, { recursive: true });
  copyPreparedDatabase(dataDir);
  const server = await EmbeddedServer.start({ dataDir, log: quietLog, settings });
  const database = await openDatabase({ url: server.url, log: quietLog, poolSize: 1 });
  const query = <T>(text: string): Promise<readonly T[]> => database.rows<T>({ name: '', text }, []);
  try {
    await query(`create table filled as select number, repeat('x', 500) as filling from generate_series(1, 2000) number`);
    await query('create index filled_number on filled (number)');
    const [row] = await query<{ path: string }>(`select pg_relation_filepath('${relation}') as path`);
    return { dataDir, file: join(dataDir, 'postgres', 'data', row?.path ?? '') };
  } finally {
    await database.close();
    await server.close(true);
  }
};

/** Changes one byte in the middle of a page. */
const spoil = async (path: string, page: number): Promise<void> => {
  await using file = await open(path, 'r+');
  const at = page * pageBytes + 5_000;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
  await file.write(Buffer.of((buffer[0] ?? 0) ^ 1), 0, 1, at);
};

const damages: readonly (readonly [string, string, (file: string) => Promise<void>, RegExp])[] = [
  [
    'a table with a changed byte',
    'filled',
    (file) => spoil(file, 7),
    /^The database is damaged: page 7 of base\/\d+\/\d+ is not as it was written/,
  ],
  ['an index with a changed byte', 'filled_number', (file) => spoil(file, 2), /^The database is damaged: page 2 of base/],
  ['a table without its file', 'filled', (file) => rm(file), /^The database is damaged: its file base\/\d+\/\d+ is missing/],
  ['a catalogue without its file', 'pg_attribute', (file) => rm(file), /./],
  ['roles that cannot be read', 'pg_authid', (file) => writeFile(file, Buffer.alloc(pageBytes, 0x55)), /./],
];
for (const [at, [title, relation, damage, sentence]] of damages.entries())
  test(`backup: one of ${title} is not whole, and leaves no server running`, async () => {
    const { dataDir, file } = await dataWith(`damaged-${at}`, relation);
    const to = place(`backup-${at}`);
    await damage(file);
    await assert.rejects(backUp({ dataDir, to, version: '1', log: quietLog, settings }), { message: sentence });
    assert.deepEqual(databaseServers(dataDir), []);
    assert.ok(!(await readdir(to).catch(() => [''])).includes(listName), 'nothing says that it is whole');
  });

/** Runs a command until it ends. Returns its code, or null after two minutes. */
const command = async (program: string, args: readonly string[], dataDir: string): Promise<{ code: number | null; output: string }> => {
  const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir };
  const child = spawn(process.execPath, [join(root, 'src', program), ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const patience = setTimeout(() => child.kill('SIGKILL'), 120_000);
  const code = await new Promise<number | null>((done) => void child.once('close', done));
  clearTimeout(patience);
  return { code, output };
};

let whole = '';
before(async () => {
  const { dataDir } = await dataWith('sound', 'filled');
  await backUp({ dataDir, to: (whole = place('whole')), version: '1', log: quietLog, settings });
  await writeFile(place('a-file'), '');
});

const isLinux = process.platform === 'linux';
const places: readonly (readonly [string, string, string])[] = [
  ...(isLinux ? ([['/proc', '/proc/dormouse-backup', 'this file system takes no folders']] as const) : []),
  ['a file', 'a-file', 'a file has this name'],
  ['a folder in a file', 'a-file/backup', 'a part of the path is a file'],
];
for (const [title, to, reason] of places)
  test(`backup and restore: to ${title} they end at once with a sentence`, async () => {
    const sentence = new RegExp(`^\\S* cannot be made: ${reason}\\. Name another folder with --to\\.$`, 'm');
    const backup = await command('backup.ts', ['--to', to], place('sound'));
    assert.deepEqual([backup.code, sentence.test(backup.output)], [1, true], backup.output);
    const restored = await command('restore.ts', ['--from', whole, '--to', to], place('sound'));
    assert.deepEqual([restored.code, sentence.test(restored.output)], [1, true], restored.output);
  });

test('restore: a target inside the backup is refused, also through a link', async () => {
  await symlink(whole, place('link'));
  const before = await readdir(whole);
  for (const dataDir of [whole, join(whole, 'data'), join(whole, 'new', 'deeper'), join(place('link'), 'new')])
    await assert.rejects(restore({ from: whole, dataDir, log: quietLog, settings }), /is in the backup, which a restore must not change/);
  assert.deepEqual(await readdir(whole), before);
});
