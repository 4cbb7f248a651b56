/** Tests the rules of webhook configuration from HTTP to the database and back after a restart. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { eventTypes } from '#actors/model.ts';
import { Webhook } from 'standardwebhooks';
import { testDatabase } from '#test/support/database.ts';
import { TestService, version, type Reply } from '#test/support/service.ts';

const database = await testDatabase();
const service = await TestService.open(database.url);
const demo = 'This is a public demo server. This endpoint has been disabled.';

interface Hook {
  readonly id: string;
  readonly enabled: boolean;
  readonly url: string;
  readonly secret?: string;
}
type Shop = Awaited<ReturnType<TestService['instance']>>;
const listOf = ({ body, status }: Reply): readonly Hook[] => {
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};
/** Saves webhooks with POST /webhook, checks that GET shows the same, and returns the answer. */
const save = async (shop: Shop, body: object): Promise<readonly Hook[]> => {
  const saved = listOf(await shop.call('POST', '/webhook', body));
  const shown = saved.map(({ secret: _once, ...hook }) => hook);
  assert.deepEqual(listOf(await shop.call('GET', '/webhook')), shown);
  return saved;
};
const confirm = async (shop: Shop, hooks: readonly Hook[]): Promise<void> => {
  await service.restart();
  assert.deepEqual(
    listOf(await shop.call('GET', '/webhook')),
    hooks.map(({ secret: _once, ...hook }) => hook),
  );
};
const refusal = async (shop: Shop, body: object): Promise<string> => {
  const before = listOf(await shop.call('GET', '/webhook'));
  const { status, body: answer } = await shop.call('POST', '/webhook', body);
  assert.deepEqual(listOf(await shop.call('GET', '/webhook')), before, 'what is refused changes nothing');
  return `${status} ${(answer as { error: string }).error}`;
};
const url = 'https://example.com/hook';

test('POST /webhook: simple mode creates one webhook, changes it, and switches it off by `enabled` alone', async () => {
  const shop = await service.instance('simple');
  assert.deepEqual(listOf(await shop.call('GET', '/webhook')), []);
  const [made] = await save(shop, { url, events: ['messages'], enable: true, numbers: 1 });
  assert.partialDeepStrictEqual(made, { enabled: false, url, events: ['messages'], excludeMessages: [], addUrlEvents: false });
  const changed = await save(shop, { url: `${url}/2`, events: ['All'], enabled: true, addUrlTypesMessages: true });
  assert.partialDeepStrictEqual(changed, [{ id: made?.id ?? '', enabled: true, url: `${url}/2`, addUrlTypesMessages: true }]);
  const off = await save(shop, { enabled: false });
  assert.partialDeepStrictEqual(off, [{ id: made?.id ?? '', enabled: false, url: `${url}/2`, events: ['All'] }]);
  await confirm(shop, off);
});

test('POST /webhook: several webhooks are added, updated and deleted by their id', async () => {
  const shop = await service.instance('several');
  await save(shop, { url, events: ['messages'], enabled: true });
  await save(shop, { action: 'add', url: `${url}/a`, events: ['presence'], enabled: true });
  const [managed, a, b] = await save(shop, { action: 'add', url: `${url}/a`, events: ['call'] });
  assert.equal(new Set([managed?.id, a?.id, b?.id]).size, 3);
  const updated = await save(shop, { action: 'update', id: a?.id, url: `${url}/b`, events: ['chats'] });
  assert.partialDeepStrictEqual(updated, [
    { url },
    { id: a?.id ?? '', url: `${url}/b`, events: ['chats'], enabled: true },
    { id: b?.id ?? '' },
  ]);
  const left = await save(shop, { action: 'delete', id: a?.id, url: 'nonsense', events: ['nothing'] });
  assert.deepEqual(
    left.map(({ id }) => id),
    [managed?.id, b?.id],
  );
  const ignored = { url: 7, events: 'All', enabled: 'no', excludeMessages: 'x', secret: false, headers: [] };
  assert.equal((await save(shop, { action: 'delete', id: b?.id, ...ignored })).length, 1, 'only the id counts');
  await save(shop, { url: `${url}/c`, events: ['messages'] });
  await confirm(shop, listOf(await shop.call('GET', '/webhook')));
});

test('POST /webhook: a delete without an id uses the address, and a repeated delete succeeds', async () => {
  const shop = await service.instance('by address');
  const [one] = await save(shop, { url, events: ['messages'] });
  await save(shop, { action: 'add', url: `${url}/other`, events: ['messages'] });
  for (let round = 0; round < 2; round += 1)
    assert.deepEqual(
      (await save(shop, { action: 'delete', id: '', url, events: 7 })).map((hook) => hook.url),
      [`${url}/other`],
    );
  for (let round = 0; round < 2; round += 1) assert.equal((await save(shop, { action: 'delete', id: one?.id })).length, 1);
  await confirm(shop, listOf(await shop.call('GET', '/webhook')));
});

test('POST /webhook: names of old clients are returned as they were sent, also after a restart', async () => {
  const shop = await service.instance('echo');
  const names = { events: ['messages', 'leads', 'all'], excludeMessages: ['wasSentByApi', 'fromMe', 'isGroupYes'] };
  const saved = await save(shop, { url, enabled: true, ...names });
  assert.partialDeepStrictEqual(saved, [names]);
  await confirm(shop, saved);
});

test('POST /webhook: status_posts alone is accepted, as clients of newer servers send it', async () => {
  const shop = await service.instance('status posts');
  await confirm(shop, await save(shop, { url, enabled: true, events: ['status_posts'] }));
});

test('POST /webhook: an invalid request is refused with the text of the API', async () => {
  const shop = await service.instance('refused');
  await save(shop, { url, events: ['messages'] });
  const cases: readonly (readonly [object, string])[] = [
    [{ action: 'remove', url }, '400 Invalid action'],
    [{ action: 7, url }, '400 Invalid action'],
    [{ action: 'add', id: 'x', url, events: ['messages'] }, '400 id must not be sent when a webhook is added'],
    [{ action: 'add', events: ['messages'] }, '400 url is required'],
    [{ action: 'add', url, enabled: true }, '400 events is required'],
    [{ action: 'update', id: 'unknown', url, events: ['messages'] }, '404 Webhook not found'],
    [{ action: 'delete' }, '400 id is required'],
    [{ url, events: ['leads'] }, `400 events contains no known event type; known types: all, ${eventTypes.join(', ')}`],
    [{ url: 'example.com', events: ['messages'] }, '400 url must start with http:// or https://'],
    [
      { url: 'http://169.254.169.254/', events: ['messages'] },
      '400 url points to an address that is not allowed (metadata): see ALLOW_PRIVATE_RECEIVERS',
    ],
    [{ url: 'http://0x7f.1/', events: ['messages'], headers: { host: 'x' } }, '400 headers must not contain host'],
    [{ url, events: ['messages'], secret: 'short' }, '400 secret must be true, empty, or whsec_ with 24 to 64 bytes in base64'],
  ];
  for (const [body, expected] of cases) assert.equal(await refusal(shop, body), expected);
  const { status, body } = await service.call('POST', '/webhook', { token: 'wrong' }, { url });
  assert.deepEqual([status, body], [401, { error: 'missing token' }]);
});

test('POST /webhook: a secret is shown once, signs after a restart, and is removed by an empty value', async () => {
  const heard: { headers: Record<string, string>; body: string }[] = [];
  const server = createServer(async (request, response) => {
    heard.push({ headers: request.headers as Record<string, string>, body: await text(request) });
    response.writeHead(201).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const receiver = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in?x=1`;
  const shop = await service.instance('signed');
  const input = { url: receiver, events: ['messages'], addUrlEvents: true };
  const [made] = await save(shop, { ...input, secret: true, headers: { Authorization: 'Bearer mine' } });
  const secret = made?.secret ?? '';
  assert.partialDeepStrictEqual(made, { signed: true, headerNames: ['Authorization'] });
  assert.ok(!JSON.stringify(await save(shop, input)).includes(secret), 'it is not shown again');
  await service.restart();

  const tried = (await shop.call('POST', '/webhook/test', { event: 'messages' })).body as { ok: boolean; status_code: number; id: string };
  assert.deepEqual([tried.ok, tried.status_code], [true, 201]);
  const [post] = heard;
  const verified = new Webhook(secret).verify(post?.body ?? '', post?.headers ?? {});
  assert.partialDeepStrictEqual(verified, { EventType: 'messages', test: true, token: shop.token, instanceName: 'signed', owner: '' });
  assert.partialDeepStrictEqual(post?.headers, {
    authorization: 'Bearer mine',
    'user-agent': `Dormouse/${version}`,
    'webhook-id': tried.id,
  });
  await save(shop, { ...input, secret: '', headers: {} });
  await shop.call('POST', '/webhook/test');
  assert.partialDeepStrictEqual(JSON.parse(heard[1]?.body ?? ''), { EventType: 'test', test: true });
  assert.deepEqual([heard[1]?.headers['webhook-signature'], heard[1]?.headers['authorization']], [undefined, undefined]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const failed = await shop.call('POST', '/webhook/test');
  assert.partialDeepStrictEqual(failed.body as object, { ok: false, error: 'webhook could not be reached: connection refused' });
});

test('globalwebhook: only an administrator reads and saves it, it survives a restart, and no instance lists it', async () => {
  const shop = await service.instance('no admin');
  const ask = async (method: string, headers: Record<string, string>, body?: object) => {
    const reply = await service.call(method, '/globalwebhook', headers, body);
    return `${reply.status} ${(reply.body as { error?: string }).error ?? ''}`.trim();
  };
  assert.equal(await ask('GET', {}), '401 Unauthorized');
  assert.equal(await ask('GET', { token: shop.token }), '401 Unauthorized');
  assert.equal(await ask('GET', { admintoken: shop.token }), `403 ${demo}`);
  assert.equal((await service.admin('GET', '/globalwebhook')).status, 404);
  assert.deepEqual((await service.admin('GET', '/globalwebhook')).body, { error: 'Global webhook not found' });
  for (const body of [
    {},
    { url },
    { url, events: [] },
    { url, events: ['leads'] },
    { url: 'x', events: ['All'] },
    { url, events: 'All' },
  ]) {
    const { status, body: answer } = await service.admin('POST', '/globalwebhook', body);
    assert.deepEqual([status, answer], [400, { error: 'Invalid payload' }], JSON.stringify(body));
  }
  const wanted = { url, events: ['All', 'leads'], excludeMessages: ['isGroupYes'], addUrlEvents: true };
  const saved = await service.admin('POST', '/globalwebhook', { ...wanted, enabled: false });
  assert.equal(saved.status, 200);
  assert.partialDeepStrictEqual(saved.body as object, { ...wanted, enabled: false, addUrlTypesMessages: false });
  await service.restart();
  assert.deepEqual((await service.admin('GET', '/globalwebhook')).body, saved.body);
  const again = (await service.admin('POST', '/globalwebhook', { url: `${url}/2`, events: ['call'] })).body as unknown as Hook;
  assert.deepEqual([again.id, again.url], [(saved.body as unknown as Hook).id, `${url}/2`], 'there is one');
  assert.equal((await service.admin('POST', '/globalwebhook', { url, events: ['status_posts'] })).status, 200);
  assert.deepEqual(listOf(await shop.call('GET', '/webhook')), [], 'the global webhook is none of the instance');
});

test('globalwebhook: a demo server refuses each of its operations', async () => {
  await service.restart({ DEMO_SERVER: 'true' });
  for (const [method, path] of [
    ['GET', '/globalwebhook'],
    ['POST', '/globalwebhook'],
    ['GET', '/globalwebhook/errors'],
    ['GET', '/globalwebhook/deliveries'],
    ['POST', '/globalwebhook/replay'],
    ['POST', '/globalwebhook/test'],
  ] as const) {
    const { status, body } = await service.admin(method, path, method === 'POST' ? { url, events: ['All'] } : undefined);
    assert.deepEqual([status, body], [403, { error: demo }], path);
  }
  await service.restart();
});
