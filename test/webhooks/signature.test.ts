/** Tests signatures with the library of the specification and with its published example. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { signer } from '#src/webhooks/receiver.ts';

test('signature: the published example of the specification has the published signature', () => {
  const signature = signer.sign(
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1_614_265_330,
    '{"test": 2432232314}',
  );
  assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('signature: the library of the specification accepts signed posts and refuses changed ones', () => {
  const secret = signer.make();
  const timestamp = Math.floor(Date.now() / 1000);
  const body = '{"EventType":"messages","text":"olá 👋 \\u0000"}';
  const headers = {
    'webhook-id': 'e1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signer.sign(secret, 'e1', timestamp, body),
  };
  assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
  assert.throws(() => new Webhook(secret).verify(`${body} `, headers), /No matching signature/);
  assert.throws(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'e2' }), /No matching signature/);
  assert.throws(() => new Webhook(signer.make()).verify(body, headers), /No matching signature/);
});

test('signature: secrets are made of 32 random bytes', () => {
  const [one, other] = [signer.make(), signer.make()];
  assert.match(one, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(one, other);
  assert.equal(signer.objection(one), null);
});

const bytes = (count: number): string => `whsec_${Buffer.alloc(count, 7).toString('base64')}`;
for (const [secret, fine] of [
  [bytes(24), true],
  [bytes(64), true],
  [bytes(23), false],
  [bytes(65), false],
  [bytes(32).slice(6), false],
  [bytes(32).replace('B', '-'), false],
  ['whsec_', false],
  ['password', false],
] as const)
  test(`signature: ${secret.slice(0, 16)}… of ${secret.length} characters is ${fine ? 'a' : 'no'} secret`, () =>
    assert.equal(signer.objection(secret) === null, fine));
