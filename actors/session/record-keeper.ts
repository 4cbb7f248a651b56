/**
 * Keeps the record of one instance. Notes change it in memory at once and in storage soon after (write-behind); saves change storage first.
 *
 * Of two changes of a field the later one counts, in memory and in storage, whether it was noted or saved.
 */
import { createMutex } from '../keyed-mutex.ts';
import type { InstancePatch, InstanceRecord } from '../model.ts';
import { StorageFailure, type InstanceStore, type Log, type Time } from '../ports.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../supervised-workers.ts';
import { Pause } from '../waiting.ts';

const retryMs = 500;

export interface RecordKeeperInput {
  readonly record: InstanceRecord;
  readonly instances: InstanceStore;
  readonly time: Time;
  readonly log: Log;
  readonly workers: Pick<SupervisedWorkers, 'supervise'>;
}

const namesOf = (patch: InstancePatch): readonly (keyof InstancePatch)[] => Object.keys(patch) as (keyof InstancePatch)[];

export class RecordKeeper {
  record: InstanceRecord;
  readonly #input: RecordKeeperInput;
  readonly #worker: SupervisedWorker;
  readonly #retryPause: Pause;
  /** Fields that were noted and are not stored. */
  #noted: InstancePatch = {};
  /** Storage refused the noted fields together: they are written one by one. */
  #oneByOne = false;
  /** One statement at a time. */
  readonly #serially = createMutex();
  #working = false;
  #flushWaiters: (() => void)[] = [];

  constructor(input: RecordKeeperInput) {
    this.record = input.record;
    this.#input = input;
    this.#retryPause = new Pause(input.time);
    this.#worker = input.workers.supervise({ name: 'recordKeeper', run: () => this.#work() });
  }

  /** Never throws. While storage is away the note waits in memory. */
  note(patch: InstancePatch): void {
    this.record = { ...this.record, ...patch, updated: this.#input.time.now() };
    this.#noted = { ...this.#noted, ...patch };
    this.#worker.wake();
  }

  /** Stores first, then changes memory: for commands, whose caller must get the failure. */
  save(patch: InstancePatch): Promise<void> {
    const { instances, time } = this.#input;
    return this.#serially(async () => {
      const replaced = this.#take(namesOf(patch));
      try {
        await instances.update(this.record.id, this.record.epoch, patch);
      } catch (error) {
        this.#putBack(replaced);
        throw error;
      }
      this.record = { ...this.record, ...patch, ...this.#noted, updated: time.now() };
    });
  }

  /** Resolves when everything noted is stored, or will not be stored any more. */
  flush(): Promise<void> {
    return this.#flushed ? Promise.resolve() : new Promise((resolve) => this.#flushWaiters.push(resolve));
  }

  /** Storage is not tried again: what is noted stays in memory. */
  stop(): void {
    this.#retryPause.end();
    // A worker that crashed is not restarted any more.
    if (!this.#working) this.#giveUp();
  }

  /** Fields that are not stored. */
  get waiting(): number {
    return namesOf(this.#noted).length;
  }

  get #flushed(): boolean {
    return !this.#working && namesOf(this.#noted).length === 0;
  }

  /** Writes until nothing is noted. A crash leaves what is not stored in `#noted`, for the next run. */
  async #work(): Promise<void> {
    this.#working = true;
    try {
      await Promise.resolve(); // notes of one turn are one statement
      while (namesOf(this.#noted).length > 0) {
        const away = await this.#serially(() => this.#write());
        if (away) await this.#retryPause.wait(retryMs);
        if (away && this.#retryPause.ended) this.#giveUp();
      }
    } finally {
      this.#working = false;
      if (this.#flushed) for (const resolve of this.#flushWaiters.splice(0)) resolve();
    }
  }

  /**
   * One statement; true when storage is away. Fields that storage refuses are written one by one, so that a bad field is dropped and costs only
   * itself.
   */
  async #write(): Promise<boolean> {
    const { instances, log } = this.#input;
    const names = namesOf(this.#noted);
    const fields = this.#take(this.#oneByOne ? names.slice(0, 1) : names);
    try {
      await instances.update(this.record.id, this.record.epoch, fields);
    } catch (error) {
      const [field, ...others] = namesOf(fields);
      const away = error instanceof StorageFailure;
      if (away || others.length > 0) {
        this.#oneByOne = !away;
        this.#putBack(fields);
        return away;
      }
      log.error({ instance: this.record.id, field, error }, 'record.refused');
    }
    if (names.length <= 1) this.#oneByOne = false;
    return false;
  }

  /** Takes these fields out of what is noted. */
  #take(names: readonly string[]): InstancePatch {
    const noted = Object.entries(this.#noted);
    this.#noted = Object.fromEntries(noted.filter(([name]) => !names.includes(name)));
    return Object.fromEntries(noted.filter(([name]) => names.includes(name)));
  }

  /** These fields were not stored; what was noted meanwhile is newer. */
  #putBack(fields: InstancePatch): void {
    this.#noted = { ...fields, ...this.#noted };
    if (namesOf(this.#noted).length > 0) this.#worker.wake();
  }

  /** Nothing noted is stored any more. */
  #giveUp(): void {
    const fields = namesOf(this.#noted);
    this.#noted = {};
    if (fields.length > 0) this.#input.log.error({ instance: this.record.id, fields }, 'record.lost');
    if (this.#flushed) for (const resolve of this.#flushWaiters.splice(0)) resolve();
  }
}
