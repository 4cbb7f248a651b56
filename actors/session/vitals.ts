/** Figures about the quality of one session since the start of the process, for the log and `GET /admin/numbers`. */
import type { Status } from '../model.ts';
import type { CloseCause, Reaction, Verdict } from '../policy/close-cause.ts';
import type { Time } from '../ports.ts';
import type { VitalsView } from '../views/server.ts';

/** Reactions after which the chart waits. */
const delayed: ReadonlySet<Reaction> = new Set(['backOff', 'contest', 'gate']);

export class Vitals {
  readonly #now: () => number;
  readonly #closes: Partial<Record<CloseCause, number>> = {};
  #attempts = 0;
  #opened = 0;
  #crashes = 0;
  #wakes = 0;
  #lostAt = 0;
  #openSince = 0;
  #asleepSince = 0;
  #asleepMs = 0;
  #reconnectMs = 0;
  #longestReconnectMs = 0;
  #nextDelayMs = 0;
  #eventsSetAside = 0;
  /** The time since which the instance has had no actors, in Unix milliseconds; null after its first activity. */
  #restingSince: number | null;

  constructor(now: () => number, restingSince = now()) {
    this.#now = now;
    this.#restingSince = restingSince;
  }

  attempt(): void {
    this.#restingSince = null;
    this.#attempts += 1;
    this.#openSince = 0; // If `#openSince` is still set, a command closed the connection, so the connection was not lost.
    this.#nextDelayMs = 0;
  }

  /** Counts a close. Returns true if a live session was lost. */
  closed(verdict: Verdict, retryInMs: number): boolean {
    this.#closes[verdict.cause] = (this.#closes[verdict.cause] ?? 0) + 1;
    this.#nextDelayMs = delayed.has(verdict.reaction) ? retryInMs : 0;
    return this.#lost();
  }

  /** Records that the session is live. Returns the milliseconds since the loss, or null if the session was not lost. */
  live(): number | null {
    this.#opened += 1;
    this.#openSince = this.#now();
    const lostFor = this.#lostAt > 0 ? this.#now() - this.#lostAt : null;
    if (lostFor !== null) this.#reconnectMs = lostFor;
    this.#longestReconnectMs = Math.max(this.#longestReconnectMs, this.#reconnectMs);
    this.#lostAt = 0;
    this.#nextDelayMs = 0;
    return lostFor;
  }

  /** Records the beginning of hibernation, or its continuation under a new chart. */
  asleep(): void {
    this.#openSince = 0;
    this.#lostAt = 0;
    if (this.#asleepSince === 0) this.#asleepSince = this.#restingSince ?? this.#now();
    this.#restingSince = null;
  }

  /** Records the end of hibernation, for any reason. */
  awake(): void {
    if (this.#asleepSince > 0) this.#asleepMs += this.#now() - this.#asleepSince;
    this.#asleepSince = 0;
  }

  /** Counts a wake by a call or by the schedule. */
  woken(): void {
    this.#wakes += 1;
  }

  setAside(): void {
    this.#eventsSetAside += 1;
  }

  crashed(): void {
    this.#crashes += 1;
    this.#lost();
  }

  get view(): Omit<VitalsView, 'workerCrashes' | 'lastFrameAgeMs' | 'unrecorded' | 'queued'> {
    return {
      attempts: this.#attempts,
      opened: this.#opened,
      closes: { ...this.#closes },
      crashes: this.#crashes,
      reconnectMs: this.#reconnectMs,
      longestReconnectMs: this.#longestReconnectMs,
      nextDelayMs: this.#nextDelayMs,
      wakes: this.#wakes,
      eventsSetAside: this.#eventsSetAside,
      hibernatedMs: this.#asleepMs + (this.#asleepSince > 0 ? this.#now() - this.#asleepSince : 0),
    };
  }

  #lost(): boolean {
    const wasOpen = this.#openSince > 0;
    if (wasOpen) this.#lostAt = this.#now();
    this.#openSince = 0;
    return wasOpen;
  }
}

/** Returns the figures of an instance without actors. */
export const restingVitals = (status: Status, restingMs: number): VitalsView => ({
  ...new Vitals(() => 0).view,
  hibernatedMs: status === 'hibernated' ? restingMs : 0,
  workerCrashes: {},
  lastFrameAgeMs: null,
  unrecorded: 0,
  queued: 0,
});

/** The last traffic of a session: a message in either direction, or a call that needed the platform. */
export class Activity {
  readonly #time: Pick<Time, 'now' | 'monotonic'>;
  #at: number;
  /** The last activity by the monotonic clock. A wall clock that steps forward must not make every session look idle. */
  #seen: number;

  /** `at`: the stored time of the last activity, in Unix milliseconds. */
  constructor(time: Pick<Time, 'now' | 'monotonic'>, at: number) {
    this.#time = time;
    this.#at = at;
    this.#seen = time.monotonic() - Math.max(0, time.now() - at);
  }

  /** The time of the last activity, in Unix milliseconds. */
  get at(): number {
    return this.#at;
  }

  /** The milliseconds since the last activity. */
  get idleMs(): number {
    return this.#time.monotonic() - this.#seen;
  }

  /** Records traffic now. Returns the time in Unix milliseconds. */
  note(): number {
    this.#at = this.#time.now();
    this.#seen = this.#time.monotonic();
    return this.#at;
  }
}
