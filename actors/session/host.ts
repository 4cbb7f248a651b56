/** The host of a lifecycle. The host is made once per instance, and never part of a snapshot that leaves the process. */
import type { ConnectionChange, Entry, InstanceId, InstancePatch } from '../model.ts';
import type { Verdict } from '../policy/close-cause.ts';
import type { Policy } from '../policy/policy.ts';
import type { Gate } from '../policy/gate.ts';
import type { Log, Media, PlatformLink } from '../ports.ts';
import type { Watcher } from './watched.ts';

export type SessionReport =
  | { readonly kind: 'attempt' | 'crash' | 'asleep' | 'awake' }
  | { readonly kind: 'closed'; readonly verdict: Verdict; readonly retryInMs: number };

/** The effects of a lifecycle. No method throws, and each returns at once. */
export interface Host extends Watcher {
  readonly id: InstanceId;
  readonly link: PlatformLink;
  readonly gate: Gate;
  readonly media: Media;
  readonly policy: Policy;
  readonly log: Log;
  /** Returns the last digits of the account's number, which is enough for its owner to recognise it. */
  account(): string;
  /** Returns true if the record names an account, so that a pairing was finished. */
  paired(): boolean;
  /** Returns true if this session may connect without exceeding the cap of connected sessions. */
  hasRoom(): boolean;
  now(): number;
  /** See `Time`. */
  monotonic(): number;
  random(): number;
  /** Changes the record in memory at once, and in storage soon, in order. */
  note(patch: InstancePatch): void;
  /** Sends a `connection` event. */
  announce(change: ConnectionChange): void;
  record(entries: readonly Entry[]): void;
  /** Resumes waiting work, because the session became live. */
  live(): void;
  /** Reports to the figures and the gates: an attempt to connect, a close with its verdict, a crash of the chart, or the begin or end of hibernation. */
  report(activity: SessionReport): void;
}
