/** What the gateway offers on looking inside: the charts, where each instance is in them, how it came there, and a few safe events. */
import type { InstanceId, Result, Status, Wanted } from '../model.ts';
import type { Lease } from '../ports/lease-store.ts';
import type { SmallPicture } from '../ports/platform.ts';
import type { LogLevel } from '../ports/system.ts';
import type { CloseCause, Reaction } from '../policy/close-cause.ts';

/** Ids of the machines. */
export const chartNames = ['instance', 'lifecycle'] as const;
export type ChartName = (typeof chartNames)[number];

/** The outcomes of the last attempts at one receiver. */
export interface ReceiverReport {
  readonly isFailing: boolean;
  /** Number of delivered attempts among the last ones. */
  readonly delivered: number;
  readonly attempts: number;
  /** The last failure with its time in Unix milliseconds, even if later attempts succeeded; null if there was none. */
  readonly lastError: { readonly at: number; readonly status: number; readonly error: string } | null;
}

/** `always`: taken at once, without any event. */
export type TransitionKind = 'event' | 'after' | 'done' | 'failed' | 'always';

/** States are named by their path below the machine, such as `connecting.waiting`. */
export interface ChartState {
  readonly id: string;
  /** '' at the top. */
  readonly parent: string;
  readonly kind: 'atomic' | 'compound' | 'final';
  readonly initial?: string;
  /** With those of its parents. */
  readonly tags: readonly string[];
  /** What works while the machine is in the state. */
  readonly invokes: readonly string[];
  readonly description: string;
}

export interface ChartTransition {
  /** `from>to`: the arrow. Transitions that share an arrow share the id. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** The atomic state that is entered when the transition leads to a parent. */
  readonly leaf: string;
  /** Such as `platform.closed`, `after.retryDelay`, `done.closing`; `always` for none. */
  readonly event: string;
  readonly kind: TransitionKind;
  /** Such as `means(backOff|contest|gate)`, '' for none. */
  readonly guard: string;
  /** Name of the delay. */
  readonly delay?: string;
  /** The state is left and entered again when it is the same. */
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
  /** Those that lead to a state; what an event does within one is left out. */
  readonly transitions: readonly ChartTransition[];
  readonly events: readonly ChartEvent[];
}

/** Who sent a command: the interface of an instance, an administrator through the inspector, the schedule, a call that needs a sleeping session, a stop. */
export const origins = ['api', 'admin', 'schedule', 'call', 'stop'] as const;
export type Origin = (typeof origins)[number];

/** Why a step was taken. Delays in milliseconds. */
export type StepCause =
  | {
      readonly kind: 'close';
      /** Of the platform; null when there was none. */
      readonly code: number | null;
      readonly cause: CloseCause;
      readonly reaction: Reaction;
      readonly sentence: string;
      /** 0 when nothing is tried by itself. */
      readonly retryInMs: number;
    }
  /** `delay`: its name; `ms`: how long it was. */
  | { readonly kind: 'timer'; readonly delay: string; readonly ms: number }
  | { readonly kind: 'worker'; readonly src: string; readonly ok: boolean }
  | { readonly kind: 'command'; readonly by: Origin }
  | { readonly kind: 'platform' }
  | { readonly kind: 'start' }
  /** `error`: the name of the error only. */
  | { readonly kind: 'crash'; readonly error: string };

/** One transition that was taken. */
export interface Step {
  /** Counts the steps of the instance in this process, from 1. */
  readonly n: number;
  /** Unix milliseconds. */
  readonly at: number;
  readonly chart: ChartName;
  readonly from: string;
  readonly to: string;
  readonly event: string;
  /** Id of the transition of the chart that was taken. */
  readonly edge: string;
  readonly cause: StepCause;
}

/** How a part is: well, at work or waiting for something, not there, in trouble. */
export type PartState = 'ok' | 'busy' | 'off' | 'trouble';

/** A part of an instance. */
export interface Part {
  /** `supervisor`, `link`, `operations`, `recorder`, `recordKeeper`, `queue`, `campaigns` (while some are under way), `courier.<webhook>`. */
  readonly id: string;
  readonly state: PartState;
  /** In words. */
  readonly note: string;
  /** What waits in it. */
  readonly waiting: number;
  /** Its crashes since the start of the process. */
  readonly crashes: number;
  /** Of a courier. */
  readonly courier?: CourierPart;
}

export interface CourierPart {
  readonly webhookId: string;
  /** Name and port of the receiver; the rest of an address may hold secrets. */
  readonly host: string;
  /** Lanes under way, and how many may be. */
  readonly lanes: { readonly used: number; readonly of: number };
  readonly circuit: { readonly open: boolean; readonly failures: number; /** Next probe, 0 when it is closed. */ readonly until: number };
  /** How the last hundred attempts ended; null before the first. */
  readonly health: ReceiverReport | null;
}

/** What the list says of an instance. Times in Unix milliseconds, 0 for never. */
export interface ActorRow {
  readonly id: InstanceId;
  readonly name: string;
  /** The last four digits, such as `…1234`; '' without an account. */
  readonly number: string;
  /** Another one for another picture of the account; '' while the gateway has none. */
  readonly picture: string;
  readonly status: Status;
  /** Path in the chart of the session; `crashed` while the chart is restarted, `failed` when it crashed too often. */
  readonly state: string;
  readonly needsPerson: boolean;
  /** It has credentials; without them a phone has to link it before it can go online. */
  readonly linked: boolean;
  readonly since: number;
  /** Why it is not connected, '' when nothing is wrong. */
  readonly reason: string;
  /** The same as a stable word. */
  readonly cause: string;
  /** Last message either way, or call that needed the platform. */
  readonly lastEvent: number;
  readonly queue: number;
  readonly outbox: number;
  /** The last hour in 24 parts, oldest first: see `Hour`. */
  readonly hour: string;
  /** Name of the node that owns the instance, '' when none does. Absent where there are no nodes. */
  readonly node?: string;
}

/** Who owns an instance, since when and why. */
export interface ActorLease extends Omit<Lease, 'heldMs' | 'leftMs'> {
  /** False: that node did not answer, so that the rest is what the database and this node know. */
  readonly answers: boolean;
}

export interface ActorCounts {
  readonly connected: number;
  readonly connecting: number;
  readonly hibernated: number;
  readonly disconnected: number;
  /** Of the disconnected ones. */
  readonly needsPerson: number;
}

export const actorSorts = ['trouble', 'name', 'state', 'since', 'lastEvent', 'queue', 'outbox'] as const;
export type ActorSort = (typeof actorSorts)[number];

/** Absent fields mean any. */
export interface ActorQuery {
  /** Words of the API, paths of the chart or their beginnings, `needsPerson`. */
  readonly states: readonly string[];
  /** Stable words of `cause`. */
  readonly causes: readonly string[];
  /** Somewhere in id, name, number, state or reason; any case. */
  readonly text: string;
  readonly sort: ActorSort;
  readonly descending: boolean;
  /** `next` of the page before, '' for the first one. */
  readonly after: string;
  readonly limit: number;
}

export interface ActorPage {
  /** That fit the query. */
  readonly total: number;
  /** Of all instances. */
  readonly counts: ActorCounts;
  readonly rows: readonly ActorRow[];
  /** '' on the last page. */
  readonly next: string;
  /** Nodes that did not answer: their instances are shown as this node knows them. Absent where there are no nodes. */
  readonly silent?: readonly string[];
  /** What a person should look at on this server; absent when there is nothing. */
  readonly warnings?: readonly string[];
}

export interface ActorDetail extends ActorRow {
  /** Null when no node owns it; absent where there are no nodes. */
  readonly lease?: ActorLease | null;
  /** State of the root machine, which restarts the chart. */
  readonly root: string;
  readonly wanted: Wanted;
  /** Connections tried since the start of the process. */
  readonly attempts: number;
  /** Closes in a row. */
  readonly failures: number;
  /** When it is tried again by itself; null when it is not. */
  readonly retryAt: number | null;
  /** Milliseconds since the last frame of a live session; null without one. */
  readonly lastFrameAge: number | null;
  /** Crashes of the chart. */
  readonly crashes: number;
  /** Null when the level of the process counts. */
  readonly logLevel: { readonly level: LogLevel; readonly until: number } | null;
  readonly parts: readonly Part[];
  readonly steps: readonly Step[];
}

/** What changed in the list since the batch before. */
export interface ActorChanges {
  /** Null: the instance is gone. */
  readonly rows: readonly (readonly [
    InstanceId,
    Pick<ActorRow, 'state' | 'since' | 'reason' | 'status' | 'needsPerson' | 'linked'> | null,
  ])[];
  /** Of all instances. */
  readonly counts: ActorCounts;
}

export interface WatchEnd {
  /** Called once: the instance is gone, the admin token was replaced, or the server stops. Nothing comes after it. */
  onEnd(): void;
}

/** What may be sent to an instance from outside of its own interface; nothing of it loses anything. */
export type ActorEvent =
  /** Closes the connection and opens it again, or opens it where there is none. */
  | { readonly type: 'reconnect' }
  | { readonly type: 'hibernate' }
  | { readonly type: 'wake' }
  /** The receiver gets a fresh chance at once. */
  | { readonly type: 'clearCircuit'; readonly webhookId: string }
  /** Crashed workers of the name, or (null) of any, run again at once. */
  | { readonly type: 'restartWorker'; readonly worker: string | null }
  /** Lines of the log that name the instance are written from this level on, for so long. */
  | { readonly type: 'logLevel'; readonly level: LogLevel; readonly ms: number };

export const actorEventTypes = ['reconnect', 'hibernate', 'wake', 'clearCircuit', 'restartWorker', 'logLevel'] as const;

/** Who asked, for the log. */
export interface Asker {
  readonly address: string;
  readonly via: 'token' | 'dashboard';
}

export interface InspectorFace {
  charts(): readonly Chart[];
  /** The machine as source text that Stately's editor opens; null when there is no such machine. */
  chartSource(id: string): string | null;
  actors(query: ActorQuery): Promise<Result<ActorPage>>;
  /** Makes no actor: an instance at rest has neither steps nor parts. */
  actor(id: InstanceId): Promise<Result<ActorDetail>>;
  /** Of the account, from memory; null while there is none. */
  actorPicture(id: InstanceId): Promise<SmallPicture | null>;
  /** Each further step of the instance, until the answered function is called. */
  watchSteps(id: InstanceId, watcher: { onStep(step: Step): void } & WatchEnd): Result<() => void>;
  /** Changes of the list, gathered, until the answered function is called. */
  watchActors(watcher: { onChanges(changes: ActorChanges): void } & WatchEnd): () => void;
  /** Notes in the log who asked, and answers with the instance as it is afterwards. */
  act(id: InstanceId, event: ActorEvent, by: Asker): Promise<Result<ActorDetail>>;
}
