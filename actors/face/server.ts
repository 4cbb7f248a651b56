/** What the gateway offers on the server as a whole. */
import type { InstanceId, Status } from '../model.ts';
import type { VitalsView } from '../session/vitals.ts';

/** Figures of the server and of every instance; times in milliseconds. */
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
  /** Sessions that are not back yet after the start. */
  readonly restoring: number;
  readonly loopLagMs: number;
  readonly outbox: { readonly waiting: number; readonly parked: number; readonly oldestAgeMs: number };
  readonly circuitsOpen: number;
}

/** Credentials, figures and progress of the server. */
export interface ServerFace {
  /** The instance of a token, or null. Constant time in the number of instances. */
  authenticate(token: string): InstanceId | null;
  isAdmin(token: string): boolean;
  /** False while the server is stopping: new work is answered with 503. */
  readonly accepting: boolean;
  /** Gathered in slices: takes some turns of the event loop with many instances. */
  figures(): Promise<Figures>;
  /** Figures of quality, per instance and in total. */
  numbers(): Numbers;
  /** How many instances there are, by state. `reconnecting`: of the connecting ones those that were paired before. */
  counts(): StatusCounts;
  /** How far the restore after a start is. */
  ready(): { readonly restored: number; readonly total: number };
}
