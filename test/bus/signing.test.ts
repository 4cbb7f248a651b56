/** Tests the checks of the bus on a message: its sender is a node, and it arrives unchanged, once and in time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Signing } from '#src/bus/signing.ts';

const key = Buffer.alloc(32, 1);
const clock = { at: 1_000_000 };
const signing = (keys = [key], takesUnsigned = false) => new Signing({ keys, now: () => clock.at, takesUnsigned: () => takesUnsigned });
const signed = { subject: 'dormouse.instance.r1', reply: '_INBOX.a.1', piece: '1 0 1' };
const data = Buffer.from('rotateToken');
const header = signing().sign(signed, data);

test('signing: a message of another node is accepted once', () => {
  const reader = signing();
  assert.equal(reader.objection(header, signed, data), null);
  assert.equal(reader.objection(header, signed, data), 'repeated');
});

for (const [title, change] of [
  ['of another instance', { subject: 'dormouse.instance.r2' }],
  ['with an answer that goes elsewhere', { reply: '_INBOX.b.1' }],
  ['of another piece', { piece: '1 1 2' }],
] as const)
  test(`signing: a signature is not valid for a message ${title}`, () =>
    assert.equal(signing().objection(header, { ...signed, ...change }, data), 'forged'));

test('signing: messages with changed data, another key or another time are forged', () => {
  assert.equal(signing().objection(header, signed, Buffer.from('rotateTokens')), 'forged');
  assert.equal(signing([Buffer.alloc(32, 2)]).objection(header, signed, data), 'forged');
  assert.equal(signing().objection(header.replace(/^1/, '2'), signed, data), 'forged');
  for (const nonsense of ['x', 'a b c', '1000000  ', header.slice(0, -2)])
    assert.equal(signing().objection(nonsense, signed, data), 'forged');
});

test('signing: a message is accepted within half a minute, and one that NATS kept at any time', () => {
  for (const [late, expected] of [
    [29_000, null],
    [31_000, 'too old'],
    [-31_000, 'too old'],
  ] as const) {
    clock.at = 1_000_000 + late;
    assert.equal(signing().objection(header, signed, data), expected);
    assert.equal(signing().objection(header, signed, data, { kept: true }), null);
  }
  clock.at = 1_000_000;
});

test('signing: a request from before a node listened is refused, since another node may have executed it', () => {
  const request = (listenedMs: number) => signing().objection(header, signed, data, { listenedMs });
  clock.at = 1_010_000;
  assert.equal(request(1_000), 'too old');
  assert.equal(request(6_900), 'too old');
  // The clocks of two nodes differ by some seconds at most.
  assert.equal(request(7_000), null);
  assert.equal(request(20_000), null);
  const event = { ...signed, reply: '' };
  assert.equal(signing().objection(signing().sign(event, data), event, data, { listenedMs: 0 }), null);
  clock.at = 1_000_000;
});

test('signing: no nonce is forgotten while its message is valid', () => {
  const reader = signing();
  assert.equal(reader.objection(header, signed, data), null);
  for (let n = 0; n < 60; n += 1) {
    clock.at += 1_000;
    const other = { ...signed, reply: `_INBOX.a.${n + 2}` };
    assert.equal(reader.objection(reader.sign(other, data), other, data), null);
    assert.notEqual(reader.objection(header, signed, data), null);
  }
  clock.at = 1_000_000;
});

test('signing: a former key still verifies, and unsigned messages are accepted while a node of the last release lives', () => {
  const former = Buffer.alloc(32, 2);
  assert.equal(signing([former, key]).objection(header, signed, data), null);
  assert.equal(signing().objection('', signed, data), 'unsigned');
  assert.equal(signing([key], true).objection('', signed, data), null);
});
