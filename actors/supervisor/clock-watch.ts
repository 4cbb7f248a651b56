/**
 * Watches the clock of the machine. After a jump forward all rows look old, so no row expires while the clock is in doubt. The doubt ends when the clock
 * agrees again with the expected time or with the platform. If the platform names no time, the doubt ends after a day, in which the operator can correct
 * the clock. If the clock was right, the pause does no harm.
 */
import { StorageFailure, type Log, type MessageStore, type Platform, type PlatformTime, type SettingStore, type Time } from '../ports.ts';

/** Tolerated difference between the clock and the monotonic clock. Machines with a time service differ by less. In milliseconds. */
const tolerated = 60_000;
/**
 * The largest accepted difference between the clock and the platform's time. A quartz clock without a time service drifts by this much in a few months. In
 * milliseconds.
 */
const agreement = 300_000;
/** The time after which a clock that jumped counts as right if the platform did not name its time. In milliseconds. */
const acceptedAfter = 86_400_000;
/**
 * The time for which queued sends and campaigns wait after a jump of the clock. Sending resumes after this time on a machine that slept, or whose clock was
 * corrected. In milliseconds.
 */
const heldFor = 3_600_000;
/** The longest time since the last run that raises no doubt. In milliseconds. */
const longestAbsence = 86_400_000;

const seenKey = 'clock.seen';

/** Returns a duration in words, such as `3 minutes`, `26 hours`, `200 days`. */
const inWords = (ms: number): string => {
  const minutes = Math.round(Math.abs(ms) / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  return minutes < 2_880 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1_440)} days`;
};

interface ClockWatchInput {
  readonly time: Pick<Time, 'now' | 'monotonic' | 'correction'>;
  readonly log: Log;
  readonly settings: SettingStore;
  readonly messages: Pick<MessageStore, 'newestAt'>;
  readonly platform: Pick<Platform, 'heardTime'>;
}

/** A doubt, with the monotonic time at which it began. `offset`: milliseconds by which the clock is ahead of the platform's; null if unknown. */
interface Doubt {
  readonly since: number;
  readonly offset: number | null;
}

export class ClockWatch {
  readonly #input: ClockWatchInput;
  #wall: number;
  #monotonic: number;
  /** The start of the doubt, by the monotonic clock; null if there is no doubt. */
  #doubtSince: number | null = null;
  /**
   * The time at which the clock was last accepted after a day in doubt, by the monotonic clock. Earlier times of the platform are not used, because the
   * machine may have slept since.
   */
  #ignoredBefore = -Infinity;

  constructor(input: ClockWatchInput) {
    this.#input = input;
    this.#wall = input.time.now();
    this.#monotonic = input.time.monotonic();
  }

  /** Compares the clock with the stored time of the last run. The caller must call this method once, before the first rows expire. */
  async begin(): Promise<void> {
    const { settings, messages, time } = this.#input;
    const noted = await settings.get(seenKey);
    const seen = noted === null ? await messages.newestAt() : Number(noted);
    if (seen === null) return;
    const since = time.now() - seen;
    // The expected time continues from the last run, as if no time had passed. The clock is then in doubt.
    if (since > longestAbsence || since < -tolerated) this.#wall -= since;
  }

  /** The difference between the clock and the expected time. In milliseconds. */
  get ahead(): number {
    const { time } = this.#input;
    return time.now() - this.#wall - (time.monotonic() - this.#monotonic);
  }

  /** The reason why nothing expires now, or '' if the clock is not in doubt. */
  get trouble(): string {
    const doubt = this.#look();
    if (doubt === null) return '';
    const waits = this.#holds(doubt) ? ', and queued sends and campaigns wait' : '';
    return `${this.#reason(doubt)}: nothing is removed for its age${waits}`;
  }

  /** The reason why queued sends and campaigns wait now, or '' if they continue. */
  get hold(): string {
    const doubt = this.#look();
    return doubt !== null && this.#holds(doubt) ? this.trouble : '';
  }

  /** Warnings about the clock for the operator: the reason why nothing expires, and a large correction by the database's clock. */
  get warnings(): readonly string[] {
    const behind = this.#input.time.correction();
    const corrected =
      Math.abs(behind) > tolerated
        ? `the clock of the machine is ${inWords(behind)} ${behind > 0 ? 'behind' : 'ahead of'} the database's clock, which the gateway uses`
        : '';
    return [this.trouble, corrected].filter((warning) => warning !== '');
  }

  /** Stores the time for the next run, and accepts slow drift of the clock. The caller calls this method periodically. */
  async note(): Promise<void> {
    if (this.#look() !== null) return;
    this.#accept();
    try {
      await this.#input.settings.set(seenKey, String(this.#wall));
    } catch (error) {
      if (!(error instanceof StorageFailure)) throw error;
    }
  }

  /** Begins or ends a doubt, and returns the present doubt; null if there is none. */
  #look(): Doubt | null {
    const { time, log } = this.#input;
    const monotonic = time.monotonic();
    const heard = this.#heard();
    const isJump = Math.abs(this.ahead) > tolerated;
    const isWrong = heard !== null && Math.abs(this.#offsetTo(heard)) > longestAbsence;
    if (this.#doubtSince === null) {
      if (!isJump && !isWrong) return null;
      // Without a jump the machine did not sleep, so the clock was already wrong when the platform named its time.
      this.#doubtSince = isJump || heard === null ? monotonic : heard.heardAt;
      log.error({ byMs: Math.round(isJump || heard === null ? this.ahead : this.#offsetTo(heard)) }, 'clock.jumped');
    }
    const since = this.#doubtSince;
    const offset = heard === null || heard.heardAt < since ? null : this.#offsetTo(heard);
    const isRight = offset === null ? !isJump && !isWrong : Math.abs(offset) <= agreement;
    if (isRight) log.info(offset === null ? {} : { byPlatform: true }, 'clock.agrees');
    else if (offset !== null || monotonic - since < acceptedAfter) return { since, offset };
    else this.#ignoredBefore = monotonic;
    if (isJump) this.#accept();
    this.#doubtSince = null;
    return null;
  }

  #heard(): PlatformTime | null {
    const heard = this.#input.platform.heardTime();
    return heard === null || heard.heardAt < this.#ignoredBefore ? null : heard;
  }

  /** Returns the time by which the clock is ahead of the platform's. In milliseconds. */
  #offsetTo({ at, heardAt }: PlatformTime): number {
    const { time } = this.#input;
    return time.now() - at - (time.monotonic() - heardAt);
  }

  /**
   * Returns true if sends and campaigns have to wait. They wait in the first hour of a doubt, and as long as the clock is known to be ahead. Otherwise sends
   * would fail as too old, and campaigns would begin early.
   */
  #holds({ since, offset }: Doubt): boolean {
    return (offset ?? 0) > 0 || this.#input.time.monotonic() - since < heldFor;
  }

  #reason({ offset }: Doubt): string {
    if (offset === null) return `the clock of the machine jumped ${inWords(this.ahead)} ${this.ahead < 0 ? 'back' : 'forward'}`;
    return `the clock of the machine is ${inWords(offset)} ${offset < 0 ? 'behind' : 'ahead of'} the platform's`;
  }

  #accept(): void {
    this.#wall = this.#input.time.now();
    this.#monotonic = this.#input.time.monotonic();
  }
}
