/**
 * The folder of an embedded server, created by the program and migrated once. Tests that start the program copy this folder, because creating it takes a
 * third of the processor time of a start. Tests of starts still create their own (`fresh`).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#test/source-tree.ts';
import { schemaStamp } from './schema-stamp.ts';

const cache = join(root, 'node_modules', '.cache', 'prepared-database');
const folder = join(cache, schemaStamp());

/** Creates the folder. Loads the storage of the program only here, because most runs do not create the folder. */
const make = async (): Promise<void> => {
  const [{ EmbeddedServer, migrate }, { quietLog }] = await Promise.all([import('#src/storage/open.ts'), import('./database.ts')]);
  mkdirSync(cache, { recursive: true });
  const making = mkdtempSync(join(cache, 'making-'));
  try {
    const server = await EmbeddedServer.start({ dataDir: making, log: quietLog, settings: { fsync: 'off' } });
    await migrate(server.url, quietLog);
    await server.close(true);
    rmSync(join(making, 'postgres', 'server.log'), { force: true });
    renameSync(making, folder);
  } catch (error) {
    // Another test file created the folder first.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
};

if (!existsSync(folder)) await make();

/** Copies the prepared folder into a data folder without a server. */
export const copyPreparedDatabase = (dataDir: string): void => {
  // `cp -a` keeps the owner of the files, which is a separate user if the tests run as root.
  const { status, stderr } = spawnSync('cp', ['-a', join(folder, 'postgres'), join(dataDir, 'postgres')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the prepared database could not be copied: ${stderr}`);
};
