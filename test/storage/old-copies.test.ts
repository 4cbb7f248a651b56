/** Tests the removal of old copies of the server programs, except for copies in use and new ones. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, copyFile, mkdir, readdir, realpath, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { dropOldCopies } from '#src/storage/postgres/server-files.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';

const reason = process.platform === 'linux' ? false : 'only Linux says which program a process runs';

test('embedded: old copies of other versions are removed, and those that are in use, new or current stay', { skip: reason }, async () => {
  const cache = await realpath(temporaryFolder());
  const place = (name: string): string => join(cache, name);
  for (const name of ['postgres-1', 'postgres-2', 'postgres-3', 'postgres-4', 'other']) await mkdir(place(name));
  await copyFile('/bin/sleep', join(place('postgres-2'), 'sleep'));
  await chmod(join(place('postgres-2'), 'sleep'), 0o755);
  const running = spawn(join(place('postgres-2'), 'sleep'), ['60']);
  await new Promise((resolve) => void running.once('spawn', resolve));
  const old = new Date(Date.now() - 2 * 86_400_000);
  for (const name of ['postgres-1', 'postgres-2', 'postgres-4', 'other']) await utimes(place(name), old, old);
  await dropOldCopies(cache, place('postgres-4'));
  assert.deepEqual((await readdir(cache)).toSorted(), ['other', 'postgres-2', 'postgres-3', 'postgres-4']);
  running.kill();
  await new Promise((resolve) => void running.once('exit', resolve));
  await dropOldCopies(cache, place('postgres-4'));
  assert.deepEqual((await readdir(cache)).toSorted(), ['other', 'postgres-3', 'postgres-4']);
  await removeFolder(cache);
});
