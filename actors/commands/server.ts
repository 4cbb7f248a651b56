/** Queries of the server as a whole: owners of tokens, figures, and the nodes of the cluster. */
import type { Gateway, NodeView } from '../views.ts';
import { refuse } from '../model.ts';
import type { KnownNode } from '../ports.ts';
import type { Supervisor } from '../supervisor.ts';
import { refusedCommands, type RefusedCommands } from './refused.ts';
import { countsOf, troublesOf } from './numbers.ts';

type ServerCommands = Pick<
  Gateway,
  | 'signIns'
  | 'authenticate'
  | 'lookUp'
  | 'exists'
  | 'nodes'
  | 'nodeName'
  | 'draining'
  | 'drainNode'
  | 'ready'
  | 'troubles'
  | 'warnings'
  | 'clientVersion'
  | 'numbers'
  | 'figures'
  | 'counts'
>;

const noNodes = refuse('notFound', 'this gateway is not a node of a cluster');

const nodeView = ({ load, leftMs, ended, bus, ...node }: KnownNode, lease: number): NodeView => ({
  ...node,
  ...(bus === null || ended ? {} : { bus }),
  state: ended ? 'gone' : node.draining ? 'draining' : 'live',
  owned: ended ? 0 : load,
  leaseMs: ended ? 0 : Math.max(0, leftMs),
  renewedMs: Math.max(0, lease - leftMs),
});

export const serverCommands = (supervisor: Supervisor, signIns: ServerCommands['signIns']): ServerCommands & RefusedCommands => {
  const { cluster, registry } = supervisor;
  return {
    ...refusedCommands(supervisor),
    authenticate: (token) => registry.byToken(token),
    lookUp: (token) => supervisor.lookUp(token),
    exists: (id) => supervisor.exists(id),
    signIns,
    nodes: async () => ((await cluster?.overview.nodes()) ?? []).map((node) => nodeView(node, cluster?.lease ?? 0)),
    nodeName: cluster?.figures.name ?? null,
    draining: () => cluster?.draining ?? false,
    drainNode: async (name) => (await cluster?.drainNode(name)) ?? noNodes,
    ready: () => supervisor.progress,
    troubles: () => troublesOf(registry),
    warnings: () => supervisor.warnings,
    clientVersion: () => supervisor.ports.platform.clientVersion(),
    numbers: () => supervisor.numbers(),
    figures: () => supervisor.figures(),
    counts: () => countsOf(registry),
  };
};
