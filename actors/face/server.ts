/** What the gateway offers on the server as a whole. */
import type { ClientVersionView, InstanceId, Result, Status } from '../model.ts';
import type { KnownNode } from '../ports/lease-store.ts';
import type { CloseCause } from '../policy/close-cause.ts';

/** Figures of one session since the start of the process. All times in milliseconds. */
export interface VitalsView {
  /** Connection attempts, and the ones that became live. */
  readonly attempts: number;
  readonly opened: number;
  /** Closes by cause. */
  readonly closes: Readonly<Partial<Record<CloseCause, number>>>;
  /** Crashes of the session's chart. */
  readonly crashes: number;
  /** Crashes of the background workers, by name. Workers that never crashed are absent. */
  readonly workerCrashes: Readonly<Record<string, number>>;
  /** Time from the last loss of a live session to its return; 0 before the first. */
  readonly reconnectMs: number;
  readonly longestReconnectMs: number;
  /** The back-off under way, or 0. */
  readonly nextDelayMs: number;
  readonly wakes: number;
  readonly hibernatedMs: number;
  /** Time since the last frame of the platform; null without a connection. */
  readonly lastFrameAgeMs: number | null;
  /** Events that could not be rendered and were set aside. Events of the global webhook count for each instance. */
  readonly eventsSetAside: number;
  /** Entries that wait for storage. */
  readonly unrecorded: number;
  readonly queued: number;
}

/** Figures of the server and of every instance; of those of this node where there are several. Times in milliseconds. */
export interface Numbers {
  readonly registered: number;
  readonly disconnected: number;
  readonly connecting: number;
  readonly connected: number;
  readonly hibernated: number;
  /** Of the disconnected ones: stopped for crashing again and again. */
  readonly failed: number;
  readonly handshakesWaiting: number;
  /** Why all connects wait for one canary (`clientTooOld`, `outage`), '' when they do not. */
  readonly barrier: string;
  readonly clientVersion: ClientVersionView;
  /** Why nothing is removed for its age, since the clock of the machine is in doubt; '' when it is not. */
  readonly clock: string;
  /** 99th percentile of the event loop's delay over the last minute. */
  readonly loopLagMs: number;
  /** Deliveries of all webhooks that wait, when they were last counted (WEBHOOK_SWEEP_MS). */
  readonly outbox: { readonly waiting: number; readonly parked: number };
  /** Crashes of the background workers of the whole process, by name. */
  readonly workerCrashes: Readonly<Record<string, number>>;
  readonly instances: readonly ({ readonly id: InstanceId; readonly status: Status } & VitalsView)[];
}

/** Instances by their state. */
export interface StatusCounts {
  readonly total: number;
  readonly connected: number;
  readonly connecting: number;
  readonly reconnecting: number;
  /** Hibernated ones too. */
  readonly disconnected: number;
}

/** Figures of all instances together, for metrics; times in milliseconds. */
export interface Figures {
  /** How many instances are in each state of their chart. */
  readonly states: ReadonlyMap<string, number>;
  /** Of live sessions: since the last frame. */
  readonly frameAges: readonly number[];
  readonly queued: number;
  readonly unrecorded: number;
  readonly operations: number;
  readonly handshakesWaiting: number;
  readonly barrier: string;
  readonly clientVersion: ClientVersionView;
  /** Sessions that are not back yet after the start. */
  readonly restoring: number;
  readonly loopLagMs: number;
  /** Bytes of the disk of the data folder. */
  readonly disk: { readonly free: number; readonly size: number };
  /** Milliseconds by which the wall clock is ahead of the monotonic one, and whether it is in doubt. */
  readonly clock: { readonly aheadMs: number; readonly inDoubt: boolean };
  readonly outbox: { readonly waiting: number; readonly parked: number; readonly oldestAgeMs: number };
  readonly circuitsOpen: number;
  /** Null where there are no nodes. The rest is of this node alone, so that sums over nodes count each instance once. */
  readonly node: NodeFigures | null;
}

/** Of this node of a cluster. */
export interface NodeFigures {
  readonly name: string;
  /** Instances that it owns, and how many it may own. */
  readonly owned: number;
  readonly capacity: number;
  /** Differences that its last comparison of leases with the database found. */
  readonly astray: number;
  /** Whether NATS is reached; null where there is none. */
  readonly busConnected: boolean | null;
  readonly draining: boolean;
  /** How long its lease still counts for it; 0 when it does not. */
  readonly leaseLeftMs: number;
  /** Live nodes as this one saw them last. */
  readonly nodes: { readonly live: number; readonly draining: number };
}

/** One of several nodes. `gone`: its lease has ended without its leaving, so that others take its instances. */
export interface NodeView {
  readonly name: string;
  readonly state: 'live' | 'draining' | 'gone';
  readonly version: string;
  /** Instances that it owned when it last renewed its lease, and how many it may own. */
  readonly owned: number;
  readonly capacity: number;
  /** Differences between its leases in the database and those that it held, when it last compared them. */
  readonly astray: number;
  readonly draining: boolean;
  /** Milliseconds since it joined. */
  readonly age: number;
  /** Milliseconds that its lease has left unless it is renewed; 0 when it is gone. */
  readonly leaseMs: number;
  /** Milliseconds since it last renewed its lease. */
  readonly renewedMs: number;
  /** Instances that it took within the last hour and still has, by cause. */
  readonly taken: KnownNode['taken'];
}

/** Credentials, figures and progress of the server. */
/** Sign-ins to the dashboard that outlive the process, and count on every node. They are named by hashes of what cookies hold. Storage that is away rejects. */
export interface SignIns {
  add(key: string, ms: number): Promise<void>;
  /** Milliseconds that it still counts; 0 for one that is over, unknown, or made with a former admin token. */
  left(key: string): Promise<number>;
  /** Other nodes know it within a second. */
  end(key: string): Promise<void>;
  /** Who remembers sign-ins in this process: `end` is called for those which another node ended. */
  remembers(memory: SignInMemory): void;
}

export interface SignInMemory {
  keys(): Iterable<string>;
  end(key: string): void;
}

export interface ServerFace {
  /** Null: they are in memory alone. */
  readonly signIns: SignIns | null;
  /** Nodes of the last hour that have not left; none where this gateway has its database for itself. */
  nodes(): Promise<readonly NodeView[]>;
  /** Name of this node; null where there are no others. */
  readonly nodeName: string | null;
  /** This gateway is a node that gives its sessions away. */
  draining(): boolean;
  /** The node gives its sessions to others and takes none until it is started again. Refused: `notFound`, `unavailable` when it does not answer. */
  drainNode(name: string): Promise<Result<null>>;
  /** The instance of a token, or null. Constant time in the number of instances. */
  authenticate(token: string): InstanceId | null;
  /** The same of a token that is not known here, since another node may have made it a moment ago. */
  lookUp(token: string): Promise<InstanceId | null>;
  /** Whether there is such an instance, asked of the database where it is not known here: another node may have made it a moment ago. */
  exists(id: InstanceId): Promise<boolean>;
  isAdmin(token: string): boolean;
  /** False while the server is stopping: new work is answered with 503. */
  readonly accepting: boolean;
  /** Gathered in slices: takes some turns of the event loop with many instances. */
  figures(): Promise<Figures>;
  /** The version of the web client that new connections of this process name. */
  clientVersion(): ClientVersionView;
  /** Figures of quality, per instance and in total. */
  numbers(): Numbers;
  /** How many instances there are, by state. `reconnecting`: of the connecting ones those that were paired before. */
  counts(): StatusCounts;
  /** Why sessions of this process wait for the database, although it answers: sentences, each once. */
  troubles(): readonly string[];
  /** What a person should look at while everything works: a clock in doubt, a disk that is nearly full. */
  warnings(): readonly string[];
  /** How far the restore after a start is. */
  ready(): { readonly restored: number; readonly total: number };
}
