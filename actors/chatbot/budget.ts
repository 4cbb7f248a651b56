/** Counts the tokens that instances use per day (UTC), and limits them. */
import type { Claim, InstanceId } from '../model.ts';
import type { ChatbotStore, Time } from '../ports.ts';

interface Spent {
  readonly day: string;
  tokens: number;
}

export class Budget {
  readonly #store: Pick<ChatbotStore, 'tokens' | 'addTokens'>;
  readonly #time: Pick<Time, 'now'>;
  /** Limit of tokens per instance and day; 0 means no limit. */
  readonly #most: number;
  /** Days that were read from storage. */
  readonly #spent = new Map<InstanceId, Spent>();

  constructor(store: Pick<ChatbotStore, 'tokens' | 'addTokens'>, time: Pick<Time, 'now'>, most: number) {
    this.#store = store;
    this.#time = time;
    this.#most = most;
  }

  /** Returns true if the limit is reached. Calls under way are not counted yet, so their tokens can exceed the limit. */
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
    // Another call may have read the day meanwhile.
    const now = this.#spent.get(instance);
    if (now?.day === day) return now;
    this.#spent.set(instance, read);
    return read;
  }
}
