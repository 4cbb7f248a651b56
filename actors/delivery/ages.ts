/**
 * Finds the webhooks with deliveries that are too old. The oldest times of each webhook are cached with its tally. A webhook with an unchanged tally
 * causes no query before its oldest delivery is due.
 */
import type { DeliveryStore, OldestTimes, Tally } from '../ports.ts';

/**
 * One value for each state of stored deliveries. In `before`, the time before which deliveries are too old. In `Due`, true if the webhook has such deliveries.
 */
type PerState<T> = Readonly<Record<'waiting' | 'delivered' | 'dead', T>>;
export type Due = PerState<boolean>;

/** The number of webhooks per statement. */
const webhooksAtOnce = 1_000;

interface Known {
  readonly tally: Tally;
  readonly oldest: OldestTimes;
}

const isSame = (one: Tally, other: Tally): boolean =>
  one.waiting === other.waiting &&
  one.parked === other.parked &&
  one.bytes === other.bytes &&
  one.delivered === other.delivered &&
  one.dead === other.dead;

export class Ages {
  readonly #deliveries: Pick<DeliveryStore, 'oldestOf'>;
  #known: ReadonlyMap<string, Known> = new Map();

  constructor(deliveries: Pick<DeliveryStore, 'oldestOf'>) {
    this.#deliveries = deliveries;
  }

  /** Returns the webhooks that have deliveries to remove. The next call queries the oldest times of these webhooks again. */
  async due(tallies: readonly Tally[], before: PerState<number>): Promise<ReadonlyMap<string, Due>> {
    const known = await this.#oldest(tallies);
    const isDue = (time: number | null, limit: number): boolean => time !== null && time < limit;
    const found = new Map<string, Due>();
    for (const [id, { oldest }] of known) {
      const due: Due = {
        waiting: isDue(oldest.waiting, before.waiting),
        delivered: isDue(oldest.delivered, before.delivered),
        dead: isDue(oldest.dead, before.dead),
      };
      if (!due.waiting && !due.delivered && !due.dead) continue;
      found.set(id, due);
      known.delete(id);
    }
    this.#known = known;
    return found;
  }

  async #oldest(tallies: readonly Tally[]): Promise<Map<string, Known>> {
    const known = new Map<string, Known>();
    const changed: Tally[] = [];
    for (const tally of tallies) {
      const before = this.#known.get(tally.webhookId);
      if (before !== undefined && isSame(before.tally, tally)) known.set(tally.webhookId, before);
      else changed.push(tally);
    }
    for (let from = 0; from < changed.length; from += webhooksAtOnce) {
      const piece = new Map(changed.slice(from, from + webhooksAtOnce).map((tally) => [tally.webhookId, tally]));
      for (const oldest of await this.#deliveries.oldestOf([...piece.keys()])) {
        const tally = piece.get(oldest.webhookId);
        if (tally !== undefined) known.set(oldest.webhookId, { tally, oldest });
      }
    }
    return known;
  }
}
