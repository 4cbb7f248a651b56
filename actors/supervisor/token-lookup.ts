/**
 * Looks for the instance of a token in the database: another node may have made it a moment ago. What the database did not know is remembered, so that
 * a forgotten client costs no query for each of its requests.
 */
import type { InstanceRecord } from '../model.ts';
import type { Ports } from '../ports.ts';

/** Milliseconds. A new instance becomes known on every node by itself within a second. */
const keptMs = 10_000;
const mostKept = 10_000;
/** Characters. */
const longestToken = 500;

export class TokenLookup {
  readonly #ports: Pick<Ports, 'instances' | 'time'>;
  /** By token: the end of its time, by the monotonic clock. The oldest first. */
  readonly #missing = new Map<string, number>();

  constructor(ports: Pick<Ports, 'instances' | 'time'>) {
    this.#ports = ports;
  }

  async find(token: string): Promise<InstanceRecord | null> {
    const { instances, time } = this.#ports;
    if (token.length > longestToken || (this.#missing.get(token) ?? 0) > time.monotonic()) return null;
    const record = await instances.byToken(token);
    this.#missing.delete(token);
    if (record === null) this.#remember(token);
    return record;
  }

  #remember(token: string): void {
    this.#missing.set(token, this.#ports.time.monotonic() + keptMs);
    const [oldest] = this.#missing.size > mostKept ? this.#missing.keys() : [];
    if (oldest !== undefined) this.#missing.delete(oldest);
  }
}
