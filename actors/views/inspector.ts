/** Gateway methods of the inspector: the charts, the state and steps of each instance, and a few safe events. */
import type { InstanceId, Result, Status, Wanted } from '../model.ts';
import type { Lease } from '../ports/cluster.ts';
import type { SmallPicture } from '../ports/platform.ts';
import type { LogLevel } from '../ports/system.ts';
import type { CloseCause, Reaction } from '../policy/close-cause.ts';

/** The names of the charts that the inspector shows. */
export const chartNames = ['instance', 'lifecycle'] as const;
export type ChartName = (typeof chartNames)[number];

/** The outcomes of the last attempts at one receiver. */
export interface ReceiverReport {
  readonly isFailing: boolean;
  /** The number of successful attempts among the last `attempts` attempts. */
  readonly delivered: number;
  readonly attempts: number;
  /** The last failure with its time in Unix milliseconds, even if later attempts succeeded; null if there was none. */
  readonly lastError: { readonly at: number; readonly status: number; readonly error: string } | null;
}

/** The trigger of a transition. `always`: taken at once, without an event. */
export type TransitionKind = 'event' | 'after' | 'done' | 'failed' | 'always';

/** A state of a chart. States are named by their path below the machine, such as `connecting.waiting`. */
export interface ChartState {
  readonly id: string;
  /** The path of the parent state; '' at the top. */
  readonly parent: string;
  readonly kind: 'atomic' | 'compound' | 'final';
  readonly initial?: string;
  /** The tags of the state and of its parents. */
  readonly tags: readonly string[];
  /** The actors that run while the machine is in the state. */
  readonly invokes: readonly string[];
  readonly description: string;
}

export interface ChartTransition {
  /** `from>to`, which identifies an arrow. Transitions on one arrow share the id. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** The atomic state that is entered if the target is a parent state. */
  readonly leaf: string;
  /** The event, such as `platform.closed`, `after.retryDelay` or `done.closing`; `always` for none. */
  readonly event: string;
  readonly kind: TransitionKind;
  /** The guard, such as `means(backOff|contest|gate)`; '' for none. */
  readonly guard: string;
  /** The name of the delay. */
  readonly delay?: string;
  /** True if a transition to the same state leaves it and enters it again. */
  readonly reenter: boolean;
}

export interface ChartEvent {
  readonly name: string;
  readonly kind: TransitionKind;
  readonly description: string;
}

export interface Chart {
  readonly id: ChartName;
  readonly initial: string;
  readonly description: string;
  readonly states: readonly ChartState[];
  /** All transitions that have a target state. Transitions without a target are left out. */
  readonly transitions: readonly ChartTransition[];
  readonly events: readonly ChartEvent[];
}

/**
 * The sender of a command. `api`: the API of an instance. `admin`: an administrator in the inspector. `schedule`: a timer. `call`: a call that wakes
 * a hibernated session. `stop`: a stop of the process.
 */
export const origins = ['api', 'admin', 'schedule', 'call', 'stop'] as const;
export type Origin = (typeof origins)[number];

/** The cause of a step. Delays in milliseconds. */
export type StepCause =
  | {
      readonly kind: 'close';
      /** The code of the platform; null if there was none. */
      readonly code: number | null;
      readonly cause: CloseCause;
      readonly reaction: Reaction;
      readonly sentence: string;
      /** The time until the automatic retry; 0 for no retry. */
      readonly retryInMs: number;
    }
  /** `delay`: the name of the delay; `ms`: the length of the delay. */
  | { readonly kind: 'timer'; readonly delay: string; readonly ms: number }
  | { readonly kind: 'worker'; readonly src: string; readonly ok: boolean }
  | { readonly kind: 'command'; readonly by: Origin }
  | { readonly kind: 'platform' }
  | { readonly kind: 'start' }
  /** `error`: the name of the error only. */
  | { readonly kind: 'crash'; readonly error: string };

/** A transition that was taken. */
export interface Step {
  /** The number of the step for this instance in this process, from 1. */
  readonly n: number;
  /** The time of the step. In Unix milliseconds. */
  readonly at: number;
  readonly chart: ChartName;
  readonly from: string;
  readonly to: string;
  readonly event: string;
  /** The id of the taken transition in the chart. */
  readonly edge: string;
  readonly cause: StepCause;
}

/** The condition of a part. `ok`: working. `busy`: busy or waiting. `off`: not in use. `trouble`: failing. */
export type PartState = 'ok' | 'busy' | 'off' | 'trouble';

/** A part of an instance, such as its recorder or one of its couriers. */
export interface Part {
  /** `supervisor`, `link`, `operations`, `recorder`, `recordKeeper`, `queue`, `campaigns` (while a campaign is active) or `courier.<webhook>`. */
  readonly id: string;
  readonly state: PartState;
  /** The condition in a few words, for people. */
  readonly note: string;
  /** The number of items that wait in the part. */
  readonly waiting: number;
  /** The number of crashes since the start of the process. */
  readonly crashes: number;
  /** Details of a courier. Absent for other parts. */
  readonly courier?: CourierPart;
}

export interface CourierPart {
  readonly webhookId: string;
  /** Host and port of the receiver. The rest of the URL may contain secrets. */
  readonly host: string;
  /** The number of lanes in use (`used`), and the limit (`of`). */
  readonly lanes: { readonly used: number; readonly of: number };
  readonly circuit: { readonly open: boolean; readonly failures: number; /** Next probe; 0 if closed. */ readonly until: number };
  /** Outcomes of the last hundred attempts; null before the first. */
  readonly health: ReceiverReport | null;
}

/** The list row of an instance. Times in Unix milliseconds; 0 for never. */
export interface ActorRow {
  readonly id: InstanceId;
  readonly name: string;
  /** The last four digits, such as `…1234`; '' without an account. */
  readonly number: string;
  /** A tag that changes with the picture of the account; '' if the gateway has no picture. */
  readonly picture: string;
  readonly status: Status;
  /**
   * The current state in the chart of the session. `crashed`: the chart is being restarted. `failed`: the chart crashed too often. `stopped`: the gateway
   * stops.
   */
  readonly state: string;
  readonly needsPerson: boolean;
  /** True if the instance has credentials. Without credentials, a phone has to link the instance first. */
  readonly linked: boolean;
  readonly since: number;
  /** The reason why the session is not connected; '' if all is well. */
  readonly reason: string;
  /** The machine-readable form of `reason`. */
  readonly cause: string;
  /** The time of the last message in either direction, or of the last call that needed the platform. */
  readonly lastEvent: number;
  readonly queue: number;
  readonly outbox: number;
  /** The last hour in 24 letters, oldest first. `order` in `inspection/rows.ts` lists the letters. */
  readonly hour: string;
  /** The name of the node that owns the instance; '' if none does. Absent without a cluster. */
  readonly node?: string;
}

/** The owner of an instance, the start of the ownership, and its cause. */
interface ActorLease extends Omit<Lease, 'heldMs' | 'leftMs'> {
  /** False if the owner did not answer. The details then contain only what the database and this node know. */
  readonly answers: boolean;
}

export interface ActorCounts {
  readonly connected: number;
  readonly connecting: number;
  readonly hibernated: number;
  readonly disconnected: number;
  /** The number of disconnected instances that need a person. */
  readonly needsPerson: number;
}

export const actorSorts = ['trouble', 'name', 'state', 'since', 'lastEvent', 'queue', 'outbox'] as const;
export type ActorSort = (typeof actorSorts)[number];

/** A query for list rows. Empty lists, an empty text and an absent node match every instance. */
export interface ActorQuery {
  /** The states to select: statuses of the API, states of the chart (with their substates), or `needsPerson`. */
  readonly states: readonly string[];
  /** The values of `cause` to select. */
  readonly causes: readonly string[];
  /** A part of id, name, number, state or reason. Case-insensitive. */
  readonly text: string;
  /** The node that owns the instances. Absent for all nodes, and without effect without a cluster. */
  readonly node?: string;
  readonly sort: ActorSort;
  readonly descending: boolean;
  /** `next` of the previous page; '' for the first page. */
  readonly after: string;
  readonly limit: number;
}

export interface ActorPage {
  /** The number of instances that match the query. */
  readonly total: number;
  /** Counts over all instances. */
  readonly counts: ActorCounts;
  readonly rows: readonly ActorRow[];
  /** The cursor of the next page; '' on the last page. */
  readonly next: string;
  /** Nodes that did not answer. Instances of these nodes are shown as this node knows them. Absent without a cluster. */
  readonly silent?: readonly string[];
  /** Warnings about this process for the operator; absent if there are none. */
  readonly warnings?: readonly string[];
}

export interface ActorDetail extends ActorRow {
  /** Null if no node owns the instance; absent without a cluster. */
  readonly lease?: ActorLease | null;
  /** The state of the root machine, which restarts the chart. */
  readonly root: string;
  readonly wanted: Wanted;
  /** The number of connection attempts since the start of the process. */
  readonly attempts: number;
  /** The number of closes since the last stable connection. */
  readonly failures: number;
  /** The time of the next automatic attempt; null if there is none. */
  readonly retryAt: number | null;
  /** The age of the last frame of a live session. In milliseconds; null without a live session. */
  readonly lastFrameAge: number | null;
  /** The number of crashes of the chart since the start of the process. */
  readonly crashes: number;
  /** The log level of the instance; null if the level of the process applies. */
  readonly logLevel: { readonly level: LogLevel; readonly until: number } | null;
  readonly parts: readonly Part[];
  readonly steps: readonly Step[];
}

/** The changes of the list of instances since the previous batch. */
export interface ActorChanges {
  /** The new fields of an instance; null if the instance was removed. */
  readonly rows: readonly (readonly [
    InstanceId,
    Pick<ActorRow, 'state' | 'since' | 'reason' | 'status' | 'needsPerson' | 'linked'> | null,
  ])[];
  /** Counts over all instances. */
  readonly counts: ActorCounts;
}

export interface WatchEnd {
  /** Called once when the instance is removed, the admin token is replaced, or the process stops. The watcher gets no further call. */
  onEnd(): void;
}

/** An event that an administrator may send to an instance. No event loses data. */
export type ActorEvent =
  /** Closes and reopens the connection. Without a connection, only opens a connection. */
  | { readonly type: 'reconnect' }
  | { readonly type: 'hibernate' }
  | { readonly type: 'wake' }
  /** Closes the circuit breaker of the webhook, so that the receiver gets a new attempt at once. */
  | { readonly type: 'clearCircuit'; readonly webhookId: string }
  /** Restarts the crashed workers with this name at once. Null restarts all crashed workers. */
  | { readonly type: 'restartWorker'; readonly worker: string | null }
  /** Sets the log level of lines about the instance for `ms` milliseconds. */
  | { readonly type: 'logLevel'; readonly level: LogLevel; readonly ms: number };

export const actorEventTypes = ['reconnect', 'hibernate', 'wake', 'clearCircuit', 'restartWorker', 'logLevel'] as const;

/** The administrator who sent an event, for the log. */
export interface Asker {
  readonly address: string;
  readonly via: 'token' | 'dashboard';
}

export interface InspectorMethods {
  charts(): readonly Chart[];
  /** Returns the machine as source code for Stately's editor; null if there is no such machine. */
  chartSource(id: string): string | null;
  actors(query: ActorQuery): Promise<Result<ActorPage>>;
  /** Returns the details of an instance. Creates no actor. A resting instance therefore has no parts, and only the steps that were stored. */
  actor(id: InstanceId): Promise<Result<ActorDetail>>;
  /** Returns the account's picture from memory; null if there is none. */
  actorPicture(id: InstanceId): Promise<SmallPicture | null>;
  /** Calls `onStep` for each new step of the instance, until the returned function is called. */
  watchSteps(id: InstanceId, watcher: { onStep(step: Step): void } & WatchEnd): Result<() => void>;
  /** Calls `onChanges` for each batch of changes of the list, until the returned function is called. */
  watchActors(watcher: { onChanges(changes: ActorChanges): void } & WatchEnd): () => void;
  /** Sends an event, logs the administrator, and returns the instance as it is afterwards. */
  act(id: InstanceId, event: ActorEvent, by: Asker): Promise<Result<ActorDetail>>;
}
