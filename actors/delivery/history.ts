/** The newest delivery failures of one owner of webhooks, in memory only (see `GET /webhook/errors`). */
import type { DeliveryError } from '../model.ts';

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
