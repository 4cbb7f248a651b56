/**
 * Looks up the instance of a token in the database, because another node may have made it a moment ago. Unknown tokens are cached, so that a client
 * with a void token does not cost one query per request.
 */
import type { InstanceRecord } from '../model.ts';
import type { Ports } from '../ports.ts';

/** Time for which an unknown token is cached. Every node learns of a new instance within a second by other means. In milliseconds. */
const keptMs = 10_000;
const mostKept = 10_000;
/** Limit in characters. Longer tokens cause no query. */
const longestToken = 500;

export class TokenLookup {
  readonly #ports: Pick<Ports, 'instances' | 'time'>;
  /** Unknown tokens with the end of their caching, by the monotonic clock. Oldest first. */
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
