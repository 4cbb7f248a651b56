/** The connection string of the embedded server of a data folder, for tests that look behind the gateway which has it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { urlOf } from '#src/storage/postgres/server-password.ts';

export const embeddedUrl = (dataDir: string): string => {
  const root = join(dataDir, 'postgres');
  return urlOf(join(root, 'data'), readFileSync(join(root, 'password'), 'utf8').trim());
};
