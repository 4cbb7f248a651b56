/** The constants of a node in a cluster. Times in milliseconds. */
import type { AdmissionRate, LiveNode } from '../ports.ts';

export interface ClusterPolicy {
  /** The time for which a node is live after a renewal. */
  readonly lease: number;
  readonly renewEvery: number;
  /** The pause after a failed renewal. */
  readonly retryEvery: number;
  /** The time by which the node ends its lease earlier than the database does, because clocks run at different speeds. */
  readonly margin: number;
  /** The time before the end of an unrenewed lease at which the node closes its sessions. */
  readonly closing: number;
  /** The pause between two searches for instances to take. */
  readonly lookEvery: number;
  /** The largest number of instances that are taken in one check. */
  readonly takenAtOnce: number;
  /** The largest number of sessions that leave a node for other nodes per second. */
  readonly movesPerSecond: number;
  /** The largest number of sessions that leave a draining node per second. */
  readonly drainsPerSecond: number;
  /** The largest number of sessions that are on their way to other nodes. */
  readonly leavingAtOnce: number;
  /** The least age of a node to which sessions move. */
  readonly settled: number;
  /** The pause between two reads of the changes of other nodes. */
  readonly memoryEvery: number;
  /** The longest wait of a command for an owner of its instance. */
  readonly ownerWait: number;
  /** The longest wait for the answer of the owner. Downloads take longest. */
  readonly answer: number;
  /**
   * The longest wait for the owner in questions that any node can answer from the database, though with less detail. A suspended owner delays no caller for
   * longer.
   */
  readonly question: number;
  /** Rate of the handshakes of all nodes together. */
  readonly admission: AdmissionRate;
  /** The largest number of handshakes of one node per second. */
  readonly nodeHandshakes: number;
}

export const usualClusterPolicy: ClusterPolicy = {
  lease: 15_000,
  renewEvery: 5_000,
  retryEvery: 1_000,
  margin: 1_000,
  closing: 3_000,
  lookEvery: 1_000,
  takenAtOnce: 200,
  movesPerSecond: 5,
  drainsPerSecond: 20,
  leavingAtOnce: 8,
  settled: 10_000,
  memoryEvery: 500,
  ownerWait: 5_000,
  answer: 60_000,
  admission: { perSecond: 20, burst: 5 },
  nodeHandshakes: 20,
  question: 5_000,
};

/**
 * The share of the cluster's handshakes that moving sessions may use. With a larger share, sessions would leave earlier and wait longer for the next login.
 */
const leavingShare = 0.8;

/** The share of a second's handshakes that may begin at once after a pause. A small share is enough, because waiting nodes ask ten times a second. */
const burstShare = 0.25;

interface DeparturePace {
  /** The number of sessions that may leave this node per second. */
  readonly perSecond: number;
  /** The turn of this node among those that give sessions away, from 0 to below 1. */
  readonly turn: number;
}

/**
 * Returns the pace of this node. All nodes that give sessions away share the handshakes of the cluster. If a node joins a large cluster, each of the others gives
 * away few sessions, but together they would close far more than the joining node may open.
 */
export const departurePaceOf = (
  policy: Pick<ClusterPolicy, 'movesPerSecond' | 'drainsPerSecond' | 'admission' | 'nodeHandshakes'>,
  nodes: readonly Pick<LiveNode, 'name' | 'draining'>[],
  { me, draining }: { readonly me: string; readonly draining: boolean },
): DeparturePace => {
  const alike = nodes.filter((node) => node.draining === draining).map(({ name }) => name);
  // One of the nodes that do not drain gets the sessions of the others.
  const givers = Math.max(1, draining ? alike.length : alike.length - 1);
  const { movesPerSecond, drainsPerSecond, admission, nodeHandshakes } = policy;
  // The sessions of a draining node go to many nodes.
  const handshakes = draining ? admission.perSecond : Math.min(admission.perSecond, nodeHandshakes);
  return {
    perSecond: Math.min(draining ? drainsPerSecond : movesPerSecond, (handshakes * leavingShare) / givers),
    turn: Math.max(0, alike.toSorted().indexOf(me)) / Math.max(1, alike.length),
  };
};

/** Returns the policy for `perSecond` handshakes of all nodes together, and `ofNode` of one node. */
export const clusterPolicyOf = (perSecond: number, ofNode = perSecond): ClusterPolicy => {
  const most = Math.max(1, Math.floor(perSecond * leavingShare));
  const { movesPerSecond, drainsPerSecond } = usualClusterPolicy;
  return {
    ...usualClusterPolicy,
    movesPerSecond: Math.min(movesPerSecond, most),
    drainsPerSecond: Math.min(drainsPerSecond, most),
    admission: { perSecond, burst: Math.ceil(perSecond * burstShare) },
    nodeHandshakes: ofNode,
  };
};
