/** Files in the form in which media hosts get them, as files of the temporary folder. */
import { writeFile } from 'node:fs/promises';
import { removeFile, type TemporaryFolder } from '#src/files/temporary-folder.ts';
import type { Media } from './media.ts';
import type { Seal, SealKeys } from './seal-worker.ts';
import { Slots } from './bounded-work.ts';

export type { SealKeys } from './seal-worker.ts';

export interface SealedCopy extends Seal {
  readonly path: string;
  /** Removes the copy. Idempotent, never rejects. */
  release(): Promise<void>;
}

export interface Sealing {
  /** Encrypts a file. Rejects when that fails and when the signal aborts; no copy is left then. */
  seal(path: string, keys: SealKeys, signal: AbortSignal): Promise<SealedCopy>;
}

/** `threads`: how many work at once. */
export const createSealing = (media: Pick<Media, 'seal'>, folder: Pick<TemporaryFolder, 'newPath'>, threads: number): Sealing => {
  const slots = new Slots(threads);
  const seal = async (path: string, keys: SealKeys, signal: AbortSignal): Promise<SealedCopy> => {
    const target = folder.newPath();
    const release = (): Promise<void> => removeFile(target);
    try {
      await writeFile(target, '', { flag: 'wx', mode: 0o600 });
      return { ...(await media.seal({ path, target, keys }, signal)), path: target, release };
    } catch (error) {
      await release();
      throw error;
    }
  };
  return { seal: (path, keys, signal) => slots.run(signal, () => seal(path, keys, signal)) };
};
