/**
 * Keeps the record of one instance. Notes change memory at once, and storage soon after (write-behind). Saves change storage first.
 *
 * If a field changes twice, the later change wins in memory and in storage, for notes and for saves.
 */
import { Mutex, Pause } from '../waiting.ts';
import { patched, unreadableIn, type InstancePatch, type InstanceRecord } from '../model.ts';
import { StorageFailure, type InstanceStore, type Log, type Time } from '../ports.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../policy/supervised-workers.ts';

const retryMs = 500;

interface RecordKeeperInput {
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
  /** Noted fields that are not stored yet. */
  #noted: InstancePatch = {};
  /** True after storage refused the noted fields together. The fields are then written one by one. */
  #oneByOne = false;
  /** Serializes the statements, so that an older value never overwrites a newer one. */
  readonly #mutex = new Mutex();
  #working = false;
  #flushWaiters: (() => void)[] = [];

  constructor(input: RecordKeeperInput) {
    this.record = input.record;
    this.#input = input;
    this.#retryPause = new Pause(input.time);
    this.#worker = input.workers.supervise({ name: 'recordKeeper', run: () => this.#work() });
  }

  /** Changes the record in memory, and in storage later. Never throws. While storage is unavailable, the note waits in memory. */
  note(patch: InstancePatch): void {
    this.record = { ...patched(this.record, patch), updated: this.#input.time.now() };
    this.#noted = { ...this.#noted, ...patch };
    this.#worker.wake();
  }

  /**
   * Changes storage first, then memory. Commands use this method, because their caller must get the failure. A retry undoes a failed save, because storage may
   * have applied the change without an answer.
   */
  save(patch: InstancePatch): Promise<void> {
    const { instances, time } = this.#input;
    return this.#mutex.run(async () => {
      const replaced = this.#take(namesOf(patch));
      try {
        await instances.update(this.record.id, this.record.epoch, patch);
      } catch (error) {
        // The statement may have run, so the retry restores the values of memory.
        this.#putBack(error instanceof StorageFailure ? this.#known(namesOf(patch)) : replaced);
        throw error;
      }
      this.record = { ...patched(this.record, { ...patch, ...this.#noted }), updated: time.now() };
    });
  }

  /** Resolves when all notes are stored or given up. */
  flush(): Promise<void> {
    return this.#flushed ? Promise.resolve() : new Promise((resolve) => this.#flushWaiters.push(resolve));
  }

  /** Ends the retries. Notes that are not stored by then are lost, and the names of their fields are logged. */
  stop(): void {
    this.#retryPause.end();
    // A worker that crashed does not restart after a stop, so it cannot give up its notes itself.
    if (!this.#working) this.#giveUp();
  }

  /** The number of fields that are not stored. */
  get waiting(): number {
    return namesOf(this.#noted).length;
  }

  get #flushed(): boolean {
    return !this.#working && namesOf(this.#noted).length === 0;
  }

  /** Writes until no note is left. After a crash the next run finds the unwritten fields in `#noted`. */
  async #work(): Promise<void> {
    this.#working = true;
    try {
      await Promise.resolve(); // Notes of one turn become one statement.
      while (namesOf(this.#noted).length > 0) {
        const away = await this.#mutex.run(() => this.#write());
        if (away) await this.#retryPause.wait(retryMs);
        if (away && this.#retryPause.ended) this.#giveUp();
      }
    } finally {
      this.#working = false;
      if (this.#flushed) for (const resolve of this.#flushWaiters.splice(0)) resolve();
    }
  }

  /** Writes one statement. Returns true if storage is unavailable. Refused fields are written one by one, so that only the bad field is dropped. */
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

  /** Removes the named fields from the notes, and returns them. */
  #take(names: readonly string[]): InstancePatch {
    const noted = Object.entries(this.#noted);
    this.#noted = Object.fromEntries(noted.filter(([name]) => !names.includes(name)));
    return Object.fromEntries(noted.filter(([name]) => names.includes(name)));
  }

  /** Returns the values of memory. Leaves out sealed fields that cannot be decrypted, because the retry would overwrite their rows. */
  #known(names: readonly (keyof InstancePatch)[]): InstancePatch {
    const isKnown = (name: keyof InstancePatch): boolean =>
      (name !== 'token' && name !== 'proxy' && name !== 'aiApikey') || !unreadableIn(this.record, name);
    return Object.fromEntries(names.filter(isKnown).map((name) => [name, this.record[name]]));
  }

  /** Puts fields back that were not stored. Newer notes win. */
  #putBack(fields: InstancePatch): void {
    this.#noted = { ...fields, ...this.#noted };
    if (namesOf(this.#noted).length > 0) this.#worker.wake();
  }

  #giveUp(): void {
    const fields = namesOf(this.#noted);
    this.#noted = {};
    if (fields.length > 0) this.#input.log.error({ instance: this.record.id, fields }, 'record.lost');
    if (this.#flushed) for (const resolve of this.#flushWaiters.splice(0)) resolve();
  }
}
