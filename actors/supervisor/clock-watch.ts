/**
 * Watches the clock of the machine. A clock that jumped forward makes everything look old, so what is removed for its age is not removed while the clock
 * is in doubt: for a day, in which a person can put it right, or until it agrees again. The pause costs nothing where the jump was right.
 */
import { StorageFailure, type Log, type SettingStore, type Time } from '../ports.ts';

/** Milliseconds by which the clock may differ from what the monotonic clock says. Machines with a time service differ by less. */
const tolerated = 60_000;
/** Milliseconds after which a clock that jumped counts as right. */
const acceptedAfter = 86_400_000;
/** Milliseconds for which queued sends and campaigns wait for a clock that jumped. A machine that slept, or whose clock was put right, sends again after that. */
const heldFor = 3_600_000;
/** Milliseconds between the last run and this one that need no doubt. */
const longestAbsence = 86_400_000;

const seenKey = 'clock.seen';

const inWords = (ms: number): string => {
  const minutes = Math.round(Math.abs(ms) / 60_000);
  const amount =
    minutes < 120 ? `${minutes} minutes` : minutes < 2_880 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1_440)} days`;
  return `${amount} ${ms < 0 ? 'back' : 'forward'}`;
};

export interface ClockWatchInput {
  readonly time: Pick<Time, 'now' | 'monotonic'>;
  readonly log: Log;
  readonly settings: SettingStore;
}

export class ClockWatch {
  readonly #input: ClockWatchInput;
  #wall: number;
  #monotonic: number;
  /** By the monotonic clock; null while nothing is in doubt. */
  #doubtSince: number | null = null;

  constructor(input: ClockWatchInput) {
    this.#input = input;
    this.#wall = input.time.now();
    this.#monotonic = input.time.monotonic();
  }

  /** Compares the clock with that of the last run. To be called once, before anything is removed. */
  async begin(): Promise<void> {
    const seen = Number((await this.#input.settings.get(seenKey)) ?? Number.NaN);
    const since = this.#input.time.now() - seen;
    // The clock of the last run is what this one is compared with, as if no time had passed.
    if (since > longestAbsence || since < -tolerated) this.#wall -= since;
  }

  /** Milliseconds by which the clock is ahead of what it should say. */
  get ahead(): number {
    const { time } = this.#input;
    return time.now() - this.#wall - (time.monotonic() - this.#monotonic);
  }

  /** Why nothing is removed for its age now; '' when the clock is not in doubt. */
  get trouble(): string {
    const { ahead } = this;
    const monotonic = this.#input.time.monotonic();
    if (Math.abs(ahead) <= tolerated) {
      if (this.#doubtSince !== null) this.#input.log.info({}, 'clock.agrees');
      this.#doubtSince = null;
      return '';
    }
    if (this.#doubtSince === null) this.#input.log.error({ byMs: Math.round(ahead) }, 'clock.jumped');
    this.#doubtSince ??= monotonic;
    if (monotonic - this.#doubtSince < acceptedAfter)
      return `the clock of the machine jumped ${inWords(ahead)}: nothing is removed for its age${monotonic - this.#doubtSince < heldFor ? ', and queued sends and campaigns wait' : ''}`;
    this.#accept();
    return '';
  }

  /** Why queued sends and campaigns wait now; '' when they go on. */
  get hold(): string {
    const { trouble } = this;
    const since = this.#doubtSince ?? -Infinity;
    return this.#input.time.monotonic() - since < heldFor ? trouble : '';
  }

  /** Stores the time for the next run, and takes up what the clock drifted slowly. To be called now and then. */
  async note(): Promise<void> {
    if (this.trouble !== '') return;
    this.#accept();
    try {
      await this.#input.settings.set(seenKey, String(this.#wall));
    } catch (error) {
      if (!(error instanceof StorageFailure)) throw error;
    }
  }

  #accept(): void {
    this.#wall = this.#input.time.now();
    this.#monotonic = this.#input.time.monotonic();
    this.#doubtSince = null;
  }
}
