/** Questions about the server as a whole: whose a token is, its figures, and the nodes of the cluster that it belongs to. */
import type { Gateway, NodeView } from '../face.ts';
import { refuse } from '../model.ts';
import type { KnownNode } from '../ports.ts';
import type { Supervisor } from '../supervisor.ts';
import { countsOf } from '../supervisor/numbers.ts';

type ServerCommands = Pick<
  Gateway,
  | 'authenticate'
  | 'lookUp'
  | 'exists'
  | 'signIns'
  | 'nodes'
  | 'nodeName'
  | 'draining'
  | 'drainNode'
  | 'ready'
  | 'numbers'
  | 'figures'
  | 'counts'
>;

const noNodes = refuse('notFound', 'this gateway is no node of a cluster');

const nodeView = ({ load, leftMs, ...node }: KnownNode): NodeView => ({
  ...node,
  state: leftMs <= 0 ? 'gone' : node.draining ? 'draining' : 'live',
  owned: leftMs <= 0 ? 0 : load,
  leaseMs: Math.max(0, leftMs),
});

export const serverCommands = (supervisor: Supervisor): ServerCommands => {
  const { cluster, registry } = supervisor;
  return {
    authenticate: (token) => registry.byToken(token),
    lookUp: (token) => supervisor.lookUp(token),
    exists: (id) => supervisor.exists(id),
    signIns: cluster?.signIns ?? null,
    nodes: async () => ((await cluster?.overview.nodes()) ?? []).map(nodeView),
    nodeName: cluster?.figures.name ?? null,
    draining: () => cluster?.draining ?? false,
    drainNode: async (name) => (await cluster?.drainNode(name)) ?? noNodes,
    ready: () => supervisor.progress,
    numbers: () => supervisor.numbers(),
    figures: () => supervisor.figures(),
    counts: () => countsOf(registry),
  };
};
