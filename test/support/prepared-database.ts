/**
 * The folder of an embedded server, made by the program's own code and brought up to date once. Tests that start the program copy it: to make one
 * anew took a third of the processor time of such a start. Tests of starts still make their own (`fresh`).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#test/source-tree.ts';
import { schemaStamp } from './schema-stamp.ts';

const cache = join(root, 'node_modules', '.cache', 'prepared-database');
const folder = join(cache, schemaStamp());

/** The program's storage is loaded for this alone, which most runs need not do. */
const make = async (): Promise<void> => {
  const [{ migrate, startEmbedded }, { quietLog }] = await Promise.all([import('#src/storage/open.ts'), import('./database.ts')]);
  mkdirSync(cache, { recursive: true });
  const making = mkdtempSync(join(cache, 'making-'));
  try {
    const server = await startEmbedded({ dataDir: making, log: quietLog, settings: { fsync: 'off' } });
    await migrate(server.url, quietLog);
    await server.close(true);
    rmSync(join(making, 'postgres', 'server.log'), { force: true });
    renameSync(making, folder);
  } catch (error) {
    // Another test file was faster.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
};

if (!existsSync(folder)) await make();

/** Into a data folder that holds no server yet. */
export const copyPreparedDatabase = (dataDir: string): void => {
  // The server's files belong to a user of their own where the tests run as root.
  const { status, stderr } = spawnSync('cp', ['-a', join(folder, 'postgres'), join(dataDir, 'postgres')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the prepared database could not be copied: ${stderr}`);
};
