/** Gateway methods for the server as a whole. */
import type { ClientVersionView, InstanceId, OpenSession, Result, SessionUser, Status } from '../model.ts';
import type { FoundSignIn } from '../ports/operator-stores.ts';
import type { CloseCause } from '../policy/close-cause.ts';
import type { KnownNode } from '../ports/cluster.ts';
import type { RefusedEntry } from '../ports/journal.ts';

/** Figures of one session since the start of the process. All times in milliseconds. */
export interface VitalsView {
  /** The numbers of connection attempts, and of attempts that became live. */
  readonly attempts: number;
  readonly opened: number;
  /** The number of closes by cause. */
  readonly closes: Readonly<Partial<Record<CloseCause, number>>>;
  /** The number of crashes of the session's chart. */
  readonly crashes: number;
  /** Crashes of the background workers, by name. Workers that never crashed are absent. */
  readonly workerCrashes: Readonly<Record<string, number>>;
  /** The time from the last loss of a live session to its return; 0 before the first. */
  readonly reconnectMs: number;
  readonly longestReconnectMs: number;
  /** The delay of the current back-off; 0 for none. */
  readonly nextDelayMs: number;
  readonly wakes: number;
  readonly hibernatedMs: number;
  /** The time since the last frame of the platform; null without a connection. */
  readonly lastFrameAgeMs: number | null;
  /** The number of events that could not be rendered and were not delivered. */
  readonly eventsSetAside: number;
  /** The number of entries that wait for storage. */
  readonly unrecorded: number;
  readonly queued: number;
}

/**
 * Figures of this process and of every instance. In a cluster, the figures cover only the instances of this node, except `registered`, which counts the
 * instances of all nodes. Times in milliseconds.
 */
export interface Numbers {
  readonly registered: number;
  readonly disconnected: number;
  readonly connecting: number;
  readonly connected: number;
  readonly hibernated: number;
  /** The number of disconnected instances that stopped because they crashed too often. */
  readonly failed: number;
  readonly handshakesWaiting: number;
  /** The reason why all connects wait for one canary (`clientTooOld`, `outage`); '' if they do not wait. */
  readonly barrier: string;
  readonly clientVersion: ClientVersionView;
  /** The reason why the expiry of stored data is suspended, because the clock of the machine is in doubt; '' otherwise. */
  readonly clock: string;
  /** 99th percentile of the event loop's delay over the last one to two minutes. */
  readonly loopLagMs: number;
  /** Waiting deliveries of all webhooks at the last count. */
  readonly outbox: { readonly waiting: number; readonly parked: number };
  /** Crashes of the background workers of the whole process, by name. */
  readonly workerCrashes: Readonly<Record<string, number>>;
  readonly instances: readonly ({ readonly id: InstanceId; readonly status: Status } & VitalsView)[];
}

/** The number of instances by status. */
export interface StatusCounts {
  readonly total: number;
  readonly connected: number;
  readonly connecting: number;
  readonly reconnecting: number;
  /** Includes hibernated instances. */
  readonly disconnected: number;
}

/** Figures of all instances together, for metrics. Times in milliseconds. */
export interface Figures {
  /** The number of instances in each state of their chart. */
  readonly states: ReadonlyMap<string, number>;
  /** The ages of the last frames of live sessions. */
  readonly frameAges: readonly number[];
  readonly queued: number;
  readonly unrecorded: number;
  readonly operations: number;
  readonly handshakesWaiting: number;
  readonly barrier: string;
  readonly clientVersion: ClientVersionView;
  /** The number of sessions that are not restored yet after the start of the process. */
  readonly restoring: number;
  readonly loopLagMs: number;
  /** Free and total space on the disk of the data folder. In bytes. */
  readonly disk: { readonly free: number; readonly size: number };
  /** The time by which the clock is ahead of the time that the gateway expects. In milliseconds. `inDoubt`: the difference is suspicious. */
  readonly clock: { readonly aheadMs: number; readonly inDoubt: boolean };
  readonly outbox: { readonly waiting: number; readonly parked: number; readonly oldestAgeMs: number };
  readonly circuitsOpen: number;
  /** Null without a cluster. All other figures cover this node alone, so sums over nodes count each instance once. */
  readonly node: NodeFigures | null;
}

/** Figures of this node of a cluster. */
export interface NodeFigures {
  readonly name: string;
  /** The number of instances that the node owns. `capacity` is the limit. */
  readonly owned: number;
  readonly capacity: number;
  /** The number of differences that the last comparison of leases with the database found. */
  readonly astray: number;
  /** True if NATS is connected; null without NATS. */
  readonly busConnected: boolean | null;
  readonly draining: boolean;
  /** The time for which the node may still rely on its lease; 0 if the lease is over. */
  readonly leaseLeftMs: number;
  /** The live nodes at the last check by this node. */
  readonly nodes: { readonly live: number; readonly draining: number };
}

/** One node of a cluster. `gone`: the lease of the node ran out although the node did not leave, so other nodes take its instances. */
export interface NodeView {
  readonly name: string;
  readonly state: 'live' | 'draining' | 'gone';
  readonly version: string;
  /** The number of instances that the node owned at the last renewal of its lease. `capacity` is the limit. */
  readonly owned: number;
  readonly capacity: number;
  /** The number of differences between the node's leases in the database and its own list, at its last comparison. */
  readonly astray: number;
  /** True if the node reached NATS at its last renewal. Absent if the node has no NATS, is gone, or does not report it. */
  readonly bus?: boolean;
  readonly draining: boolean;
  /** The time since the node joined. In milliseconds. */
  readonly age: number;
  /** The remaining time of the node's lease. In milliseconds; 0 if the lease is over. */
  readonly leaseMs: number;
  /** The time since the node last renewed its lease. In milliseconds. */
  readonly renewedMs: number;
  /** The number of instances that the node took within the last hour and still has, by cause. */
  readonly taken: KnownNode['taken'];
}

/**
 * Sign-ins to the dashboard that outlive the process and are valid on every node. The keys of sign-ins are hashes of cookie values. Methods reject during an
 * outage of the database. Only `add` with the admin token works then, on a gateway without a cluster.
 */
export interface SignIns {
  /** Begins a sign-in of a user, or of the admin token (null). Returns false if the user changed since it was authenticated. */
  add(key: string, ms: number, by: { readonly user: SessionUser | null; readonly address: string }): Promise<boolean>;
  /** Returns a sign-in. Returns null for an unknown or ended sign-in, for a former admin token, and for a user who changed meanwhile. */
  find(key: string): Promise<FoundSignIn | null>;
  /** Returns all sign-ins that are valid, the latest first. */
  list(): Promise<readonly OpenSession[]>;
  /** Ends a sign-in. Other nodes learn of the end within a second. Returns false if there was no such sign-in. */
  end(key: string): Promise<boolean>;
  /** Registers the cache of sign-ins in this process. Calls `end` of the cache for each sign-in that another node ended. */
  remembers(memory: SignInMemory): void;
}

export interface SignInMemory {
  keys(): Iterable<string>;
  end(key: string): void;
}

export interface ServerMethods {
  /** Null if sign-ins are kept in memory alone. */
  readonly signIns: SignIns | null;
  /** Returns the nodes that had a lease within the last hour and have not left. Empty without a cluster. */
  nodes(): Promise<readonly NodeView[]>;
  /** The name of this node; null without a cluster. */
  readonly nodeName: string | null;
  /** Returns true if this node is draining. */
  draining(): boolean;
  /**
   * Drains a node. The node moves its sessions to other nodes and takes none until its next start. Refuses with `notFound`, or with `unavailable` if
   * the node does not answer.
   */
  drainNode(name: string): Promise<Result<null>>;
  /** Returns the instance of a token, or null. The cost does not grow with the number of instances. */
  authenticate(token: string): InstanceId | null;
  /** Looks up an unknown token in the database, because another node may just have created the token. */
  lookUp(token: string): Promise<InstanceId | null>;
  /** Returns true if the instance exists. Asks the database if this node does not know the id, because another node may just have created the instance. */
  exists(id: InstanceId): Promise<boolean>;
  isAdmin(token: string): boolean;
  /** False before the instances are loaded, and while the process stops. New work is then answered with 503. */
  readonly accepting: boolean;
  /** Collects the figures. With many instances, the work is spread over several turns of the event loop. */
  figures(): Promise<Figures>;
  /** Returns the version of the web client that new connections of this process announce. */
  clientVersion(): ClientVersionView;
  /** Returns the figures of quality of this process and of each instance. */
  numbers(): Numbers;
  /** Counts instances by status. `reconnecting`: connecting instances that were paired before. */
  counts(): StatusCounts;
  /** Returns the reasons why recorders of this process wait for the database, as sentences without duplicates; empty if none waits. */
  troubles(): readonly string[];
  /** Returns warnings about faults that do not stop the gateway: a clock in doubt, a disk that is nearly full. */
  warnings(): readonly string[];
  /** Returns how many of the sessions are restored after a start. */
  ready(): { readonly restored: number; readonly total: number };
}

// Gateway methods for entries that the database refused.

export type { RefusedEntry } from '../ports/journal.ts';

interface RefusedPage {
  readonly entries: readonly RefusedEntry[];
  readonly more: boolean;
}

export interface RefusedMethods {
  /** Returns entries that the database refused because of their data. `instance`: null for all. */
  refusedEntries(query: { readonly instance: InstanceId | null; readonly limit: number; readonly offset: number }): Promise<RefusedPage>;
  /** Stores the entry now, with its events. Refuses with `notFound`, or with `conflict` if the database refuses the entry again. */
  retryRefused(id: InstanceId, entry: string): Promise<Result<null>>;
  /** Deletes the entry for good. Refuses with `notFound`. */
  discardRefused(id: InstanceId, entry: string): Promise<Result<null>>;
}
