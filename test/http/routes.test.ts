/** Tests the answers of the operations for successful requests, with a gateway in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { chatView, instanceView, messageView } from '#src/contract/views.ts';
import { chat, instance, message, now, owner } from '#test/contract/samples.ts';
import type { SendContent } from '#actors/gateway.ts';
import { asAdmin, asBrowser, asInstance, setUpCommon } from './setup.ts';

const { id } = instance.record;
const shown = instanceView(instance, now);
const jid = instance.record.jid;

interface Case {
  readonly on: string;
  readonly body?: InjectOptions['payload'];
  /** The fields of the answer that the test compares. */
  readonly answer: object;
}

const cases: readonly Case[] = [
  {
    on: 'POST /instance/create',
    body: { name: 'new' },
    answer: { response: 'Instance created successfully', connected: false, name: 'new' },
  },
  { on: 'POST /instance/init', body: { name: 'old', systemName: 'x' }, answer: { loggedIn: false, name: 'old' } },
  { on: 'POST /instance/connect', answer: { connected: true, loggedIn: true, jid } },
  { on: 'GET /instance/status', answer: { instance: shown, status: { connected: true, loggedIn: true, jid } } },
  { on: 'POST /instance/disconnect', answer: { response: 'Disconnected', stillLinked: false } },
  { on: 'GET /instance/passkey', answer: { stage: 'assertion', code: '', options: { challenge: 'AAAA', rpId: 'whatsapp.com' } } },
  {
    on: 'POST /instance/passkey',
    body: { id: 'AAAA', rawId: 'AAAA', type: 'public-key', response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' } },
    answer: { stage: 'phone', options: null },
  },
  { on: 'POST /instance/passkey/confirm', answer: { stage: 'phone' } },
  { on: 'POST /instance/passkey/link', answer: { code: 'ABCD-2345', link: 'http://127.0.0.1:3000#ABCD-2345' } },
  { on: 'GET /passkey', answer: { stage: 'assertion', options: { challenge: 'AAAA', rpId: 'whatsapp.com' } } },
  {
    on: 'POST /passkey',
    body: { id: 'AAAA', rawId: 'AAAA', type: 'public-key', response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' } },
    answer: { stage: 'phone', options: null, ticket: 'T'.repeat(43) },
  },
  { on: 'POST /passkey/confirm', answer: { stage: 'phone' } },
  { on: 'DELETE /instance/passkey', answer: { response: 'Linking was cancelled' } },
  { on: 'POST /instance/hibernate', answer: { response: 'Hibernated' } },
  { on: 'POST /instance/reset', answer: { response: 'Instance reset started', resetting: true, instanceId: id } },
  { on: 'DELETE /instance', answer: { response: 'Instance Deleted' } },
  { on: 'POST /instance/updateInstanceName', body: { name: 'shop 2' }, answer: { id, name: 'shop 2' } },
  { on: 'POST /instance/updateAdminFields', body: { id, adminField02: 'two' }, answer: { adminField01: 'one', adminField02: 'two' } },
  { on: 'POST /instance/token/rotate', answer: { success: true, token: 'rotated-token', timestamp: now } },
  { on: 'POST /admin/token/rotate', answer: { success: true, admin_token: 'A'.repeat(50), license_synced: false, timestamp: now } },
  { on: 'POST /instance/presence', body: { presence: 'available' }, answer: { response: 'Presence updated successfully' } },
  { on: 'GET /message/async', answer: { response: 'Async queue status', instanceId: id } },
  { on: 'DELETE /message/async', answer: { response: 'Async queue cleared', instanceId: id } },
  {
    on: 'POST /message/find',
    body: { chatid: '5511999999999', limit: 5 },
    answer: { returnedMessages: 1, messages: [messageView(message, owner)], limit: 5, offset: 0, nextOffset: 1, hasMore: true },
  },
  {
    on: 'POST /chat/find',
    answer: {
      chats: [chatView(chat, owner)],
      totalChatsStats: { total_chats: { total: 1, unread: 1 } },
      pagination: { totalRecords: 1, limit: 2000, offset: 0 },
    },
  },
  {
    on: 'POST /send/text',
    body: { number: 5511999999999, text: 'Oi' },
    answer: { messageid: message.messageId, response: { status: 'success', message: 'Message sent successfully' } },
  },
  {
    on: 'POST /globalwebhook',
    body: { url: 'https://example.com/g', events: ['All'], enabled: true },
    answer: { url: 'https://example.com/g', events: ['All'], enabled: true },
  },
  {
    on: 'POST /globalwebhook',
    body: { url: 'https://example.com/g', events: ['All'], enabled: 'false' },
    answer: { enabled: false },
  },
  { on: 'GET /health', answer: { status: 'ok', version: '0.0.0' } },
  { on: 'GET /health/ready', answer: { ready: true, restored: 1, total: 2 } },
];

for (const { on, body, answer } of cases) {
  test(`${on}: the answer has the documented fields`, async () => {
    const { app } = await setUpCommon();
    const [method, url] = on.split(' ') as [InjectOptions['method'] & string, string];
    const reply = await app.inject({
      method,
      url,
      headers: { ...asInstance, ...asAdmin, ...asBrowser },
      ...(body === undefined ? {} : { payload: body }),
    });
    assert.equal(reply.statusCode, 200, reply.body);
    assert.partialDeepStrictEqual(reply.json(), answer);
  });
}

test('names: surrounding spaces are removed', async () => {
  const { app, gateway } = await setUpCommon();
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, headers: { ...asInstance, ...asAdmin }, payload });
  assert.equal((await post('/instance/create', { name: '  my shop\n' })).json().name, 'my shop');
  assert.equal((await post('/instance/updateInstanceName', { name: ' shop 3 ' })).json().name, 'shop 3');
  await post('/instance/connect', { systemName: ' Windows ' });
  assert.deepEqual(gateway.connects.at(-1), { systemName: 'Windows' });
});

test('GET /instance/all: answers with an array of complete instances', async () => {
  const { app } = await setUpCommon();
  const reply = await app.inject({ url: '/instance/all', headers: asAdmin });
  assert.deepEqual(reply.json(), [shown]);
});

test('POST /send/text: converts the fields of the client to the types of the gateway', async () => {
  const { app, gateway } = await setUpCommon();
  const payload = { number: 5511999999999, text: 'Oi', delay: '1000', mentions: '551, 552,', track_id: 7, replyid: null, other: 1 };
  const reply = await app.inject({ method: 'POST', url: '/send/text', headers: asInstance, payload: { ...payload, async: true } });
  assert.equal(reply.json().response.message, 'Message queued successfully');
  assert.deepEqual(gateway.sends, [
    {
      send: {
        number: '5511999999999',
        content: { kind: 'text', text: 'Oi', preview: null },
        replyTo: '',
        mentions: ['551', '552'],
        forward: false,
      },
      options: {
        delay: 1000,
        readChat: false,
        readMessages: false,
        trackSource: '',
        trackId: '7',
        async: true,
        label: '/send/text',
        payload: { number: 5511999999999, text: 'Oi', delay: 1000, mentions: '551, 552,', track_id: 7, async: true },
      },
    },
  ]);
});

test('POST /send/text: passes the options of the link preview on, and keeps base64 out of the payload', async () => {
  const { app, gateway } = await setUpCommon();
  const send = (more: object) =>
    app.inject({ method: 'POST', url: '/send/text', headers: asInstance, payload: { number: '551', text: 'x', ...more } });
  await send({ linkPreview: true });
  await send({ linkPreview: true, linkPreviewTitle: 'T', linkPreviewImage: 'iVBORw0KGgo=', linkPreviewLarge: true });
  const [plain, custom] = gateway.sends;
  const previewOf = (content?: SendContent) => content?.kind === 'text' && content.preview;
  assert.equal(previewOf(plain?.send.content), 'auto');
  assert.deepEqual(previewOf(custom?.send.content), { title: 'T', description: '', image: 'iVBORw0KGgo=', large: true });
  assert.deepEqual(custom?.options.payload, { number: '551', text: 'x', linkPreview: true, linkPreviewTitle: 'T', linkPreviewLarge: true });
});

test('POST /instance/connect: reads the digits of a punctuated number', async () => {
  const { app, gateway } = await setUpCommon();
  for (const phone of ['+55 (11) 98888-7777', 5511988887777, '']) {
    await app.inject({ method: 'POST', url: '/instance/connect', headers: asInstance, payload: { phone, browser: 'chrome' } });
  }
  assert.deepEqual(gateway.connects, [
    { phone: '5511988887777', browser: 'chrome' },
    { phone: '5511988887777', browser: 'chrome' },
    { browser: 'chrome' },
  ]);
});

test('POST /message/find: passes ids on unchanged, and returns at most the documented maximum', async () => {
  const { app, gateway } = await setUpCommon();
  for (const payload of [
    { chatid: '5511999999999', limit: 1e6 },
    { id: `${owner}:3EB0`, limit: 0, offset: '20' },
  ]) {
    await app.inject({ method: 'POST', url: '/message/find', headers: asInstance, payload });
  }
  assert.deepEqual(gateway.messageQueries, [
    { chatId: '5511999999999', limit: 1000, offset: 0 },
    { id: `${owner}:3EB0`, limit: 100, offset: 20 },
  ]);
});

for (const credential of ['webhook', 'globalwebhook']) {
  test(`GET /${credential}/errors: names the time since which failures are kept`, async () => {
    const { app } = await setUpCommon();
    const reply = await app.inject({ url: `/${credential}/errors`, headers: { ...asInstance, ...asAdmin } });
    assert.equal(reply.headers['x-webhook-error-capture-started-at'], new Date(now).toISOString());
    assert.deepEqual(reply.json(), []);
  });
}

test('GET /globalwebhook: answers 404 before a webhook was set, and shows it afterwards', async () => {
  const { app } = await setUpCommon();
  const get = () => app.inject({ url: '/globalwebhook', headers: asAdmin });
  const before = await get();
  assert.deepEqual([before.statusCode, before.json()], [404, { error: 'Global webhook not found' }]);
  const payload = { url: 'https://example.com/g', events: ['messages'] };
  await app.inject({ method: 'POST', url: '/globalwebhook', headers: asAdmin, payload });
  assert.partialDeepStrictEqual((await get()).json(), payload);
});

test('GET /docs: shows the document as a page', async () => {
  const { app } = await setUpCommon();
  assert.equal((await app.inject({ url: '/docs/' })).statusCode, 200);
});

test('POST /instance/disconnect: warns of a device that the phone still lists', async () => {
  const { app, gateway } = await setUpCommon();
  gateway.stillLinked = 'not logged in within the limit';
  const reply = await app.inject({ method: 'POST', url: '/instance/disconnect', headers: asInstance });
  assert.deepEqual([reply.statusCode, reply.json().stillLinked], [200, true]);
  assert.match(reply.json().info, /not told \(not logged in within the limit\): unlink the device on the phone/);
});
