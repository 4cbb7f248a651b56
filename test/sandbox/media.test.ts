/** Tests encrypted files, up and down, over the HTTPS server of the sandbox. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { downloadMediaMessage, type AnyMessageContent } from '@whiskeysockets/baileys';
import { Agent, Dispatcher1Wrapper, fetch } from 'undici';
import type { Content } from '#src/sandbox/interface.ts';
import { eventually, openSandbox, pair, type Client, type TestSandbox } from './client.ts';

const me = '5511999990002';
const friend = '5511988880002';
const friendJid = `${friend}@s.whatsapp.net`;
const file = randomBytes(70_000);
const sha256 = createHash('sha256').update(file).digest('hex');

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;
let dispatcher: Agent;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number: me, name: 'Ana' });
  dispatcher = new Agent({ connect: { ca: sandbox.sandbox.trust().mediaAuthority } });
});
after(async () => {
  await dispatcher.close();
  await cleanUp();
});

// Thumbnails and durations are given, so that Baileys needs no picture or sound library.
const uploads: [string, AnyMessageContent, string][] = [
  ['image', { image: file, caption: 'look', jpegThumbnail: '' } as AnyMessageContent, 'imageMessage'],
  ['video', { video: file, jpegThumbnail: '' } as AnyMessageContent, 'videoMessage'],
  ['gif', { video: file, gifPlayback: true, jpegThumbnail: '' } as AnyMessageContent, 'videoMessage'],
  ['audio', { audio: file, mimetype: 'audio/mpeg', seconds: 3 } as AnyMessageContent, 'audioMessage'],
  ['voice', { audio: file, ptt: true, seconds: 3, waveform: new Uint8Array(64) } as AnyMessageContent, 'audioMessage'],
  ['document', { document: file, mimetype: 'application/pdf', fileName: 'a.pdf' }, 'documentMessage'],
  ['sticker', { sticker: file }, 'stickerMessage'],
];

for (const [title, content, kind] of uploads) {
  test(`upload: ${title} is fetched, verified and decrypted by the contact`, async () => {
    const sent = await client.sock.sendMessage(friendJid, content);
    const got = await eventually(() => sandbox.sandbox.received(friend).find((one) => one.id === sent?.key.id), title);
    assert.equal(got.error, undefined);
    assert.equal(got.kind, kind);
    assert.deepEqual([got.media?.bytes, got.media?.sha256], [file.length, sha256]);
  });
}

const kinds = ['image', 'video', 'gif', 'audio', 'ptt', 'document', 'sticker'] as const;

for (const kind of kinds) {
  test(`download: ${kind} of a contact is decrypted by the client`, async () => {
    const content: Content = { kind, data: file.toString('base64'), caption: 'see', fileName: 'f.bin' };
    const { id } = await sandbox.sandbox.send(friend, me, content);
    const message = await client.wait('messages.upsert', ({ messages }) => messages.find(({ key }) => key.id === id));
    const bytes = await downloadMediaMessage(message, 'buffer', { options: { dispatcher: new Dispatcher1Wrapper(dispatcher) } as never });
    assert.deepEqual(bytes, file);
  });
}

test('media host: a wrong hash, a wrong auth and an unknown path are refused', async () => {
  const base = `https://127.0.0.1:${sandbox.port}`;
  const wrong = await fetch(`${base}/mms/image/abc?auth=no&token=abc`, { method: 'POST', body: 'x', dispatcher });
  assert.equal(wrong.status, 401);
  const missing = await fetch(`${base}/v/${'0'.repeat(64)}.enc`, { dispatcher });
  assert.equal(missing.status, 404);
  const outside = await fetch(`${base}/v/..%2f..%2fsandbox.sqlite`, { dispatcher });
  assert.equal(outside.status, 404);
});

test('media host: a range of a file can be downloaded', async () => {
  const message = client
    .seen('messages.upsert')
    .flatMap(({ messages }) => messages)
    .find((one) => one.message?.documentMessage);
  const response = await fetch(`https://127.0.0.1:${sandbox.port}${message?.message?.documentMessage?.directPath}`, {
    headers: { range: 'bytes=16-31' },
    dispatcher,
  });
  assert.equal(response.status, 206);
  assert.equal((await response.arrayBuffer()).byteLength, 16);
});

test('media host: concurrent uploads of the same picture all succeed', async () => {
  const { auth } = await client.sock.refreshMediaConn(true);
  const picture = randomBytes(200_000);
  const token = createHash('sha256').update(picture).digest('base64url');
  const url = `https://127.0.0.1:${sandbox.port}/newsletter/newsletter-image/${token}?${new URLSearchParams({ auth, token }).toString()}`;
  const before = sandbox.sandbox.stats().media.uploads;
  const statuses = await Promise.all(
    Array.from({ length: 30 }, async () => (await fetch(url, { method: 'POST', body: picture, dispatcher })).status),
  );
  assert.deepEqual([...new Set(statuses)], [200]);
  assert.equal(sandbox.sandbox.stats().media.uploads - before, 30);
});

test('media retry: the phone sends the path of a file again', async () => {
  const message = client
    .seen('messages.upsert')
    .flatMap(({ messages }) => messages)
    .find((one) => one.message?.imageMessage);
  assert.ok(message);
  const directPath = message.message?.imageMessage?.directPath;
  const updated = await client.sock.updateMediaMessage(message);
  const again = updated.message?.imageMessage?.directPath;
  assert.notEqual(again, directPath, 'handed in again, it has a path of its own');
  assert.equal(again?.split('?')[0], directPath?.split('?')[0]);
});

test('counters: uploads and downloads were counted, there was no unknown request', () => {
  const { media, unknown } = sandbox.sandbox.stats();
  assert.equal(media.uploads, uploads.length + 30);
  assert.ok(media.downloads >= kinds.length);
  assert.deepEqual(unknown, {});
});
