/** Tests files encrypted for media hosts: the content of the copy, and no leftover after a failure or an abort. */
import assert from 'node:assert/strict';
import { createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { openTemporaryFolder } from '#src/files/blobs.ts';
import { createMedia, createSealing } from '#src/media/media.ts';
import { until } from '#test/support/until.ts';

const place = await mkdtemp(join(tmpdir(), 'dormouse-sealing-'));
const folder = await openTemporaryFolder(join(place, 'temporary'));
const media = createMedia({ threads: 2 });
const sealing = createSealing(media, folder, 1);
after(async () => {
  await media.close();
  await rm(place, { recursive: true, force: true });
});
afterEach(async () => assert.deepEqual(await readdir(folder.path), []));

const keys = { iv: randomBytes(16), cipher: randomBytes(32), mac: randomBytes(32) };
const never = new AbortController().signal;

const fileOf = async (bytes: number) => {
  const [path, content] = [join(place, `file of ${bytes}`), randomBytes(bytes)];
  await writeFile(path, content);
  return { path, content };
};

for (const bytes of [0, 1, 65_535, 65_536, 1_000_000])
  test(`sealing: the copy of ${bytes} bytes decrypts to them, and its code and hash are right`, async () => {
    const { path, content } = await fileOf(bytes);
    const copy = await sealing.seal(path, keys, never);
    const sealed = await readFile(copy.path);
    await copy.release();
    const [text, code] = [sealed.subarray(0, -10), sealed.subarray(-10)];
    const cipher = createDecipheriv('aes-256-cbc', keys.cipher, keys.iv);
    assert.ok(Buffer.concat([cipher.update(text), cipher.final()]).equals(content));
    assert.ok(createHmac('sha256', keys.mac).update(keys.iv).update(text).digest().subarray(0, 10).equals(code));
    assert.equal(Buffer.from(copy.hash).toString('hex'), createHash('sha256').update(sealed).digest('hex'));
    assert.equal(copy.size, sealed.length);
  });

test('sealing: a missing file leaves no copy', async () => assert.rejects(sealing.seal(join(place, 'nowhere'), keys, never), /ENOENT/));

test('sealing: an abort ends the work and leaves no copy, and the next file has its turn', async () => {
  const { path } = await fileOf(48 * 1024 * 1024);
  const abort = new AbortController();
  const [aborted, next] = [sealing.seal(path, keys, abort.signal), sealing.seal((await fileOf(1_000)).path, keys, never)];
  // A growing copy shows that a thread is at work.
  const grows = async (): Promise<boolean> => {
    const [name] = await readdir(folder.path);
    return name !== undefined && (await stat(join(folder.path, name))).size > 0;
  };
  await until(grows, 'the copy grows');
  abort.abort();
  await assert.rejects(aborted, { name: 'AbortError' });
  const copy = await next;
  assert.deepEqual(await readdir(folder.path), [copy.path.slice(folder.path.length + 1)]);
  await copy.release();
});
