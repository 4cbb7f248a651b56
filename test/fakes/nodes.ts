/** Views of instances and nodes, independent of their owners. */
import type { Gateway, InstanceId, InstanceView } from '#actors/gateway.ts';

export const nodeCalls: Pick<Gateway, 'nodes' | 'drainNode' | 'draining' | 'ready' | 'troubles' | 'warnings' | 'signIns' | 'nodeName'> = {
  ready: () => ({ restored: 1, total: 2 }),
  troubles: () => [],
  warnings: () => [],
  draining: () => false,
  signIns: null,
  nodeName: 'a',
  nodes: async () => [
    {
      name: 'a',
      state: 'live',
      version: '1.0.0',
      owned: 1,
      capacity: 200,
      astray: 0,
      bus: false,
      draining: false,
      age: 5,
      leaseMs: 9_000,
      renewedMs: 6_000,
      taken: { failover: 1 },
    },
  ],
  drainNode: async (name) =>
    name === 'a' ? { ok: true, value: null } : { ok: false, refusal: { reason: 'notFound', message: 'no node' } },
};

export const reads = ({
  instances,
}: {
  readonly instances: ReadonlyMap<InstanceId, InstanceView>;
}): Pick<Gateway, 'all' | 'view' | 'current' | 'everywhere' | 'exists'> => ({
  all: () => [...instances.values()],
  exists: async (id) => instances.has(id),
  view: (id) => instances.get(id) ?? null,
  current: async (id) => instances.get(id) ?? null,
  everywhere: async () => [...instances.values()],
});
