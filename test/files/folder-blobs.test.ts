/** Tests the store of blobs in a folder on another file system than the temporary folder. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import fs, { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openFolderBlobs, openTemporaryFolder } from '#src/files/blobs.ts';

/** Lets renames out of `from` fail until the end of the test, as between two file systems. Returns the renames and the flushes in their order. */
const separate = async (t: TestContext, from: string): Promise<readonly string[]> => {
  const seen: string[] = [];
  const { rename } = fs;
  const renames = t.mock.method(fs, 'rename', (path: string, place: string) => {
    const isOther = path.startsWith(from);
    seen.push(isOther ? 'refused rename' : 'rename');
    return isOther ? Promise.reject(Object.assign(new Error('EXDEV: cross-device link'), { code: 'EXDEV' })) : rename(path, place);
  });
  syncBuiltinESMExports();
  t.after(() => {
    renames.mock.restore();
    syncBuiltinESMExports();
  });
  await using handle = await open(import.meta.filename);
  t.mock.method(Object.getPrototypeOf(handle) as typeof handle, 'sync', async () => void seen.push('flush'));
  return seen;
};

test('blobs: a file from another file system is flushed after its copy, before it gets its name', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'dormouse-blobs-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const temporary = await openTemporaryFolder(join(root, 'temporary'));
  const blobs = await openFolderBlobs(join(root, 'files'), temporary);
  const [bytes, path] = [randomBytes(1_000), temporary.newPath()];
  const hash = createHash('sha256').update(bytes).digest('hex');
  await writeFile(path, bytes);
  const seen = await separate(t, temporary.path);
  await blobs.put(hash, path);
  assert.deepEqual(seen.slice(-3), ['refused rename', 'flush', 'rename']);
  const place = join(root, 'files', hash.slice(0, 2));
  assert.deepEqual([await readdir(place), await readdir(temporary.path)], [[hash], []]);
  assert.ok((await readFile(join(place, hash))).equals(bytes));
});
