/** The HMACs and key derivations of Signal chains, against published examples and Node's own. */
import assert from 'node:assert/strict';
import { createHmac, hkdfSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { quickenChains } from '#src/platform/link/library-patches.ts';
import { hkdf, hmac } from '#src/platform/wire/hmac.ts';
import { randomOf } from '#test/support/random.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** RFC 4231, test cases 1 to 3, 6 and 7: key, data, digest. */
const published: readonly (readonly [Buffer, Buffer, string])[] = [
  [Buffer.alloc(20, 0x0b), Buffer.from('Hi There'), 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  [Buffer.from('Jefe'), Buffer.from('what do ya want for nothing?'), '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
  [Buffer.alloc(20, 0xaa), Buffer.alloc(50, 0xdd), '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe'],
  [
    Buffer.alloc(131, 0xaa),
    Buffer.from('Test Using Larger Than Block-Size Key - Hash Key First'),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    Buffer.alloc(131, 0xaa),
    Buffer.from(
      'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
    ),
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  ],
];

test('HMAC: the published examples give the published digests', () => {
  for (const [key, data, digest] of published) assert.equal(hmac(key, data).toString('hex'), digest);
});

test('HMAC: keys and data of every length around a block give what Node gives', () => {
  const random = randomOf(7);
  const some = (length: number): Buffer => Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
  for (const keyLength of [0, 1, 20, 32, 63, 64, 65, 200]) {
    const key = some(keyLength);
    for (let length = 0; length <= 600; length += 1) {
      const data = some(length);
      assert.deepEqual(hmac(key, data), createHmac('sha256', key).update(data).digest(), `${keyLength} and ${length} bytes`);
    }
  }
});

test('HMAC: an answer does not change when the next one is made', () => {
  const first = hmac(Buffer.alloc(32, 1), Buffer.of(1));
  const copy = Buffer.from(first);
  hmac(Buffer.alloc(32, 2), Buffer.of(2));
  assert.deepEqual(first, copy);
});

test('HKDF: the published example gives the published bytes, and any other input what Node gives', () => {
  // RFC 5869, test case 1.
  const pieces = hkdf(Buffer.alloc(22, 0x0b), bytes('000102030405060708090a0b0c'), bytes('f0f1f2f3f4f5f6f7f8f9'), 2);
  const expected = '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865';
  assert.equal(Buffer.concat(pieces).subarray(0, 42).toString('hex'), expected);
  for (const infoLength of [0, 10, 18, 22, 23, 31, 40, 100]) {
    for (const count of [1, 2, 3]) {
      const [input, salt, info] = [Buffer.alloc(32, infoLength), Buffer.alloc(32, count), Buffer.alloc(infoLength, 5)];
      const derived = Buffer.from(hkdfSync('sha256', input, salt, info, count * 32));
      assert.deepEqual(Buffer.concat(hkdf(input, salt, info, count)), derived);
    }
  }
});

interface SignalCrypto {
  calculateMAC(key: Buffer, data: Buffer): Buffer;
  deriveSecrets(input: Buffer, salt: Buffer, info: Buffer, count?: number): readonly Buffer[];
  verifyMAC(data: Buffer, key: Buffer, mac: Buffer, length: number): void;
}

test('chains: libsignal answers as before with the quicker HMACs, and refuses what it refused', () => {
  const { crypto: signal } = createRequire(import.meta.resolve('@whiskeysockets/baileys'))('libsignal') as { crypto: SignalCrypto };
  const before = { ...signal };
  quickenChains();
  assert.notEqual(signal.calculateMAC, before.calculateMAC, 'the functions that the sessions call are replaced');
  const [key, data, salt] = [Buffer.alloc(32, 3), Buffer.from('a message'), Buffer.alloc(32)];
  assert.deepEqual(signal.calculateMAC(key, data), before.calculateMAC(key, data));
  for (const count of [undefined, 1, 2, 3])
    assert.deepEqual(signal.deriveSecrets(key, salt, data, count), before.deriveSecrets(key, salt, data, count));
  const mac = before.calculateMAC(key, data).subarray(0, 8);
  signal.verifyMAC(data, key, mac, 8);
  for (let at = 0; at < 8; at += 1) {
    const wrong = Buffer.from(mac);
    wrong[at]! ^= 1;
    assert.throws(() => signal.verifyMAC(data, key, wrong, 8), /Bad MAC/);
  }
  assert.throws(() => signal.verifyMAC(data, key, mac.subarray(0, 7), 8), /Bad MAC length/);
  assert.throws(() => signal.verifyMAC(Buffer.from('another'), key, mac, 8), /Bad MAC/);
  assert.throws(() => signal.calculateMAC(undefined as never, data), TypeError);
});
