/**
 * Watches the clock of the machine. After a jump forward everything looks old, so nothing expires while the clock is in doubt. The doubt ends after a
 * day, in which the operator can correct the clock, or when the clock agrees again. If the jump was right, the pause costs nothing.
 */
import { StorageFailure, type Log, type SettingStore, type Time } from '../ports.ts';

/** Tolerated difference between the clock and the monotonic clock. Machines with a time service differ by less. In milliseconds. */
const tolerated = 60_000;
/** Time after which a clock that jumped counts as right. In milliseconds. */
const acceptedAfter = 86_400_000;
/**
 * Time for which queued sends and campaigns wait after a jump of the clock. Sending resumes after this time on a machine that slept, or whose clock
 * was corrected. In milliseconds.
 */
const heldFor = 3_600_000;
/** Longest time since the last run that raises no doubt. In milliseconds. */
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
  /** Start of the doubt, by the monotonic clock; null if there is no doubt. */
  #doubtSince: number | null = null;

  constructor(input: ClockWatchInput) {
    this.#input = input;
    this.#wall = input.time.now();
    this.#monotonic = input.time.monotonic();
  }

  /** Compares the clock with the stored time of the last run. The caller calls this method once, before anything expires. */
  async begin(): Promise<void> {
    const seen = Number((await this.#input.settings.get(seenKey)) ?? Number.NaN);
    const since = this.#input.time.now() - seen;
    // The reference becomes the clock of the last run, as if no time had passed.
    if (since > longestAbsence || since < -tolerated) this.#wall -= since;
  }

  /** Difference between the clock and the expected time. In milliseconds. */
  get ahead(): number {
    const { time } = this.#input;
    return time.now() - this.#wall - (time.monotonic() - this.#monotonic);
  }

  /** Reason why nothing expires now, or '' if the clock is not in doubt. */
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

  /** Reason why queued sends and campaigns wait now, or '' if they continue. */
  get hold(): string {
    const { trouble } = this;
    const since = this.#doubtSince ?? -Infinity;
    return this.#input.time.monotonic() - since < heldFor ? trouble : '';
  }

  /** Stores the time for the next run, and accepts slow drift of the clock. The caller calls this method periodically. */
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
