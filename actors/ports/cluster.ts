/** The ports of a cluster: leases of nodes and instances, and the message bus between nodes. */
import type { Claim, InstanceId } from '../model.ts';

// Leases of nodes and instances. Every time is measured by the database's clock. Durations are in milliseconds.

/** The state that an incarnation of a node announces. */
export interface NodeState {
  readonly name: string;
  /** The UUID of the incarnation. A node gets a new UUID at each start of its process and after each loss of its lease. */
  readonly incarnation: string;
  /** The largest number of sessions that this node may have. */
  readonly capacity: number;
  /** The number of instances whose leases this node has. */
  readonly load: number;
  /** The number of differences between the node's leases in the database and its own list, at the last comparison. */
  readonly astray: number;
  /** True while the node reaches the bus. Absent or null for a node without a bus. */
  readonly bus?: boolean | null;
  /** True while the node moves its sessions to other nodes and takes none. */
  readonly draining: boolean;
  readonly version: string;
}

/** A node with a lease that no other node has ended. */
export interface LiveNode extends NodeState {
  /** The end of the node's lease by the database's clock, which may step. Each renewal changes the end. */
  readonly until: number;
  /** The time since the node joined. */
  readonly age: number;
}

/**
 * Reasons for a takeover. `placed`: the instance needed an owner. `asked`: a command asked for the instance. `moved` and `drained`: another node moved
 * the instance away, for balance or to drain. `failover`: the node of the instance died.
 */
export const leaseCauses = ['placed', 'asked', 'moved', 'drained', 'failover'] as const;
export type LeaseCause = (typeof leaseCauses)[number];
/** The reason that a node states when it takes an instance. The store itself detects a failover. */
export type TakeCause = Exclude<LeaseCause, 'failover'>;

/** A node as the database lists it, even after its lease ran out. */
export interface KnownNode {
  readonly name: string;
  readonly version: string;
  readonly capacity: number;
  readonly load: number;
  readonly astray: number;
  /** True if the node reached the bus at its last renewal. Null if the node has no bus, or does not report it. */
  readonly bus: boolean | null;
  readonly draining: boolean;
  /** The remaining time of the node's lease by the database's clock, which may step. Negative if the renewal is overdue. */
  readonly leftMs: number;
  /** True if another node has ended the node's lease. */
  readonly ended: boolean;
  /** The time since the node joined. */
  readonly age: number;
  /** The number of instances that the node took within the last hour and still has, by cause. */
  readonly taken: Readonly<Partial<Record<LeaseCause, number>>>;
}

/** The lease of an instance. */
export interface Lease {
  readonly node: string;
  /** The time at which the node took the lease. In Unix milliseconds. */
  readonly since: number;
  /** The time for which the node has held the instance, by the database's clock. In milliseconds. */
  readonly heldMs: number;
  /** The remaining time of the node's lease by the database's clock. Negative if the renewal is overdue. */
  readonly leftMs: number;
  readonly cause: LeaseCause;
}

export type TakenLease = Claim & { readonly cause: LeaseCause };

/** Differences between the leases in the database and the list of a node: leases that the node does not hold, and held instances without a lease. */
export interface LeaseDifference {
  readonly unheld: readonly Claim[];
  readonly unleased: readonly Claim[];
}

export interface Look {
  /** The nodes, sorted by name. */
  readonly nodes: readonly LiveNode[];
  /** Instances that need an owner and have none, the most recently active first. Empty if they were not read. */
  readonly free: readonly InstanceId[];
}

/** Unfinished work that earlier owners of an instance left. */
export interface LeftWork {
  readonly id: InstanceId;
  /** The number of messages in the asynchronous queue of the instance. */
  readonly queued: number;
  /** Webhooks with rows in the outbox. */
  readonly webhooks: readonly string[];
  /** True if messages outside the asynchronous queue are still `Queued`, because the process of an earlier owner stopped during their sends. */
  readonly isInterrupted: boolean;
  /** True if a campaign waits or runs. */
  readonly hasCampaign: boolean;
}

export interface LeftWorkStore {
  /** Returns the unfinished work of these instances with one statement. The cost does not grow with other instances. Unknown ids are left out. */
  of(ids: readonly InstanceId[]): Promise<readonly LeftWork[]>;
}

export interface AdmissionRate {
  readonly perSecond: number;
  /** The largest number of handshakes that may begin at once after a pause. */
  readonly burst: number;
}

/** The incarnation that uses a node name, and the end of its lease by the database's clock. */
export type NameHolder = Pick<LiveNode, 'incarnation' | 'until'>;

export interface LeaseStore {
  /**
   * Registers the node with a lease of this length. Resolves with null if the node has joined. Resolves with the holder if a live
   * incarnation other than this one and `former` uses the name. The leases of a replaced incarnation are void. Safe to repeat.
   */
  join(node: NodeState, ms: number, former: string | null): Promise<NameHolder | null>;
  /**
   * Renews the lease of the node for `ms` from now. This also renews the node's leases of instances. Returns false if another node ended the lease, or
   * if another incarnation uses the name.
   */
  renew(node: NodeState, ms: number): Promise<boolean>;
  /**
   * Ends the lease of a node without a renewal since `until`, so that other nodes can take its instances. The caller must have seen no renewal for a
   * whole lease by its own monotonic clock, because the clock of the database may step. Returns false if the lease was renewed or ended meanwhile.
   */
  end(holder: NameHolder): Promise<boolean>;
  /** Removes the node and its leases. */
  leave(incarnation: string): Promise<void>;
  /** Reads the live nodes. Also reads the free instances if `wantsFree` is absent or returns true for these nodes. */
  look(wantsFree?: (nodes: readonly LiveNode[]) => boolean): Promise<Look>;
  /** Returns all nodes for display, sorted by name. The cost grows only with the instances that changed their node within the hour. */
  known(): Promise<readonly KnownNode[]>;
  /** Returns true if a live node has a release that does not sign bus messages. */
  anyUnsigned(): Promise<boolean>;
  /** Returns the lease of the instance; null if no live node owns it. */
  leaseOf(id: InstanceId): Promise<Lease | null>;
  /** Returns the epoch of the last takeover; null if the instance does not exist. */
  epochOf(id: InstanceId): Promise<number | null>;
  /** Returns the instances that no live node owns. */
  unowned(ids: readonly InstanceId[]): Promise<readonly InstanceId[]>;
  /**
   * Takes the instances without an owner and increments their epochs. The increment waits for open writes under the old epochs. Returns the taken leases;
   * none if the node is not live. `cause` is stored with each lease, or `failover` if a dead node had the lease before.
   */
  take(incarnation: string, ids: readonly InstanceId[], cause: TakeCause): Promise<readonly TakenLease[]>;
  /** Compares the leases of this node in the database with the node's own list (`held`). Instance and epoch must match. */
  compare(incarnation: string, held: readonly Claim[]): Promise<LeaseDifference>;
  /** Ends the leases of this node that have these epochs. */
  giveBack(incarnation: string, claims: readonly Claim[]): Promise<void>;
  /** Returns how many of the requested handshakes may begin now in the whole cluster. These handshakes count as begun. */
  admit(asked: number, rate: AdmissionRate): Promise<number>;
}

// The message bus between nodes.

export type BusAnswer =
  | { readonly kind: 'answered'; readonly body: Uint8Array }
  /** The subject has no subscriber, so no node received the request. */
  | { readonly kind: 'nobody' }
  /** The bus is not reachable, or the request is too large for the bus. Nothing was sent. */
  | { readonly kind: 'away' }
  /** A subscriber may have received the request. No answer came in time, or the bus was lost meanwhile. */
  | { readonly kind: 'late' };

export interface Bus {
  /**
   * Sends a request and waits for an answer, at most `ms` milliseconds. A request reaches every subscriber, and a former owner may be among them.
   * `counts` returns false for an answer that does not end the wait. `counts` must not reject. Without `counts` the first answer ends the wait. Never rejects.
   */
  request(subject: string, body: Uint8Array, ms: number, counts?: (body: Uint8Array) => Promise<boolean>): Promise<BusAnswer>;
  /**
   * Subscribes to a subject and returns a function that ends the subscription. Requests that are in flight at the end are still answered.
   * Subscriptions outlive a lost connection. `answer` must not reject.
   */
  subscribe(subject: string, answer: (body: Uint8Array) => Promise<Uint8Array>): () => void;
  /** Publishes to all other nodes that listen to the subject now. Publications during an outage of the bus are lost. Never throws. */
  publish(subject: string, body: Uint8Array): void;
  /** Resolves when the NATS server has received all publications, or at once if the bus is not connected. Never rejects. */
  flush(): Promise<void>;
  /** Listens to a subject and returns a function that ends the listening. Publications of one node arrive in order. `take` must not throw. */
  listen(subject: string, take: (body: Uint8Array) => void): () => void;
  /** False while the NATS server is not reachable or refuses this node. */
  readonly connected: boolean;
  /** True if publications to retained subjects can be read later. */
  readonly keeps: boolean;
  /** Returns the retained publications of the subject, oldest first; null if the bus cannot read them. Never rejects. */
  kept(subject: string): Promise<readonly Uint8Array[] | null>;
  /** Returns the last retained publication; null if there is none or it cannot be read. Never rejects. */
  lastKept(subject: string): Promise<Uint8Array | null>;
  /** Closes the connection to the bus after all pending answers have been sent. Idempotent. */
  close(): Promise<void>;
}
