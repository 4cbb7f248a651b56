/**
 * Tests the root of trust that is compiled into the library. Every connection to a simulated platform replaces the root in its process, so this file has its
 * own process and never opens such a connection.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { WA_CERT_DETAILS } from '@whiskeysockets/baileys';
import { type Bench, startBench } from './setup.ts';
import { openFront } from './tls-front.ts';

/** The root as another client has it compiled in (vinikjkkj/zapo `src/transport/noise/constants.ts`). */
const root = '142375574d0a587166aae71ebe516437c4a28b73e3695c6ce1f7f9545da8ee6b';
let bench: Bench;

before(async () => {
  bench = await startBench();
});
after(() => bench.stop());

const compiledIn = (): string => Buffer.from(WA_CERT_DETAILS.PUBLIC_KEY).toString('hex');

test('certificate: a valid chain under another root than the compiled-in one is refused', async (t) => {
  const front = await openFront(bench.running.port);
  t.after(() => front.close());
  assert.equal(compiledIn(), root);
  const instance = bench.instance({}, undefined, { url: front.url });
  instance.open();
  const { close } = await instance.fact('platform.closed');
  assert.deepEqual([close.code, close.data], [null, { reason: 'certificateRefused' }], close.message);
  assert.match(close.message, /^the intermediate certificate is not signed by the root/);
  assert.equal(
    instance.facts.all.some(({ type }) => type === 'platform.qr'),
    false,
  );
  assert.equal(bench.running.sandbox.stats().handshakes, 0);
  assert.equal(compiledIn(), root, 'the root is still the compiled-in one');
});
