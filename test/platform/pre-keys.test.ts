/** One-time keys: each notice of the platform that few are left leads to some hundreds of new ones. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

let bench: Bench;
let instance: Instance;
const own = '5511900000941';

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
});
after(() => bench.stop());

const stored = (): number => [...instance.vault.stored.keys.keys()].filter((key) => key.startsWith('pre-key ')).length;

test('keys: when few are left, the platform gets 400 in pieces, and the notice is acknowledged', async () => {
  const { sandbox } = bench.running;
  for (const round of [1, 2]) {
    const before = stored();
    await sandbox.fault({ kind: 'keysUsedUp', number: own });
    const { id } = await sandbox.send(`551190000095${round}`, own, { kind: 'text', text: 'hello' });
    await instance.message(({ messageId }) => messageId === id, 'the text');
    // First messages use some up.
    await until(
      () => stored() >= before + 390,
      () => `396 keys are stored: ${stored() - before}`,
    );
  }
  assert.deepEqual(sandbox.stats().unknown, {});
  assert.deepEqual(instance.surprises, []);
});
