/**
 * Writes the audit log in the background (write-behind). Requests do not wait for a write. Notes gather in memory and are stored in batches, at most
 * a second later. A kill loses the notes that are not stored by then. While storage is away the notes wait, up to a limit.
 */
import type { AuditActor, AuditNote } from '../model.ts';
import { type AuditStore, StorageFailure, type Log, type Time } from '../ports.ts';
import { NamedBuckets } from '../policy/pacing.ts';
import { within } from '../waiting.ts';

/** The longest time between a note and its write. In milliseconds. */
const writeEveryMs = 1_000;
/** The time until a retry while storage is away. In milliseconds. */
const retryMs = 5_000;
const batchSize = 500;
/**
 * The largest number of waiting notes, about 2 MB. Instance tokens and all other callers have separate limits, so notes of tokens cannot displace the rest.
 */
const mostWaiting = 10_000;
/** The longest wait of a stop for the last notes. In milliseconds. */
const lastWriteMs = 2_000;
/** The time within which repetitions of a refused request of one caller are not noted. In milliseconds. */
const refusedEveryMs = 60_000;
/**
 * The rate limit of entries of refused requests of one caller: 60 at once, then one a minute. Callers of any role can cause such entries, and the log
 * is bounded.
 */
const refusedPace = { burst: 60, every: 60_000 };
const rememberedRefusals = 10_000;

interface AuditLogInput {
  readonly store: Pick<AuditStore, 'add'>;
  readonly time: Time;
  readonly log: Log;
}

const isOfToken = (actor: AuditActor): boolean => actor === 'instanceToken' || actor === 'passkeyCode';

export class AuditLog {
  readonly #input: AuditLogInput;
  #waiting: AuditNote[] = [];
  #ofTokens = 0;
  #dropped = 0;
  #timer: unknown = null;
  #writing: Promise<void> | null = null;
  #stopped = false;
  /** The times at which refused requests were last noted, oldest first. */
  readonly #refused = new Map<string, number>();
  readonly #refusals = new NamedBuckets(refusedPace);

  constructor(input: AuditLogInput) {
    this.#input = input;
  }

  /** Takes a note. A refused request changes nothing, so a flood of refused requests is bounded and cannot push out other entries. */
  note(note: AuditNote): void {
    const isRefused = note.status >= 400;
    if (isRefused && this.#isRepeated(note)) return;
    const isToken = isOfToken(note.actor);
    const waiting = isToken ? this.#ofTokens : this.#waiting.length - this.#ofTokens;
    const isTooMuch = waiting >= mostWaiting || (isRefused && this.#refusals.take(`${note.actor} ${note.who}`, note.at) > 0);
    if (isTooMuch) {
      this.#dropped += 1;
      return this.#writeIn(writeEveryMs);
    }
    this.#waiting.push(note);
    if (isToken) this.#ofTokens += 1;
    // A stopped log sets no timer, which would keep the process alive.
    if (this.#stopped) void this.#write();
    else this.#writeIn(writeEveryMs);
  }

  /** Stores the waiting notes, if storage answers in time. Later notes are stored too, while storage is open. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await within(this.#input.time, lastWriteMs, this.#write());
    this.#input.time.clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#waiting.length > 0) this.#input.log.warn({ entries: this.#waiting.length }, 'audit.lost');
  }

  #isRepeated({ actor, who, address, method, route, instance, status, at }: AuditNote): boolean {
    const key = JSON.stringify([actor, who, address, method, route, instance, status]);
    const last = this.#refused.get(key);
    if (last !== undefined && at - last < refusedEveryMs) return true;
    this.#refused.delete(key);
    this.#refused.set(key, at);
    const [oldest] = this.#refused.keys();
    if (this.#refused.size > rememberedRefusals && oldest !== undefined) this.#refused.delete(oldest);
    return false;
  }

  #writeIn(ms: number): void {
    if (this.#stopped) return;
    this.#timer ??= this.#input.time.setTimeout(() => {
      this.#timer = null;
      void this.#write();
    }, ms);
  }

  /** Starts a write, or joins the write under way. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    const { store, log } = this.#input;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchSize);
      try {
        await store.add(batch);
      } catch (error) {
        log.warn({ error, entries: this.#waiting.length }, 'audit.notStored');
        // Only an outage leads to a retry. Any other error would return with the same entries.
        if (error instanceof StorageFailure) return this.#writeIn(retryMs);
      }
      this.#waiting = this.#waiting.slice(batch.length);
      this.#ofTokens -= batch.filter(({ actor }) => isOfToken(actor)).length;
    }
    if (this.#dropped > 0) log.warn({ entries: this.#dropped }, 'audit.dropped');
    this.#dropped = 0;
  }
}
