/** Tests the offers of one connection for a pairing, and the time at which a code is reported, on a socket whose answers the test gives. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initAuthCreds, type BinaryNode } from '@whiskeysockets/baileys';
import { childOf, deadlines, node, Stage, turn, worked } from './offer-stage.ts';

const keys = [
  node('link_code_pairing_wrapped_primary_ephemeral_pub', {}, Buffer.alloc(80, 9)),
  node('primary_identity_pub', {}, Buffer.from(initAuthCreds().signedIdentityKey.public)),
];

test('offer: QR texts follow each other, and after the last one the connection ends with 408', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = new Stage(null);
  stage.begin();
  context.mock.timers.tick(29);
  assert.deepEqual(stage.texts, ['2@one now']);
  context.mock.timers.tick(1);
  assert.deepEqual(stage.texts, ['2@one now', '2@two now']);
  context.mock.timers.tick(30);
  assert.deepEqual([stage.texts.length, stage.failures.map(({ code }) => code), stage.requests], [2, [408], []]);
});

for (const child of ['companion_reg_refresh', 'pair-device-rotate-qr']) {
  test(`offer: ${child} shows the current reference with a new secret, which is stored before it is acknowledged`, async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const stage = new Stage(null);
    stage.begin();
    context.mock.timers.tick(30);
    const before = stage.creds.advSecretKey;
    stage.notify('companion_reg_refresh', node(child, {}));
    await turn();
    await turn();
    assert.notEqual(stage.creds.advSecretKey, before);
    assert.deepEqual(stage.texts, ['2@one before', '2@two before', '2@two now']);
    assert.deepEqual(stage.log.slice(2), [
      `stored ${stage.creds.advSecretKey}`,
      'ack notification companion_reg_refresh n1',
      'platform.qr',
    ]);
    context.mock.timers.tick(30);
    assert.deepEqual(
      stage.failures.map(({ data }) => data),
      [{ reason: 'linkingStalled' }],
      'a phone had scanned',
    );
  });
}

test('offer: a refresh without the known children is only acknowledged', async () => {
  const stage = new Stage(null);
  stage.begin(['2@one']);
  stage.notify('companion_reg_refresh', node('other', {}));
  await turn();
  assert.deepEqual(stage.log, ['platform.qr', 'ack notification companion_reg_refresh n1']);
  stage.offer.end();
});

test('offer: a code is reported when the platform has answered, and without a QR code', async () => {
  const stage = new Stage('+55 (11) 9');
  stage.begin();
  await worked(() => stage.queries.length === 1);
  assert.deepEqual([stage.requests, stage.facts], [['55119'], []]);
  await stage.accept();
  assert.deepEqual([stage.codes.length, stage.texts, stage.failures], [1, [], []]);
  assert.deepEqual(stage.expected, ['5000 no answer to the request of a pairing code in time', '600000 the QR or pairing code ran out']);
  stage.offer.end();
});

test('offer: the request for a code has a real system, one zero byte as nonce, and the platform id of the browser', async () => {
  const stage = new Stage('551');
  stage.begin();
  await worked(() => stage.queries.length === 1);
  const [, noise, id, display, nonce] = childOf(stage.queries[0] as BinaryNode).content as BinaryNode[];
  assert.deepEqual(noise?.content, stage.creds.noiseKey.public);
  assert.deepEqual([id?.content, display?.content, nonce?.content], ['1', 'Chrome (Windows)', Buffer.of(0)]);
  assert.equal(stage.creds.me, undefined, 'a later connection must not log in');
  stage.offer.end();
});

test('offer: a code that replaces QR texts ends them', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = new Stage(null);
  stage.begin();
  stage.offer.change('551');
  context.mock.timers.tick(1_000);
  await stage.accept();
  context.mock.timers.tick(1_000);
  assert.deepEqual([stage.texts, stage.codes.length, stage.failures], [['2@one now'], 1, []]);
});

test('offer: a code that is requested before the platform is ready is requested when it is ready', async () => {
  const stage = new Stage(null);
  stage.offer.change('551');
  await turn();
  assert.deepEqual(stage.requests, []);
  stage.begin();
  await stage.accept();
  assert.deepEqual([stage.requests, stage.codes.length], [['551'], 1]);
  stage.offer.end();
});

test('offer: another number during the first request is requested after it, and only its code is reported', async () => {
  const stage = new Stage('551');
  stage.begin();
  await worked(() => stage.queries.length === 1);
  stage.offer.change('552');
  stage.offer.change('553');
  await turn();
  assert.deepEqual(stage.requests, ['551'], 'one at a time');
  await stage.accept();
  await stage.accept(2);
  assert.deepEqual([stage.requests, stage.codes.length], [['551', '553'], 1]);
  stage.offer.end();
});

test('offer: another number after a reported code gets its own code', async () => {
  const stage = new Stage('551');
  stage.begin();
  await stage.accept();
  stage.offer.change('552');
  await stage.accept(2);
  assert.deepEqual([stage.requests, new Set(stage.codes).size], [['551', '552'], 2]);
  stage.offer.end();
});

test('offer: a code that is 180 seconds old is replaced by a new one', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = new Stage('551');
  stage.begin();
  await stage.accept();
  context.mock.timers.tick(179_999);
  await turn();
  assert.equal(stage.queries.length, 1);
  context.mock.timers.tick(1);
  await stage.accept(2);
  assert.equal(new Set(stage.codes).size, 2);
});

test('offer: a renewed code does not extend the time of the offer, and another number begins a new one', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = new Stage('551');
  stage.begin();
  await stage.accept();
  const first = [
    `${deadlines.login} no answer to the request of a pairing code in time`,
    `${deadlines.pairingCode} the QR or pairing code ran out`,
  ];
  context.mock.timers.tick(180_000);
  await stage.accept(2);
  assert.deepEqual([stage.codes.length, stage.expected], [2, first]);
  stage.offer.change('552');
  await stage.accept(3);
  assert.deepEqual(stage.expected, [...first, ...first]);
  stage.offer.end();
});

for (const [code, reason, sentence] of [
  [400, 'deviceNameRefused', /"Chrome \(Windows\)"/],
  [403, 'codeRefused', /403/],
  [404, 'numberRefused', /number/],
  [429, 'codesLimited', /too many/],
] as const) {
  test(`offer: a request of a code that is refused with ${code} ends the connection as ${reason}`, async () => {
    const stage = new Stage('551');
    stage.begin();
    await stage.refuse(code);
    assert.deepEqual([stage.codes, stage.failures.map(({ data }) => data)], [[], [{ reason }]]);
    assert.match(stage.failures[0]?.message ?? '', sentence);
  });
}

test('offer: a refusal for a number that is no longer requested changes nothing', async () => {
  const stage = new Stage('551');
  stage.begin();
  await worked(() => stage.queries.length === 1);
  stage.offer.change('552');
  await stage.refuse(404);
  await stage.accept(2);
  assert.deepEqual([stage.codes.length, stage.failures], [1, []]);
  stage.offer.end();
});

for (const attrs of [{}, { force_manual_refresh: 'true' }]) {
  test(`offer: a voided code (${JSON.stringify(attrs)}) is replaced by a new one, and the fourth in a row ends the connection`, async () => {
    const stage = new Stage('551');
    stage.begin();
    await stage.accept();
    stage.step(9, 'refresh_code', [], attrs);
    await turn();
    assert.equal(stage.queries.length, 1, 'it names another code');
    for (const n of [1, 2, 3]) {
      stage.step(n, 'refresh_code', [], attrs);
      await stage.accept(n + 1);
    }
    assert.deepEqual([new Set(stage.codes).size, stage.failures], [4, []]);
    stage.step(4, 'refresh_code', [], attrs);
    await turn();
    assert.deepEqual(
      stage.failures.map(({ data }) => data),
      [{ reason: 'codeVoided' }],
    );
    stage.offer.end();
  });
}

test('offer: a phone without its key, with another code or at another stage is only acknowledged', async () => {
  const stage = new Stage('551');
  stage.begin();
  await stage.accept();
  const { advSecretKey } = stage.creds;
  stage.step(1, 'primary_hello');
  stage.step(7, 'primary_hello', keys);
  stage.step(1, 'companion_hello', keys);
  for (let turns = 0; turns < 20; turns += 1) await turn();
  assert.deepEqual([stage.queries.length, stage.creds.advSecretKey, stage.failures], [1, advSecretKey, []]);
  assert.deepEqual(
    stage.log.slice(1),
    Array.from({ length: 3 }, () => 'ack notification link_code_companion_reg n1'),
  );
  stage.offer.end();
});

test('offer: a phone may begin three times with a code, each time with a new secret that is stored before it is shared', async () => {
  const stage = new Stage('551');
  stage.begin();
  await stage.accept();
  const secrets = new Set([stage.creds.advSecretKey]);
  for (const n of [2, 3, 4]) {
    stage.step(1, 'primary_hello', keys);
    await stage.accept(n);
    secrets.add(stage.creds.advSecretKey);
    assert.equal(childOf(stage.queries[n - 1] as BinaryNode).attrs['stage'], 'companion_finish');
  }
  assert.equal(secrets.size, 4);
  assert.equal(stage.log.filter((one) => one.startsWith('stored')).length, 3);
  stage.step(1, 'primary_hello', keys);
  await stage.accept(5);
  assert.deepEqual([stage.requests.length, new Set(stage.codes).size], [2, 2], 'the fourth gets another code');
  stage.offer.end();
});

test('offer: the secret that a phone shares is not refreshed any more', async () => {
  const stage = new Stage('551');
  stage.begin();
  await stage.accept();
  stage.step(1, 'primary_hello', keys);
  await stage.accept(2);
  const { advSecretKey } = stage.creds;
  stage.notify('companion_reg_refresh', node('companion_reg_refresh', {}));
  await turn();
  assert.equal(stage.creds.advSecretKey, advSecretKey);
  assert.equal(stage.log.at(-1), 'ack notification companion_reg_refresh n1');
  stage.offer.end();
});

test('offer: a last step that the platform refuses ends the connection with that reason', async () => {
  const stage = new Stage('551');
  stage.begin();
  await stage.accept();
  stage.step(1, 'primary_hello', keys);
  await stage.refuse(409, 2);
  assert.deepEqual(
    stage.failures.map(({ data, message }) => [data, message]),
    [[{ reason: 'linkingRefused' }, 'error 409']],
  );
  stage.offer.end();
});

const options = node('passkey_request_options', {}, Buffer.from('{"challenge":"AAAA","rpId":"whatsapp.com"}'));

for (const from of ['s.whatsapp.net', '@s.whatsapp.net'])
  test(`offer: a request for a passkey from ${from} replaces the secret and is told`, async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const stage = new Stage(null);
    stage.begin();
    const before = stage.creds.advSecretKey;
    stage.notify('passkey_prologue_request', options, from);
    await worked(() => stage.log.includes('platform.passkeyRequested'));
    assert.notEqual(stage.creds.advSecretKey, before);
    stage.offer.end();
  });

for (const from of ['', '551@s.whatsapp.net', 's.whatsapp.net.example'])
  test(`offer: a request for a passkey from "${from}" is only acknowledged`, async (context) => {
    // On a busy machine the turns below may take longer than a code is valid.
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const stage = new Stage(null);
    stage.begin(['2@one']);
    const { advSecretKey } = stage.creds;
    stage.notify('passkey_prologue_request', options, from);
    stage.notify('crsc_continuation', node('primary_ephemeral_identity', {}, Buffer.alloc(68)), from);
    for (let turns = 0; turns < 20; turns += 1) await turn();
    assert.deepEqual(stage.log, ['platform.qr', 'ack notification passkey_prologue_request n1', 'ack notification crsc_continuation n1']);
    assert.deepEqual([stage.creds.advSecretKey, stage.failures], [advSecretKey, []]);
    stage.offer.end();
  });

test('offer: passkey options that the platform does not give in time end the pairing with a reason', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = new Stage(null);
  stage.begin();
  stage.notify('passkey_prologue_request', node('other', {}));
  await stage.ignore();
  await worked(() => stage.failures.length > 0);
  assert.deepEqual(stage.failures, [
    {
      code: null,
      message: 'the platform asked for a passkey, and did not say for which: the platform did not answer in time',
      data: { reason: 'passkeyFailed' },
    },
  ]);
});

test('offer: notifications for a paired session are ignored', () => {
  const stage = new Stage(null);
  stage.creds.account = {};
  assert.equal(stage.offer.takes(node('notification', { type: 'companion_reg_refresh' })), false);
});

test('offer: after its end nothing is reported', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = new Stage(null);
  stage.begin();
  stage.offer.change('551');
  await worked(() => stage.queries.length === 1);
  stage.offer.end();
  await stage.accept();
  stage.offer.change('552');
  stage.begin();
  context.mock.timers.tick(1_000);
  await turn();
  assert.deepEqual([stage.requests, stage.facts.length, stage.failures], [['551'], 1, []]);
});
