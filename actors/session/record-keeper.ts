/** Keeps the record of one instance: changed in memory at once, in storage soon after and in order. */
import { createMutex } from '../keyed-mutex.ts';
import type { InstancePatch, InstanceRecord } from '../model.ts';
import { StorageUnavailable, type InstanceStore, type Log, type Time } from '../ports.ts';
import { Pause } from '../waiting.ts';

const retryMs = 500;

export class RecordKeeper {
  record: InstanceRecord;
  readonly #instances: InstanceStore;
  readonly #time: Time;
  readonly #log: Log;
  readonly #patience: Pause;
  #waiting: InstancePatch | null = null;
  #writing: Promise<void> | null = null;
  readonly #serially = createMutex();

  constructor(record: InstanceRecord, store: InstanceStore, time: Time, log: Log) {
    this.record = record;
    this.#instances = store;
    this.#time = time;
    this.#log = log;
    this.#patience = new Pause(time);
  }

  /** Never throws: storage that is away gets it when it is back. */
  note(patch: InstancePatch): void {
    this.record = { ...this.record, ...patch, updated: this.#time.now() };
    this.#waiting = { ...this.#waiting, ...patch };
    this.#writing ??= this.#write();
  }

  /** Stores first, then changes memory: for commands, whose caller must hear of a failure. */
  save(patch: InstancePatch): Promise<void> {
    return this.#store(patch);
  }

  /** Resolves when everything noted is stored. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** Storage is not tried again: what is noted stays in memory. */
  stop(): void {
    this.#patience.end();
  }

  /** One statement at a time, with all that is noted: the last word counts, whichever way it was said. What fails stays noted. */
  #store(patch: InstancePatch): Promise<void> {
    return this.#serially(async () => {
      const noted = this.#waiting;
      this.#waiting = null;
      try {
        await this.#instances.update(this.record.id, this.record.epoch, { ...noted, ...patch });
      } catch (error) {
        this.#waiting = { ...noted, ...(this.#waiting as InstancePatch | null) };
        // The writer may have found nothing to do while a save had it all in hand.
        if (noted) this.#writing ??= this.#write();
        throw error;
      }
      this.record = { ...this.record, ...patch, ...(this.#waiting as InstancePatch | null), updated: this.#time.now() };
    });
  }

  async #write(): Promise<void> {
    await Promise.resolve(); // notes of one turn are one statement
    while (this.#waiting) {
      try {
        await this.#store({});
      } catch (error) {
        const away = error instanceof StorageUnavailable;
        if (away) await this.#patience.wait(retryMs);
        if (away && !this.#patience.ended) continue;
        this.#log.error({ instance: this.record.id, error }, 'record.refused');
        this.#waiting = null;
      }
    }
    this.#writing = null;
  }
}
