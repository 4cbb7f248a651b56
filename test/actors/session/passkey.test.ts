/** Tests the chart while the platform requires a passkey: each turn, each ending, and the texts for people. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passkeyLimits, passkeySentences } from '#actors/session/passkey.ts';
import { settle } from '#test/fakes/time.ts';
import { Chart, keepSound, passkeyAssertion as assertion, passkeyOptions as options } from './chart.ts';

const sound = keepSound();
/** Returns a chart whose QR code was scanned by an account with a passkey. */
const asked = async (): Promise<Chart> => {
  const chart = sound(new Chart());
  await chart.connect();
  chart.link.say({ type: 'platform.handshaken' });
  chart.link.say({ type: 'platform.qr', qr: 'a' });
  await settle();
  chart.link.say({ type: 'platform.passkeyRequested', options });
  await settle();
  return chart;
};

/** Returns a chart whose owner signed, and whose phone replied after `after` milliseconds. */
const withCode = async (handedOff: boolean, after = 0): Promise<Chart> => {
  const chart = await asked();
  chart.actor.send({ type: 'passkey.assert', assertion });
  if (after > 0) await chart.time.pass(after);
  chart.link.say({ type: 'platform.passkeyCode', code: 'ABCD-1234', handedOff });
  await settle();
  return chart;
};

test('passkey: the request replaces the QR code and is announced with its expiry', async () => {
  const chart = await asked();
  assert.equal(chart.state, 'connecting.passkey');
  const { passkey, qrcode } = chart.context;
  assert.deepEqual([qrcode, passkey?.stage, passkey?.options], ['', 'assertion', options]);
  assert.equal(chart.news.at(-1)?.passkey?.expiresAt, chart.time.now() + passkeyLimits.assertion);
});

test('passkey: an assertion is passed to the link once, and the phone has two minutes', async () => {
  const chart = await asked();
  chart.actor.send({ type: 'passkey.assert', assertion });
  chart.actor.send({ type: 'passkey.assert', assertion });
  assert.equal(chart.state, 'connecting.passkeyPhone');
  assert.deepEqual(chart.link.passkeySteps, [{ type: 'assert', assertion }]);
  await chart.time.pass(passkeyLimits.step - 1);
  assert.equal(chart.state, 'connecting.passkeyPhone');
  await chart.time.pass(1);
  await settle();
  assert.equal(chart.state, 'disconnected.idle');
  assert.equal(chart.noted.lastDisconnectReason, passkeySentences.noPhone);
});

test('passkey: a code without a hand-off waits for its confirmation', async () => {
  const chart = await asked();
  chart.actor.send({ type: 'passkey.assert', assertion });
  chart.link.say({ type: 'platform.passkeyCode', code: 'ABCD-1234', handedOff: false });
  assert.equal(chart.state, 'connecting.passkeyCode');
  assert.equal(chart.context.passkey?.code, 'ABCD-1234');
  await chart.do('passkey.confirm');
  assert.deepEqual(chart.link.passkeySteps.at(-1), { type: 'confirm' });
  assert.equal(chart.state, 'connecting.passkeyPhone');
});

test('passkey: after a hand-off no code has to be compared', async () => {
  const chart = await asked();
  chart.actor.send({ type: 'passkey.assert', assertion });
  chart.link.say({ type: 'platform.passkeyCode', code: 'ABCD-1234', handedOff: true });
  assert.equal(chart.state, 'connecting.passkeyPhone');
  await chart.do('passkey.confirm');
  assert.equal(chart.link.passkeySteps.length, 1);
});

test('passkey: a code that is not confirmed within two minutes ends linking, and the reason says so', async () => {
  const chart = await withCode(false);
  await chart.time.pass(passkeyLimits.step - 1);
  assert.equal(chart.state, 'connecting.passkeyCode');
  await chart.time.pass(1);
  await settle();
  assert.equal(chart.state, 'disconnected.idle');
  assert.equal(chart.noted.lastDisconnectReason, passkeySentences.unconfirmed);
});

for (const handedOff of [true, false])
  test(`passkey: a platform that does not confirm the link ${handedOff ? 'after a hand-off' : 'after the confirmation'} is named in the reason`, async () => {
    const chart = await withCode(handedOff, 60_000);
    if (!handedOff) await chart.do('passkey.confirm');
    assert.equal(chart.context.passkey?.expiresAt, chart.time.now() + passkeyLimits.step);
    await chart.time.pass(passkeyLimits.step - 1);
    assert.equal(chart.state, 'connecting.passkeyPhone');
    await chart.time.pass(1);
    await settle();
    assert.equal(chart.state, 'disconnected.idle');
    assert.equal(chart.noted.lastDisconnectReason, passkeySentences.notLinked);
    assert.deepEqual(chart.news.at(-1), { status: 'disconnected', reason: passkeySentences.notLinked });
  });

for (const [stage, prepare] of [
  ['passkeyPhone', () => withCode(true)],
  ['passkeyCode', () => withCode(false)],
] as const)
  test(`passkey: a cancel in ${stage} closes the connection once and ends the pairing`, async () => {
    const chart = await prepare();
    assert.equal(chart.state, `connecting.${stage}`);
    await chart.do('passkey.cancel');
    assert.deepEqual([chart.state, chart.link.closes, chart.context.passkey], ['disconnected.idle', 1, null]);
    assert.equal(chart.noted.lastDisconnectReason, passkeySentences.cancelled);
  });

test('passkey: a request without an assertion ends, and the reason names the request', async () => {
  const chart = await asked();
  await chart.time.pass(passkeyLimits.assertion);
  await settle();
  assert.equal(chart.state, 'disconnected.idle');
  assert.deepEqual([chart.noted.wanted, chart.noted.lastDisconnectReason], ['offline', passkeySentences.unanswered]);
  assert.deepEqual(chart.news.at(-1), { status: 'disconnected', reason: passkeySentences.unanswered });
});

test('passkey: a cancel closes the connection and ends the pairing', async () => {
  const chart = await asked();
  await chart.do('passkey.cancel');
  assert.equal(chart.state, 'disconnected.idle');
  assert.equal(chart.link.closes, 1);
});

test('passkey: a second request brings another challenge and another ten minutes', async () => {
  const chart = await asked();
  await chart.time.pass(60_000);
  chart.link.say({ type: 'platform.passkeyRequested', options: { ...options, challenge: 'BBBB' } });
  assert.equal(chart.context.passkey?.options?.challenge, 'BBBB');
  assert.equal(chart.context.passkey?.expiresAt, chart.time.now() + passkeyLimits.assertion);
});

test('passkey: the request disappears when the device is linked', async () => {
  const chart = await asked();
  chart.actor.send({ type: 'passkey.assert', assertion });
  await chart.login();
  assert.equal(chart.state, 'connected');
  assert.equal(chart.context.passkey, null);
});
