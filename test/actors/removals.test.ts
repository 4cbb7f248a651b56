/** Tests the deletion of the rows of removed instances and webhooks: in pieces after the answer, through outages, crashes and restarts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunningGateway } from '#actors/gateway.ts';
import { World } from '#test/fakes/world.ts';
import { delivery } from '#test/fakes/records.ts';

/** Starts two instances with a webhook each. The first one has 30 waiting deliveries, which no courier sends. */
async function removing(prepare: (world: World) => void = () => undefined) {
  const world = new World();
  for (const n of [1, 2]) {
    world.register({ id: `r${n}` });
    world.hook({ id: `w${n}`, instanceId: `r${n}`, enabled: false });
  }
  const put = (seq: number, n: number): void =>
    void world.db.outbox.set(seq, delivery(seq, 'c', { instanceId: `r${n}`, webhookId: `w${n}`, at: world.time.now() }));
  for (let seq = 1; seq <= 30; seq += 1) put(seq, 1);
  put(31, 2);
  prepare(world);
  const gateway = await world.start();
  const remove = async (): Promise<void> => void (await world.answerOf(gateway.remove('r1')));
  return { world, gateway, remove, left: () => world.db.outbox.size };
}

test('removal: the instance has disappeared from the API when the request is answered, and its rows are deleted afterwards', async () => {
  const { world, gateway, remove, left } = await removing();
  const token = gateway.view('r1')?.record.token ?? '';
  await remove();
  assert.deepEqual([gateway.view('r1'), gateway.authenticate(token), gateway.all().length], [null, null, 1]);
  assert.ok(left() > 20, 'most rows are left');
  await world.time.pass(2000);
  assert.deepEqual([left(), world.db.removals], [1, []]);
  assert.deepEqual(
    world.log
      .of('rows.removed')
      .map(({ fields }) => fields['kind'])
      .toSorted(),
    ['instance', 'webhook'],
  );
});

test('removal: the rows of a webhook are deleted in the same way', async () => {
  const { world, gateway, left } = await removing();
  await gateway.saveWebhook('r1', { action: 'delete', id: 'w1', url: '' });
  assert.deepEqual(gateway.webhooks('r1'), []);
  assert.ok(left() > 20);
  await world.time.pass(2000);
  assert.equal(left(), 1);
});

test('removal: the next start continues a removal that a stop interrupted', async () => {
  const { world, gateway, remove, left } = await removing();
  await remove();
  await world.time.pass(100);
  await gateway.stop();
  const after = left();
  await world.time.pass(10_000);
  assert.ok(after > 10 && left() === after, 'nothing is removed after a stop');
  await world.start();
  await world.time.pass(2000);
  assert.equal(left(), 1);
});

test('removal: it waits for storage that is away', async () => {
  const { world, remove, left } = await removing();
  await remove();
  world.db.away = true;
  await world.time.pass(20_000);
  world.db.away = false;
  await world.time.pass(3000);
  assert.equal(left(), 1);
  assert.deepEqual(world.log.of('worker.crashed'), []);
});

test('removal: one that fails counts as a crash and is retried, without delaying the others', async () => {
  let broken = true;
  const { world, gateway, left } = await removing((prepared) => {
    const { removePiece } = prepared.ports.removals;
    prepared.ports.removals.removePiece = (removal) =>
      removal.id === 'w1' && broken ? Promise.reject(new Error('value out of range')) : removePiece(removal);
  });
  const numbers = (of: RunningGateway) => of.numbers().workerCrashes['remover'] ?? 0;
  for (const n of [1, 2]) await gateway.saveWebhook(`r${n}`, { action: 'delete', id: `w${n}`, url: '' });
  await world.time.pass(20_000);
  assert.equal(left(), 30, 'the other webhook is done');
  assert.ok(numbers(gateway) >= 2);
  broken = false;
  await world.time.pass(60_000);
  assert.equal(left(), 0);
});
