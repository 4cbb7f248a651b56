/** Holds a database server in its crash recovery. The server has much write-ahead log after the last checkpoint, and is paused while it reads the log. */
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { quietLog } from './database.ts';
import { databaseServers, signalTo } from './processes.ts';
import { patience } from './until.ts';

/** Settings of a server without checkpoints, which would shorten the recovery. */
export const unwritten = { fsync: 'off', max_wal_size: '4GB', checkpoint_timeout: '1h' } as const;

/** Writes about 50 MB of write-ahead log. */
export const writeLog = async (url: string): Promise<void> => {
  const limits = { statement: 120_000, connection: 10_000 };
  const database = await openDatabase({ url, log: quietLog, poolSize: 1, limits });
  await database.rows(
    { name: '', text: `create table log_of_test as select n, md5(n::text) as text from generate_series(1, 400000) as n` },
    [],
  );
  await database.rows({ name: '', text: `create index on log_of_test (text)` }, []);
  await database.close();
};

/** Pauses the starting server of this folder while it reads its log. Returns the process id. SIGCONT continues the process. */
export const held = async (folder: string, before: number): Promise<number> => {
  // The server reads its log within a second, so the loop polls every 2 ms.
  for (const deadline = Date.now() + patience; Date.now() < deadline; await wait(2)) {
    const pid = databaseServers(folder).find((one) => one !== before);
    if (pid !== undefined && signalTo(pid, 'SIGSTOP')) return pid;
  }
  throw new Error(`in ${patience} ms no server started`);
};
