/** Tests pictures of people and groups. They are looked up in the background, once per person, and updated when they change. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { Account } from '#test/support/account.ts';
import type { Json } from '#test/support/operation-rows.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
let picture = '';
before(async () => {
  picture = (
    await sharp({ create: { width: 640, height: 640, channels: 3, background: '#a06' } })
      .jpeg()
      .toBuffer()
  ).toString('base64');
  scene = await Scene.open({ PICTURE_EVERY_MS: '50', SEND_TIMEOUT_MS: '10000' });
  const earlier = asked();
  account = await scene.paired();
  await until(() => asked() > earlier, 'the own picture is looked up after the login');
  const webhook = { url: scene.receiver.url, enabled: true, events: ['messages', 'call'] };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
});
after(() => scene.close());

const platform = () => scene.platform.sandbox;
const asked = (): number => platform().stats().pictures;
const jid = (number: string): string => `${number}@s.whatsapp.net`;

const chat = (id: string): Promise<Json | undefined> => account.chatOf(id);

const preview = async (id: string): Promise<string> => String((await chat(id))?.['imagePreview'] ?? '');

const told = (id: string): Json | undefined =>
  scene.receiver.posted.map(({ body }) => body['message'] as Json | undefined).find((message) => message?.['messageid'] === id);

const write = async (from: string, to: string, text: string): Promise<string> => {
  const { id } = await platform().send(from, to, { kind: 'text', text });
  return id;
};

test('pictures: a thousand messages of one person cause one lookup, and the chat shows the picture', async () => {
  const friend = '5511988880501';
  await platform().changeAccount(friend, { picture });
  const before = asked();
  // The answer would wait behind the answers before it, for longer than the short time-out of this file.
  await write(friend, account.number, 'text 0');
  await until(async () => (await preview(jid(friend))) !== '', 'the chat has a picture');
  for (let n = 1; n < 1_000; n += 1) await write(friend, account.number, `text ${n}`);
  await until(async () => (await account.messages(friend)).length === 1_000, 'all messages are stored');
  assert.equal(asked() - before, 1);
  assert.match(await preview(jid(friend)), /^https:/);
});

test('pictures: in a group the sender and the group are looked up once, and later messages bring the address of the sender', async () => {
  const [first, second] = ['5511988880502', '5511988880503'];
  await platform().changeAccount(first, { picture });
  const { jid: group } = await platform().createGroup({ subject: 'Seen', creator: first, participants: [account.number, second] });
  const before = asked();
  await write(first, group, 'one');
  await write(second, group, 'two');
  await until(() => asked() - before === 3, 'the group and both people are looked up');
  const later = await until(async () => {
    const id = await write(first, group, 'later');
    await until(() => told(id), 'the message is told');
    return told(id)?.['sender_image_preview_url'] !== undefined && id;
  }, 'a message with the picture of its sender');
  assert.match(String(told(later)?.['sender_image_preview_url']), /^https:/);
  const other = await write(second, group, 'without a picture');
  await until(() => told(other), 'the message is told');
  assert.equal(told(other)?.['sender_image_preview_url'], undefined);
  assert.equal(asked() - before, 3);
});

test('pictures: a hidden or absent picture is remembered too, and a change or a removal is followed', async () => {
  const friend = '5511988880504';
  await platform().changeAccount(friend, { picture, privacy: { profile: 'none' } });
  const before = asked();
  await write(friend, account.number, 'hidden');
  await until(() => asked() - before === 1, 'the hidden picture is asked for');
  for (let n = 0; n < 5; n += 1) await write(friend, account.number, `again ${n}`);
  await until(async () => (await account.messages(friend)).length === 6, 'the messages are stored');
  assert.deepEqual([await preview(jid(friend)), asked() - before], ['', 1]);
  await platform().changeAccount(friend, { privacy: { profile: 'all' } });
  await platform().changeAccount(friend, { picture });
  await until(async () => (await preview(jid(friend))) !== '', 'the new picture');
  await platform().changeAccount(friend, { picture: '' });
  await until(async () => (await preview(jid(friend))) === '', 'no picture');
  assert.equal(asked() - before, 3);
});

test('pictures: a lookup without an answer times out, and the next person is looked up', async () => {
  const [silent, friend] = ['5511988880505', '5511988880506'];
  await platform().changeAccount(friend, { picture });
  await platform().fault({ kind: 'pictureSilence', number: account.number });
  const before = asked();
  await write(silent, account.number, 'nobody says');
  await until(() => asked() - before === 1, 'the question');
  await write(friend, account.number, 'me next');
  await until(async () => (await preview(jid(friend))) !== '', 'the picture of the next');
});

test('pictures: the event of a call has the stored picture of the caller', async () => {
  const friend = '5511988880506';
  const { id } = await platform().call(friend, account.number, { step: 'offer' });
  const call = await until(async () => {
    const { body } = await account.call('POST', '/message/find', { id });
    return (body['messages'] as readonly Json[])[0];
  }, 'the call is stored');
  assert.match(String((call['callPeer'] as Json)['imagePreviewUrl']), /^https:/);
});

test('pictures: known pictures survive a restart', async () => {
  const before = asked();
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  await account.reaches('connected');
  const own = asked();
  for (const friend of ['5511988880501', '5511988880504', '5511988880506']) await write(friend, account.number, 'after');
  await until(async () => (await account.messages('5511988880506')).some(({ text }) => text === 'after'), 'the messages are stored');
  // The account's own picture is looked up after each login.
  assert.ok(asked() - own <= 1 && own - before <= 1, `${asked() - before} questions`);
  assert.deepEqual(platform().stats().unknown, {});
});
