/** Tokens that instances use on a day (in UTC), with a bound. */
import type { Claim, InstanceId } from '../model.ts';
import type { ChatbotStore, Time } from '../ports.ts';

interface Spent {
  readonly day: string;
  tokens: number;
}

export class Budget {
  readonly #store: Pick<ChatbotStore, 'tokens' | 'addTokens'>;
  readonly #time: Pick<Time, 'now'>;
  /** Of one instance on one day; 0: no bound. */
  readonly #most: number;
  /** Days that were read. */
  readonly #spent = new Map<InstanceId, Spent>();

  constructor(store: Pick<ChatbotStore, 'tokens' | 'addTokens'>, time: Pick<Time, 'now'>, most: number) {
    this.#store = store;
    this.#time = time;
    this.#most = most;
  }

  /** Calls that are under way are not in it: the bound can be passed by as many as may be under way. */
  async isUsedUp(instance: InstanceId): Promise<boolean> {
    return this.#most > 0 && (await this.#today(instance)).tokens >= this.#most;
  }

  async spend(claim: Claim, tokens: number): Promise<void> {
    const today = await this.#today(claim.instanceId);
    today.tokens += tokens;
    await this.#store.addTokens(claim, today.day, tokens);
  }

  forget(instance: InstanceId): void {
    this.#spent.delete(instance);
  }

  async #today(instance: InstanceId): Promise<Spent> {
    const day = new Date(this.#time.now()).toISOString().slice(0, 10);
    const known = this.#spent.get(instance);
    if (known?.day === day) return known;
    const read = { day, tokens: await this.#store.tokens(instance, day) };
    // Somebody else may have read it meanwhile.
    const now = this.#spent.get(instance);
    if (now?.day === day) return now;
    this.#spent.set(instance, read);
    return read;
  }
}
