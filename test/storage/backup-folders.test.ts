/** Tests the folders of a backup and of a restore without a server: wrong folders, interrupted copies, links, and leftovers. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, readlink, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { backUp } from '#src/storage/backup/backup.ts';
import { type Entry, FolderCopy, walk } from '#src/storage/backup/copying.ts';
import { lockFolder } from '#src/storage/backup/folder-lock.ts';
import { restore } from '#src/storage/backup/restore.ts';
import { quietLog } from '#test/support/database.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';

const folder = temporaryFolder();
after(() => removeFolder(folder));

/** Writes files below the folder of the test, with an old time of change. Returns the path of their folder. */
const filesIn = async (name: string, files: Readonly<Record<string, string>>): Promise<string> => {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, name, path);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, text);
    await utimes(file, 1_700_000_000, 1_700_000_000);
  }
  return join(folder, name);
};

const database = { 'postgres/data/PG_VERSION': '18\n' };

test('backup: a folder with other files in its folder data is refused, and the files stay', async () => {
  const dataDir = await filesIn('gateway', database);
  const to = await filesIn('other', { 'data/files/ab/abcd': 'kept bytes' });
  await assert.rejects(backUp({ dataDir, to, version: '1', log: quietLog }), /other\/data holds files that no backup wrote/);
  assert.equal(await readFile(join(to, 'data', 'files', 'ab', 'abcd'), 'utf8'), 'kept bytes');
});

test('backup: one that was killed before its first file is continued', async () => {
  const dataDir = await filesIn('gateway', database);
  const to = join(folder, 'begun');
  await mkdir(to);
  await FolderCopy.open(dataDir, join(to, 'data'), join(to, 'unfinished.jsonl')).then((copy) => copy.folders(['postgres']));
  await assert.rejects(backUp({ dataDir, to, version: '1', log: quietLog }), /server did not start/);
});

test('backup: after a truncated line of the list the copy continues twice, and copies the file of the line again', async () => {
  const from = await filesIn('source', { one: 'first', two: 'second', three: 'third' });
  await mkdir(join(folder, 'cut'));
  const [to, list] = [join(folder, 'cut', 'data'), join(folder, 'cut', 'unfinished.jsonl')];
  const continued = async (paths: readonly string[]): Promise<readonly string[]> => {
    const copy = await FolderCopy.open(from, to, list);
    await copy.files(paths);
    return copy.entries.map(({ path }) => path);
  };
  await continued(['one', 'two']);
  await writeFile(list, (await readFile(list, 'utf8')).slice(0, -30));
  await continued(['one', 'two']);
  assert.deepEqual(await continued(['one', 'two', 'three']), ['one', 'three', 'two']);
  const paths = (await readFile(list, 'utf8'))
    .split('\n')
    .flatMap((line) => (line.endsWith('}') ? [(JSON.parse(line) as Entry).path] : []));
  assert.deepEqual(paths, ['one', 'two', 'three'], 'a complete line is not written again');
});

test('backup: links to the files and to the key are followed, and a link that is not followed is named', async () => {
  await filesIn('disk', { 'ab/abcd': 'kept bytes', 'secret.key': 'key' });
  const dataDir = await filesIn('linked', database);
  await symlink('../disk', join(dataDir, 'files'));
  await symlink('../disk/secret.key', join(dataDir, 'encryption.key'));
  await symlink('../disk', join(dataDir, 'notes'));
  const { files, folders, links } = await walk(dataDir, () => true, ['files', 'encryption.key']);
  assert.deepEqual(files, ['encryption.key', 'files/ab/abcd', 'files/secret.key', 'postgres/data/PG_VERSION']);
  assert.deepEqual([folders, links], [['files', 'files/ab', 'postgres', 'postgres/data'], ['notes']]);
  const warned: unknown[] = [];
  const log = { ...quietLog, warn: (...said: readonly unknown[]) => void warned.push(said) };
  await assert.rejects(backUp({ dataDir, to: join(folder, 'followed'), version: '1', log }), /server did not start/);
  assert.deepEqual(warned, [[{ path: join(dataDir, 'notes') }, 'backup.linkLeftOut']]);
  await assert.rejects(
    backUp({ dataDir, to: join(folder, 'disk', 'backup'), version: '1', log: quietLog }),
    /disk\/backup is in .*linked\/files, which is what a backup copies/,
  );
  await symlink('nowhere', join(folder, 'disk', 'cd'));
  await assert.rejects(
    backUp({ dataDir, to: join(folder, 'unfollowed'), version: '1', log: quietLog }),
    /linked\/files\/cd is a symbolic link, which a backup does not follow/,
  );
});

/** Makes a backup without a server. Its database cannot start. */
const backupOf = async (name: string, files: Readonly<Record<string, string>>): Promise<string> => {
  const from = await filesIn(`${name}-source`, { ...database, ...files });
  const to = join(folder, name);
  await mkdir(to);
  const copy = await FolderCopy.open(from, join(to, 'data'), join(to, 'unfinished.jsonl'));
  const all = await walk(from, () => true);
  await copy.files(all.files);
  await writeFile(
    join(to, 'backup.json'),
    JSON.stringify({ format: 1, version: '1', major: '18', folders: all.folders, files: copy.entries }),
  );
  return to;
};

test('restore: after an interrupted restore of another backup, no file of that backup stays in the database, and its key is not in the way', async () => {
  const first = await backupOf('first', {
    'encryption.key': 'one',
    'postgres/data/base/1': 'one',
    'postgres/data/pg_wal/2': 'later log',
    'postgres/password': '',
  });
  const second = await backupOf('second', { 'encryption.key': 'two', 'postgres/data/base/1': 'two' });
  const dataDir = join(folder, 'restored');
  const ending = new AbortController();
  const onProgress = ({ files }: { readonly files: number }): void => void (files === 4 && ending.abort(new Error('interrupted')));
  await assert.rejects(restore({ from: first, dataDir, log: quietLog, onProgress, signal: ending.signal }), /interrupted/);
  await assert.rejects(restore({ from: second, dataDir, log: quietLog }), /server did not start/);
  assert.equal(await readFile(join(dataDir, 'encryption.key'), 'utf8'), 'two');
  assert.equal(await readFile(join(dataDir, 'postgres', 'data', 'base', '1'), 'utf8'), 'two');
  assert.deepEqual(await readdir(join(dataDir, 'postgres', 'data', 'pg_wal')).catch(() => []), []);
});

test('backup and restore: a folder that another process fills is refused, and a lock that a kill left is not', async () => {
  const dataDir = await filesIn('gateway', database);
  const from = await backupOf('whole', {});
  const commands = [
    (to: string) => backUp({ dataDir, to, version: '1', log: quietLog }),
    (to: string) => restore({ from, dataDir: to, log: quietLog }),
  ];
  for (const [at, command] of commands.entries()) {
    const to = await filesIn(`locked-${at}`, { 'unfinished.pid': `${process.ppid}\n` });
    await assert.rejects(command(to), new RegExp(`Process ${process.ppid} fills ${to}`));
    assert.deepEqual(await readdir(to), ['unfinished.pid']);
    // No process can have this id.
    await writeFile(join(to, 'unfinished.pid'), '2147483647\n');
    await assert.rejects(command(to), /server did not start/);
    assert.ok(!(await readdir(to)).includes('unfinished.pid'));
  }
});

test('lock: one of several starts at the same time replaces the lock that a kill left', async () => {
  let locked = 0;
  for (let round = 0; round < 50; round += 1) {
    const to = await filesIn(`raced-${round}`, { 'unfinished.pid': '2147483647\n' });
    const starts = await Promise.allSettled(Array.from({ length: 4 }, () => lockFolder(to)));
    const locks = starts.filter((start) => start.status === 'fulfilled').map(({ value }) => value);
    assert.ok(locks.length <= 1, `${locks.length} locks`);
    locked += locks.length;
    for (const lock of locks) await lock[Symbol.asyncDispose]();
  }
  assert.ok(locked > 0);
});

test('lock: a folder that a process with the same id fills on another host is refused until it gives no sign, and a lock of a former process is replaced', async () => {
  const to = await filesIn('hosts', { 'unfinished.pid': `${process.pid} other-host 1\n` });
  await utimes(join(to, 'unfinished.pid'), new Date(), new Date());
  await assert.rejects(lockFolder(to), new RegExp(`Process ${process.pid} fills ${to}`));
  const longAgo = new Date(Date.now() - 61_000);
  await utimes(join(to, 'unfinished.pid'), longAgo, longAgo);
  await (await lockFolder(to))[Symbol.asyncDispose]();
  await writeFile(join(to, 'unfinished.pid'), `${process.pid} ${hostname()} 1\n`);
  const lock = await lockFolder(to);
  await assert.rejects(lockFolder(to), new RegExp(`Process ${process.pid} fills ${to}`));
  await lock[Symbol.asyncDispose]();
  assert.deepEqual(await readdir(to), []);
});

test('restore: a truncated list of a backup is reported as damage', async () => {
  const from = await backupOf('truncated', {});
  for (const text of ['{"format":1,"fi', 'null', '{"format":1}']) {
    await writeFile(join(from, 'backup.json'), text);
    await assert.rejects(restore({ from, dataDir: join(folder, 'none'), log: quietLog }), /^Error: The backup is damaged: backup\.json/);
  }
});

test('restore: a gateway that started in the folder meanwhile keeps its database and its key', async () => {
  const from = await backupOf('early', { 'encryption.key': 'key of the backup' });
  const dataDir = join(folder, 'started');
  const start = ({ files }: { readonly files: number }): void => {
    if (files !== 1) return;
    mkdirSync(join(dataDir, 'postgres'));
    writeFileSync(join(dataDir, 'encryption.key'), 'key of the gateway');
  };
  await assert.rejects(restore({ from, dataDir, log: quietLog, onProgress: start }), /holds a database already/);
  assert.equal(await readFile(join(dataDir, 'encryption.key'), 'utf8'), 'key of the gateway');
});

test('restore: a link to the same key stays a link', async () => {
  const from = await backupOf('secret', { 'encryption.key': 'same key' });
  const dataDir = await filesIn('mounted', { 'run/secret': 'same key' });
  await symlink('run/secret', join(dataDir, 'encryption.key'));
  await assert.rejects(restore({ from, dataDir, log: quietLog }), /server did not start/);
  assert.equal(await readlink(join(dataDir, 'encryption.key')), 'run/secret');
  assert.ok(!(await readdir(dataDir)).includes('encryption.key.restoring'));
});
