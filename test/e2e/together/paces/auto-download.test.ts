/** Tests automatic downloads of media. The file is stored before its event leaves, without delaying other chats, and no message is lost. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

type Json = Readonly<Record<string, unknown>>;

const other = '5511988880077';
let scene: Scene;
let account: Account;

before(async () => {
  scene = await Scene.open({ AUTO_DOWNLOAD: 'image', AUTO_DOWNLOAD_MAX_BYTES: '500000', AUTO_DOWNLOAD_WAIT_MS: '12000' });
  account = await scene.paired();
  const webhook = { url: scene.receiver.url, enabled: true, events: ['messages', 'messages_update'] };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
});
after(() => scene.close());

const send = async (kind: 'image' | 'document', bytes: Buffer, from = contact): Promise<string> =>
  (await scene.platform.sandbox.send(from, account.number, { kind, data: bytes.toString('base64'), fileName: 'f' })).id;
const say = async (text: string, from = contact): Promise<string> =>
  (await scene.platform.sandbox.send(from, account.number, { kind: 'text', text })).id;
/** Returns the ids of messages in the order of their events on the instance's webhook, each with the link of its event. */
const told = (): readonly (readonly [id: string, link: string])[] =>
  scene.receiver.posted
    .filter(({ body }) => body['EventType'] === 'messages')
    .map(({ body }) => body['message'] as Json)
    .map((message) => [String(message['messageid']), String(message['fileURL'])] as const);
const event = (id: string) => until(() => told().find(([one]) => one === id), `the event of ${id}`);
const read = async (link: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${scene.gateway.address}${new URL(link).pathname}`)).arrayBuffer());

test('auto-download: the event of a picture has a link, which serves the bytes', async () => {
  const bytes = randomBytes(50_000);
  const [, link] = await event(await send('image', bytes));
  assert.deepEqual(await read(link), bytes);
});

test('auto-download: other kinds and larger files are not downloaded', async () => {
  const before = scene.platform.sandbox.stats().media.downloads;
  const ids = [await send('document', randomBytes(1_000)), await send('image', randomBytes(600_000))];
  for (const id of ids) assert.equal((await event(id))[1], '');
  assert.equal(scene.platform.sandbox.stats().media.downloads, before);
});

test('auto-download: a slow file delays no other chat, and its own chat keeps its order', async () => {
  await scene.platform.sandbox.fault({ kind: 'mediaSlow', ms: 1_000 });
  const slow = await send('image', randomBytes(60_000));
  const behind = await say('behind the picture');
  const beside = await say('in another chat', other);
  await event(behind);
  const order = told().map(([id]) => id);
  const at = (id: string): number => order.indexOf(id);
  assert.ok(at(beside) < at(slow) && at(slow) < at(behind), JSON.stringify([at(beside), at(slow), at(behind)]));
  assert.notEqual((await event(slow))[1], '');
});

test('auto-download: a file that takes too long is stored after the event of its message, and is reported', async () => {
  await scene.platform.sandbox.fault({ kind: 'mediaSlow', ms: 3_500 });
  const id = await send('image', randomBytes(60_000));
  assert.equal((await event(id))[1], '');
  await until(
    () =>
      scene.receiver.posted.some(
        ({ body }) => body['state'] === 'FileDownloaded' && ((body['event'] as Json)['MessageIDs'] as readonly string[]).includes(id),
      ),
    'the file',
  );
});

test('auto-download: a kill loses no message that waits for its file', async () => {
  await scene.platform.sandbox.fault({ kind: 'mediaSlow', ms: 1_000 });
  const { downloads } = scene.platform.sandbox.stats().media;
  const ids = [await send('image', randomBytes(60_000)), await say('behind it')];
  await until(() => scene.platform.sandbox.stats().media.downloads > downloads, 'the download has begun');
  await scene.gateway.end();
  await scene.platform.sandbox.fault({ kind: 'mediaSlow', times: 0 });
  await scene.gateway.start();
  await scene.stored(account, ids);
  await scene.told(ids);
});
