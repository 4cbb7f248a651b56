/** Many small works of many callers become few large ones: what is asked for while one is under way goes into the next. */
import { StorageFailure, StorageSlow } from '../ports.ts';

interface Ask<T> {
  readonly items: readonly T[];
  readonly settle: PromiseWithResolvers<void>;
}

/**
 * `work` takes everything at once. When it fails for its content, or takes too long, every caller's part is done alone, so that one bad part costs only its caller.
 * `rest` is waited for between two works that follow each other: what is asked for meanwhile joins the next.
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
