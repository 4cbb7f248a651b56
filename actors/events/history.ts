/** The newest delivery failures of one owner of webhooks, in memory only (specification 2.3, 4.3, 8). */
import type { DeliveryError } from '../model.ts';

const limit = 20;

/** Of several histories together. */
export const newestErrors = (errors: readonly DeliveryError[]): readonly DeliveryError[] =>
  errors.toSorted((a, b) => b.created - a.created).slice(0, limit);

export class History {
  /** Newest first; the event they belong to, so that further attempts update the record in place. */
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
