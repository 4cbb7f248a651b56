/** Combines small tasks of many callers into batches. A request that comes while a batch is under way joins the next batch. */
import { StorageFailure, StorageSlow } from '../ports.ts';

interface Ask<T> {
  readonly items: readonly T[];
  readonly settle: PromiseWithResolvers<void>;
}

/**
 * Returns a function that adds items to the next batch. `work` takes a whole batch. If `work` rejects the content, or takes too long, the items of
 * each caller are retried alone. One bad item then costs only its caller. `rest` delays each following batch, so that more requests can join it.
 */
export function microBatch<T>(
  work: (items: readonly T[]) => Promise<void>,
  rest: () => Promise<void> = () => Promise.resolve(),
): (items: readonly T[]) => Promise<void> {
  let waiting: Ask<T>[] = [];
  let working = false;

  const alone = async ({ items, settle }: Ask<T>): Promise<void> => {
    await work(items).then(settle.resolve, settle.reject);
  };
  const together = async (asks: readonly Ask<T>[]): Promise<void> => {
    try {
      await work(asks.flatMap(({ items }) => items));
      for (const { settle } of asks) settle.resolve();
    } catch (error) {
      const apart = !(error instanceof StorageFailure) || error instanceof StorageSlow;
      if (asks.length > 1 && apart) for (const ask of asks) await alone(ask);
      else for (const { settle } of asks) settle.reject(error);
    }
  };
  const run = async (): Promise<void> => {
    working = true;
    while (waiting.length > 0) {
      const asks = waiting;
      waiting = [];
      await together(asks);
      if (waiting.length > 0) await rest();
    }
    working = false;
  };

  return (items) => {
    if (items.length === 0) return Promise.resolve();
    const settle = Promise.withResolvers<void>();
    waiting.push({ items, settle });
    if (!working) void run();
    return settle.promise;
  };
}
