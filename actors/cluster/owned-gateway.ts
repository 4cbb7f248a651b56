/** The gateway of a node in a cluster. A command on an instance runs on the node that owns the instance. */
import type { Gateway } from '../views.ts';
import { done, type InstanceId, type Result } from '../model.ts';
import type { Cluster } from './cluster.ts';
import { places, remembered, type Place } from './methods.ts';

type Method = (subject: string, ...rest: readonly unknown[]) => Promise<unknown>;
type Args = readonly unknown[];

/** Finds the instance of a command. Null means that no such instance exists, or that its owner has nothing to do. This node then answers. */
export interface Subjects {
  owner(subject: string): InstanceId | null;
  hook(subject: string, body: Readonly<Record<string, unknown>>): Promise<InstanceId | null>;
}

/** Work that the receiving node does before a command travels, by method. A refusal is the answer of the command. */
export type Preparations = Readonly<Record<string, (...args: readonly never[]) => Promise<Result<Args>>>>;

const isRouted = (place: Place): place is Exclude<Place, 'any'> => place !== 'any';

export const ownedGateway = <G extends Gateway>(gateway: G, cluster: Cluster, subjects: Subjects, preparations: Preparations): G => {
  const owned: Record<string, Method> = {};
  for (const [method, place] of Object.entries(places)) {
    if (!isRouted(place)) continue;
    const local = gateway[method as keyof Gateway] as unknown as Method;
    const prepare = preparations[method] as ((...args: Args) => Promise<Result<Args>>) | undefined;
    owned[method] = async (subject, ...rest) => {
      const id = place === 'hook' ? await subjects.hook(subject, rest[0] as Readonly<Record<string, unknown>>) : subjects.owner(subject);
      if (id === null) return local(subject, ...rest);
      const args = async (): Promise<Result<Args>> => prepare?.(subject, ...rest) ?? done([subject, ...rest]);
      const command = { id, method, args, here: () => local(subject, ...rest) };
      if (place === 'reader') return cluster.question(command);
      const result = await cluster.command({ ...command, here: command.here as () => Promise<Result<unknown>> });
      // A client that reads its own change from this node must see the change.
      if (remembered.has(method) && !cluster.owns(id)) await cluster.refreshed();
      return result;
    };
  }
  cluster.performer = {
    knows: (method) => Object.hasOwn(owned, method),
    async run(method, args) {
      const local = gateway[method as keyof Gateway] as unknown as (...given: Args) => Promise<unknown>;
      return local(...args);
    },
  };
  // All other members, including getters, are inherited.
  return Object.setPrototypeOf(owned, gateway) as G;
};
