/** Every constant of a node among others. Times in milliseconds. */
import type { AdmissionRate } from '../ports.ts';

export interface ClusterPolicy {
  /** How long a node is live after a renewal. */
  readonly lease: number;
  readonly renewEvery: number;
  /** Pause after a renewal that failed. */
  readonly retryEvery: number;
  /** The node takes its lease to end so much earlier than the database does: clocks do not run alike. */
  readonly margin: number;
  /** So long before the end of a lease that was not renewed the node closes its sessions. */
  readonly closing: number;
  /** How often a node looks for instances to take. */
  readonly lookEvery: number;
  /** Instances taken in one look. */
  readonly takenAtOnce: number;
  /** Sessions that leave for another node in a second, from each node. */
  readonly movesPerSecond: number;
  /** The same while the node drains. */
  readonly drainsPerSecond: number;
  /** Sessions that are on their way to other nodes at once. */
  readonly leavingAtOnce: number;
  /** No session moves to a node that is younger. */
  readonly settled: number;
  /** How often a node looks at what others changed. */
  readonly memoryEvery: number;
  /** How long a command waits until somebody owns its instance. */
  readonly ownerWait: number;
  /** How long the answer of the owner is waited for. Downloads take longest. */
  readonly answer: number;
  /** The same for what any node can answer from the database, though it knows less: an owner that stands still keeps nobody waiting. */
  readonly question: number;
  /** Handshakes of all nodes together. */
  readonly admission: AdmissionRate;
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
  question: 5_000,
};

/** The share of the cluster's handshakes that sessions on their way may use: more of them would leave earlier and wait longer for the next login. */
const leaving = 0.8;

/** The part of a second's handshakes that may begin at once after a pause: those that wait ask ten times in a second, and logins come in bunches by themselves. */
const burst = 0.25;

/** `perSecond`: handshakes of all nodes together. */
export const clusterPolicyOf = (perSecond: number): ClusterPolicy => {
  const most = Math.max(1, Math.floor(perSecond * leaving));
  const { movesPerSecond, drainsPerSecond } = usualClusterPolicy;
  return {
    ...usualClusterPolicy,
    movesPerSecond: Math.min(movesPerSecond, most),
    drainsPerSecond: Math.min(drainsPerSecond, most),
    admission: { perSecond, burst: Math.ceil(perSecond * burst) },
  };
};
