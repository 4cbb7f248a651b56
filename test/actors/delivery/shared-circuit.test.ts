/** Tests the circuit of a webhook that many instances post to. All of them share the state of the receiver. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Circuit } from '#actors/delivery/receiver-health.ts';
import type { RunningGateway } from '#actors/gateway.ts';
import type { Policy } from '#actors/policy/policy.ts';
import type { Attempt } from '#actors/ports.ts';
import { delivery } from '#test/fakes/records.ts';
import { settle, testPolicy, World } from '#test/fakes/world.ts';

const instances = 20;
const perInstance = 3;
const total = instances * perInstance;
const dead: Attempt = { ok: false, error: 'webhook could not be reached: connection refused' };

/** Starts a gateway in which every instance has deliveries of an earlier run for the global webhook. */
async function waiting(
  count = instances,
  policy: Partial<Policy> = {},
): Promise<{ readonly world: World; readonly gateway: RunningGateway; readonly start: number }> {
  const world = new World();
  world.hook({ id: 'wg', instanceId: null });
  let seq = 0;
  for (let n = 0; n < count; n += 1) {
    world.register({ id: `r${n}` });
    for (let at = 0; at < perInstance; at += 1) {
      seq += 1;
      world.db.outbox.set(seq, { ...delivery(seq, 'chat'), webhookId: 'wg', instanceId: `r${n}`, at: world.time.now() });
    }
  }
  const start = world.time.now();
  world.receiver.answer = () => dead;
  const gateway = await world.start(policy);
  await gateway.restore();
  await settle();
  return { world, gateway, start };
}

test('circuit: ten failures of any instances open it for all, and one instance probes at a time', async () => {
  const { world, start } = await waiting();
  await world.time.pass(29_000);
  assert.equal(world.receiver.posts.length, instances, 'what was under way already');
  await world.time.pass(600_000);
  const probes = world.receiver.posts.slice(instances).map(({ at }) => Math.round((at - start) / 10_000) * 10);
  assert.deepEqual(probes, [30, 90, 210, 450]);
});

test('circuit: a slow probe is the only one, and its success lets all instances continue', async () => {
  const { world } = await waiting();
  const { promise, resolve } = Promise.withResolvers<Attempt>();
  world.receiver.answer = () => promise;
  await world.time.pass(45_000);
  assert.equal(world.receiver.posts.length, instances + 1);
  world.receiver.answer = () => ({ ok: true, status: 200 });
  resolve({ ok: true, status: 200 });
  await world.time.pass(60_000);
  assert.deepEqual([world.db.outbox.size, world.db.archive.length], [0, total]);
});

test('circuit: a quick retry of one instance waits for the probe of another', async () => {
  const delivery = { ...testPolicy.delivery, circuit: { failures: 2, min: 1000, max: 1000 } };
  const { world } = await waiting(2, { delivery });
  assert.equal(world.receiver.posts.length, 2);
  const { promise, resolve } = Promise.withResolvers<Attempt>();
  world.receiver.answer = () => promise;
  await world.time.pass(4000);
  assert.equal(world.receiver.posts.length, 3, 'the probe alone');
  world.receiver.answer = () => ({ ok: true, status: 200 });
  resolve({ ok: true, status: 200 });
  await world.time.pass(4000);
  assert.equal(world.db.outbox.size, 0);
});

test('circuit: a probe whose instance is removed does not block the probes of the others', async () => {
  const { world, gateway } = await waiting();
  const { promise, resolve } = Promise.withResolvers<Attempt>();
  world.receiver.answer = () => promise;
  await world.time.pass(31_000);
  const token = String(world.receiver.posts.at(-1)?.body['token']);
  await gateway.remove(token.slice('token-'.length));
  resolve(dead);
  world.receiver.answer = () => ({ ok: true, status: 200 });
  await world.time.pass(200_000);
  assert.equal(world.db.outbox.size, 0);
});

test('circuit: a change of the webhook makes all instances try again at once', async () => {
  const { world, gateway } = await waiting();
  world.receiver.answer = () => ({ ok: true, status: 200 });
  const saved = await gateway.saveGlobalWebhook({ action: '', id: '', url: 'http://new.test/', events: ['All'], enabled: true });
  assert.ok(saved.ok);
  await world.time.pass(20_000);
  assert.equal(world.db.outbox.size, 0);
});

test('circuit: a probe that is given up or judged makes room for the next, and an attempt from before the opening does not', () => {
  const circuit = new Circuit({ ...testPolicy.delivery, circuit: { failures: 1, min: 1000, max: 1000 } });
  assert.ok(circuit.admit(1) && circuit.admit(2), 'it is closed');
  circuit.judge(1, dead, 0);
  assert.ok(circuit.admit(3) && !circuit.admit(4));
  circuit.judge(2, dead, 1000);
  assert.ok(!circuit.admit(4), 'the third is still under way');
  circuit.forgo(3);
  assert.ok(circuit.admit(4) && !circuit.admit(5));
  circuit.judge(4, dead, 2000);
  assert.ok(circuit.admit(5));
  circuit.judge(5, { ok: true, status: 200 }, 3000);
  assert.ok(circuit.admit(6) && circuit.admit(7), 'it is closed again');
});
