/** The health of the database, derived from all work on it. During an outage, and while the disk is full, a probe runs repeatedly. */
import { StorageBroken, StorageFailure, StorageFull, StorageUnavailable, type Log } from '#actors/ports.ts';
import { explained } from './failures.ts';

/** The address of the database without its password, and the setting that contains the address. Empty for the embedded server. */
export interface DatabaseLabel {
  readonly address?: string;
  readonly setting?: 'DATABASE_URL';
}

export interface Probes {
  /** Runs a trivial query. Rejects while the database is unavailable. */
  answers(): Promise<unknown>;
  /** Writes some megabytes to the disk of the database. Rejects with `StorageFull` while the disk is full. */
  writes(): Promise<unknown>;
}

/** The pause between two probes. The probe that writes costs more, and runs less often. In milliseconds. */
const probeInterval = 500;
const writeInterval = 2_000;

/**
 * The database counts as broken for this time after its last failure. Failed work is retried at least every two seconds, so a lasting fault fails again within
 * this time. In milliseconds.
 */
const brokenFor = 10_000;
/** The pause between two log lines about the same error. In milliseconds. */
const logEvery = 60_000;

/** A fault of the database. It begins with a failure, and lasts until a probe succeeds. An outage also ends when other work succeeds. */
class Condition {
  holds = false;
  #asking = false;
  #ended = false;
  readonly #probe: () => Promise<unknown>;
  readonly #interval: number;
  readonly #changed: (holds: boolean) => void;

  constructor(probe: () => Promise<unknown>, interval: number, changed: (holds: boolean) => void) {
    this.#probe = probe;
    this.#interval = interval;
    this.#changed = changed;
  }

  note(holds: boolean): void {
    if (holds === this.holds || this.#ended) return;
    this.holds = holds;
    this.#changed(holds);
    if (holds) this.ask();
  }

  /** Runs the probe, and repeats the probe until the condition ends. */
  ask(): void {
    if (this.#asking || this.#ended) return;
    this.#asking = true;
    const again = (): void => {
      this.#asking = false;
      if (this.holds) this.ask();
    };
    const later = (): void => void setTimeout(again, this.#interval).unref();
    this.#probe().then(() => (this.holds ? later() : void (this.#asking = false)), later);
  }

  end(): void {
    this.#ended = true;
  }
}

/** Errors of a broken database by their text, with the time at which each error last occurred. */
class Breakages {
  readonly #log: Log;
  readonly #label: DatabaseLabel;
  readonly #seen = new Map<string, number>();
  readonly #logged = new Map<string, number>();

  constructor(log: Log, label: DatabaseLabel) {
    this.#log = log;
    this.#label = label;
  }

  note({ message }: StorageBroken, lasting: boolean): void {
    const now = performance.now();
    if (now - (this.#logged.get(message) ?? -Infinity) >= logEvery) {
      for (const [text, at] of this.#logged) if (now - at >= logEvery) this.#logged.delete(text);
      this.#logged.set(message, now);
      this.#log.error({ reason: message, ...this.#label }, 'storage.broken');
    }
    if (lasting) this.#seen.set(message, now);
  }

  get now(): readonly string[] {
    for (const [text, at] of this.#seen) if (performance.now() - at >= brokenFor) this.#seen.delete(text);
    return [...this.#seen.keys()];
  }
}

export class Health {
  readonly #away: Condition;
  readonly #full: Condition;
  readonly #breakages: Breakages;
  readonly #listeners: ((up: boolean) => void)[] = [];
  /** The text of the last failure. */
  #reason = '';

  /** `label`: fields that identify the database in log lines. */
  constructor(log: Log, probes: Probes, label: DatabaseLabel = {}) {
    this.#away = new Condition(probes.answers, probeInterval, (holds) => {
      if (holds) log.error({ reason: this.#reason, ...label }, 'storage.unavailable');
      else log.info({}, 'storage.available');
      for (const listener of this.#listeners) listener(!holds);
    });
    this.#full = new Condition(
      () => probes.writes().then(() => this.#full.note(false)),
      writeInterval,
      (holds) => (holds ? log.error({ reason: this.#reason, ...label }, 'storage.diskFull') : log.info({}, 'storage.diskHasRoom')),
    );
    this.#breakages = new Breakages(log, label);
  }

  /** Calls the function at the beginning of an outage with false, and at its end with true. The function must not throw. */
  listen(listener: (up: boolean) => void): void {
    this.#listeners.push(listener);
  }

  /** False from a `StorageUnavailable` until later work or a probe succeeds. */
  get up(): boolean {
    return !this.#away.holds;
  }

  /** The troubles that readiness reports; empty if the database works. */
  get troubles(): readonly string[] {
    return [
      ...(this.#away.holds ? ['the database is not available now'] : []),
      ...(this.#full.holds ? ['the disk of the database is full'] : []),
      ...this.#breakages.now,
    ];
  }

  /**
   * Runs work, and derives the health from its outcome. A failure of the database is rethrown as a `StorageFailure`. `lasting`: true if the caller retries
   * the work until it succeeds, so a failure makes the gateway unready.
   */
  async watch<T>(work: () => Promise<T>, lasting = false): Promise<T> {
    try {
      const result = await work();
      this.#away.note(false);
      return result;
    } catch (error) {
      const failure = explained(error);
      if (failure instanceof StorageFailure) this.#note(failure, lasting);
      throw failure;
    }
  }

  /** Starts a probe after an idle connection was lost. */
  suspect(): void {
    this.#away.ask();
  }

  end(): void {
    this.#away.end();
    this.#full.end();
  }

  #note(failure: StorageFailure, lasting: boolean): void {
    this.#reason = failure.message;
    if (failure instanceof StorageUnavailable) this.#away.note(true);
    if (failure instanceof StorageFull) this.#full.note(true);
    if (failure instanceof StorageBroken) this.#breakages.note(failure, lasting);
  }
}
