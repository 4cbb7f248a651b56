/** Tests files over HTTP: permissions, ranges, and headers for browsers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { rangeOf } from '#src/http/answers.ts';
import { keptFile } from '#test/fakes/gateway.ts';
import { setUp } from './setup.ts';

const bytes = randomBytes(1_000);

const opened = async (t: Parameters<typeof setUp>[0], change: Parameters<typeof keptFile>[1] = {}) => {
  const { app, gateway, address } = await setUp(t);
  const kept = keptFile(bytes, change);
  gateway.kept.set(kept.file.name, kept);
  const url = `/files/${kept.file.name}`;
  return { app, gateway, kept, url, address, get: (headers = {}, method: 'GET' | 'HEAD' = 'GET') => app.inject({ method, url, headers }) };
};

test('files: a file is sent without a credential, with headers that keep a browser from running it', async (t) => {
  const { get, kept } = await opened(t);
  const { statusCode, headers, rawPayload } = await get();
  assert.deepEqual([statusCode, rawPayload], [200, bytes]);
  const told = Object.fromEntries(
    ['content-type', 'content-length', 'etag', 'x-content-type-options', 'content-security-policy'].map((name) => [name, headers[name]]),
  );
  assert.deepEqual(told, {
    'content-type': 'image/png',
    'content-length': '1000',
    etag: `"${kept.file.hash}"`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
  });
});

test('files: HEAD has the same headers as GET, and no body', async (t) => {
  const { get } = await opened(t);
  const [{ headers: whole }, { statusCode, headers, rawPayload }] = [await get(), await get({}, 'HEAD')];
  assert.deepEqual([statusCode, rawPayload.length, headers['content-length']], [200, 0, '1000']);
  assert.deepEqual(headers['content-type'], whole['content-type']);
});

const size = 1_000;
const ranges: readonly (readonly [header: string | undefined, expected: ReturnType<typeof rangeOf>])[] = [
  [undefined, null],
  ['bytes=0-9', { start: 0, end: 9 }],
  ['bytes=990-', { start: 990, end: 999 }],
  ['bytes=-10', { start: 990, end: 999 }],
  ['bytes=-5000', { start: 0, end: 999 }],
  ['bytes=0-5000', { start: 0, end: 999 }],
  ['bytes=1000-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=9-0', null],
  ['bytes=0-1,5-6', null],
  ['bytes=-', null],
  ['bytes=a-b', null],
  ['lines=0-9', null],
  [`bytes=0-${'9'.repeat(40)}`, null],
];
for (const [header, expected] of ranges) test(`rangeOf: ${header}`, () => assert.deepEqual(rangeOf(header, size), expected));

test('files: a range gets 206 with its position, and a range outside of the file gets 416 with the size', async (t) => {
  const { get } = await opened(t);
  const part = await get({ range: 'bytes=100-199' });
  assert.deepEqual(
    [part.statusCode, part.headers['content-range'], part.rawPayload],
    [206, 'bytes 100-199/1000', bytes.subarray(100, 200)],
  );
  const outside = await get({ range: 'bytes=1000-' });
  assert.deepEqual([outside.statusCode, outside.headers['content-range']], [416, 'bytes */1000']);
  assert.deepEqual(outside.json(), { error: 'the range is outside of the file' });
});

test('files: a client with a current copy gets 304, and a range only if its copy is current', async (t) => {
  const { get, kept } = await opened(t);
  const tag = `"${kept.file.hash}"`;
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const { statusCode, rawPayload } = await get({ 'if-none-match': known });
    assert.deepEqual([statusCode, rawPayload.length], [304, 0], known);
  }
  assert.equal((await get({ 'if-none-match': '"other"' })).statusCode, 200);
  assert.equal((await get({ 'if-range': tag, range: 'bytes=0-9' })).statusCode, 206);
  assert.equal((await get({ 'if-range': '"other"', range: 'bytes=0-9' })).statusCode, 200);
});

const dispositions: readonly (readonly [mimetype: string, filename: string, expected: RegExp])[] = [
  ['image/png', 'a.png', /^inline; filename="?a\.png"?$/],
  ['audio/ogg; codecs=opus', '', /^inline; filename="?[0-9a-f]{32}\.png"?$/],
  ['text/html', 'a.html', /^attachment; /],
  ['image/svg+xml', 'a.svg', /^attachment; /],
  ['application/pdf', 'Nota "1".pdf', /^attachment; filename="Nota \\"1\\"\.pdf"$/],
  ['application/pdf', 'Relatório.pdf', /filename\*=UTF-8''Relat%C3%B3rio\.pdf$/],
  ['application/pdf', 'a\r\nset-cookie: b.pdf', /^attachment; [^\r\n]*$/],
  ['x/y\r\nset-cookie: a', 'a', /^attachment; /],
];
for (const [mimetype, filename, expected] of dispositions)
  test(`files: the headers of ${JSON.stringify(mimetype)} named ${JSON.stringify(filename)} are safe`, async (t) => {
    const { get } = await opened(t, { mimetype, filename });
    const { statusCode, headers } = await get();
    assert.equal(statusCode, 200);
    assert.match(String(headers['content-disposition']), expected);
    assert.equal(headers['set-cookie'], undefined);
    assert.equal(headers['content-type'], mimetype.includes('\r') ? 'application/octet-stream' : mimetype);
  });

for (const name of ['', '..%2fencryption.key', 'nothing', '%00', 'a'.repeat(90), 'a'.repeat(500)])
  test(`files: the name ${JSON.stringify(name.slice(0, 20))} finds no file`, async (t) => {
    const { app } = await opened(t);
    const { statusCode } = await app.inject({ url: `/files/${name}` });
    assert.ok([400, 404, 414].includes(statusCode), String(statusCode));
  });

test('files: a file that is removed between its lookup and its read is 404, not an empty answer', async (t) => {
  const { gateway, get } = await opened(t);
  gateway.readFile = async () => null;
  assert.equal((await get()).statusCode, 404);
});

test('files: a slow client slows the read of the file, and a client that disconnects ends it', async (t) => {
  const { gateway, kept, url, address } = await opened(t);
  const state = { read: 0, ended: false };
  const large = { ...kept.file, size: 64 * 1024 * 1024 };
  gateway.kept.set(large.name, { file: large, bytes });
  gateway.paced = async function* () {
    try {
      for (; state.read < 1024; state.read += 1) yield Buffer.alloc(65_536);
    } finally {
      state.ended = true;
    }
  };
  const leave = new AbortController();
  const response = await fetch(`${await address()}${url}`, { signal: leave.signal });
  const reader = response.body!.getReader();
  await reader.read();
  let before = -1;
  // Reading stops when the buffers on the way are full.
  while (before !== state.read) {
    before = state.read;
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(state.read < 512, `${state.read} of 1024 pieces were read for nobody`);
  leave.abort();
  for (const deadline = Date.now() + 60_000; !state.ended;) {
    assert.ok(Date.now() < deadline, 'the reading goes on');
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test('files: a read that fails in the middle closes the connection, because the length was already sent', async (t) => {
  const { gateway, url, address } = await opened(t);
  gateway.paced = async function* () {
    yield bytes.subarray(0, 100);
    throw new Error('the disk failed');
  };
  const response = await fetch(`${await address()}${url}`);
  await assert.rejects(response.arrayBuffer());
});
