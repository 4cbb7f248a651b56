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
  /** Differences between its leases in the database and those that it holds, when it last compared them. */
  readonly astray: number;
  /** It gives its sessions away and takes none. */
  readonly draining: boolean;
  readonly version: string;
}

/** A node whose lease no other node has ended. */
export interface LiveNode extends NodeState {
  /** The end of its lease by the database's clock, which may step. Each renewal changes it. */
  readonly until: number;
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
  readonly astray: number;
  readonly draining: boolean;
  /** What its lease has left by the database's clock, which may step; negative when it should have been renewed. */
  readonly leftMs: number;
  /** Another node has ended its lease. */
  readonly ended: boolean;
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
  /** What the lease of the node has left by the database's clock; negative when it should have been renewed. */
  readonly leftMs: number;
  readonly cause: LeaseCause;
}

export type TakenLease = Claim & { readonly cause: LeaseCause };

/** Leases of one node that the database has and the node does not hold, and the reverse. */
export interface LeaseDifference {
  readonly unheld: readonly Claim[];
  readonly unleased: readonly Claim[];
}

export interface Look {
  /** By name. */
  readonly nodes: readonly LiveNode[];
  /** Instances that need an owner and have none, the most recently active first. */
  readonly free: readonly InstanceId[];
}

/** What earlier owners left of an instance that was taken. */
export interface LeftWork {
  readonly id: InstanceId;
  /** Messages in its asynchronous queue. */
  readonly queued: number;
  /** Webhooks with rows in the outbox. */
  readonly webhooks: readonly string[];
  /** Messages wait whose callers waited for an answer. */
  readonly isInterrupted: boolean;
  /** A campaign waits or is under way. */
  readonly hasCampaign: boolean;
}

export interface LeftWorkStore {
  /** Looks after these instances in one statement, whose cost does not grow with other instances. Unknown ids are left out. */
  of(ids: readonly InstanceId[]): Promise<readonly LeftWork[]>;
}

export interface AdmissionRate {
  readonly perSecond: number;
  /** At once, after a pause. */
  readonly burst: number;
}

/** The incarnation that has a name, and the end of its lease by the database's clock. */
export type NameHolder = Pick<LiveNode, 'incarnation' | 'until'>;

export interface LeaseStore {
  /**
   * Makes the node live for so long. Refused while the name is live in an incarnation that is neither this one nor `former`, which is then `holder`.
   * The leases of a replaced incarnation are void. Safe to repeat. Resolves with null when the node has joined.
   */
  join(node: NodeState, ms: number, former: string | null): Promise<NameHolder | null>;
  /** The node, and with it all its leases, is good for so long from now. False when its lease was ended, or its name has another incarnation. */
  renew(node: NodeState, ms: number): Promise<boolean>;
  /**
   * Ends the lease of a node that was not renewed since `until`: its instances are free. The caller has seen that for a whole lease by its own monotonic
   * clock, because the clock of the database may step. Returns false if the lease was renewed or ended meanwhile.
   */
  end(holder: NameHolder): Promise<boolean>;
  /** The node and its leases are gone. */
  leave(incarnation: string): Promise<void>;
  look(): Promise<Look>;
  /** For people: by name. Its cost grows with the instances that changed their node within the hour, and with no others. */
  known(): Promise<readonly KnownNode[]>;
  /** True if a live node is of a release that signs nothing on the bus. */
  anyUnsigned(): Promise<boolean>;
  /** Null when no live node owns the instance. */
  leaseOf(id: InstanceId): Promise<Lease | null>;
  /** The epoch of the last take; null when there is no such instance. */
  epochOf(id: InstanceId): Promise<number | null>;
  /** Those that no live node owns. */
  unowned(ids: readonly InstanceId[]): Promise<readonly InstanceId[]>;
  /**
   * Takes those instances that nobody owns, raising their epochs, which waits for writes under the epoch before. Answers those that were taken; none
   * when the node is not live. `cause` is kept with the lease; a lease that a dead node left is taken for the cause `failover`.
   */
  take(incarnation: string, ids: readonly InstanceId[], cause: TakeCause): Promise<readonly TakenLease[]>;
  /** Compares the leases of this node with those that it holds: the same instances under the same epochs. */
  compare(incarnation: string, held: readonly Claim[]): Promise<LeaseDifference>;
  /** Leases of this node end, those alone that have this epoch. */
  giveBack(incarnation: string, claims: readonly Claim[]): Promise<void>;
  /** How many of so many handshakes may begin now, in the whole cluster. They count as begun. */
  admit(asked: number, rate: AdmissionRate): Promise<number>;
}
