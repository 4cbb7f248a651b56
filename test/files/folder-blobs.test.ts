/** Tests the store of blobs in a folder: another file system than that of the temporary folder, and blobs that cannot be read. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import streams from 'node:fs';
import fs, { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { FilesUnavailable, FileUnreadable } from '#actors/ports.ts';
import { openFolderBlobs, openTemporaryFolder, type TemporaryFolder } from '#src/files/blobs.ts';

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

const opened = async (t: TestContext) => {
  const root = await mkdtemp(join(tmpdir(), 'dormouse-blobs-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const temporary = await openTemporaryFolder(join(root, 'temporary'));
  return { root, temporary, blobs: await openFolderBlobs(join(root, 'files'), temporary) };
};

/** Writes a temporary file with random bytes. */
const made = async (temporary: TemporaryFolder) => {
  const [bytes, path] = [randomBytes(1_000), temporary.newPath()];
  await writeFile(path, bytes);
  return { bytes, path, hash: createHash('sha256').update(bytes).digest('hex') };
};

/** Lets the reads of some paths fail until the end of the test, as on a damaged disk. */
const damage = (t: TestContext, isDamaged: (path: string) => boolean): void => {
  const failure = (): Error => Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  // Streams open their files by the function with a callback.
  const openStream = streams.open as (path: string, ...more: readonly unknown[]) => void;
  const opens = t.mock.method(streams, 'open', ((path: string, ...more: readonly unknown[]) =>
    isDamaged(path) ? (more.at(-1) as (error: Error) => void)(failure()) : openStream(path, ...more)) as never);
  const others = (['open', 'readFile', 'readdir', 'link', 'copyFile'] as const).map((name) => {
    const real = fs[name] as (path: string, ...more: readonly unknown[]) => Promise<unknown>;
    return t.mock.method(fs, name, ((path: string, ...more: readonly unknown[]) =>
      isDamaged(path) ? Promise.reject(failure()) : real(path, ...more)) as never);
  });
  syncBuiltinESMExports();
  t.after(() => {
    for (const { mock } of [opens, ...others]) mock.restore();
    syncBuiltinESMExports();
  });
};

test('blobs: a file from another file system is flushed after its copy, before it gets its name', async (t) => {
  const { root, temporary, blobs } = await opened(t);
  const { bytes, hash, path } = await made(temporary);
  const seen = await separate(t, temporary.path);
  await blobs.put(hash, path);
  assert.deepEqual(seen.slice(-3), ['refused rename', 'flush', 'rename']);
  const place = join(root, 'files', hash.slice(0, 2));
  assert.deepEqual([await readdir(place), await readdir(temporary.path)], [[hash], []]);
  assert.ok((await readFile(join(place, hash))).equals(bytes));
});

/** Stores blobs, and returns their store and their hashes. */
const stored = async (t: TestContext, count: number) => {
  const { temporary, blobs } = await opened(t);
  const hashes: string[] = [];
  for (let n = 0; n < count; n++) {
    const { hash, path } = await made(temporary);
    await blobs.put(hash, path);
    hashes.push(hash);
  }
  return { blobs, hashes };
};

test('blobs: a blob that cannot be read is reported by its hash while another blob can be read', async (t) => {
  const { blobs, hashes } = await stored(t, 2);
  const [bad = '', good = ''] = hashes;
  damage(t, (path) => path.endsWith(bad));
  const isReported = (error: Error): boolean =>
    error instanceof FileUnreadable && error.file === bad && error.message === `the stored file ${bad} cannot be read (EIO)`;
  for (const read of [blobs.whole, blobs.read, blobs.localCopy, blobs.readThrough]) await assert.rejects(async () => read(bad), isReported);
  assert.equal((await blobs.whole(good))?.length, 1_000);
});

/** Damage after which no other blob shows that the folder works: the number of stored blobs, and the damaged paths. The first blob is read. */
const outages: readonly (readonly [title: string, count: number, isDamaged: (path: string, hashes: readonly string[]) => boolean])[] = [
  ['damage of the only blob', 1, (path, hashes) => hashes.some((hash) => path.endsWith(hash))],
  ['damage of every blob', 3, (path, hashes) => hashes.some((hash) => path.endsWith(hash))],
  ['damage of the subfolder of a blob', 3, (path, [bad = '']) => path.endsWith(bad) || path.endsWith(`/${bad.slice(0, 2)}`)],
];
for (const [title, count, isDamaged] of outages)
  test(`blobs: ${title} is an outage of the store, and not a fault of the blob that is read`, async (t) => {
    const { blobs, hashes } = await stored(t, count);
    damage(t, (path) => isDamaged(path, hashes));
    await assert.rejects(
      blobs.whole(hashes[0] ?? ''),
      (error: Error) => error instanceof FilesUnavailable && !(error instanceof FileUnreadable),
    );
  });
