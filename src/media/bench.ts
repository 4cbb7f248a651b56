/** Shared parts of one preparation: paths for new files, limits, and the deadline. */
import { removeFile, type TemporaryFolder } from '#src/files/blobs.ts';
import type { BoundedTask } from './bounded-work.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import type { PictureKind } from './media.ts';
import type { PictureOutcome, PictureTask } from './picture-worker.ts';
import type { PreparedMedia, PrepareWishes, SourceFile } from './prepared.ts';
import type { TrackFacts } from './track-facts.ts';

/** The file tasks of the thread pool. Each task waits for a slot. */
export interface MediaWork {
  picture(as: PictureKind, task: PictureTask): Promise<PictureOutcome>;
  tracks(path: string): Promise<TrackFacts | null>;
  /** Makes a JPEG of at most 10 KB. Returns null if the picture cannot be read. */
  thumbnail(picture: Uint8Array): Promise<Uint8Array | null>;
}

export interface MediaLimits {
  /** Largest number of pixels in a picture, over all its frames. */
  readonly maxPixels: number;
  /** Longest side of a picture, in pixels. */
  readonly maxSide: number;
  /** Largest size of a prepared file, in bytes. */
  readonly maxBytes: number;
  /** Time-out of a picture, from the start of its conversion. In milliseconds. */
  readonly pictureMs: number;
}

/** A prepared file without the method that removes it. */
export type Made = Omit<PreparedMedia, 'discard'>;

/** The facts of a file if none are known. */
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
  /** Runs ffmpeg; null if the machine does not have the program. */
  readonly ffmpeg: Ffmpeg | null;
  readonly limits: MediaLimits;
  readonly task: BoundedTask;
  readonly wishes: PrepareWishes;
  /** Returns a path for a new file. The file is removed after the work unless it is the result. */
  newPath(): string;
}

/** Makes the file for a message. Returns the source itself if it needs no change. Fails with `MediaFailure`. */
export type Maker = (file: SourceFile, bench: Bench) => Promise<Made>;

/** The temporary paths of one preparation. */
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

  /** Removes all files except `kept`. Returns a function that also removes `kept`, if this preparation made this file. */
  async removeAllBut(kept: string | null): Promise<() => Promise<void>> {
    const isMade = kept !== null && this.#paths.delete(kept);
    await Promise.all([...this.#paths].map(removeFile));
    return async () => {
      if (isMade) await removeFile(kept);
    };
  }
}
