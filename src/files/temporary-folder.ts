/** The folder where files stand until they are kept, sent or refused. What a crash left in it goes at the next start. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';

export interface TemporaryFolder {
  /** Absolute, on the disk of the data folder: a file moves from here into the store by a rename. */
  readonly path: string;
  /** A path where nothing is. The writer removes the file again. */
  newPath(): string;
  /** Removes all files. For the end of the process, after everybody who writes here. */
  empty(): Promise<void>;
}

/** Makes the folder when it is missing and empties it: files of a former process belong to nobody. */
export const openTemporaryFolder = async (path: string): Promise<TemporaryFolder> => {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const empty = async (): Promise<void> => {
    for (const name of await readdir(path)) await rm(join(path, name), { recursive: true, force: true });
  };
  await empty();
  return { path, empty, newPath: () => join(path, randomUUID()) };
};

/** Removes a file that may be gone or moved away. Never rejects: what stays is removed at the next start. */
export const removeFile = (path: string): Promise<void> => unlink(path).catch(() => undefined);
