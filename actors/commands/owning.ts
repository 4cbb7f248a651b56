/** Ownership for commands that cannot travel to the owner of an instance, because their bodies are too large for the bus. */
import type { InstanceId } from '../model.ts';
import type { Cluster } from '../cluster/cluster.ts';

/** The cluster of a node, or null for a single gateway. */
export interface OwningHost {
  readonly cluster: Pick<Cluster, 'take' | 'ownerOf'> | null;
}

/** Takes the instance if no live node owns it. Returns null if this node owns the instance, and otherwise the reason why it cannot do the command. */
export const ownershipObjection = async ({ cluster }: OwningHost, id: InstanceId, command: 'import' | 'export'): Promise<string | null> => {
  if (cluster === null || (await cluster.take(id))) return null;
  const owner = await cluster.ownerOf(id);
  return owner === null
    ? `no node owns the instance ${id}, and this node can take none: ${command} through another node`
    : `the node ${owner} owns the instance ${id}: ${command} through that node`;
};
