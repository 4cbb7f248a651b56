/** Tests the folders of a backup without a server: wrong folders, and copies that a kill interrupted. */
import assert from 'node:assert/strict';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { backUp } from '#src/storage/backup/backup.ts';
import { FolderCopy } from '#src/storage/backup/copying.ts';
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
