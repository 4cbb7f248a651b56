/** Tests linking with a passkey between the gateway and the simulated platform, in memory: derived values and refusals of both sides. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Curve, type BinaryNode } from '@whiskeysockets/baileys';
import type { PasskeyFact } from '#actors/ports.ts';
import { PasskeyPairing, problemOf } from '#src/platform/link/passkey.ts';
import type { RequestOptions } from '#src/sandbox/interface.ts';
import { makePasskey, signAssertion, webOrigin } from '#src/sandbox/passkey/authenticator.ts';
import { PasskeyCeremony } from '#src/sandbox/passkey/ceremony.ts';
import { Random } from '#src/sandbox/random.ts';
import { settle } from '#test/fakes/time.ts';
import { until } from '#test/support/until.ts';

const deviceType = 1;

/** Creates both sides of one link. `change` may alter a stanza of the client on its way. */
const makeLink = (change: (request: BinaryNode) => BinaryNode = (request) => request) => {
  let [now, secret] = [0, randomBytes(32)];
  const facts: PasskeyFact[] = [];
  const failures: string[] = [];
  const linked: Uint8Array[] = [];
  const passkey = makePasskey();
  const [noise, identity] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
  const first = secret;
  const ceremony: PasskeyCeremony = new PasskeyCeremony({
    passkey,
    advSecret: secret,
    noiseKey: noise.public,
    identity: identity.public,
    deviceType,
    random: new Random(1),
    fault: undefined,
    notify: (type, content) => {
      const stanza = { tag: 'notification', attrs: { type }, ...(content ? { content: [content] } : {}) };
      if (type === 'crsc_continuation') client.continued(stanza);
      else client.requested(stanza);
    },
    link: (given) => void linked.push(given),
  });
  const answers: Readonly<Record<string, (request: BinaryNode) => BinaryNode | void | Promise<void>>> = {
    ref: () => ceremony.ref(),
    passkey_request_options: () => ceremony.options(),
    passkey_prologue: (request) => ceremony.prologue(request),
    companion_nonce: (request) => ceremony.reveal(request),
    encrypted_pairing_request: (request) => ceremony.pair(request),
  };
  const client = new PasskeyPairing({
    ask: async (_type, request) => {
      const content = await answers[request.tag]?.(change(request));
      return { tag: 'iq', attrs: {}, ...(content ? { content: [content] } : {}) };
    },
    advSecret: () => secret,
    replaceAdvSecret: async (given) => {
      secret = Buffer.from(given);
    },
    noiseKey: noise.public,
    identityKey: identity.public,
    deviceType,
    now: () => now,
    emit: (fact) => facts.push(fact),
    fail: (reason) => failures.push(reason),
  });
  return {
    ceremony,
    client,
    facts,
    failures,
    linked,
    first,
    secret: () => secret,
    passkey,
    pass: (ms: number) => void (now += ms),
  };
};

/** Signs as the owner after some milliseconds. Resolves when the device was linked, the code is shown, or a step failed. */
const sign = async (
  { ceremony, client, facts, failures, linked, passkey, pass }: ReturnType<typeof makeLink>,
  after = 0,
): Promise<void> => {
  ceremony.begin();
  await settle();
  const [fact] = facts;
  assert.ok(fact?.type === 'platform.passkeyRequested');
  pass(after);
  client.assert(signAssertion(passkey, passkey.privateKey ?? '', fact.options as unknown as RequestOptions, webOrigin));
  const isOver = () => failures.length + linked.length > 0 || facts.some((one) => one.type === 'platform.passkeyCode' && !one.handedOff);
  await until(async () => isOver(), 'the link is over, or waits for its code');
};

test('passkey: with a proof of the hand-off the device is linked under a new secret, without a comparison', async () => {
  const link = makeLink();
  await sign(link);
  assert.deepEqual([link.ceremony.stage, link.ceremony.handedOff], ['linking', true]);
  assert.deepEqual(link.failures, []);
  assert.deepEqual(
    link.linked.map((one) => Buffer.from(one)),
    [link.secret()],
  );
  assert.notDeepEqual(link.secret(), link.first);
});

test('passkey: after five minutes both sides show the same code, and nothing is sent before it is confirmed', async () => {
  const link = makeLink();
  await sign(link, 5 * 60_000);
  const shown = link.facts.at(-1);
  assert.ok(shown?.type === 'platform.passkeyCode');
  assert.deepEqual([shown.handedOff, shown.code, link.linked.length], [false, link.ceremony.code, 0]);
  link.client.confirm();
  await until(async () => link.linked.length === 1, 'the device is linked');
});

for (const [title, after] of [
  ['with a proof of the hand-off', 0],
  ['without one', 5 * 60_000],
] as const)
  test(`passkey: the phone’s answer is taken once ${title}, also after the request to link`, async () => {
    let nonces = 0;
    const answers: BinaryNode[] = [];
    const link = makeLink((request) => {
      if (request.tag === 'companion_nonce') nonces += 1;
      return request;
    });
    const { client } = link;
    const continued = client.continued.bind(client);
    client.continued = (stanza) => void (answers.push(stanza), continued(stanza));
    await sign(link, after);
    client.confirm();
    await until(async () => link.linked.length === 1, 'the device is linked');
    for (const answer of answers) continued(answer);
    await settle();
    assert.deepEqual([answers.length, nonces, link.linked.length, link.failures], [1, 1, 1, []]);
  });

for (const [title, tag] of [
  ['a prologue that was changed', 'passkey_prologue'],
  ['a nonce that was not committed', 'companion_nonce'],
  ['a pairing request that was changed', 'encrypted_pairing_request'],
] as const)
  test(`passkey: ${title} on its way is refused, and linking ends with a reason`, async () => {
    const broken = (request: BinaryNode): BinaryNode => {
      if (request.tag !== tag) return request;
      if (Array.isArray(request.content)) return { ...request, content: request.content.slice(0, 2) };
      return { ...request, content: randomBytes((request.content as Uint8Array).length) };
    };
    const link = makeLink(broken);
    await sign(link);
    assert.equal(link.failures.length, 1);
    assert.match(link.failures[0] ?? '', /did not|cannot be read/);
    assert.equal(link.linked.length, 0);
  });

test('passkey: after the end nothing is sent or reported', async () => {
  const link = makeLink();
  link.ceremony.begin();
  await settle();
  link.client.end();
  link.client.confirm();
  await settle();
  assert.deepEqual([link.failures.length, link.facts.length], [0, 1]);
});

const options = { challenge: 'AAAA', rpId: 'whatsapp.com' };
const signed = (change: { readonly origin?: string; readonly challenge?: string; readonly rpId?: string }) => {
  const passkey = makePasskey();
  const { origin = webOrigin, ...more } = change;
  return signAssertion(passkey, passkey.privateKey ?? '', { ...options, ...more } as RequestOptions, origin);
};
for (const [title, assertion, allowed, expected] of [
  ['a right one', signed({}), [], null],
  ['one of another subdomain', signed({ origin: 'https://business.whatsapp.com' }), [], null],
  ['one of another page', signed({ origin: 'https://whatsapp.com.evil.example' }), [], /open https:\/\/web/],
  ['one of a page without encryption', signed({ origin: 'http://web.whatsapp.com' }), [], /open https:\/\/web/],
  ['one for another challenge', signed({ challenge: 'BBBB' }), [], /another challenge/],
  ['one for another site', signed({ rpId: 'example.com' }), [], /another site/],
  ['one of a passkey that is not allowed', signed({}), [{ id: 'other' }], /does not know this passkey/],
] as const)
  test(`passkey: ${title} is ${expected === null ? 'accepted' : 'refused in words'}`, () => {
    const problem = problemOf(assertion, { ...options, allowCredentials: allowed });
    if (expected === null) assert.equal(problem, null);
    else assert.match(problem ?? '', expected);
  });
