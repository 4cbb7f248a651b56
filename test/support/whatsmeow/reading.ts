/** Reads stores of whatsmeow in tests, and creates files for these stores in one folder. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Found, Reader, SourceOptions } from '#src/moving/session.ts';
import { keysOf } from './paired.ts';
import { createTables, type Held, type Schema, sqliteTarget, type Target, writeDevice } from './writer.ts';

export const options = (given: Partial<SourceOptions>): SourceOptions => ({
  path: null,
  url: null,
  keys: null,
  secret: null,
  signal: AbortSignal.timeout(60_000),
  ...given,
});

/** Returns the sessions of a reader. The keys of each session are read before the next session. */
export const readAll = (reader: Reader, given: Partial<SourceOptions>): Promise<readonly Found[]> =>
  Array.fromAsync(reader.read(options(given)), async (found) => {
    if (found.found === 'session') await keysOf(found);
    return found;
  });

export const told = (found: Found): string => (found.found === 'refused' ? `${found.name}: ${found.reason}` : found.name);

export interface TestFolder {
  readonly folder: string;
  newFile(): string;
  newFolder(): Promise<string>;
}

/** Returns functions for files in a folder that is removed after the tests of the file. Call this at the top of a test file. */
export const openTestFolder = async (): Promise<TestFolder> => {
  const folder = await mkdtemp(join(tmpdir(), 'whatsmeow-'));
  after(() => rm(folder, { recursive: true, force: true }));
  let count = 0;
  return {
    folder,
    newFile: () => join(folder, `${(count += 1)}.db`),
    async newFolder() {
      const path = join(folder, String((count += 1)));
      await mkdir(path);
      return path;
    },
  };
};

/** Writes devices into a new store. Returns its path. */
export const storeOf = async (
  path: string,
  devices: readonly Held[],
  change: (target: Target) => Promise<void> = async () => undefined,
  schema: Schema = 15,
): Promise<string> => {
  const target = sqliteTarget(path);
  await createTables(target, schema);
  for (const device of devices) await writeDevice(target, device, { schema });
  await change(target);
  await target.close();
  return path;
};
