/** Tests status posts of channels. They are acknowledged, so that the platform does not repeat them, and shown nowhere. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

const own = '5511900000981';
const owner = '5511900000982';

let bench: Bench;
let instance: Instance;
before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
});
after(() => bench.stop());

test('channel statuses: a status is acknowledged and creates no message', async () => {
  const { sandbox } = bench.running;
  const queued = () => sandbox.people().find(({ number }) => number === own)?.devices[0]?.queued;
  const { jid } = await sandbox.createChannel({ name: 'Daily', owner });
  await sandbox.changeChannel(jid, own, { action: 'follow' });
  await until(() => queued() === 0, 'everything before it is acknowledged');
  await sandbox.changeChannel(jid, owner, { action: 'status', text: 'only today' });
  assert.equal(queued(), 1);
  await until(() => queued() === 0, 'the status is acknowledged');
  const { id } = await sandbox.send(owner, own, { kind: 'text', text: 'after it' });
  await instance.entries.wait((entry) => entry.kind === 'message' && entry.message.messageId === id && entry, 'a later text');
  assert.ok(!instance.entries.all.some((entry) => entry.kind === 'message' && entry.message.text === 'only today'));
});
