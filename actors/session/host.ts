/** The host of a lifecycle. The host is made once per instance, and never part of a snapshot that leaves the process. */
import type { ConnectionChange, Entry, InstanceId, InstancePatch } from '../model.ts';
import type { Verdict } from '../policy/close-cause.ts';
import type { Gate } from '../policy/gate.ts';
import type { Policy } from '../policy/policy.ts';
import type { Log, Media, PlatformLink } from '../ports.ts';
import type { ChartName } from '../views/inspector.ts';

// Reports every transition of a chart to its host, for all instances, at no measurable cost. For this, the logic of the machine is wrapped. XState's `inspect`
// would be called some twelve times per message. A subscription would see neither the event nor a restart.

/** The part of a snapshot that the wrapper reads. */
export interface Shown {
  readonly value: unknown;
  readonly context: { readonly host: Watcher };
}

/** The part of an instance's host that takes the reports. */
interface Watcher {
  /** Takes a report that a chart handled an event. `before` is null at the start. The state may be unchanged. Never throws. */
  moved(move: Move): void;
}

export interface Move {
  readonly chart: ChartName;
  readonly before: Shown | null;
  readonly event: { readonly type: string };
  readonly after: Shown;
}

/** The two methods of a machine that make snapshots. */
interface Logic<S, Event, Scope, Input> {
  readonly id: string;
  transition(before: S, event: Event, scope: Scope): S;
  getInitialSnapshot(scope: Scope, input: Input): S;
}

const start = { type: 'start' } as const;

/** Wraps a machine so that it reports to its host. In a state without child states the value is a string, so most events cost one comparison. */
export const withReports = <
  S extends Shown,
  Event extends { readonly type: string },
  Scope,
  Input,
  L extends Logic<S, Event, Scope, Input>,
>(
  logic: L & Logic<S, Event, Scope, Input>,
): L => {
  const chart = logic.id as ChartName;
  return Object.assign(Object.create(logic) as L, {
    transition(before: S, event: Event, scope: Scope): S {
      const after = logic.transition(before, event, scope);
      if (after.value !== before.value) after.context.host.moved({ chart, before, event, after });
      return after;
    },
    getInitialSnapshot(scope: Scope, input: Input): S {
      const after = logic.getInitialSnapshot(scope, input);
      after.context.host.moved({ chart, before: null, event: start, after });
      return after;
    },
  });
};

type SessionReport =
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
  /** Returns the last four digits of the account's number, by which a person recognises the account in the log. */
  account(): string;
  /** Returns true if the record names an account, so a pairing was finished. */
  paired(): boolean;
  /** Returns true if this session may connect without exceeding the cap of connected sessions. */
  hasRoom(): boolean;
  now(): number;
  /** Returns the monotonic time, as `Time.monotonic` does. */
  monotonic(): number;
  random(): number;
  /** Changes the record in memory at once, and in storage soon, in order. */
  note(patch: InstancePatch): void;
  /** Sends a `connection` event. */
  announce(change: ConnectionChange): void;
  record(entries: readonly Entry[]): void;
  /** Resumes waiting work, because the session became live. */
  live(): void;
  /** Reports an attempt to connect, a close with its verdict, a crash of the chart, or the start or end of hibernation. */
  report(activity: SessionReport): void;
}
