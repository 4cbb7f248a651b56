/** Connects to the embedded database server in the data folder of a gateway, for checks of the stored rows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase } from '#src/storage/postgres/database.ts';
import { urlOf } from '#src/storage/postgres/server-password.ts';
import { quietLog, testLimits } from './database.ts';

/** Returns the connection string of the running server. */
export const embeddedUrl = (dataDir: string): string => {
  const root = join(dataDir, 'postgres');
  return urlOf(join(root, 'data'), readFileSync(join(root, 'password'), 'utf8').trim());
};

/** Runs `work` with one connection to the running server. */
export const inEmbedded = async <T>(dataDir: string, work: (database: Database) => Promise<T>): Promise<T> => {
  const database = await openDatabase({ url: embeddedUrl(dataDir), log: quietLog, poolSize: 1, limits: testLimits });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
};
