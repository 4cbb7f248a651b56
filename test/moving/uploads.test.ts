/** Tests uploads of stores: plain, in a tar archive, compressed; and refusals of large, truncated or malicious ones. Nothing stays on the disk. */
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

/** Makes an archive with the tar program of the system. */
const tarOf = (args: readonly string[]): Buffer => execFileSync('tar', ['-C', folder, '-cf', '-', ...args], { maxBuffer: 1 << 28 });

async function* pieces(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7_001) yield bytes.subarray(at, at + 7_001);
}

/** The name, the kind of tar entry, and the content. */
type Entry = readonly [string, '0' | '5', string];

/** Makes an archive with names that no file could have, each after a header for a long name. */
const tarBlocks = (...entries: readonly Entry[]): Buffer => {
  const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
  const header = (name: string, kind: string, size: number): Buffer => {
    const block = Buffer.alloc(512);
    block.write(name.slice(0, 50), 0);
    block.write(size.toString(8).padStart(11, '0'), 124);
    block.write(kind, 156);
    block.write('ustar\u000000', 257);
    return block;
  };
  const long = (name: string): Buffer => padded(Buffer.from(`${name}\0`));
  return Buffer.concat([
    ...entries.flatMap(([name, kind, content]) => [
      header('long', 'L', Buffer.byteLength(name) + 1),
      long(name),
      header(name, kind, content.length),
      padded(Buffer.from(content)),
    ]),
    Buffer.alloc(1_024),
  ]);
};

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

/** The session of the upload, with the number of its keys and records. */
const session = [['shop', number, 23]];

test('upload: a tar archive, also a compressed one, is a folder of sessions', async () => {
  assert.deepEqual(await found(tarOf(['shop'])), session);
  assert.deepEqual(await found(gzipSync(tarOf(['./shop']))), session);
});

test('upload: long names in every form of tar, and links and names that point outside, are handled', async () => {
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

test('upload: a file that is too large, truncated, empty or of another kind is refused with a sentence', async () => {
  assert.equal(await refusal(Buffer.alloc(4_000_001)), 'tooLarge: the upload is larger than 4000000 bytes (see IMPORT_MAX_BYTES)');
  assert.match(await refusal(gzipSync(Buffer.alloc(8_000_000))), /^tooLarge/);
  assert.equal(await refusal(gzipSync(tarOf(['shop'])).subarray(0, 3_000)), 'invalid: The compressed upload is cut off or damaged');
  assert.equal(await refusal(tarOf(['shop']).subarray(0, 3_000)), 'invalid: The tar archive is cut off or damaged');
  assert.match(await refusal(Buffer.from('x'), 'elsewhere'), /^invalid: from must be one of folder, /);
});

const foreign: readonly (readonly [string, string, Uint8Array, string])[] = [
  [
    'a file for folders',
    'folder',
    Buffer.from('just a file'),
    'one file: from=folder takes a tar archive of the folder with creds.json, or of a folder of such folders',
  ],
  ['a file for WAHA', 'waha', Buffer.from('{}'), 'one file: from=waha takes a tar archive of the folder .sessions'],
  [
    'one database for wuzapi',
    'wuzapi',
    Buffer.from('SQLite format 3\0'),
    'one file: from=wuzapi takes a tar archive of the folder dbdata with main.db and users.db',
  ],
  ['an archive for a dump', 'fazer-ai', tarBlocks(['a', '0', 'x']), 'a tar archive: from=fazer-ai takes a dump of Redis'],
  [
    'an archive for our own',
    'dormouse',
    tarBlocks(['a', '0', 'x']),
    'a tar archive: from=dormouse takes an archive that Dormouse exported',
  ],
  ['nothing', 'evolution', Buffer.alloc(0), 'empty: from=evolution takes a dump of Redis, or a tar archive of the folder instances'],
  ['nothing, compressed', 'whatsmeow', gzipSync(Buffer.alloc(0)), 'empty: from=whatsmeow takes an SQLite database of whatsmeow'],
  [
    'a ZIP archive',
    'folder',
    Buffer.from('PK\u0003\u0004...'),
    'a ZIP archive: only tar archives are unpacked, plain or compressed with gzip',
  ],
];
for (const [title, from, bytes, sentence] of foreign)
  test(`upload: ${title} is refused with what was expected`, async () =>
    assert.equal(await refusal(bytes, from), `invalid: The upload is ${sentence}`));

const deep = Array.from({ length: 40 }, () => 'd').join('/');
const badArchives: readonly (readonly [string, readonly Entry[], string])[] = [
  [
    'a name of more than 255 bytes',
    [
      ['a/'.repeat(20) + 'x'.repeat(60), '0', ''],
      [`${'ü'.repeat(128)}.json`, '0', ''],
    ],
    `a name that is too long for a file: ${'ü'.repeat(60)}…`,
  ],
  [
    'a name of more than 2,048 bytes',
    [[`${'n'.repeat(250)}/`.repeat(9), '5', '']],
    `a name that is too long for a file: ${'n'.repeat(60)}…`,
  ],
  [
    'a file where a folder stands',
    [
      ['a/b', '0', 'x'],
      ['a', '0', 'x'],
    ],
    'a file and a folder of one name: a',
  ],
  [
    'a folder where a file stands',
    [
      ['a', '0', 'x'],
      ['a', '5', ''],
    ],
    'a file and a folder of one name: a',
  ],
  [
    'a file in a file',
    [
      ['a', '0', 'x'],
      ['a/b', '0', 'x'],
    ],
    'a file and a folder of one name: a/b',
  ],
  ['more folders inside each other than a store has', [[deep, '5', '']], `more than 32 folders inside each other: ${deep.slice(0, 60)}…`],
];
for (const [title, entries, sentence] of badArchives)
  test(`upload: a tar archive with ${title} is refused with a sentence`, async () =>
    assert.equal(await refusal(tarBlocks(...entries)), `invalid: The tar archive has ${sentence}`));

test('upload: a tar archive with more files and folders than a store has is refused with a sentence', async () => {
  const link = Buffer.from(tarBlocks(['a', '5', '']).subarray(1_024, 1_536));
  link.write('2', 156);
  const many = createSources({ newPath: () => join(uploads, 'many'), maxBytes: 64_000_000 });
  const result = await many.receive(pieces(Buffer.concat(Array.from({ length: 60_002 }, () => link))), {
    from: 'folder',
    secret: '',
    signal,
  });
  assert.match(
    result.ok ? '' : result.refusal.message,
    /^The tar archive has more than 60000 files and folders: upload fewer sessions at once/,
  );
  assert.deepEqual(await readdir(uploads), []);
});

test('upload: a folder in place of a database is reported by its name', async () => {
  const result = await receive(tarBlocks(['dbdata/main.db', '5', ''], ['dbdata/users.db', '5', ''], ['other', '5', '']), 'wuzapi');
  assert.ok(result.ok);
  await assert.rejects(Array.fromAsync(result.value), { name: 'SourceProblem', message: 'main.db cannot be read: EISDIR' });
  assert.deepEqual(await readdir(uploads), []);
});

test('upload: the sentence about a file that is no database names the upload', async () => {
  for (const from of ['whatsmeow', 'waha-gows', 'multidevice'])
    for (const bytes of [Buffer.from('a picture'), gzipSync(Buffer.from('a picture'))]) {
      const result = await receive(bytes, from);
      assert.ok(result.ok);
      const message = 'The upload is not an SQLite database, or it is encrypted';
      await assert.rejects(Array.fromAsync(result.value), { name: 'SourceProblem', message }, from);
    }
});

test('upload: a dump of Redis and an archive are accepted as files', async () => {
  const creds = await readFile(join(folder, 'shop', 'creds.json'), 'utf8');
  const dump = { 'evolution:instance:c1': { creds: JSON.stringify(creds) } };
  assert.deepEqual(await found(Buffer.from(JSON.stringify(dump)), 'evolution'), [['c1', number, 1]]);
  const wrong = await receive(Buffer.from('{"a":'), 'fazer-ai');
  assert.ok(wrong.ok);
  await assert.rejects(async () => {
    for await (const _ of wrong.value);
  }, /The dump of Redis cannot be read/);
});
