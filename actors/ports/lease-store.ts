/** Who owns what among several nodes. Every time is the database's own; durations are milliseconds. */
import type { Claim, InstanceId } from '../model.ts';

/** One life of one node, as it announces itself. */
export interface NodeState {
  readonly name: string;
  /** UUID; a new one for each start of the process, and after each lease that was lost. */
  readonly incarnation: string;
  /** Sessions that it may have at most. */
  readonly capacity: number;
  /** Leases that it has. */
  readonly load: number;
  /** It gives its sessions away and takes none. */
  readonly draining: boolean;
  readonly version: string;
}

/** A node whose lease is good. */
export interface LiveNode extends NodeState {
  /** Since it joined. */
  readonly age: number;
}

/** Why a node took an instance: it needed an owner, a command asked for it, another node gave it away (to balance, or to drain), or its node died. */
export const leaseCauses = ['placed', 'asked', 'moved', 'drained', 'failover'] as const;
export type LeaseCause = (typeof leaseCauses)[number];
/** What a node says when it takes one; that its node died is found by the take. */
export type TakeCause = Exclude<LeaseCause, 'failover'>;

/** A node as the database has it, also one whose lease has ended without its leaving. */
export interface KnownNode {
  readonly name: string;
  readonly version: string;
  readonly capacity: number;
  readonly load: number;
  readonly draining: boolean;
  /** What its lease has left; negative when it has ended. */
  readonly leftMs: number;
  /** Since it joined. */
  readonly age: number;
  /** Instances that it took within the last hour and still has, by cause. */
  readonly taken: Readonly<Partial<Record<LeaseCause, number>>>;
}

/** Who owns an instance. */
export interface Lease {
  readonly node: string;
  /** Unix milliseconds. */
  readonly since: number;
  /** Milliseconds for which it has been that node's, by the database's clock. */
  readonly heldMs: number;
  readonly cause: LeaseCause;
}

export type TakenLease = Claim & { readonly cause: LeaseCause };

export interface Look {
  /** By name. */
  readonly nodes: readonly LiveNode[];
  /** Instances that need an owner and have none, the most recently active first. */
  readonly free: readonly InstanceId[];
}

export interface AdmissionRate {
  readonly perSecond: number;
  /** At once, after a pause. */
  readonly burst: number;
}

export interface LeaseStore {
  /**
   * Makes the node live for so long. Refused while the name is live in an incarnation that is neither this one nor `former`; `leftMs` is then what
   * that one has left. The leases of a replaced incarnation are void. Safe to repeat.
   */
  join(node: NodeState, ms: number, former: string | null): Promise<{ readonly joined: boolean; readonly leftMs: number }>;
  /** The node, and with it all its leases, is good for so long from now. False when its lease had ended, or its name has another incarnation. */
  renew(node: NodeState, ms: number): Promise<boolean>;
  /** The node and its leases are gone. */
  leave(incarnation: string): Promise<void>;
  look(): Promise<Look>;
  /** For people: by name. Its cost grows with the instances that changed their node within the hour, and with no others. */
  known(): Promise<readonly KnownNode[]>;
  /** Null when no live node owns the instance. */
  leaseOf(id: InstanceId): Promise<Lease | null>;
  /** Those that no live node owns. */
  unowned(ids: readonly InstanceId[]): Promise<readonly InstanceId[]>;
  /**
   * Takes those instances that nobody owns, raising their epochs, which waits for writes under the epoch before. Answers those that were taken; none
   * when the node is not live. `cause` is kept with the lease; a lease that a dead node left is taken for the cause `failover`.
   */
  take(incarnation: string, ids: readonly InstanceId[], cause: TakeCause): Promise<readonly TakenLease[]>;
  /** Leases of this node end, those alone that have this epoch. */
  giveBack(incarnation: string, claims: readonly Claim[]): Promise<void>;
  /** How many of so many handshakes may begin now, in the whole cluster. They count as begun. */
  admit(asked: number, rate: AdmissionRate): Promise<number>;
}
