/**
 * Rows that are delivered, given up, or no longer wanted (null). Such rows stay in this list until they are removed from the outbox, so that no page of the
 * outbox makes the courier post them again.
 */
import type { Claim, DeliveryError } from '../model.ts';
import type { DeliveryPolicy } from '../policy/policy.ts';
import type { Ended, OutboxStore } from '../ports.ts';

export class FinishedDeliveries {
  readonly #outbox: Pick<OutboxStore, 'archive' | 'remove'>;
  readonly #kept: DeliveryPolicy['kept'];
  readonly #claim: () => Claim;
  #waiting = new Map<number, Ended | null>();
  /** Rows whose removal is under way. */
  readonly #leaving = new Set<number>();

  constructor(outbox: Pick<OutboxStore, 'archive' | 'remove'>, { kept }: Pick<DeliveryPolicy, 'kept'>, claim: () => Claim) {
    this.#outbox = outbox;
    this.#claim = claim;
    this.#kept = kept;
  }

  add(seq: number, ended: Ended | null): void {
    this.#waiting.set(seq, ended);
  }

  has(seq: number): boolean {
    return this.#waiting.has(seq) || this.#leaving.has(seq);
  }

  /** True if rows wait whose removal is not under way. */
  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** True if all ended rows are removed from the outbox. */
  get isEmpty(): boolean {
    return this.#waiting.size + this.#leaving.size === 0;
  }

  /**
   * Removes all rows whose removal is not under way. The port gathers the rows of several couriers in one statement. Resolves with the sequence
   * numbers of the rows. If the call rejects, the rows wait as before.
   */
  async takeOut(): Promise<readonly number[]> {
    const [claim, rows] = [this.#claim(), this.#waiting];
    this.#waiting = new Map();
    const archived: (Ended & Claim)[] = [];
    const removed: ({ readonly seq: number } & Claim)[] = [];
    for (const [seq, ended] of rows) {
      this.#leaving.add(seq);
      if (this.#isKept(ended)) archived.push({ ...ended, ...claim });
      else removed.push({ seq, ...claim });
    }
    try {
      if (archived.length > 0) await this.#outbox.archive(archived);
      if (removed.length > 0) await this.#outbox.remove(removed);
      return [...rows.keys()];
    } catch (error) {
      for (const [seq, ended] of rows) this.#waiting.set(seq, ended);
      throw error;
    } finally {
      for (const seq of rows.keys()) this.#leaving.delete(seq);
    }
  }

  #isKept(ended: Ended | null): ended is Ended {
    return ended !== null && this.#kept[ended.dead ? 'dead' : 'delivered'] > 0;
  }
}

// The newest delivery failures of one owner of webhooks, in memory only (see `GET /webhook/errors`).

const limit = 20;

/** Returns the newest errors of several histories. */
export const newestErrors = (errors: readonly DeliveryError[]): readonly DeliveryError[] =>
  errors.toSorted((a, b) => b.created - a.created).slice(0, limit);

export class History {
  /** Records with the key of their event, newest first. Further attempts update the record in place. */
  #records: { readonly key: string; readonly error: DeliveryError }[] = [];

  add(key: string, error: DeliveryError): void {
    const known = this.#records.findIndex((record) => record.key === key);
    const before = this.#records[known];
    if (before) this.#records[known] = { key, error: { ...error, created: before.error.created } };
    else this.#records = [{ key, error }, ...this.#records].slice(0, limit);
  }

  clear(): void {
    this.#records = [];
  }

  get errors(): readonly DeliveryError[] {
    return this.#records.map((record) => record.error);
  }
}
