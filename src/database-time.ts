/** Compares the clock of a gateway without other nodes with that of its database. Nodes hear the database's time with every renewal of their lease. */
import { StorageFailure } from '#actors/ports.ts';
import type { NodeTime } from '#src/node-time.ts';

/** In milliseconds. */
const everyMs = 10_000;

export interface DatabaseTimeInput {
  readonly time: Pick<NodeTime, 'noteDatabaseTime'>;
  /** The database's clock, in Unix milliseconds. */
  ask(): Promise<number>;
}

/** Asks once before it answers. A database that is away is asked again later. */
export const followDatabaseTime = async ({ time, ask }: DatabaseTimeInput): Promise<{ close(): Promise<void> }> => {
  const look = async (): Promise<void> => {
    const asked = performance.now();
    try {
      time.noteDatabaseTime(await ask(), performance.now() - asked);
    } catch (error) {
      if (!(error instanceof StorageFailure)) throw error;
    }
  };
  await look();
  let underWay = Promise.resolve();
  const timer = setInterval(() => void (underWay = look()), everyMs).unref();
  return {
    async close() {
      clearInterval(timer);
      await underWay;
    },
  };
};
