/** Tests `POST /instance/updateDelaySettings`: stored, shown, and kept over a kill. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  await scene.works(account);
});
after(() => scene.close());

const delays = async (): Promise<readonly unknown[]> => {
  const { body } = await account.call('GET', '/instance/status');
  const { msg_delay_min, msg_delay_max } = body['instance'] as Readonly<Record<string, unknown>>;
  return [msg_delay_min, msg_delay_max];
};
const queue = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await account.call('GET', '/message/async')).body['queue'] as Readonly<Record<string, unknown>>;

test('updateDelaySettings: an invalid value gets a 400', async () => {
  for (const body of [{}, { msg_delay_min: 1 }, { msg_delay_min: -1, msg_delay_max: 2 }, { msg_delay_min: 'x', msg_delay_max: 2 }]) {
    const { status, body: answer } = await account.call('POST', '/instance/updateDelaySettings', body);
    assert.deepEqual([status, answer], [400, { error: 'Invalid request payload' }]);
  }
  assert.equal((await account.call('POST', '/instance/updateDelaySettings', { msg_delay_min: 3, msg_delay_max: 2 })).status, 400);
  assert.deepEqual(await delays(), [0, 0]);
});

test('updateDelaySettings: the asynchronous queue keeps the delays, reports the time of the next message, and survives a kill', async () => {
  const set = await account.call('POST', '/instance/updateDelaySettings', { msg_delay_min: 600, msg_delay_max: 900 });
  assert.equal(set.status, 200, JSON.stringify(set.body));
  for (const text of ['paced 1', 'paced 2']) await account.call('POST', '/send/text', { number: contact, text, async: true });
  await until(() => scene.readBy(contact).has('paced 1'), 'the first text arrives');
  const waits = await until(async () => {
    const view = await queue();
    return view['pending'] === 1 && view['nextAt'] !== undefined && view;
  }, 'the second one waits');
  assert.ok(Number(waits['nextAt']) > Date.now() + 500_000);
  assert.ok(Number.isInteger(waits['nextAt']), String(waits['nextAt']));
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  await account.reaches('connected');
  assert.deepEqual(await delays(), [600, 900]);
  await until(async () => (await queue())['pending'] === 1, 'the second one waits again');
  assert.equal((await account.call('POST', '/instance/updateDelaySettings', { msg_delay_min: 0, msg_delay_max: 0 })).status, 200);
  await until(() => scene.readBy(contact).has('paced 2'), 'the second text arrives');
});
