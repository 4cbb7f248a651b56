/** Tests proxies of sessions with real proxy servers: their traffic, their permissions, and the displayed facts. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import type { Answer } from '#test/support/gateway.ts';
import { temporaryFolder, removeFolder } from '#test/support/processes.ts';
import { openProxy, type TestProxy } from '#test/support/proxies.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let http: TestProxy;
let socks: TestProxy;
let managed: readonly TestProxy[];
const folder = temporaryFolder();

before(async () => {
  http = await openProxy('http', '127.0.0.2');
  socks = await openProxy('socks5', '127.0.0.3');
  managed = [await openProxy('http', '127.0.0.4'), await openProxy('socks5', '127.0.0.5')];
  const city = { value: 'campinas', label: 'Campinas', state: 'sp', state_label: 'São Paulo', raw_city: 'campinas' };
  const cities = [
    { ...city, proxies: managed.map(({ url }) => url) },
    { value: 'santos', label: 'Santos', state: 'sp' },
  ];
  const countries = [
    { value: 'br', label: 'Brazil', cities },
    { value: 'pt', label: 'Portugal', proxies: [managed[0]?.url] },
  ];
  const catalog = join(folder, 'proxies.json');
  await writeFile(catalog, JSON.stringify({ countries }));
  scene = await Scene.open({
    ALLOW_PRIVATE_PROXIES: 'loopback',
    PROXY_CATALOG: catalog,
    PROXY_CONNECT_MS: '4000',
    PROXY_TEST_MS: '4000',
    OPEN_DEADLINE_MS: '10000',
    RECONNECT_STABLE_MS: '100000',
  });
});
after(async () => {
  await scene.close();
  for (const proxy of [http, socks, ...managed]) await proxy.die();
  await removeFolder(folder);
});

/** Instances of the running test, which are deleted after it. A remaining session would hold its proxy. */
const accounts: Account[] = [];
const kept = async (making: Promise<Account>): Promise<Account> => {
  const account = await making;
  accounts.push(account);
  return account;
};
const paired = (): Promise<Account> => kept(scene.paired());
afterEach(async () => {
  [http.conduct, socks.conduct] = ['work', 'work'];
  for (const account of accounts.splice(0)) await account.call('DELETE', '/instance');
});

type Json = Readonly<Record<string, unknown>>;
const setProxy = (account: Account, body: Json): Promise<Answer> => account.call('POST', '/instance/proxy', body);
const shown = async (account: Account): Promise<Json> => (await account.call('GET', '/instance/proxy')).body;
/** Returns the address from which the platform sees the session, or '' if the account has no session. */
const seenFrom = ({ number }: Account): string => {
  const person = scene.platform.sandbox.people().find((one) => one.number === number);
  return person?.devices[0]?.address?.replace(/:\d+$/, '') ?? '';
};
const files = (from: string): number => scene.platform.sandbox.stats().addresses[from]?.files ?? 0;
const comesFrom = (account: Account, from: string): Promise<unknown> =>
  until(
    () => seenFrom(account) === from,
    () => `the session comes from ${from}; it comes from ${seenFrom(account)}`,
  );

const picture = `data:image/png;base64,${Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
).toString('base64')}`;

for (const kind of ['http', 'socks5'] as const) {
  test(`proxy: the session and its media go through ${kind}, both ways`, async () => {
    const proxy = kind === 'http' ? http : socks;
    const account = await paired();
    assert.equal(seenFrom(account), '127.0.0.1');
    const changed = await setProxy(account, { mode: 'custom', proxy_url: proxy.url });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    assert.equal(changed.body['restart_requested'], true);
    await comesFrom(account, proxy.from);
    await account.reaches('connected');
    await scene.works(account);
    const [before, directly] = [files(proxy.from), files('127.0.0.1')];
    const sent = await account.call('POST', '/send/media', { number: contact, type: 'image', file: picture });
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
    assert.equal(files(proxy.from), before + 1, 'the upload went through the proxy');
    const { id } = await scene.platform.sandbox.send(contact, account.number, {
      kind: 'image',
      data: Buffer.from('picture').toString('base64'),
    });
    await scene.stored(account, [id]);
    const got = await account.call('POST', '/message/download', { id, return_base64: true });
    assert.equal(got.status, 200, JSON.stringify(got.body));
    assert.equal(files(proxy.from), before + 2, 'the download went through the proxy');
    assert.equal(files('127.0.0.1'), directly, 'nothing went past the proxy');
    const removed = await account.call('DELETE', '/instance/proxy');
    assert.deepEqual([removed.status, removed.body['restart_requested']], [200, true]);
    await comesFrom(account, '127.0.0.1');
    await until(() => proxy.open === 0, 'no connection to the proxy is left');
  });
}

test('proxy: no answer and no log line contains the password', async () => {
  const account = await paired();
  await setProxy(account, { mode: 'custom', proxy_url: http.url });
  const view = await shown(account);
  assert.equal(view['proxy_url'], `http://***:***@127.0.0.1:${http.port}`);
  assert.deepEqual([view['mode'], view['effective_mode'], view['validation_error']], ['custom', 'custom', false]);
  assert.equal(typeof view['last_test_at'], 'number');
  const again = await setProxy(account, { proxy_url: view['proxy_url'] });
  assert.deepEqual([again.status, again.body['restart_requested']], [200, false], 'what was shown means what is stored');
  const { body } = await account.call('GET', '/instance/status');
  const secret = new URL(http.url).password;
  for (const text of [JSON.stringify([view, body]), scene.gateway.printed])
    for (const word of [secret, decodeURIComponent(secret), Buffer.from(decodeURIComponent(secret)).toString('base64')])
      assert.ok(!text.includes(word), 'a password is shown');
});

const refused: readonly (readonly [title: string, body: () => Json, error: RegExp])[] = [
  ['one that refuses', () => ((http.conduct = 'refuse'), { proxy_url: http.url }), /does not connect to the platform \(502\)/],
  ['SOCKS5 that refuses', () => ((socks.conduct = 'refuse'), { proxy_url: socks.url }), /does not connect to the platform/],
  ['one that never answers', () => ((http.conduct = 'stall'), { proxy_url: http.url }), /did not answer in time/],
  ['SOCKS5 that never answers', () => ((socks.conduct = 'stall'), { proxy_url: socks.url }), /did not answer in time/],
  ['one through which nothing passes', () => ((http.conduct = 'mute'), { proxy_url: http.url }), /no answer of the platform/],
  ['wrong credentials', () => ({ proxy_url: http.wrongUrl }), /does not take the credentials/],
  ['wrong credentials of SOCKS5', () => ({ proxy_url: socks.wrongUrl }), /does not take the credentials/],
  ['a port where nothing listens', () => ({ proxy_url: 'http://127.0.0.1:1' }), /refuses connections/],
  ['a protocol that is none', () => ({ proxy_url: 'ftp://127.0.0.1:21' }), /must start with/],
  [
    'a private address that is not allowed',
    () => ({ proxy_url: 'http://10.0.0.1:3128' }),
    /not allowed \(private\): see ALLOW_PRIVATE_PROXIES$/,
  ],
  ['no address', () => ({ mode: 'custom' }), /proxy_url is required/],
  ['nothing at all', () => ({}), /is required/],
  ['no proxy without a confirmation', () => ({ mode: 'none' }), /confirm_no_proxy/],
  ['a fallback that is none', () => ({ proxy_url: http.url, proxy_fallback: 'elsewhere' }), /proxy_fallback/],
  ['an unknown country', () => ({ proxy_managed_country: 'xx' }), /no such country/],
  ['an unknown city', () => ({ proxy_managed_country: 'br', proxy_managed_city: 'nowhere' }), /no such city/],
];

test('proxy: a proxy that does not work is refused, and nothing changes', async () => {
  const account = await paired();
  for (const [title, body, error] of refused) {
    const answer = await setProxy(account, body());
    [http.conduct, socks.conduct] = ['work', 'work'];
    assert.equal(answer.status, 400, `${title}: ${JSON.stringify(answer.body)}`);
    assert.match(String(answer.body['error']), error, title);
  }
  const { mode, effective_mode: effective } = await shown(account);
  assert.deepEqual([mode, effective, seenFrom(account)], ['none', 'direct', '127.0.0.1']);
  await until(() => http.open === 0 && socks.open === 0, 'no connection is left');
});

test('proxy: an instance tests one proxy at a time', async () => {
  const account = await paired();
  http.conduct = 'stall';
  const answers = await Promise.all([1, 2, 3].map(() => setProxy(account, { proxy_url: http.url })));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [400, 409, 409]);
  http.conduct = 'work';
  assert.equal((await setProxy(account, { proxy_url: http.url })).status, 200, 'the next one is tested again');
});

test('proxy: a failed proxy is reported, and used again when it is back', async () => {
  const account = await paired();
  await setProxy(account, { mode: 'custom', proxy_url: http.url });
  await comesFrom(account, http.from);
  await account.reaches('connected');
  await http.die();
  const { lastDisconnectReason } = await account.reaches('connecting');
  assert.match(lastDisconnectReason, /the proxy failed: (?:the connection through it broke off|it refuses connections)/);
  await until(async () => /refuses connections/.test(String((await shown(account))['last_test_error'])), 'the state says so');
  assert.equal((await shown(account))['effective_mode'], 'custom');
  assert.equal(seenFrom(account), '', 'no other way was taken');
  await http.revive();
  await account.reaches('connected');
  assert.equal(seenFrom(account), http.from);
  await until(async () => (await shown(account))['last_test_error'] === '', 'the state says that it works');
  await scene.works(account);
});

test('proxy: a configured fallback is used when the proxy fails, and is reported', async () => {
  const account = await paired();
  const region = { proxy_managed_country: 'pt' };
  await setProxy(account, { mode: 'custom', proxy_url: socks.url, proxy_fallback: 'internal', ...region });
  await comesFrom(account, socks.from);
  await account.reaches('connected');
  await socks.die();
  await comesFrom(account, managed[0]?.from ?? '');
  await account.reaches('connected');
  const { fallback, effective_mode: effective, effective_detail: detail, mode } = await shown(account);
  assert.deepEqual([mode, effective, detail], ['custom', 'internal', 'managed_pool']);
  assert.match(String((fallback as Json)['reason']), /^custom_failed_internal:/);
  await scene.works(account);
  await socks.revive();
});

test('proxy: the kernel holds no connection after a stalled connect', async () => {
  const account = await paired();
  await setProxy(account, { mode: 'custom', proxy_url: http.url });
  await account.reaches('connected');
  http.conduct = 'stall';
  http.cut();
  await until(async () => /did not answer in time/.test(String((await shown(account))['last_test_error'])), 'the stall is told');
  await until(
    () => http.open <= 1,
    () => `one connection is open; there are ${http.open}`,
  );
  http.conduct = 'work';
  await account.reaches('connected');
});

test('managed proxies: places are listed, chosen, rotated and kept', async () => {
  const countries = await scene.gateway.call('GET', '/proxy-managed/countries', { token: '' });
  assert.deepEqual(countries.body['countries'], [
    { value: 'br', label: 'Brazil' },
    { value: 'pt', label: 'Portugal' },
  ]);
  const cities = await scene.gateway.call('GET', '/proxy-managed/cities?country=br&search=CAMP', { token: '' });
  assert.deepEqual(
    (cities.body['cities'] as readonly Json[]).map(({ value }) => value),
    ['campinas'],
  );
  const account = await kept(scene.create());
  const connected = await account.call('POST', '/instance/connect', { proxy_managed_country: 'br', proxy_managed_city: 'campinas' });
  assert.equal(connected.status, 200, JSON.stringify(connected.body));
  await account.scan(scene.platform);
  await account.reaches('connected');
  const [first, second] = managed.map(({ from }) => from);
  const before = seenFrom(account);
  assert.ok(before === first || before === second);
  const rotated = await setProxy(account, { rotate_now: true });
  assert.deepEqual([rotated.status, rotated.body['rotated']], [200, true]);
  await comesFrom(account, before === first ? String(second) : String(first));
  assert.equal(((await account.seen()) as unknown as Json)['proxy_managed_country'], 'br');
  const single = await setProxy(account, { mode: 'internal', proxy_managed_country: 'pt' });
  assert.equal(single.status, 200);
  const none = await setProxy(account, { rotate_now: true });
  assert.deepEqual([none.status, none.body['error']], [409, 'there is no other managed proxy in this region']);
});

test('managed proxies: an instance is created with a region, and an unknown region is refused', async () => {
  const made = await scene.gateway.call('POST', '/instance/create', { body: { name: 'x', proxy_managed_country: 'pt' } });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const state = await scene.gateway.call('GET', '/instance/proxy', { token: String(made.body['token']) });
  assert.deepEqual([state.body['mode'], state.body['managed'], state.body['proxy_url']], ['internal', true, '']);
  const wrong = await scene.gateway.call('POST', '/instance/create', { body: { name: 'x', proxy_managed_country: 'xx' } });
  assert.equal(wrong.status, 400);
});

test('proxy: a proxy is stored encrypted, and used after a restart', async () => {
  const account = await paired();
  await setProxy(account, { mode: 'custom', proxy_url: http.url });
  await comesFrom(account, http.from);
  await account.reaches('connected');
  await scene.gateway.end('SIGTERM');
  await scene.gateway.start();
  await comesFrom(account, http.from);
  assert.equal((await shown(account))['proxy_url'], `http://***:***@127.0.0.1:${http.port}`);
});

test('proxy: an instance without a proxy does not connect if direct connections are not allowed', async () => {
  const account = await paired();
  await scene.gateway.end('SIGTERM');
  await scene.gateway.start({ ALLOW_DIRECT_CONNECTIONS: 'false' });
  const { lastDisconnectReason } = await account.reaches('disconnected');
  assert.match(lastDisconnectReason, /the server allows no direct connections/);
  assert.equal((await account.connect()).status, 409);
  assert.equal((await account.call('DELETE', '/instance/proxy')).status, 400);
  assert.equal((await setProxy(account, { proxy_url: http.url })).status, 200);
  assert.equal((await account.connect()).status, 200);
  await comesFrom(account, http.from);
  await scene.gateway.end('SIGTERM');
  await scene.gateway.start();
});
