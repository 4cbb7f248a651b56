/** Tests files of messages from the phone of the contact over the media host to a client with the link, for any behaviour of the host. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Content, Fault } from '#src/sandbox/interface.ts';
import type { Account } from '#test/support/account.ts';
import { typeOf } from '#src/media/intake.ts';
import { synthesize, withFfmpeg } from '#test/support/ffmpeg.ts';
import { temporaryFolder } from '#test/support/files.ts';
import { postedObjections } from '#test/support/openapi.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

type Json = Readonly<Record<string, unknown>>;

let scene: Scene;
let account: Account;

before(async () => {
  scene = await Scene.open({
    DOWNLOAD_PHONE_MS: '4000',
    DOWNLOAD_SILENCE_MS: '4000',
    DOWNLOAD_MAX_BYTES: '3000000',
    BASE64_MAX_BYTES: '200000',
  });
  account = await scene.paired();
  const webhook = { url: scene.receiver.url, enabled: true, events: ['messages', 'messages_update'] };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
});
after(() => scene.close());

/** The beginning of a PNG up to its pixels. Any bytes may follow, and the file still has a type. */
const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890001000049444154', 'hex');
const picture = (size = 70_000): Buffer => Buffer.concat([png, randomBytes(size)]);

const write = async (content: Content): Promise<string> => {
  const { id } = await scene.platform.sandbox.send(contact, account.number, content);
  await scene.stored(account, [id]);
  return id;
};
const sendPicture = (bytes: Buffer): Promise<string> => write({ kind: 'image', data: bytes.toString('base64'), caption: 'see' });
const download = (id: string, more: Json = {}) => account.call('POST', '/message/download', { id, ...more });
const fault = (given: Fault) => scene.platform.sandbox.fault(given);
const fetches = (): number => scene.platform.sandbox.stats().media.downloads;

const read = async (address: unknown, headers: Readonly<Record<string, string>> = {}) => {
  // The gateway of the test has a free port, which is not in its base URL.
  const response = await fetch(`${scene.gateway.address}${new URL(String(address)).pathname}`, { headers });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
};

const fileWith = async (bytes: Buffer, folder: string): Promise<string> => {
  const path = join(folder, 'answer');
  await writeFile(path, bytes);
  return path;
};

/** Waits until no download is under way. */
const nothingLoose = async (): Promise<void> => {
  const folder = join(scene.gateway.dataDir, 'temporary');
  await until(async () => (await readdir(folder)).length === 0, 'no file is left on the way');
};

test('download: the bytes equal those of the contact, and their link needs no token', async () => {
  const bytes = picture();
  const id = await sendPicture(bytes);
  const answered = await download(id, { return_base64: true });
  assert.equal(answered.status, 200, JSON.stringify(answered.body));
  const { fileURL, mimetype, cached, base64Data } = answered.body;
  assert.deepEqual([mimetype, cached, base64Data], ['image/png', false, bytes.toString('base64')]);
  assert.match(String(fileURL), /\/files\/[0-9a-f]{32}\.png$/);
  const whole = await read(fileURL);
  assert.deepEqual([whole.status, whole.bytes], [200, bytes]);
  const part = await read(fileURL, { range: 'bytes=100-299' });
  assert.deepEqual([part.status, part.bytes], [206, bytes.subarray(100, 300)]);
});

test('download: the message has the link afterwards, and one event reports it', async () => {
  const id = await sendPicture(picture());
  const answers = [await download(id), await download(id)];
  assert.deepEqual(
    answers.map(({ body }) => body['cached']),
    [false, true],
  );
  const fileURL = answers[0]!.body['fileURL'];
  const { body } = await account.call('POST', '/message/find', { id });
  assert.equal((body['messages'] as readonly Json[])[0]?.['fileURL'], fileURL);
  const told = () =>
    scene.receiver.posted.filter(
      ({ body: posted }) => posted['state'] === 'FileDownloaded' && (posted['event'] as Json)['FileURL'] === fileURL,
    );
  await until(() => told().length > 0, 'the event');
  const { MessageIDs, MimeType, Type, chatid } = told()[0]!.body['event'] as Json;
  assert.deepEqual([MessageIDs, MimeType, Type, chatid], [[id], 'image/png', 'FileDownloaded', `${contact}@s.whatsapp.net`]);
  assert.equal(told().length, 1);
  assert.deepEqual(await postedObjections(scene.gateway.address, told()), []);
});

test('download: two clients at once cause one fetch, and the same bytes in another message cause none', async () => {
  const bytes = picture(1_000_000);
  const id = await sendPicture(bytes);
  const before = fetches();
  const answers = await Promise.all([download(id), download(id), download(id)]);
  assert.equal(fetches() - before, 1);
  assert.equal(new Set(answers.map(({ body }) => body['fileURL'])).size, 1);
  const again = await download(await sendPicture(bytes));
  assert.deepEqual([again.body['cached'], fetches() - before], [true, 1]);
});

test('download: a document keeps its name, and its type if the content has no known type', async () => {
  const bytes = randomBytes(5_000);
  const id = await write({
    kind: 'document',
    data: bytes.toString('base64'),
    mimetype: 'application/x-tally',
    fileName: 'Relatório "1".tly',
  });
  const { body } = await download(id);
  assert.equal(body['mimetype'], 'application/x-tally');
  const { headers, bytes: got } = await read(body['fileURL']);
  assert.deepEqual(got, bytes);
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename=.*filename\*=UTF-8''Relat%C3%B3rio/);
});

test('download: the file of a quoted message', async () => {
  const bytes = picture();
  const id = await sendPicture(bytes);
  const reply = await write({ kind: 'text', text: 'nice', replyTo: id });
  const { body, status } = await download(reply, { download_quoted: true });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual((await read(body['fileURL'])).bytes, bytes);
});

interface Trouble {
  readonly title: string;
  readonly faults: readonly Fault[];
  readonly status: number;
  readonly error?: RegExp;
}

const troubles: readonly Trouble[] = [
  { title: 'the host has dropped the file, and the phone hands it in again', faults: [{ kind: 'mediaGone', code: 410 }], status: 200 },
  { title: 'the same with 404', faults: [{ kind: 'mediaGone', code: 404 }], status: 200 },
  {
    title: 'the phone has it no more either',
    faults: [{ kind: 'mediaGone', code: 410 }, { kind: 'mediaRefused' }],
    status: 404,
    error: /the media is gone/,
  },
  {
    title: 'the phone does not answer',
    faults: [{ kind: 'mediaGone', code: 410 }, { kind: 'mediaSilence' }],
    status: 504,
    error: /the phone did not answer in time/,
  },
  { title: 'the host drops what was just handed in', faults: [{ kind: 'mediaGone', times: 2 }], status: 404, error: /the media is gone/ },
  { title: 'the answer breaks off in the middle, once', faults: [{ kind: 'mediaCut' }], status: 200 },
  {
    title: 'the answer breaks off again and again',
    faults: [{ kind: 'mediaCut', times: 2 }],
    status: 500,
    error: /could not be downloaded/,
  },
  { title: 'the host falls silent', faults: [{ kind: 'mediaSlow', ms: 20_000, times: 2 }], status: 500, error: /could not be downloaded/ },
  { title: 'the host is slow', faults: [{ kind: 'mediaSlow', ms: 50 }], status: 200 },
  { title: 'the host gives other bytes', faults: [{ kind: 'mediaForged' }], status: 500, error: /is not what the message says/ },
];

for (const { title, faults, status, error } of troubles)
  test(`download: ${title}`, async () => {
    const bytes = picture();
    const id = await sendPicture(bytes);
    for (const one of faults) await fault(one);
    const answered = await download(id);
    for (const { kind } of faults) await fault({ kind, times: 0 });
    assert.equal(answered.status, status, JSON.stringify(answered.body));
    if (error) assert.match(String(answered.body['error']), error);
    else assert.deepEqual((await read(answered.body['fileURL'])).bytes, bytes);
    await nothingLoose();
    // A failure leaves no partial file, so the next try brings the whole file.
    const next = await download(id);
    assert.deepEqual([next.status, (await read(next.body['fileURL'])).bytes], [200, bytes], JSON.stringify(next.body));
  });

/** Returns the picture of a stored message as a protocol message, for use in another message. */
const imageOf = async (id: string): Promise<Json> => {
  const { body } = await account.call('POST', '/message/find', { id });
  const { content } = (body['messages'] as readonly { readonly content: Json }[])[0]!;
  return {
    url: content['URL'],
    directPath: content['directPath'],
    mediaKey: content['mediaKey'],
    fileSha256: content['fileSHA256'],
    fileEncSha256: content['fileEncSHA256'],
    fileLength: 70_033,
    mimetype: 'image/png',
  };
};

test('download: the file of a quoted message that is not stored is that of the quotation', async () => {
  const bytes = picture();
  const quotedMessage = { imageMessage: await imageOf(await sendPicture(bytes)) };
  const contextInfo = { stanzaId: 'LONG AGO', participant: `${contact}@s.whatsapp.net`, quotedMessage };
  const reply = await write({ kind: 'message', message: { extendedTextMessage: { text: 'this one', contextInfo } } });
  const { body, status } = await download(reply, { download_quoted: true });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual((await read(body['fileURL'])).bytes, bytes);
});

test('download: a message whose sender forged the hash of its file', async () => {
  const fileSha256 = createHash('sha256').update('another file').digest('base64');
  const image = { ...(await imageOf(await sendPicture(picture()))), fileSha256 };
  const forged = await download(await write({ kind: 'message', message: { imageMessage: image } }));
  assert.deepEqual([forged.status, /another hash/.test(String(forged.body['error']))], [500, true], JSON.stringify(forged.body));
  const host = 'https://attacker.example/collect';
  const elsewhere = await download(await write({ kind: 'message', message: { imageMessage: { ...image, url: host } } }));
  assert.match(String(elsewhere.body['error']), /another hash/, 'the named host is not asked');
  await nothingLoose();
});

const refusals: readonly (readonly [
  title: string,
  make: () => Promise<readonly [id: string, more?: Json]>,
  status: number,
  error: RegExp,
])[] = [
  ['a message that is not known', async () => ['NOTHING'], 404, /^Message not found$/],
  ['a message without a file', async () => [await write({ kind: 'text', text: 'x' })], 400, /no media found in message/],
  ['a message that quotes nothing', async () => [await sendPicture(picture()), { download_quoted: true }], 400, /quotes no other/],
  ['a file that is larger than allowed', async () => [await sendPicture(picture(3_000_000))], 413, /larger than/],
  [
    'base64 of a file that is too large for it',
    async () => [await sendPicture(picture(300_000)), { return_base64: true }],
    413,
    /too large for base64/,
  ],
];

for (const [title, make, status, error] of refusals)
  test(`download: ${title}`, async () => {
    const [id, more] = await make();
    const answered = await download(id, more);
    assert.deepEqual([answered.status, error.test(String(answered.body['error']))], [status, true], JSON.stringify(answered.body));
  });

test('files: a path out of the folder, or without a file, is answered with 404', async () => {
  for (const path of ['/files/', '/files/..%2f..%2fencryption.key', '/files/..%2f', `/files/${'0'.repeat(32)}.png`, '/files/%00'])
    assert.equal((await fetch(`${scene.gateway.address}${path}`)).status, 404, path);
});

test('download: a stored file is available while the session is disconnected, and others are not', async () => {
  const bytes = picture();
  const [kept, other] = [await sendPicture(bytes), await sendPicture(picture())];
  await download(kept);
  const { status } = await account.call('POST', '/instance/hibernate', {});
  assert.equal(status, 200);
  const before = fetches();
  const answered = await download(kept);
  assert.deepEqual([answered.status, answered.body['cached'], fetches() - before], [200, true, 0], JSON.stringify(answered.body));
  const woken = await download(other);
  assert.equal(woken.status, 200, 'a sleeping session is woken for what it does not have');
});

test('download: a voice message is converted to MP3 on request', withFfmpeg, async () => {
  const folder = await temporaryFolder();
  const source = join(folder, 'voice.ogg');
  await synthesize(source, ['sine=frequency=440:duration=1'], ['-c:a', 'libopus', '-ac', '1']);
  const bytes = await readFile(source);
  const id = await write({ kind: 'ptt', data: bytes.toString('base64'), mimetype: 'audio/ogg; codecs=opus', seconds: 1 });
  const [mp3, usual, sent] = [await download(id, { generate_mp3: true }), await download(id), await download(id, { generate_mp3: false })];
  assert.deepEqual([mp3.status, mp3.body['mimetype']], [200, 'audio/mpeg'], JSON.stringify(mp3.body));
  assert.equal(usual.body['fileURL'], mp3.body['fileURL'], 'it is made once');
  assert.equal(await typeOf(await fileWith((await read(mp3.body['fileURL'])).bytes, folder)), 'audio/mpeg');
  assert.deepEqual((await read(sent.body['fileURL'])).bytes, bytes);
  await nothingLoose();
});

test('files: they are deleted with their instance', async () => {
  const gone = await scene.paired();
  const bytes = picture();
  const { id } = await scene.platform.sandbox.send(contact, gone.number, { kind: 'image', data: bytes.toString('base64') });
  await scene.stored(gone, [id]);
  const { body } = await gone.call('POST', '/message/download', { id });
  assert.deepEqual((await read(body['fileURL'])).bytes, bytes);
  assert.equal((await gone.call('DELETE', '/instance', {})).status, 200);
  const hash = createHash('sha256').update(bytes).digest('hex');
  const folder = join(scene.gateway.dataDir, 'files', hash.slice(0, 2));
  await until(async () => !(await readdir(folder)).includes(hash), 'the bytes are gone');
  assert.equal((await read(body['fileURL'])).status, 404);
});

test('download: a kill during a download leaves no partial file, and the file arrives after the next start', async () => {
  const bytes = picture(2_000_000);
  const id = await sendPicture(bytes);
  await fault({ kind: 'mediaSlow', ms: 1_000, times: 10 });
  const lost = download(id).catch(() => null);
  await until(async () => (await readdir(join(scene.gateway.dataDir, 'temporary'))).length > 0, 'the download has begun');
  await scene.gateway.end();
  await lost;
  await fault({ kind: 'mediaSlow', times: 0 });
  await scene.gateway.start();
  await nothingLoose();
  const answered = await until(async () => {
    const again = await download(id);
    return again.status === 200 && again;
  }, 'the file');
  assert.deepEqual((await read(answered.body['fileURL'])).bytes, bytes);
  await nothingLoose();
});

test('download: the platform got no unknown request', () => assert.deepEqual(scene.platform.sandbox.stats().unknown, {}));
