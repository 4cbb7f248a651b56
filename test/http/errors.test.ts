/** Tests the answers to refusals, failures and broken HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EpochLost, type Refusal, StorageBroken, StorageBusy, StorageFull, StorageSlow, StorageUnavailable } from '#actors/gateway.ts';
import { now } from '#test/contract/samples.ts';
import { storageAway } from '#test/fakes/gateway.ts';
import { sendRaw } from '#test/support/raw-http.ts';
import { asAdmin, asInstance, bodyLimit, setUp, token, setUpCommon } from './setup.ts';

const send = { method: 'POST', url: '/send/text', headers: asInstance, payload: { number: '551', text: 'x' } } as const;

const refusals: readonly (readonly [Refusal['reason'], number])[] = [
  ['invalid', 400],
  ['tooLarge', 413],
  ['notConvertible', 415],
  ['notFound', 404],
  ['conflict', 409],
  ['capped', 429],
  ['limited', 429],
  ['unknown', 504],
  ['notSent', 409],
  ['unavailable', 503],
  ['notSupported', 501],
];

for (const [reason, status] of refusals) {
  test(`refusal: ${reason} is ${status} with the error text of the gateway`, async () => {
    const { app, gateway } = await setUpCommon();
    gateway.refuseNext = { reason, message: 'so it is' };
    const reply = await app.inject(send);
    assert.deepEqual([reply.statusCode, reply.json()], [status, { error: 'so it is' }]);
  });
}

test('refusal: an error of the platform has its code, and the reach-out lock its name', async () => {
  const { app, gateway } = await setUpCommon();
  const source = { error_source: 'whatsapp_server', provider: 'whatsapp' };
  gateway.refuseNext = { reason: 'refused', message: 'no', code: 463 };
  const locked = await app.inject(send);
  assert.equal(locked.statusCode, 500);
  assert.deepEqual(locked.json(), { error: 'no', ...source, provider_code: 463, error_key: 'WHATSAPP_REACHOUT_TIMELOCK' });
  const timeLock = { ok: true, value: { active: false, until: null, kind: '' } } as const;
  gateway.refuseNext = { reason: 'refused', message: 'no', code: 463, limits: { timeLock } };
  assert.equal('error_key' in (await app.inject(send)).json(), false, 'the account has no lock');
  gateway.refuseNext = { reason: 'refused', message: 'no' };
  assert.deepEqual((await app.inject(send)).json(), { error: 'no', ...source });
});

test('refusal: Retry-After is a whole number of seconds', async () => {
  const { app, gateway } = await setUpCommon();
  gateway.refuseNext = { reason: 'capped', message: 'full', retryAfter: 29.1 };
  assert.equal((await app.inject(send)).headers['retry-after'], '30');
  const pause = { from: now - 1_000, to: now + 59_500 };
  gateway.refuseNext = { reason: 'limited', message: 'Admin token rotation cooldown active', retryAfter: 60, pause };
  const rotation = await app.inject({ method: 'POST', url: '/admin/token/rotate', headers: asAdmin });
  assert.equal(rotation.statusCode, 429);
  const times = { last_rotated_at: pause.from, next_rotation_at: pause.to, retry_after_ms: 59_500 };
  assert.deepEqual(rotation.json(), { error: 'Admin token rotation cooldown active', ...times });
});

const surprises: readonly (readonly [on: string, payload: object, text: string])[] = [
  ['POST /send/text', send.payload, 'Internal server error'],
  ['POST /webhook', { url: 'https://example.com/', events: ['All'] }, 'Could not save webhook'],
  ['POST /globalwebhook', { url: 'https://example.com/', events: ['All'] }, 'Failed to save global webhook to database'],
  ['POST /admin/token/rotate', {}, 'Failed to persist admin token'],
];

for (const [on, payload, text] of surprises) {
  const [method, url] = on.split(' ') as ['POST', string];

  test(`unexpected error: ${on} answers 500 with a constant text, and logs the place in the code without the error text`, async () => {
    const { app, gateway, lines } = await setUpCommon();
    gateway.throwNext = new Error('insert into message values (the secret text)');
    const reply = await app.inject({ method, url, headers: { ...asInstance, ...asAdmin }, payload });
    assert.deepEqual([reply.statusCode, reply.json()], [500, { error: text }]);
    const line = lines.find(({ event }) => event === 'http.surprised');
    assert.match(String(line?.fields['frames']), /errors\.test\.ts/);
    assert.ok(!JSON.stringify(lines).includes('secret'));
  });

  test(`unexpected error: ${on} answers 503 while the database is unavailable`, async () => {
    const { app, gateway } = await setUpCommon();
    gateway.throwNext = storageAway();
    const reply = await app.inject({ method, url, headers: { ...asInstance, ...asAdmin }, payload });
    assert.equal(reply.statusCode, 503);
    assert.equal(reply.json().error, 'the database is not available now');
    assert.ok(Number(reply.headers['retry-after']) > 0);
  });
}

for (const [error, text] of [
  [new StorageUnavailable('57P03'), 'the database is not available now'],
  [new StorageSlow('57014'), 'the database took too long to answer'],
  [new StorageBusy('53300'), 'the database takes no more work now'],
  [new StorageFull('53100'), 'the disk of the database is full'],
  [new StorageBroken('42P01'), 'the database does not work now'],
  [new EpochLost('the secret epoch'), 'another gateway has taken over the database'],
] as const)
  test(`storage: ${error.name} answers 503 with its reason and Retry-After`, async () => {
    const { app, gateway } = await setUpCommon();
    gateway.throwNext = error;
    const reply = await app.inject(send);
    assert.deepEqual([reply.statusCode, reply.json()], [503, { error: text }]);
    assert.ok(Number(reply.headers['retry-after']) > 0);
  });

test('unexpected error: GET /webhook has its own error text', async () => {
  const { app, gateway } = await setUpCommon();
  gateway.webhooks = () => {
    throw new Error('no such thing');
  };
  const reply = await app.inject({ url: '/webhook', headers: asInstance });
  assert.deepEqual([reply.statusCode, reply.json()], [500, { error: 'Failed to process webhook data' }]);
});

const complaints: readonly (readonly [on: string, payload: object, error: string, hint?: string])[] = [
  ['POST /newsletter/follow', {}, 'invalid newsletter id', 'jid is required'],
  ['POST /newsletter/messages', { jid: '?' }, 'invalid newsletter id', 'jid is no id of a channel'],
  ['POST /send/text', { number: '551' }, 'Missing number or text', 'text is required'],
  ['POST /send/text', { number: '', text: 'x' }, 'Missing number or text', 'number must not be empty'],
  ['POST /send/text', { number: null, text: 'x' }, 'Missing number or text', 'number is required'],
  ['POST /send/text', { number: '551', text: 5 }, 'text must be a text'],
  ['POST /send/text', { number: '551', text: 'x', delay: -1 }, 'delay must be at least 0'],
  ['POST /send/text', { number: '551', text: 'x', delay: '999999999' }, 'delay must be at most 300000'],
  ['POST /send/text', { number: '551', text: 'x', delay: 'soon' }, 'delay must be a whole number'],
  ['POST /send/text', { number: '551', text: 'x', readchat: 'yes' }, 'readchat must be true or false'],
  ['POST /instance/create', {}, 'name is required'],
  ['POST /instance/create', { name: '' }, 'name must not be empty'],
  ['POST /instance/create', { name: ' \t ' }, 'name must not be empty'],
  ['POST /instance/create', { name: 'x'.repeat(201) }, 'name must have at most 200 characters'],
  ['POST /instance/connect', { phone: '123' }, 'phone must be 10 to 15 digits, with the country code'],
  ['POST /instance/presence', { presence: 'asleep' }, 'presence must be one of available, unavailable'],
  ['POST /instance/updateAdminFields', { id: 'nobody' }, 'instance not found'],
  ['POST /webhook', { url: 'https://example.com/', action: 'destroy' }, 'Invalid action', 'action must be one of add, update, delete'],
  ['POST /webhook', { url: 'https://example.com/', action: 5 }, 'Invalid action', 'action must be a text'],
  ['POST /webhook', { url: 'https://example.com/', events: 'All' }, 'events must be a list'],
  ['POST /webhook', { url: 'https://example.com/', events: [1] }, 'events.0 must be a text'],
  ['POST /globalwebhook', { url: 'https://example.com/' }, 'Invalid payload', 'events is required'],
  ['POST /globalwebhook', { events: ['All'] }, 'Invalid payload', 'url is required'],
  ['POST /globalwebhook', { url: 'example', events: ['All'] }, 'Invalid payload', 'url is not valid'],
  [
    'POST /globalwebhook',
    { url: 'https://example.com/', events: ['blocks'] },
    'Invalid payload',
    'events must have at least one entry that is valid',
  ],
];

for (const [on, payload, error, hint] of complaints) {
  test(`validation: ${on} with ${JSON.stringify(payload).slice(0, 60)} says ${error}`, async () => {
    const { app } = await setUpCommon();
    const [method, url] = on.split(' ') as ['POST', string];
    const reply = await app.inject({ method, url, headers: { ...asInstance, ...asAdmin }, payload });
    assert.deepEqual(
      [reply.statusCode, reply.json(), reply.headers['x-error-hint']],
      [error === 'instance not found' ? 404 : 400, { error }, hint],
    );
  });
}

test('webhook: unknown names of events are passed on unchanged, because the gateway validates them', async () => {
  const { app, gateway } = await setUpCommon();
  const payload = { url: 'https://example.com/', events: ['messages', 'blocks'], enable: true, excludeMessages: ['old'], enabled: false };
  const reply = await app.inject({ method: 'POST', url: '/webhook', headers: asInstance, payload });
  assert.partialDeepStrictEqual(reply.json(), [{ events: ['messages', 'blocks'], excludeMessages: ['old'] }]);
  await app.inject({ method: 'POST', url: '/webhook', headers: asInstance, payload: { action: 'delete', url: payload.url } });
  const { enable: _, ...rest } = payload;
  assert.deepEqual(gateway.webhookInputs, [
    { action: '', id: '', ...rest },
    { action: 'delete', id: '', url: payload.url },
  ]);
});

test('POST /globalwebhook: has the same error text for a body that is not JSON and for a refused address', async () => {
  const { app, gateway } = await setUpCommon();
  const post = async (payload: string | object) => {
    const headers = { ...asAdmin, 'content-type': 'application/json' };
    const reply = await app.inject({ method: 'POST', url: '/globalwebhook', headers, payload });
    return [reply.statusCode, reply.json(), reply.headers['x-error-hint']];
  };
  const forbidden = 'the keys __proto__ and constructor.prototype are not allowed';
  const hints = [
    ['{', 'the body is not valid JSON'],
    ['[]', 'the body must be a JSON object'],
    ['{"url":1}', 'events is required'],
    ['{"__proto__":{"url":1}}', forbidden],
    ['{"url":[{"constructor":{"prototype":{}}}]}', forbidden],
    ['{"__proto__":', 'the body is not valid JSON'],
  ] as const;
  for (const [body, hint] of hints) assert.deepEqual(await post(body), [400, { error: 'Invalid payload' }, hint], body);
  const message = 'the address “x” is not allowed';
  gateway.refuseNext = { reason: 'invalid', message };
  assert.deepEqual(await post({ url: 'http://10.0.0.1/', events: ['All'] }), [
    400,
    { error: 'Invalid payload' },
    'the address ?x? is not allowed',
  ]);
});

test('unknown addresses: are 404 or 405 even with an invalid body, and invalid addresses are 400', async () => {
  const { app } = await setUpCommon();
  const json = { 'content-type': 'application/json' };
  for (const url of ['/', '/nothing', '/instance/', '/send', '/webhook/errors/x', '/docs/static/nothing.js']) {
    const reply = await app.inject({ method: 'POST', url, headers: json, payload: '{' });
    assert.ok([404, 405].includes(reply.statusCode) && typeof reply.json().error === 'string', `${url} ${reply.body}`);
  }
  const reply = await app.inject({ url: '/%zz' });
  assert.deepEqual([reply.statusCode, reply.json()], [400, { error: 'the address is not a valid URL' }]);
});

test('tokens in the query: are accepted if the setting allows them, and a token in a header has precedence', async (t) => {
  const { app } = await setUp(t, { allowQueryTokens: true });
  const status = async (url: string, headers: object = {}) => (await app.inject({ url, headers: { ...headers } })).statusCode;
  assert.equal(await status(`/instance/status?token=${token}`), 200);
  assert.equal(await status(`/instance/all?admintoken=${asAdmin.admintoken}`), 200);
  assert.equal(await status('/instance/status?token=', asInstance), 200);
  assert.equal(await status(`/instance/status?token=${token}`, { token: 'wrong' }), 401);
  assert.equal(await status(`/instance/status?token=${token}&token=${token}`), 401);
});

test('logging: each request has one line with its route and without tokens', async (t) => {
  const { app, lines } = await setUp(t, { allowQueryTokens: true });
  for (const url of [`/instance/status?token=${token}`, `/nothing?token=${token}`, `/instance/all?admintoken=${asAdmin.admintoken}`]) {
    await app.inject({ url });
  }
  const answered = lines.filter(({ event }) => event === 'http.answered');
  assert.deepEqual(
    answered.map(({ fields }) => [fields['route'], fields['status']]),
    [
      ['/instance/status', 200],
      ['', 404],
      ['/instance/all', 200],
    ],
  );
  assert.ok(!JSON.stringify(lines).includes(token) && !JSON.stringify(lines).includes(asAdmin.admintoken));
});

test('stopping: new work is refused with 503', async () => {
  const { app, gateway } = await setUpCommon();
  gateway.accepting = false;
  const reply = await app.inject(send);
  assert.deepEqual([reply.statusCode, reply.json()], [503, { error: 'the server is stopping' }]);
});

const head = 'Host: x\r\nConnection: close\r\n';
const broken: readonly (readonly [title: string, bytes: string, status: number])[] = [
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['a method that does not exist', `NOPE / HTTP/1.1\r\n${head}\r\n`, 400],
  ['headers without end', `GET / HTTP/1.1\r\n${head}x: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
  ['two lengths', `POST /send/text HTTP/1.1\r\n${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`, 400],
  ['an expectation', `POST /message/find HTTP/1.1\r\n${head}Content-Length: 2\r\nExpect: foo\r\n\r\n{}`, 417],
  ['a broken chunk', `POST /send/text HTTP/1.1\r\n${head}token: ${token}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
  ['no host', 'GET /nothing HTTP/1.1\r\nConnection: close\r\n\r\n', 404],
  ['a broken content type', `POST /send/text HTTP/1.1\r\n${head}token: ${token}\r\nContent-Type: ;;\r\nContent-Length: 2\r\n\r\n{}`, 415],
];

test('broken HTTP: is answered with an error in the usual JSON form', async (t) => {
  const { address } = await setUp(t);
  const base = await address();
  for (const [title, bytes, status] of broken) {
    const answer = await sendRaw(base, bytes);
    assert.equal(answer.status, status, `${title}: ${answer.text}`);
    assert.equal(typeof JSON.parse(answer.body).error, 'string', title);
  }
});

test('large bodies: a client that sends 10 MB gets the answer and not a reset connection', async (t) => {
  const { address } = await setUp(t);
  const body = JSON.stringify({ number: '551', text: 'x'.repeat(10 * bodyLimit) });
  const headers = { 'content-type': 'application/json' };
  const large = await fetch(`${await address()}/send/text`, { method: 'POST', headers: { ...headers, ...asInstance }, body });
  assert.deepEqual(
    [large.status, await large.json()],
    [413, { error: `the body is too large: at most ${bodyLimit} bytes (see BODY_LIMIT)` }],
  );
  const stranger = await fetch(`${await address()}/send/text`, { method: 'POST', headers, body });
  assert.deepEqual([stranger.status, await stranger.json()], [401, { error: 'instance info not found' }]);
});

test('answers: caches must not store JSON, not even the JSON of errors', async () => {
  const { app } = await setUpCommon();
  for (const url of ['/instance/status', '/instance/all', '/nothing']) {
    const reply = await app.inject({ url, headers: asInstance });
    assert.equal(reply.headers['cache-control'], 'no-store', url);
  }
});

const latin1 = Buffer.from('{"number":"5511999999999","text":"Olá"}', 'latin1');
const encodings: readonly (readonly [string, string, Buffer | string, number, RegExp | null])[] = [
  ['a body in Latin-1', 'application/json', latin1, 400, /^the body is not valid UTF-8$/],
  ['a body in Latin-1 as text/plain', 'text/plain', latin1, 400, /^the body is not valid UTF-8$/],
  [
    'a charset other than UTF-8',
    'application/json; charset=iso-8859-1',
    latin1,
    415,
    /^the body must be in UTF-8, and its Content-Type names the charset iso-8859-1$/,
  ],
  ['the charset UTF-16 in quotes', 'application/json;charset="UTF-16LE"', '{}', 415, /names the charset utf-16le$/],
  ['half a character at the end', 'application/json', Buffer.from([0x7b, 0x7d, 0xc3]), 400, /^the body is not valid UTF-8$/],
  ...['utf-8', 'UTF8', '"utf-8"', 'us-ascii'].map(
    (name) => [`the charset ${name}`, `application/json; charset=${name}`, '{"number":"5511999999999","text":"Olá"}', 200, null] as const,
  ),
];
for (const [title, type, payload, status, error] of encodings)
  test(`errors: ${title} is answered with ${status}`, async () => {
    const { app } = await setUpCommon();
    const reply = await app.inject({ ...send, headers: { ...asInstance, 'content-type': type }, payload });
    assert.equal(reply.statusCode, status, reply.body);
    if (error !== null) assert.match((reply.json() as { readonly error: string }).error, error);
  });

test('body: a text that is not JSON is refused with the required content type', async () => {
  const { app } = await setUpCommon();
  const reply = await app.inject({ ...send, headers: { ...asInstance, 'content-type': 'text/plain' }, payload: 'hello' });
  assert.deepEqual(
    [reply.statusCode, reply.json()],
    [415, { error: 'the body must be JSON, with the header Content-Type: application/json' }],
  );
});
