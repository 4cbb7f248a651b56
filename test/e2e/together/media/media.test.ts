/** Tests `/send/media` from the request to the phone of the recipient: the decrypted message, the answer, the event, and refusals. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { ReceivedMessage } from '#src/sandbox/interface.ts';
import type { Account } from '#test/support/account.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

type Json = Readonly<Record<string, unknown>>;

let scene: Scene;
let account: Account;
let files: Server;
let address: string;

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const pdf = Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(40_000)]);
const picture = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#3366aa' } })
  .jpeg()
  .toBuffer();
const transparent = await sharp({ create: { width: 64, height: 64, channels: 4, background: '#11223344' } })
  .png()
  .toBuffer();

before(async () => {
  scene = await Scene.open({ MEDIA_MAX_BYTES: '1000000', MEDIA_SILENCE_MS: '4000' });
  account = await scene.paired();
  const webhook = { url: scene.receiver.url, enabled: true, events: ['messages', 'messages_update'] };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
  // The message of the contact gives the chat its name, which the placeholder needs.
  await scene.works(account);
  files = createServer((request, response) => {
    if (request.url === '/missing') return void response.writeHead(404).end();
    if (request.url === '/endless') return void response.writeHead(200, { 'content-length': '10000000000' }).write('a');
    if (request.url === '/short') return void response.writeHead(200, { 'content-length': '1000' }).write('abc', () => response.destroy());
    if (request.url === '/slow') return void response.writeHead(200).write('a');
    return void response.end(picture);
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
});
after(async () => {
  files.closeAllConnections();
  files.close();
  await scene.close();
});

const send = (body: Json) => account.call('POST', '/send/media', { number: contact, ...body });

const seenBy = (number: string, id: unknown): Promise<ReceivedMessage> =>
  until(() => scene.platform.sandbox.received(number).find((one) => one.id === id), 'the phone has the message');

interface Row {
  readonly title: string;
  readonly body: () => Json;
  readonly messageType: string;
  readonly text?: string;
  readonly phone: (seen: ReceivedMessage) => void;
}

const rows: readonly Row[] = [
  {
    title: 'a picture from an address',
    body: () => ({ type: 'image', file: `${address}/picture.jpg`, text: 'Hello {{name}}!' }),
    messageType: 'ImageMessage',
    text: 'Hello Person 0001!',
    phone: ({ media, text }) => {
      assert.deepEqual([media?.sha256, media?.mimetype, media?.width, media?.height], [hashOf(picture), 'image/jpeg', 300, 200]);
      assert.equal(
        Buffer.from(media?.thumbnail ?? '', 'base64')
          .subarray(0, 2)
          .toString('hex'),
        'ffd8',
      );
      assert.equal(text, 'Hello Person 0001!');
    },
  },
  {
    title: 'a picture as a data URL, with the caption under its other name',
    body: () => ({ type: 'image', file: `data:image/png;base64,${transparent.toString('base64')}`, caption: 'see' }),
    messageType: 'ImageMessage',
    text: 'see',
    phone: ({ media }) => assert.equal(media?.mimetype.startsWith('image/'), true),
  },
  {
    title: 'a document as bare base64',
    body: () => ({ type: 'document', file: pdf.toString('base64'), docName: 'report.pdf', text: 'read this' }),
    messageType: 'DocumentMessage',
    text: 'read this',
    phone: ({ media }) =>
      assert.deepEqual([media?.sha256, media?.mimetype, media?.fileName], [hashOf(pdf), 'application/pdf', 'report.pdf']),
  },
  {
    title: 'a sticker made of a picture',
    body: () => ({ type: 'sticker', file: transparent.toString('base64') }),
    messageType: 'StickerMessage',
    phone: ({ media }) => assert.deepEqual([media?.mimetype, media?.width, media?.height], ['image/webp', 512, 512]),
  },
  {
    title: 'a picture to be viewed once',
    body: () => ({ type: 'image', file: picture.toString('base64'), viewOnce: true }),
    messageType: 'ImageMessage',
    phone: ({ media, kind }) => assert.deepEqual([media?.marks, kind], [['viewOnce'], 'viewOnceMessageV2']),
  },
];

for (const { title, body, messageType, text = '', phone } of rows) {
  for (const queued of [false, true]) {
    test(`media: ${title} arrives on the phone${queued ? ' through the queue' : ''}`, async () => {
      const { status, body: answer } = await send({ ...body(), async: queued, track_id: title });
      assert.equal(status, 200, JSON.stringify(answer));
      const { response, fileURL } = answer as { response: Json; fileURL: string };
      assert.deepEqual([answer['messageType'], answer['text'], answer['status']], [messageType, text, queued ? 'Queued' : 'Sent']);
      assert.equal(response['message'], queued ? 'Message queued successfully' : 'Media sent successfully');
      assert.match(fileURL, /^http:\/\/127\.0\.0\.1:\d+\/files\/[0-9a-f]{32}/);
      assert.equal(response['fileUrl'], fileURL);
      const seen = await seenBy(contact, answer['messageid']);
      assert.deepEqual([seen.error, seen.hidden], [undefined, undefined]);
      phone(seen);
      const stored = await until(async () => {
        const found = await account.call('POST', '/message/find', { id: answer['messageid'] });
        const [message] = found.body['messages'] as readonly Json[];
        return message?.['status'] !== 'Queued' && message;
      }, 'it is stored as sent');
      assert.deepEqual([stored['fileURL'], stored['messageType'], stored['sendFunction']], [fileURL, messageType, '/send/media']);
      const payload = stored['sendPayload'] as Json;
      const given = String(body()['file']);
      assert.equal(payload['file'], given.startsWith('http') ? given : undefined, 'no bytes are stored in the message');
      assert.equal(payload['type'], body()['type']);
    });
  }
}

test('media: a reply in a group quotes its message', async () => {
  const group = await scene.platform.sandbox.createGroup({ subject: 'Media', creator: contact, participants: [account.number] });
  const first = await send({ number: group.jid, type: 'image', file: picture.toString('base64') });
  assert.equal(first.status, 200, JSON.stringify(first.body));
  const reply = await send({
    number: group.jid,
    type: 'document',
    file: pdf.toString('base64'),
    replyid: first.body['messageid'],
    mentions: 'all',
  });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  const seen = await seenBy(contact, reply.body['messageid']);
  const { documentMessage } = seen.content as {
    documentMessage: { contextInfo: { stanzaId: string; quotedMessage: Json; mentionedJid: readonly string[] } };
  };
  assert.equal(documentMessage.contextInfo.stanzaId, first.body['messageid']);
  assert.ok('imageMessage' in documentMessage.contextInfo.quotedMessage);
  assert.equal(documentMessage.contextInfo.mentionedJid.length, 2);
});

test('media: the same bytes under another name and type get their own name and type', async () => {
  const bytes = randomBytes(5_000).toString('base64');
  const shown = async (more: Json): Promise<readonly unknown[]> => {
    const sent = await send({ type: 'document', file: bytes, ...more });
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
    const { content } = await seenBy(contact, sent.body['messageid']);
    const { fileName, mimetype } = (content as { readonly documentMessage: Json }).documentMessage;
    return [fileName || undefined, mimetype];
  };
  assert.deepEqual(await shown({ docName: 'for-ana.one', mimetype: 'application/x-one' }), ['for-ana.one', 'application/x-one']);
  assert.deepEqual(await shown({ docName: 'for-ben.two', mimetype: 'application/x-two' }), ['for-ben.two', 'application/x-two']);
  assert.deepEqual(await shown({}), [undefined, 'application/octet-stream']);
  assert.deepEqual(await shown({ docName: '../../etc/a\r\nb.pdf' }), ['ab.pdf', 'application/octet-stream']);
});

test('media: the same file to ten people is uploaded once and stored once', async () => {
  const earlier = scene.platform.sandbox.stats().media.uploads;
  const file = await sharp(randomBytes(100 * 100 * 3), { raw: { width: 100, height: 100, channels: 3 } })
    .jpeg()
    .toBuffer();
  const numbers = Array.from({ length: 10 }, (_, at) => `55119880001${at}0`);
  const answers = await Promise.all(numbers.map((number) => send({ number, type: 'image', file: file.toString('base64') })));
  assert.deepEqual(
    answers.map(({ status }) => status),
    numbers.map(() => 200),
  );
  assert.equal(new Set(answers.map(({ body }) => body['fileURL'])).size, 1);
  assert.equal(scene.platform.sandbox.stats().media.uploads - earlier, 1);
});

/** Refused bodies, with status and error. A refused body leaves no file on the disk. */
const refusals: readonly (readonly [title: string, body: () => Json, status: number, error: RegExp])[] = [
  ['a request without a file', () => ({ type: 'image' }), 400, /^Invalid media type or file format$/],
  ['an unknown type', () => ({ type: 'hologram', file: 'AAAA' }), 400, /^Invalid media type or file format$/],
  [
    'a text file that claims to be a picture',
    () => ({ type: 'image', file: Buffer.from('only words').toString('base64') }),
    415,
    /^Unsupported media format: .*text\/plain/,
  ],
  ['an empty file', () => ({ type: 'document', file: 'data:application/pdf;base64,' }), 400, /empty/],
  ['a file that is no base64', () => ({ type: 'document', file: '!!! not base64 !!!' }), 400, /base64/],
  ['a missing file', () => ({ type: 'image', file: `${address}/missing` }), 400, /404/],
  ['a file of ten GB', () => ({ type: 'document', file: `${address}/endless` }), 413, /^File size exceeds limit: /],
  ['a truncated file', () => ({ type: 'document', file: `${address}/short` }), 400, /./],
  ['a file of a silent server', () => ({ type: 'document', file: `${address}/slow` }), 400, /./],
  [
    'a request body beyond the limit',
    () => ({ type: 'document', file: 'A'.repeat(4_000_000) }),
    413,
    /^File size exceeds limit: the body is too large: at most \d+ bytes \(see MEDIA_MAX_BYTES\)$/,
  ],
  ['a file too large', () => ({ type: 'document', file: randomBytes(1_000_001).toString('base64') }), 413, /^File size exceeds limit: /],
  [
    'a document to be viewed once',
    () => ({ type: 'document', file: pdf.toString('base64'), viewOnce: true }),
    400,
    /viewOnce is for image/,
  ],
  ['a thumbnail that is no picture', () => ({ type: 'document', file: pdf.toString('base64'), thumbnail: 'AAAA' }), 400, /thumbnail/],
  [
    'a message to an impossible number',
    () => ({ number: 'nobody', type: 'document', file: `${address}/slow` }),
    400,
    /number must be digits/,
  ],
];

for (const [title, body, status, error] of refusals) {
  test(`media: ${title} is refused`, async () => {
    const answer = await send(body());
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    assert.match(String(answer.body['error']), error);
    await until(async () => (await readdir(join(scene.gateway.dataDir, 'temporary'))).length === 0, 'no file is left behind');
  });
}

test('media: a refusal of the media host is named in the answer, and the message is not sent', async () => {
  await scene.platform.sandbox.fault({ kind: 'uploadRefused', code: 507, times: 2 });
  const { status, body } = await send({ type: 'document', file: randomBytes(2_000).toString('base64') });
  assert.deepEqual([status, body['provider_code']], [500, 507]);
  assert.match(String(body['error']), /^Failed to upload media: 127\.0\.0\.1:\d+ answered 507, localhost:\d+ answered 507$/);
});
