/** Shared parts of one preparation: paths for new files, limits, and the deadline. */
import { removeFile, type TemporaryFolder } from '#src/files/blobs.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import type { Media } from './media.ts';
import type { PreparedMedia, PrepareWishes, SourceFile } from './prepared.ts';

/** The file tasks of the thread pool. */
export interface MediaWork extends Pick<Media, 'picture' | 'tracks'> {
  /** A JPEG of at most 10 KB; null when the picture cannot be read. */
  thumbnail(picture: Uint8Array, signal: AbortSignal): Promise<Uint8Array | null>;
}

export interface MediaLimits {
  /** Most pixels of a picture, of all its frames together. */
  readonly maxPixels: number;
  /** Longest side of a picture, in pixels. */
  readonly maxSide: number;
  /** Most bytes of a prepared file. */
  readonly maxBytes: number;
  /** Time limit of a picture, from its turn on. */
  readonly pictureMs: number;
}

/** A prepared file without its owner. */
export type Made = Omit<PreparedMedia, 'discard'>;

/** The facts of a file about which nothing is known. */
export const noFacts = {
  thumbnail: null,
  width: null,
  height: null,
  seconds: null,
  waveform: null,
  isAnimated: false,
} as const satisfies Partial<Made>;

export interface Bench {
  readonly media: MediaWork;
  /** null on a machine without it. */
  readonly ffmpeg: Ffmpeg | null;
  readonly limits: MediaLimits;
  /** Aborts when the time is over, when no caller waits any more, and when the server stops. */
  readonly signal: AbortSignal;
  readonly wishes: PrepareWishes;
  /** A path for a file, which is removed after the work unless it is the result. */
  newPath(): string;
  /** Gives back a path at which no file was made. */
  unused(path: string): void;
}

/** Fails with `MediaFailure`. The result is the source itself where nothing had to be changed. */
export type Maker = (file: SourceFile, bench: Bench) => Promise<Made>;

/** Paths of one preparation. */
export class Scraps {
  readonly #folder: TemporaryFolder;
  readonly #paths = new Set<string>();

  constructor(folder: TemporaryFolder) {
    this.#folder = folder;
  }

  newPath(): string {
    const path = this.#folder.newPath();
    this.#paths.add(path);
    return path;
  }

  /** Says that nothing was made there, so that nothing is looked for. */
  unused(path: string): void {
    this.#paths.delete(path);
  }

  /** Removes all files but one. Returns a function that removes this one if it was made here. */
  async removeAllBut(kept: string | null): Promise<() => Promise<void>> {
    const isMade = kept !== null && this.#paths.delete(kept);
    await Promise.all([...this.#paths].map(removeFile));
    return async () => {
      if (isMade) await removeFile(kept);
    };
  }
}
