/** Tests what the dispatcher remembers of the receivers of webhooks that are removed, or whose instance moves to another node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dispatcher } from '#actors/supervisor/dispatcher.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { webhook } from '#test/contract/samples.ts';
import { delivery } from '#test/fakes/records.ts';
import { testPolicy, World } from '#test/fakes/world.ts';

const refused = { ok: false, status: 500, error: 'webhook returned 500' } as const;

/** Creates a dispatcher with one webhook of one instance, whose receiver refused many posts. */
function failing() {
  const { ports, time } = new World();
  const dispatcher = new Dispatcher({
    ports,
    policy: testPolicy,
    baseUrl: '',
    workers: supervisedWorkers(ports, testPolicy, {}),
    connector: { deliver: async () => refused },
    cells: new Map(),
    record: () => undefined,
    open: () => true,
    owns: () => true,
  });
  dispatcher.set({ ...webhook, id: 'w1', instanceId: 'r1', enabled: true });
  const fail = (): void => dispatcher.couriers.judged('w1', delivery(1, 'c', { webhookId: 'w1', instanceId: 'r1' }), refused);
  const circuit = dispatcher.couriers.circuit('w1');
  for (let attempt = 1; !circuit.isOpen && attempt < 100; attempt += 1) {
    circuit.judge(attempt, refused, time.monotonic());
    fail();
  }
  assert.deepEqual([dispatcher.broken.length, dispatcher.openCircuits, dispatcher.failing('r1')?.id], [1, 1, 'w1']);
  return { dispatcher, fail };
}

test('dispatcher: a node reports no receiver of an instance that left it', () => {
  const { dispatcher } = failing();
  dispatcher.leave('r1');
  assert.deepEqual([dispatcher.broken, dispatcher.openCircuits, dispatcher.failures('w1')], [[], 0, 0]);
  assert.deepEqual([dispatcher.health('w1'), dispatcher.failing('r1'), dispatcher.webhooks.own('r1').length], [null, null, 1]);
});

test('dispatcher: an attempt that ends after the removal of its webhook is not remembered', () => {
  const { dispatcher, fail } = failing();
  dispatcher.remove('w1');
  fail();
  assert.equal(dispatcher.health('w1'), null);
});
