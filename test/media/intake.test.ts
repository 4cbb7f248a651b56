/** Tests the intake of files: forms of clients, hostile servers, and no leftover on the disk. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'node:test';
import { openTemporaryFolder } from '#src/files/blobs.ts';
import type { IntakeOptions } from '#src/media/intake.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { bytesOf, filesIn, folderFor, intakeFor, noFiles, refusalOf, serve, valueOf } from './media-files.ts';

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
/** Bytes whose base64 has every digit of both alphabets, with two bytes after the groups of three. */
const mixed = Buffer.from(Array.from({ length: 1_001 }, (_, index) => (index * 7_919) % 256));
const digits = mixed.toString('base64');
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const written: readonly (readonly [what: string, source: string, bytes: Uint8Array])[] = [
  ['base64', digits, mixed],
  ['base64 in lines', `\n  ${digits.replace(/.{76}/g, '$&\r\n')}\n`, mixed],
  ['base64 without padding', digits.replace(/=+$/, ''), mixed],
  ['the alphabet for addresses', mixed.toString('base64url'), mixed],
  ['a data URL', `data:image/png;base64,${png.toString('base64')}`, png],
  ['a data URL with parameters', `DATA:image/png;charset=utf-8;name=a.png; BASE64,${png.toString('base64')}`, png],
  ['a data URL with escapes', `data:;base64,${encodeURIComponent(digits)}`, mixed],
  ['a data URL without base64', 'data:text/plain,ol%C3%A1%20100%', Buffer.from('olá 100%')],
];
for (const [what, source, bytes] of written) {
  test(`take: ${what} becomes the bytes that it stands for`, async (t) => {
    const folder = await folderFor(t);
    const taken = valueOf(await intakeFor(t, folder).take(source));
    assert.deepEqual([await bytesOf(taken.path), taken.size, taken.hash], [Buffer.from(bytes), bytes.length, sha256(bytes)]);
    await taken.discard();
    await taken.discard();
    await noFiles(folder);
  });
}

test('take: a long base64 text with white space is read completely, escaped or not', async (t) => {
  const folder = await folderFor(t);
  const intake = intakeFor(t, folder);
  const bytes = Buffer.alloc(700_001, mixed);
  const text = bytes.toString('base64').replace(/.{61}/g, '$&\n');
  for (const source of [text, `data:;base64,${encodeURIComponent(text)}`]) {
    const taken = valueOf(await intake.take(source));
    assert.equal(taken.hash, sha256(bytes));
  }
});

const notASource = 'invalid: the file must be an http(s) URL, a data URL or base64';
const nonsense: readonly (readonly [source: string, refusal: string])[] = [
  ['photo.jpg', notASource],
  ['/etc/passwd', notASource],
  ['file:///etc/passwd', notASource],
  ['ftp://example.com/a.png', notASource],
  ['hello world', notASource],
  [`${digits}A`, notASource],
  [`AA==${digits}`, notASource],
  ['AAA==', notASource],
  ['A', notASource],
  ['data:image/png;base64', notASource],
  ['data:image/png;base64,*', notASource],
  ['', 'invalid: the file is empty'],
  ['data:image/png;base64,', 'invalid: the file is empty'],
  [Buffer.alloc(1_000_001).toString('base64'), 'tooLarge: the file is larger than the 976.6 KiB that are allowed'],
];
for (const [source, refusal] of nonsense) {
  test(`take: ${source.slice(0, 24) || 'nothing'} is refused`, async (t) => {
    const folder = await folderFor(t);
    assert.equal(refusalOf(await intakeFor(t, folder).take(source)), refusal);
    await noFiles(folder);
  });
}

const typed: readonly (readonly [mimetype: string, bytes: Uint8Array | string])[] = [
  ['image/png', png],
  ['application/pdf', '%PDF-1.7\n'],
  ['image/svg+xml', '<?xml version="1.0"?>\n<!-- a --><svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['text/html', '\n<!DOCTYPE html><title>x</title>'],
  ['application/xml', '<?xml version="1.0"?><a/>'],
  ['application/vnd.apple.mpegurl', '#EXTM3U\n/etc/passwd'],
  ['text/vcard', 'BEGIN:VCARD\nEND:VCARD'],
  ['text/plain', `${'a'.repeat(4_095)}é and more`],
  ['application/octet-stream', Buffer.from([0, 1, 2, 3, 200])],
];
for (const [mimetype, bytes] of typed) {
  test(`take: ${mimetype} is known by its content, whatever the source says`, async (t) => {
    const folder = await folderFor(t);
    const base = await serve(t, (_request, response) => void response.writeHead(200, { 'content-type': 'video/mp4' }).end(bytes));
    assert.equal(valueOf(await intakeFor(t, folder).take(`${base}/a.mp4`)).mimetype, mimetype);
  });
}

const names: readonly (readonly [path: string, disposition: string, filename: string])[] = [
  ['/a/photo%20one.png?x=1', '', 'photo one.png'],
  ['/', '', ''],
  ['/x', 'attachment; filename="../../e;vil\\".txt"', 'e;vil.txt'],
  ['/x', `attachment; filename="a.txt"; filename*=UTF-8''ol%C3%A1.txt`, 'olá.txt'],
  ['/..%2F..%2Fpasswd', '', 'passwd'],
  ['/x', 'inline; filename=plain.txt', 'plain.txt'],
  ['/x', `attachment; filename*=UTF-8''photo%D8%9C%E2%80%AEgpj.exe`, 'photogpj.exe'],
  ['/x', `attachment; filename*=UTF-8''${'%F0%9F%98%80'.repeat(120)}x`, `${'😀'.repeat(99)}x`],
];
for (const [path, disposition, filename] of names) {
  test(`take: the name of ${path} ${disposition} is ${filename || 'empty'}`, async (t) => {
    const folder = await folderFor(t);
    const headers = disposition ? { 'content-disposition': disposition } : {};
    const base = await serve(t, (_request, response) => void response.writeHead(200, headers).end('x'));
    assert.equal(valueOf(await intakeFor(t, folder).take(base + path)).filename, filename);
  });
}

const every = (response: ServerResponse, ms: number, chunk: string): void => {
  const timer = setInterval(() => response.write(chunk), ms);
  response.on('close', () => clearInterval(timer));
};
const redirect =
  (location: string): RequestListener =>
  (_request, response) =>
    void response.writeHead(302, { location }).end('moved');

const hostile: readonly (readonly [what: string, listener: RequestListener, refusal: string])[] = [
  [
    'a byte at a time',
    (_request, response) => every(response.writeHead(200), 40, 'x'),
    'invalid: the file could not be fetched: it took longer than 3 seconds',
  ],
  [
    'silence in the middle',
    (_request, response) => void response.writeHead(200).write('x'),
    'invalid: the file could not be fetched: the server fell silent in the middle of it',
  ],
  ['silence', () => undefined, 'invalid: the file could not be fetched: no answer in time'],
  [
    'less than it declared',
    (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('x'.repeat(500));
      setTimeout(() => response.socket?.end(), 20);
    },
    'invalid: the file could not be fetched: it ended in the middle',
  ],
  [
    'a connection that breaks',
    (_request, response) => {
      response.writeHead(200).write('x'.repeat(500));
      setTimeout(() => response.socket?.destroy(), 20);
    },
    'invalid: the file could not be fetched: it ended in the middle',
  ],
  [
    '10 GiB declared',
    (_request, response) => every(response.writeHead(200, { 'content-length': String(10 * 2 ** 30) }), 10, 'x'),
    'tooLarge: the file is larger than the 976.6 KiB that are allowed',
  ],
  [
    'more than is allowed, undeclared',
    (_request, response) => every(response.writeHead(200), 1, 'x'.repeat(100_000)),
    'tooLarge: the file is larger than the 976.6 KiB that are allowed',
  ],
  ['nothing', (_request, response) => void response.writeHead(200).end(), 'invalid: the file is empty'],
  [
    'a status',
    (_request, response) => void response.writeHead(404).end('not here'),
    'invalid: the file could not be fetched: the server answered with status 404',
  ],
  [
    'a compressed body',
    (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
    'invalid: the file could not be fetched: the server sent it compressed, which was not asked for',
  ],
  [
    'a redirect to a private address',
    redirect('http://169.254.169.254/latest/meta-data'),
    'invalid: the file could not be fetched: url points to an address that is not allowed (metadata): see ALLOW_PRIVATE_RECEIVERS',
  ],
  [
    'a redirect to a file',
    redirect('file:///etc/passwd'),
    'invalid: the file could not be fetched: url must start with http:// or https://',
  ],
  ['a redirect to itself', redirect('/a.png'), 'invalid: the file could not be fetched: it is behind more than 5 redirects'],
  [
    'what is no HTTP',
    (_request, response) => void response.socket?.end('hello\r\n\r\n'),
    'invalid: the file could not be fetched: the answer is not valid HTTP',
  ],
];
/** Time is short where a row is about time alone: a busy machine gives nobody an answer within a second. */
const limitsOf = (what: string): Partial<IntakeOptions> => {
  if (what === 'a byte at a time') return { timeoutMs: 3_000, silenceMs: 15_000 };
  return what.startsWith('silence') ? { timeoutMs: 15_000, silenceMs: 1_500 } : { timeoutMs: 15_000, silenceMs: 15_000 };
};

for (const [what, listener, refusal] of hostile) {
  test(`take: a server that sends ${what} is refused in time`, async (t) => {
    const folder = await folderFor(t);
    const base = await serve(t, listener);
    const started = performance.now();
    assert.equal(refusalOf(await intakeFor(t, folder, limitsOf(what)).take(`${base}/a.png`)), refusal);
    assert.ok(performance.now() - started < 60_000);
    await noFiles(folder);
  });
}

test('take: an address of this machine is refused unless it is allowed, also by a name', async (t) => {
  const folder = await folderFor(t);
  const guard = new AddressGuard({ allow: [], resolve: (_host, _options, done) => done(null, [{ address: '10.0.0.7', family: 4 }]) });
  const intake = intakeFor(t, folder, { guard });
  const base = await serve(t, (_request, response) => void response.end('x'));
  assert.match(refusalOf(await intake.take(base)), /not allowed \(loopback\)/);
  assert.match(refusalOf(await intake.take('http://files.example/a.png')), /not allowed \(private\)/);
});

test('take: five redirects are followed', async (t) => {
  const folder = await folderFor(t);
  const base = await serve(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    return left > 0 ? void response.writeHead(307, { location: `/${left - 1}` }).end() : void response.end(png);
  });
  assert.equal(valueOf(await intakeFor(t, folder).take(`${base}/5`)).size, png.length);
});

test('take: an abort or a stop ends the work under way and leaves no file', async (t) => {
  const folder = await folderFor(t);
  const base = await serve(t, (_request, response) => every(response.writeHead(200), 10, 'x'));
  const intake = intakeFor(t, folder);
  const controller = new AbortController();
  const given = intake.take(base, { signal: controller.signal });
  const other = intake.take(base);
  while ((await filesIn(folder)).length < 2) await delay(5);
  controller.abort();
  assert.equal(refusalOf(await given), 'unavailable: the file was not waited for any longer');
  assert.equal((await filesIn(folder)).length, 1);
  await intake.close();
  assert.equal(refusalOf(await other), 'unavailable: the server is stopping');
  assert.equal(refusalOf(await intake.take(digits)), 'unavailable: the server is stopping');
  await noFiles(folder);
});

test('receive: it accepts a stream, has its own limit, and passes an error of the stream on', async (t) => {
  const folder = await folderFor(t);
  const intake = intakeFor(t, folder);
  const streamed = async function* (error?: Error): AsyncGenerator<Uint8Array> {
    yield png.subarray(0, 10);
    if (error) throw error;
    yield png.subarray(10);
  };
  const taken = valueOf(await intake.receive(streamed(), { filename: 'dir/photo.png' }));
  assert.deepEqual([taken.hash, taken.mimetype, taken.filename], [sha256(png), 'image/png', 'photo.png']);
  await taken.discard();
  assert.match(refusalOf(await intake.receive(streamed(), { maxBytes: png.length - 1 })), /^tooLarge/);
  await assert.rejects(intake.receive(streamed(new Error('wrong key'))), /wrong key/);
  const stuck = async function* (): AsyncGenerator<Uint8Array> {
    yield png;
    await new Promise(() => undefined);
  };
  assert.match(refusalOf(await intakeFor(t, folder, { timeoutMs: 200 }).receive(stuck())), /took longer/);
  await noFiles(folder);
});

const shared = randomBytes(2_000_000);
const piecesOf = (length: number, count: number): readonly Uint8Array[] =>
  Array.from({ length: count }, (_, n) => shared.subarray(n * length, (n + 1) * length));
const cuts: readonly (readonly [string, readonly Uint8Array[]])[] = [
  ['more pieces than are gathered', piecesOf(3, 1_000)],
  ['pieces of 64 KiB, more than are gathered', piecesOf(65_536, 25)],
  ['one piece, larger than what is gathered', piecesOf(900_000, 1)],
  ['buffers of their own, with empty ones between', piecesOf(10_000, 9).flatMap((piece) => [Buffer.alloc(0), Uint8Array.from(piece)])],
];
for (const [title, pieces] of cuts)
  test(`receive: ${title} are the file, in order`, async (t) => {
    const folder = await folderFor(t);
    const whole = Buffer.concat(pieces);
    const given = async function* (): AsyncGenerator<Uint8Array> {
      yield* pieces;
    };
    const taken = valueOf(await intakeFor(t, folder).receive(given(), { maxBytes: 2_000_000 }));
    assert.ok((await readFile(taken.path)).equals(whole));
    assert.deepEqual([taken.hash, taken.size], [sha256(whole), whole.length]);
    await Promise.all([taken.discard(), taken.discard()]);
    await noFiles(folder);
  });

test('temporary folder: files of a crashed process are deleted at the next open', async (t) => {
  const folder = await folderFor(t);
  await writeFile(folder.newPath(), 'left');
  await mkdir(join(folder.path, 'deep/er'), { recursive: true });
  const again = await openTemporaryFolder(folder.path);
  await noFiles(again);
  await writeFile(again.newPath(), 'more');
  await again.empty();
  await noFiles(again);
});

test('take: an instance has four fetches at once, and leaves the others to other instances', async (t) => {
  const held: ServerResponse[] = [];
  const asked: string[] = [];
  const base = await serve(t, (request, response) => void (asked.push(request.url ?? ''), held.push(response)));
  const intake = intakeFor(t, await folderFor(t));
  const controller = new AbortController();
  const flood = Array.from({ length: 6 }, () => intake.take(`${base}/a`, { instance: 'a', signal: controller.signal }));
  const other = intake.take(`${base}/b`, { instance: 'b' });
  while (held.length < 5) await delay(5);
  assert.deepEqual(asked.toSorted(), ['/a', '/a', '/a', '/a', '/b']);
  assert.equal(valueOf(await intake.take(digits, { instance: 'a' })).size, mixed.length, 'a file in a request needs no turn');
  held[asked.indexOf('/b')]?.end('b');
  assert.equal(valueOf(await other).size, 1);
  controller.abort();
  for (const result of await Promise.all(flood)) assert.equal(refusalOf(result), 'unavailable: the file was not waited for any longer');
  assert.equal(asked.length, 5, 'a fetch that gives up leaves its line');
});

test('take: a fetch that finds a long line, or waits too long, is refused', async (t) => {
  const base = await serve(t, () => undefined);
  const intake = intakeFor(t, await folderFor(t), { timeoutMs: 400 });
  const results = await Promise.all(Array.from({ length: 105 }, () => intake.take(base, { instance: 'a' })));
  const refusals = results.map(refusalOf);
  assert.match(refusals[0] ?? '', /^invalid: .*took longer than/);
  assert.equal(refusals[103], 'limited: the file could not be fetched: too many files are being fetched');
  assert.equal(refusals[104], 'limited: 100 files of this instance wait to be fetched');
});

test('take: a full disk takes no file', async (t) => {
  const intake = intakeFor(t, await folderFor(t), { isDiskFull: () => true });
  assert.equal(refusalOf(await intake.take(digits)), 'unavailable: the disk of the server is nearly full');
});
