/** Ownership for commands that cannot travel to the owner of an instance, because their bodies are too large for the bus. */
import { refuse, type InstanceId, type Result } from '../model.ts';
import type { Cluster } from '../cluster/cluster.ts';

/** `node`: the live node that owns the instance; null if no node does and this one cannot take it. */
export type Place = { readonly isHere: true } | { readonly isHere: false; readonly node: string | null };

/** The cluster of a node, or null for a single gateway. */
interface Node {
  readonly cluster: Pick<Cluster, 'take' | 'ownerOf'> | null;
}

/** Takes the instance if no live node owns it. */
export const ownHere = async ({ cluster }: Node, id: InstanceId): Promise<Place> =>
  cluster === null || (await cluster.take(id)) ? { isHere: true } : { isHere: false, node: await cluster.ownerOf(id) };

/** Refuses a command on an instance of another place. */
export const elsewhere = (id: InstanceId, { node }: Place & { readonly isHere: false }, what: 'import' | 'export'): Result<never> =>
  refuse(
    'conflict',
    node === null
      ? `no node owns the instance ${id}, and this node can take none: ${what} through another node`
      : `the node ${node} owns the instance ${id}: ${what} through that node`,
  );
