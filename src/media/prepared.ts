/** The result of preparing a file for a kind of message. */
import type { MediaKind, Result } from '#actors/model.ts';

/** Longest side of a thumbnail in pixels: as small as the platform's own programs make it. */
export const thumbnailSide = 32;

/** A file to prepare. It is only read, and its owner removes it. A `TakenFile` is such a file. */
export interface SourceFile {
  readonly path: string;
  readonly size: number;
  /** The type by content. */
  readonly mimetype: string;
}

export interface PreparedMedia extends SourceFile {
  /** A small JPEG that travels in the message; null when there is nothing to show. */
  readonly thumbnail: Uint8Array | null;
  /** Pixels as they are shown, after turning; null for what has none, or where they could not be found out. */
  readonly width: number | null;
  readonly height: number | null;
  /** Length in seconds, rounded to milliseconds; null for what has none. */
  readonly seconds: number | null;
  /** 64 values from 0 to 100, for `ptt`; null where it could not be made. */
  readonly waveform: Uint8Array | null;
  readonly isAnimated: boolean;
  /** Removes what was made; the source stays. `path` may be that of the source, and is not to be moved away then. Idempotent, never rejects. */
  discard(): Promise<void>;
}

export interface PrepareWishes {
  /** A picture to show in place of the own one: a file, or its bytes. One that cannot be read is a refusal. */
  readonly thumbnail?: string | Uint8Array | undefined;
  /** The type of a document, used if its content does not tell one. */
  readonly mimetype?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Prepares files. Refusals: `notConvertible` if the content is of another kind or the machine lacks a program; `tooLarge` for too many bytes, pixels or
 * seconds; `invalid` for damaged files. `limited` if the file did not get its turn in time; `unavailable` after an abort and while the server stops. No file
 * is left after a refusal.
 */
export interface MediaWorkshop {
  prepare(file: SourceFile, as: MediaKind, wishes?: PrepareWishes): Promise<Result<PreparedMedia>>;
  /** A JPEG of a picture, as it stands for a group or a person (square) or for a product. */
  portrait(
    file: SourceFile,
    as: 'portrait' | 'product',
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Result<PreparedMedia>>;
  /** The sound of an audio or video file as an MP3; one that is an MP3 stays as it is. */
  toMp3(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<Result<PreparedMedia>>;
  /** Refuses everything from now on, and ends what is under way. */
  close(): Promise<void>;
}
