/** The result of preparing a file for a kind of message. */
import type { MediaKind, Result } from '#actors/model.ts';

/** Longest side of a thumbnail in pixels. The platform's own apps make thumbnails of this size. */
export const thumbnailSide = 32;

/** A file to prepare, such as a `TakenFile`. The preparation never changes or removes this file. Its owner removes the file. */
export interface SourceFile {
  readonly path: string;
  readonly size: number;
  /** The type that was detected from the content. */
  readonly mimetype: string;
}

export interface PreparedMedia extends SourceFile {
  /** A small JPEG that is part of the message; null if there is no picture. */
  readonly thumbnail: Uint8Array | null;
  /** Width and height in pixels as displayed, after rotation. Null if the file has no picture, or if the size is unknown. */
  readonly width: number | null;
  readonly height: number | null;
  /** Length in seconds, rounded to milliseconds; null if the file has no length. */
  readonly seconds: number | null;
  /** 64 values from 0 to 100, for `ptt`; null if the waveform could not be made. */
  readonly waveform: Uint8Array | null;
  readonly isAnimated: boolean;
  /**
   * Removes the prepared file; the source stays. If `path` is the path of the source, the caller must not move the file. Idempotent, never
   * rejects.
   */
  discard(): Promise<void>;
}

/** The options of a conversion. */
export interface WorkOptions {
  /** The instance whose slots the conversion uses; '' if not given. */
  readonly instance?: string;
  readonly signal?: AbortSignal | undefined;
}

export interface PrepareWishes extends WorkOptions {
  /** A picture that replaces the thumbnail of the file: a path, or bytes. A picture that cannot be read causes a refusal. */
  readonly thumbnail?: string | Uint8Array | undefined;
  /** The type of a document. It is used if the content shows no precise type. */
  readonly mimetype?: string | undefined;
}

/**
 * The preparation of files. Refusals: `notConvertible` if the content is of another kind or the machine lacks a program; `tooLarge` for too many bytes, pixels
 * or seconds; `invalid` for damaged files. Further refusals: `limited` if the preparation did not end in time; `unavailable` after an abort and while the
 * gateway stops. After a refusal, no prepared file is left.
 */
export interface MediaWorkshop {
  prepare(file: SourceFile, as: MediaKind, wishes?: PrepareWishes): Promise<Result<PreparedMedia>>;
  /** Makes a JPEG of a picture: square for a group or a person, or in its own shape for a product. */
  portrait(file: SourceFile, as: 'portrait' | 'product', options?: WorkOptions): Promise<Result<PreparedMedia>>;
  /** Converts the sound of an audio or video file to MP3. An MP3 stays unchanged. */
  toMp3(path: string, options?: WorkOptions): Promise<Result<PreparedMedia>>;
  /** Refuses all further work, and aborts the work under way. */
  close(): Promise<void>;
}
