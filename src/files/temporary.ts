/** A folder for files on their way: what is in it belongs to this process and means nothing to the next one. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** What was written, and its name. */
export interface Written {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 in hex. */
  readonly hash: string;
}

export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

export interface TemporaryFolder {
  /** A path at which nothing is. */
  path(): string;
  /** Writes a stream to a file of its own. Rejects with `TooLarge` beyond `most` bytes, or as the stream does; nothing is left then. */
  write(source: AsyncIterable<Uint8Array>, most: number): Promise<Written>;
  /** Idempotent, never rejects. */
  discard(path: string): Promise<void>;
}

/** Makes the folder, and empties it of what a killed process left. */
export const openTemporary = (folder: string): TemporaryFolder => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const left of readdirSync(folder)) rmSync(join(folder, left), { recursive: true, force: true });
  const discard = (path: string): Promise<void> => rm(path, { force: true }).catch(() => undefined);
  const path = (): string => join(folder, randomUUID());
  return {
    path,
    discard,
    async write(source, most) {
      const place = path();
      const sum = createHash('sha256');
      let size = 0;
      try {
        await using file = await open(place, 'wx', 0o600);
        for await (const chunk of source) {
          size += chunk.length;
          if (size > most) throw new TooLarge(`more than ${most} bytes`);
          sum.update(chunk);
          await file.appendFile(chunk);
        }
        return { path: place, size, hash: sum.digest('hex') };
      } catch (error) {
        await discard(place);
        throw error;
      }
    },
  };
};
