/** Runs a whole life of a session with the inspector. All its answers and streams are searched for secrets and personal data. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Scene, contact } from '#test/support/scene.ts';
import { adminToken } from '#test/support/gateway.ts';
import { Account } from '#test/support/account.ts';
import { until } from '#test/support/until.ts';

const secretText = 'the price of the blue door is forty';
const secretPath = 'path-with-a-secret-0815';
const secretHeader = 'header-value-4711';

let scene: Scene;
let account: Account;
let id = '';
let streams: { readonly heard: () => string; readonly leave: () => void }[];
let secret = '';
let webhookId = '';
/** The messages from the inspector. */
const said: string[] = [];

const listen = async (path: string): Promise<(typeof streams)[number]> => {
  const abort = new AbortController();
  const response = await fetch(scene.gateway.address + path, { headers: { admintoken: adminToken }, signal: abort.signal });
  assert.equal(response.status, 200);
  let text = '';
  const read = async (): Promise<void> => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  };
  void read().catch(() => undefined);
  return { heard: () => text, leave: () => abort.abort() };
};

const ask = async (path: string) => {
  const response = await fetch(scene.gateway.address + path, { headers: { admintoken: adminToken } });
  const text = await response.text();
  said.push(text);
  assert.equal(response.status, 200, text);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
};

const actor = () => ask(`/admin/actors/${id}`);

before(async () => {
  scene = await Scene.open({ LOG_LEVEL: 'info' });
  const created = await scene.gateway.call('POST', '/instance/create', { body: { name: 'bakery' } });
  account = Account.of(scene.gateway, '5511900077665', String(created.body['token']));
  ({ id } = await account.seen());
  streams = [await listen('/admin/actors/stream'), await listen(`/admin/actors/${id}/stream?after=0`)];
  await account.pair(scene.platform);
  const headers = { authorization: secretHeader };
  const webhook = { url: `${scene.receiver.url}/${secretPath}`, events: ['messages'], secret: true, headers, action: 'add', enabled: true };
  const saved = await scene.gateway.call('POST', '/webhook', { token: account.token, body: webhook });
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
  secret = /whsec_[\w+/=]+/.exec(JSON.stringify(saved.body))?.[0] ?? '';
  assert.notEqual(secret, '');
  const [webhookSaved] = saved.body as unknown as readonly { readonly id: string }[];
  webhookId = webhookSaved?.id ?? '';
});

after(async () => {
  for (const { leave } of streams) leave();
  await scene.close();
});

test('inspector: a pairing is shown as steps of the chart, live and afterwards', async () => {
  const { state, steps, number } = await actor();
  assert.equal(state, 'connected');
  assert.equal(number, `…${account.number.slice(-4)}`);
  const events = (steps as readonly { readonly event: string }[]).map(({ event }) => event);
  for (const event of ['start', 'instance.connect', 'platform.qr', 'platform.paired', 'platform.closed', 'platform.opened'])
    assert.ok(events.includes(event), `${event} of ${events.join(' ')}`);
  await until(() => streams[1]?.heard().includes('"to":"connected"') ?? false, 'the stream tells of the login');
  await until(() => streams[0]?.heard().includes(`["${id}","connected",`) ?? false, 'the stream of the list tells of it too');
});

test('inspector: texts, webhooks, a broken connection, hibernation and a failing receiver are recorded without secrets', async () => {
  assert.equal((await account.send(contact, secretText)).status, 200);
  await scene.told([await scene.write(account, secretText)]);
  const { refused } = scene.receiver;
  scene.receiver.answer(503);
  await scene.write(account, secretText);
  await until(() => scene.receiver.refused > refused + 2, 'the receiver refuses');
  await actor();
  scene.receiver.answer(200);
  for (const [type, state] of [
    ['reconnect', 'connected'],
    ['hibernate', 'hibernated.asleep'],
    ['wake', 'connected'],
  ] as const) {
    const { status, body } = await scene.gateway.call('POST', `/admin/actors/${id}/events`, { body: { type } });
    assert.equal(status, 200, `${type}: ${JSON.stringify(body)}`);
    said.push(JSON.stringify(body));
    await until(async () => (await actor())['state'] === state, `${type} leads to ${state}`);
  }
  const { steps } = await actor();
  const causes = (steps as readonly { readonly cause: { readonly by?: string } }[]).map(({ cause }) => cause.by);
  assert.ok(causes.includes('api') && causes.includes('admin'));
  for (const path of ['/admin/actors', '/admin/actors?sort=outbox', `/admin/actors?q=${account.number.slice(-4)}`, '/admin/machines'])
    await ask(path);
  said.push(...streams.map(({ heard }) => heard()));
});

test('inspector: no answer and no stream contains a token, a secret, a phone number or a text', () => {
  const all = said.join('\n');
  const hidden = {
    'the token of the instance': account.token,
    'the admin token': adminToken,
    'the secret of the webhook': secret,
    'a header of the webhook': secretHeader,
    'the path of the webhook': secretPath,
    'the number of the account': account.number,
    'the number of the contact': contact,
    'the text of a message': secretText,
    'a QR': 'data:image',
    'an address of the platform': '@s.whatsapp.net',
  };
  assert.ok(all.includes(id) && all.length > 10_000);
  assert.deepEqual(
    Object.entries(hidden).flatMap(([what, value]) => (all.includes(value) ? [what] : [])),
    [],
  );
  assert.ok(webhookId !== '' && all.includes(webhookId));
  // Other runs of nine or more digits may only be times in milliseconds. Ids consist of hexadecimal digits.
  const withoutIds = all.replaceAll(id, '').replaceAll(webhookId, '');
  assert.deepEqual(
    [...withoutIds.matchAll(/(?<![\da-f])\d{9,}(?![\da-f])/g)].map(([digits]) => digits).filter((digits) => !/^1\d{12}$/.test(digits)),
    [],
  );
});

test('inspector: the log has the origin of each requested operation, and can show more of one instance for a limited time', async () => {
  const level = { type: 'logLevel', level: 'debug', minutes: 1 };
  assert.equal((await scene.gateway.call('POST', `/admin/actors/${id}/events`, { body: level })).status, 200);
  const lines = (): readonly string[] => scene.gateway.printed.split('\n');
  assert.ok(
    lines().some((line) => line.includes('inspector.asked') && line.includes('"asked":"reconnect"') && line.includes('"via":"token"')),
  );
  const other = await scene.paired();
  const count = (id: string): number => lines().filter((line) => line.includes('"level":20') && line.includes(id)).length;
  for (const one of [account, other]) await one.messages(contact);
  await until(() => count(id) > 0, 'lines at debug');
  assert.equal(count((await other.seen()).id), 0);
  assert.ok(!scene.gateway.printed.includes(account.token) && !scene.gateway.printed.includes(secretText));
});
