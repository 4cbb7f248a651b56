/** What a lifecycle needs of its surroundings; made once per instance, never part of a snapshot that leaves the process. */
import type { ConnectionChange, Entry, InstanceId, InstancePatch } from '../model.ts';
import type { Verdict } from '../policy/close-cause.ts';
import type { Policy } from '../policy/policy.ts';
import type { Gate } from '../policy/gate.ts';
import type { Log, Media, PlatformLink } from '../ports.ts';
import type { Watcher } from './watched.ts';

export type SessionReport =
  | { readonly kind: 'attempt' | 'crash' | 'asleep' | 'awake' }
  | { readonly kind: 'closed'; readonly verdict: Verdict; readonly retryInMs: number };

/** No method throws; each returns at once. */
export interface Host extends Watcher {
  readonly id: InstanceId;
  readonly link: PlatformLink;
  readonly gate: Gate;
  readonly media: Media;
  readonly policy: Policy;
  readonly log: Log;
  /** The last digits of the account's number: enough for its owner to know it. */
  account(): string;
  /** The record names an account: a pairing was finished. */
  paired(): boolean;
  /** Whether this session may connect without passing the cap of connected sessions. */
  hasRoom(): boolean;
  now(): number;
  random(): number;
  /** Applies to the record in memory now and to the stored one soon, in order. */
  note(patch: InstancePatch): void;
  /** Sends a `connection` event. */
  announce(change: ConnectionChange): void;
  record(entries: readonly Entry[]): void;
  /** The session became live: what waited for it may go on. */
  live(): void;
  /** For the figures and the gates: a connection is tried or was closed with this verdict, the chart crashed, sleep began or ended. */
  report(activity: SessionReport): void;
}
