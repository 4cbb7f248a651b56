/** Work that would block the event loop, done in a small pool of threads. */
import { writeFile } from 'node:fs/promises';
import { Piscina } from 'piscina';
import type { Media as MediaPort } from '#actors/ports.ts';
import { onTemporaryDisk, removeFile, type TemporaryFolder } from '#src/files/blobs.ts';
import { Slots } from './bounded-work.ts';
import type { PictureOutcome, PictureTask } from './picture-worker.ts';
import type { Seal, SealKeys, SealTask } from './seal-worker.ts';
import type { TrackFacts } from './track-facts.ts';
import type { PreviewTask } from './worker.ts';

/** JPEGs of one picture. */
export interface PreviewPictures {
  /** At most 10 KB, because the picture is part of the message. */
  readonly small: Uint8Array;
  /** Sides of at most 800 pixels, because the picture is uploaded. */
  readonly large: { readonly jpeg: Uint8Array; readonly width: number; readonly height: number } | null;
}

/** The purpose of a picture. A portrait is the picture of a group or a person. */
export type PictureKind = 'image' | 'sticker' | 'portrait' | 'product';

/** The tasks of the pool. After `close` every method rejects. */
export interface Media extends MediaPort {
  /**
   * Generates `count` X25519 key pairs in one array, which the caller owns. A pair has 64 bytes: the private key and then the public key.
   * Both are raw, without the version byte that Signal puts before public keys.
   */
  generatePreKeys(count: number): Promise<Uint8Array>;
  /**
   * Makes the pictures of a link's preview; `large` only if requested. Returns null if the picture cannot be read, is too large or takes too long, or
   * if sharp is not installed. If the signal aborts, rejects and ends the thread.
   */
  previewPictures(picture: Uint8Array, large: boolean, signal: AbortSignal): Promise<PreviewPictures | null>;
  /** Converts a picture, or reports that it may stay unchanged. If the signal aborts, rejects and ends the thread. */
  picture(as: PictureKind, task: PictureTask, signal: AbortSignal): Promise<PictureOutcome>;
  /** Reads the tracks of an audio or video file without ffmpeg. Returns null if the file cannot be read. Rejects if the signal aborts. */
  tracks(path: string, signal: AbortSignal): Promise<TrackFacts | null>;
  /** Encrypts a file into another file. If the signal aborts, rejects and ends the thread. */
  seal(task: SealTask, signal: AbortSignal): Promise<Seal>;
  /** Ends the threads and aborts their work. */
  close(): Promise<void>;
}

/** Worker files whose libraries are large. Only threads that run their tasks load them. */
const pictureWorker = new URL('./picture-worker.ts', import.meta.url).href;
const trackWorker = new URL('./track-worker.ts', import.meta.url).href;
const sealWorker = new URL('./seal-worker.ts', import.meta.url).href;
const pictureTasks: Readonly<Record<PictureKind, string>> = {
  image: 'prepareImage',
  sticker: 'prepareSticker',
  portrait: 'preparePortrait',
  product: 'prepareProduct',
};

/** The time after which an idle thread ends. Threads start with the first task, so an idle gateway has none. In milliseconds. */
const idleMs = 30_000;

/** Makes the pool. `maxPixels`: the limit of a preview's source; the default is that of MEDIA_MAX_PIXELS. */
export const createMedia = ({ threads = 2, maxPixels = 50_000_000 }: { threads?: number; maxPixels?: number } = {}): Media => {
  const pool = new Piscina({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idleMs,
    env: {},
    // A thread that waits by `Atomics.wait` for its next task is sometimes not woken by its termination (measured: once in 20 stops). The stop would wait
    // for the end of this thread.
    atomics: 'disabled',
  });
  return {
    qrPng: (text) => pool.run(text, { name: 'qrPng' }),
    generatePreKeys: (count) => pool.run(count, { name: 'generatePreKeys' }),
    previewPictures: (picture, large, signal) =>
      pool.run({ picture, large, maxPixels } satisfies PreviewTask, { name: 'previewPictures', signal }),
    picture: (as, task, signal) => pool.run(task, { filename: pictureWorker, name: pictureTasks[as], signal }),
    tracks: (path, signal) => pool.run(path, { filename: trackWorker, name: 'trackFacts', signal }),
    seal: (task, signal) => pool.run(task, { filename: sealWorker, name: 'seal', signal }),
    close: () => pool.destroy(),
  };
};

// Encrypted copies of files for the platform's media hosts, in the temporary folder.

export type { SealKeys } from './seal-worker.ts';

interface SealedCopy extends Seal {
  readonly path: string;
  /** Removes the copy. Idempotent, never rejects. */
  release(): Promise<void>;
}

export interface Sealing {
  /**
   * Encrypts a file. Rejects after a failure, with `FilesUnavailable` if the disk is full, and when the signal aborts. After a rejection no copy is left.
   */
  seal(path: string, keys: SealKeys, signal: AbortSignal): Promise<SealedCopy>;
}

/** Makes the sealing. `threads`: the largest number of files that are encrypted at the same time. */
export const createSealing = (media: Pick<Media, 'seal'>, folder: Pick<TemporaryFolder, 'newPath'>, threads: number): Sealing => {
  // All instances share one queue. A file is encrypted within a second, so no file waits long.
  const slots = new Slots(threads, { perKey: threads });
  const seal = async (path: string, keys: SealKeys, signal: AbortSignal): Promise<SealedCopy> => {
    const target = folder.newPath();
    const release = (): Promise<void> => removeFile(target);
    try {
      await onTemporaryDisk(writeFile(target, '', { flag: 'wx', mode: 0o600 }));
      return { ...(await onTemporaryDisk(media.seal({ path, target, keys }, signal))), path: target, release };
    } catch (error) {
      await release();
      throw error;
    }
  };
  return { seal: (path, keys, signal) => slots.run('', signal, () => seal(path, keys, signal)) };
};
