/** Uploads with stores: plain, in a tar archive, compressed; and what is too large, cut off or points outside. Nothing stays on the disk. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Result } from '#actors/model.ts';
import type { Arrival } from '#actors/ports.ts';
import { createSources } from '#src/moving/sources.ts';
import { writeMadeSession } from '#test/support/made-sessions.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';

const number = '5511911110001';
const folder = temporaryFolder();
const uploads = join(folder, 'uploads');
const signal = new AbortController().signal;
let count = 0;
const sources = createSources({ newPath: () => join(uploads, String((count += 1))), maxBytes: 4_000_000 });

before(async () => {
  await mkdir(uploads);
  await writeMadeSession(join(folder, 'shop'), { number, preKeys: 20, people: 2 });
});
after(() => removeFolder(folder));

/** Makes an archive with the system's own program. */
const tarOf = (args: readonly string[]): Buffer => execFileSync('tar', ['-C', folder, '-cf', '-', ...args], { maxBuffer: 1 << 28 });

async function* pieces(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7_001) yield bytes.subarray(at, at + 7_001);
}

const receive = (bytes: Uint8Array, from = 'folder'): Promise<Result<AsyncIterable<Arrival>>> =>
  sources.receive(pieces(bytes), { from, secret: '', signal });

const found = async (bytes: Uint8Array, from?: string): Promise<readonly unknown[]> => {
  const result = await receive(bytes, from);
  assert.ok(result.ok, JSON.stringify(result));
  const all: unknown[] = [];
  for await (const arrival of result.value)
    all.push(arrival.found === 'session' ? [arrival.session.name, arrival.session.identity.owner, arrival.session.keys.length] : arrival);
  assert.deepEqual(await readdir(uploads), []);
  return all;
};

const refusal = async (bytes: Uint8Array, from?: string): Promise<string> => {
  const result = await receive(bytes, from);
  assert.deepEqual([result.ok, await readdir(uploads)], [false, []]);
  return result.ok ? '' : `${result.refusal.reason}: ${result.refusal.message}`;
};

/** Keys, and the note of the source's run. */
const session = [['shop', number, 23]];

test('upload: a tar archive, also a compressed one, is a folder of sessions', async () => {
  assert.deepEqual(await found(tarOf(['shop'])), session);
  assert.deepEqual(await found(gzipSync(tarOf(['./shop']))), session);
});

test('upload: long names in every form of tar, and links and names that point outside', async () => {
  const long = `${'long-'.repeat(18)}name`;
  await mkdir(join(folder, 'links'), { recursive: true });
  await writeMadeSession(join(folder, 'links', long), { number, preKeys: 3 });
  await symlink('/etc/passwd', join(folder, 'links', 'outside'));
  for (const format of ['gnu', 'pax', 'ustar'])
    assert.deepEqual(await found(tarOf([`--format=${format}`, 'links'])).then((all) => (all[0] as unknown[])[1]), number, format);
  await writeFile(join(folder, 'creds.json'), '{}');
  const outside = tarOf(['--transform', 's,^creds,../../creds,', '-P', 'creds.json', 'shop']);
  assert.deepEqual(await found(outside), session);
  assert.deepEqual(await readdir(folder).then((names) => names.filter((name) => name.startsWith('creds'))), ['creds.json']);
});

test('upload: what is too large, cut off, empty or something else is refused with a sentence', async () => {
  assert.equal(await refusal(Buffer.alloc(4_000_001)), 'tooLarge: the upload is larger than 4000000 bytes (see IMPORT_MAX_BYTES)');
  assert.match(await refusal(gzipSync(Buffer.alloc(8_000_000))), /^tooLarge/);
  assert.equal(await refusal(gzipSync(tarOf(['shop'])).subarray(0, 3_000)), 'invalid: The compressed upload is cut off or damaged');
  assert.equal(await refusal(tarOf(['shop']).subarray(0, 3_000)), 'invalid: The tar archive is cut off or damaged');
  assert.match(await refusal(Buffer.from('x'), 'elsewhere'), /^invalid: from must be one of folder, /);
  const plain = await receive(Buffer.from('just a file'));
  assert.ok(plain.ok);
  await assert.rejects(async () => {
    for await (const _ of plain.value);
  }, /The folder cannot be read: ENOTDIR/);
  assert.deepEqual(await readdir(uploads), []);
});

test('upload: a dump of Redis and an archive are files', async () => {
  const creds = await readFile(join(folder, 'shop', 'creds.json'), 'utf8');
  const dump = { 'evolution:instance:c1': { creds: JSON.stringify(creds) } };
  assert.deepEqual(await found(Buffer.from(JSON.stringify(dump)), 'evolution'), [['c1', number, 1]]);
  const wrong = await receive(Buffer.from('{"a":'), 'fazer-ai');
  assert.ok(wrong.ok);
  await assert.rejects(async () => {
    for await (const _ of wrong.value);
  }, /The dump of Redis cannot be read/);
});
