/** Tests the bucket store on a real S3 server. The bucket store behaves like the folder store. If the server is unreachable, every method rejects. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { FilesUnavailable } from '#actors/ports.ts';
import { type BlobStore, openFolderBlobs, openTemporaryFolder, prefixes } from '#src/files/blobs.ts';
import { openBucketBlobs } from '#src/files/bucket-blobs.ts';
import { createFileStore } from '#src/files/file-store.ts';
import { instance } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';
import { openBucketServer } from '#test/support/bucket-server.ts';
import { baseUrl, bytesOf, taken, temporaryFolder } from '#test/support/files.ts';

const place = await temporaryFolder();
const temporary = await openTemporaryFolder(join(place, 'temporary'));
const endpoint = await openBucketServer(join(place, 'bucket'), { lax: false });
// The strict server checks the signature of a list request against a wrong path. List requests use this lax server, which accepts any signature.
const laxEndpoint = await openBucketServer(join(place, 'bucket'), { lax: true });

/** Opens a bucket. The time-out is long, because the servers run in this process, which may get no processor time for seconds. */
const open = (address: string, secret = 'S3RVER', silenceMs = 15_000) => {
  const opened = openBucketBlobs({ endpoint: address, region: 'us-east-1', keyId: 'S3RVER', secret, silenceMs }, temporary);
  after(() => opened.close());
  return opened;
};
const lax = open(laxEndpoint);
const bucket: BlobStore = { ...open(endpoint), list: (prefix) => lax.list(prefix) };

const put = async (blobs: BlobStore, bytes: Buffer): Promise<string> => {
  const hash = createHash('sha256').update(bytes).digest('hex');
  const path = temporary.newPath();
  await writeFile(path, bytes);
  await blobs.put(hash, path);
  return hash;
};

const stores: readonly (readonly [string, BlobStore])[] = [
  ['bucket', bucket],
  ['folder', await openFolderBlobs(join(place, 'folder'), temporary)],
];

for (const [name, blobs] of stores)
  test(`store in a ${name}: files are stored, read whole and in part, copied, listed and removed`, async () => {
    const bytes = randomBytes(3_000_000);
    const hash = await put(blobs, bytes);
    assert.equal(await blobs.size(hash), bytes.length);
    const read = async (range?: { start: number; end: number }) => Buffer.concat(await Array.fromAsync((await blobs.read(hash, range))!));
    assert.deepEqual(await read(), bytes);
    assert.deepEqual(await read({ start: 1_000, end: 1_999 }), bytes.subarray(1_000, 2_000));
    assert.deepEqual(await blobs.whole(hash), bytes);
    const copy = await blobs.localCopy(hash);
    assert.deepEqual(await readFile(copy!.path), bytes);
    await copy!.release();
    assert.deepEqual(await blobs.list(hash.slice(0, 2)), [{ hash, size: bytes.length }]);
    assert.deepEqual(await readdir(temporary.path), [], 'nothing is left on the way');
    await blobs.remove(hash);
    await blobs.remove(hash);
    const asked = [blobs.size(hash), blobs.read(hash), blobs.whole(hash), blobs.localCopy(hash)];
    assert.deepEqual(await Promise.all<unknown>(asked), [null, null, null, null]);
    assert.deepEqual(await blobs.list(hash.slice(0, 2)), []);
  });

test('bucket: files of instances are stored, and the audit removes bytes without a row', async () => {
  const storage = await (await testDatabase()).storage();
  await storage.instances.insert({ ...instance.record, id: 'r1', token: 'r1' });
  const chance = { hex: (count: number) => randomBytes(count).toString('hex') };
  const files = createFileStore({ rows: storage.fileRows, blobs: bucket, baseUrl, isComplete: true, chance, now: Date.now });
  const bytes = randomBytes(20_000);
  const kept = await files.keep('r1', await taken(temporary, bytes));
  assert.deepEqual(await bytesOf(files, kept!), bytes);
  const orphan = await put(bucket, randomBytes(100));
  for (let part = 0; part < files.parts; part += 1) await files.audit(part);
  assert.deepEqual([await bucket.size(orphan), files.bytes], [null, bytes.length]);
  assert.equal(await files.removeOf('r1'), 1);
  assert.equal(await bucket.size(kept!.hash), null);
});

/** Starts a server that accepts connections and sends nothing. */
const silent = async (): Promise<Server> => {
  const made = createServer(() => undefined);
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  after(() => made.close());
  return made;
};

const troubles: readonly (readonly [title: string, blobs: BlobStore])[] = [
  ['an unreachable server', open('http://127.0.0.1:9/files')],
  ['a silent server', open(`http://127.0.0.1:${((await silent()).address() as AddressInfo).port}/files`, 'S3RVER', 500)],
  ['a wrong secret', open(endpoint, 'wrong-secret')],
];

for (const [title, blobs] of troubles)
  test(`bucket: ${title} makes every operation fail and never looks like an empty store`, async () => {
    const hash = 'a'.repeat(64);
    for (const work of [() => blobs.size(hash), () => blobs.read(hash), () => put(blobs, Buffer.from('x')), () => blobs.list(prefixes[0]!)])
      await assert.rejects(work(), (error: Error) => error instanceof FilesUnavailable && !/wrong-secret|http/.test(error.message));
  });

test('bucket: a missing bucket is an error and not an empty store', () =>
  assert.rejects(open(laxEndpoint.replace('/files', '/missing')).list('00'), FilesUnavailable));

test('bucket: a removal ends, although the server sends its answer for ever', async (t) => {
  const server = createHttpServer((_, answer) => {
    answer.writeHead(500);
    const timer = setInterval(() => answer.write('x'), 20);
    answer.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const slow = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/files`, 'S3RVER', 300);
  await assert.rejects(slow.remove('a'.repeat(64)), FilesUnavailable);
});
