/** Tests the meaning of each close of a connection, row by row. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { classify, closeCauses, type Situation } from '#actors/policy/close-cause.ts';
import { closeOf } from '#test/fakes/platform.ts';

const situation: Situation = {
  pairing: false,
  restarts: 1,
  restartLimit: 2,
  unknowns: 1,
  unknownLimit: 5,
  takeOvers: 1,
  pairedAt: 0,
  now: 1_000_000,
};

type Row = readonly [number | null, Partial<Situation>, string, string, string];

const rows: readonly Row[] = [
  [515, {}, 'restartRequired', 'reopen', '515: restart required by the platform'],
  [516, {}, 'restartRequired', 'reopen', '516: restart required by the platform'],
  [515, { restarts: 2 }, 'restartRequired', 'reopen', '515: restart required by the platform'],
  [515, { restarts: 3 }, 'restartRequired', 'backOff', '515: restart required by the platform'],
  [515, { pairing: true }, 'restartRequired', 'reopen', '515: restart required by the platform'],
  [428, {}, 'connectionLost', 'backOff', '428: connection lost'],
  [408, {}, 'connectionLost', 'backOff', '408: connection lost'],
  [503, {}, 'connectionLost', 'backOff', '503: the platform is unavailable'],
  [408, { pairing: true }, 'pairingExpired', 'stop', '408: the QR or pairing code ran out'],
  [500, {}, 'unknownError', 'backOff', '500: closed for an unknown reason'],
  [null, {}, 'unknownError', 'backOff', 'closed for an unknown reason'],
  [799, {}, 'unknownError', 'backOff', '799: closed for an unknown reason'],
  [500, { unknowns: 4 }, 'unknownError', 'backOff', '500: closed for an unknown reason'],
  [500, { unknowns: 5 }, 'unknownError', 'refuse', '500: closed for an unknown reason'],
  [401, {}, 'loggedOut', 'loggedOut', '401: logged out from another device'],
  [
    401,
    { pairedAt: 900_000 },
    'loggedOut',
    'loggedOut',
    '401: logged out from another device soon after linking: if nobody removed the device on the phone, the platform did, and it is best to wait 24 hours before linking again',
  ],
  [401, { pairedAt: 1_000, now: 901_000 }, 'loggedOut', 'loggedOut', '401: logged out from another device'],
  [403, {}, 'locked', 'refuse', '403: the account is locked'],
  [406, {}, 'locked', 'refuse', '406: the account is banned'],
  [402, {}, 'suspended', 'refuse', '402: the account is suspended for a time'],
  [405, {}, 'clientTooOld', 'gate', '405: the platform asks for a newer client'],
  [400, {}, 'rejected', 'refuse', '400: the platform refused the session'],
  [409, {}, 'rejected', 'refuse', '409: the platform refused the session'],
  [411, {}, 'rejected', 'refuse', '411: the platform refused the session'],
  [418, {}, 'rejected', 'refuse', '418: the platform refused the session'],
  [440, {}, 'replaced', 'contest', '440: another login took over the session'],
  [440, { takeOvers: 2 }, 'replaced', 'refuse', '440: another login took over the session'],
];

for (const [code, change, cause, reaction, sentence] of rows) {
  test(`classify: ${code} with ${JSON.stringify(change)} is ${cause} and leads to ${reaction}`, () => {
    assert.deepEqual(classify(closeOf(code), { ...situation, ...change }), { cause, reaction, sentence });
  });
}

test('classify: a login that is refused with 500 is an outage of the platform, and no number of such refusals ends the session', () => {
  const verdict = classify(closeOf(500, { reason: '500' }), { ...situation, unknowns: 9 });
  assert.deepEqual(verdict, { cause: 'connectionLost', reaction: 'backOff', sentence: '500: the platform is unavailable' });
});

for (const code of [401, 403, 405, 429, 500, 503]) {
  test(`classify: the HTTP status ${code} on the upgrade has no meaning for the account`, () => {
    const verdict = classify(closeOf(code, { stage: 'upgrade' }), situation);
    assert.equal(verdict.cause, 'connectionLost');
    assert.equal(verdict.reaction, 'backOff');
    assert.equal(verdict.sentence, `${code}: the platform refused the connection`);
  });
}

for (const [reason, name] of [
  ['platformUnreachable', 'web.whatsapp.com'],
  ['addressUnreachable', 'the address of the platform'],
] as const)
  test(`classify: ${reason} names the fault of the network, and backs off`, () => {
    const verdict = classify({ code: null, message: 'DNS', data: { reason } }, situation);
    assert.deepEqual(verdict, { cause: 'unreachable', reaction: 'backOff', sentence: `cannot reach ${name}: DNS` });
  });

for (const [expire, until] of [
  ['3600', 4_600_000],
  ['0', undefined],
  ['soon', undefined],
  ['-5', undefined],
] as const) {
  test(`classify: a suspension with expire ${expire} ends at ${until}`, () => {
    assert.equal(classify(closeOf(402, { expire }), situation).until, until);
  });
}

test('classify: only a suspension has an end', () => {
  assert.equal('until' in classify(closeOf(403, { expire: '3600' }), situation), false);
});

test('classify: every close has a verdict, and only 401 costs the credentials', () => {
  const reactions = ['reopen', 'backOff', 'contest', 'gate', 'stop', 'loggedOut', 'refuse'];
  const numbers = fc.record({
    pairing: fc.boolean(),
    restarts: fc.nat(5),
    restartLimit: fc.constant(2),
    unknowns: fc.nat(9),
    unknownLimit: fc.constant(5),
    takeOvers: fc.nat(3),
    pairedAt: fc.nat(),
    now: fc.nat(),
  });
  fc.assert(
    fc.property(fc.option(fc.integer({ min: 0, max: 1000 })), numbers, fc.boolean(), (code, situation, upgrade) => {
      const verdict = classify(closeOf(code, upgrade ? { stage: 'upgrade' } : undefined), situation);
      assert.ok(closeCauses.includes(verdict.cause));
      assert.ok(reactions.includes(verdict.reaction));
      assert.notEqual(verdict.sentence, '');
      assert.equal(verdict.reaction === 'loggedOut', code === 401 && !upgrade);
    }),
    { seed: 1 },
  );
});

const ownRows: readonly (readonly [string, string, string])[] = [
  ['storageUnavailable', 'storageUnavailable', 'backOff'],
  ['corruptCredentials', 'corruptCredentials', 'refuse'],
  ['certificateRefused', 'certificateRefused', 'backOff'],
  ['accountRefused', 'accountRefused', 'refuse'],
  ['pairingForged', 'pairingForged', 'refuse'],
  ['leaseUnsure', 'connectionLost', 'backOff'],
  ['epochLost', 'epochLost', 'stop'],
  ['something new', 'unknownError', 'backOff'],
];

for (const [reason, cause, reaction] of ownRows) {
  test(`classify: a close of our own making, ${reason}, is ${cause} and leads to ${reaction}`, () => {
    const verdict = classify({ code: null, message: '', data: { reason } }, situation);
    assert.deepEqual([verdict.cause, verdict.reaction], [cause, reaction]);
  });
}
