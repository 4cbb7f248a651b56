/** Media: one file, and the way in which the platform shows it. */

/** The ways to send a file. `videoplay`: plays without sound, like a GIF. `ptt` and `myaudio`: voice messages. `ptv`: a round video message. */
export const mediaKinds = ['image', 'video', 'videoplay', 'document', 'audio', 'myaudio', 'ptt', 'ptv', 'sticker'] as const;

export type MediaKind = (typeof mediaKinds)[number];

/** A file as the client names it. The gateway has not fetched or checked it. */
export interface GivenFile {
  /** URL, data URL or base64. */
  readonly source: string;
  readonly as: MediaKind;
  /** URL, data URL or base64 of a picture that replaces the generated thumbnail; '' for none. */
  readonly thumbnail: string;
  /** The MIME type of a document whose content does not identify its type; '' for none. */
  readonly mimetype: string;
  /** Name of a document; '' for the name of the source. */
  readonly filename: string;
}

/** A file that an instance keeps. Two instances with the same bytes have a `KeptFile` each, and neither name reveals the other. */
export interface KeptFile {
  /** An unguessable name (128 bits). The name authorises reading the file. */
  readonly name: string;
  /** Absolute URL of the file. */
  readonly url: string;
  /** SHA-256 of the bytes, in hex. */
  readonly hash: string;
  /** The size in bytes. */
  readonly size: number;
  readonly mimetype: string;
  /** '' if the file has no name. */
  readonly filename: string;
}

/** A file that the gateway keeps for the instance, ready to be sent. Plain data, because it waits in the asynchronous queue. */
export interface Attachment extends KeptFile {
  /** A small JPEG in base64; null if the file has no picture. */
  readonly thumbnail: string | null;
  /** The displayed size in pixels; null if unknown, or if the file has no size. */
  readonly width: number | null;
  readonly height: number | null;
  readonly seconds: number | null;
  /** 64 values from 0 to 100, in base64. Only voice messages have one. */
  readonly waveform: string | null;
  readonly isAnimated: boolean;
}

export interface MediaContent {
  readonly kind: 'media';
  readonly as: MediaKind;
  /** The file. A `GivenFile` becomes an `Attachment` before the message is accepted, so composed and stored messages hold an `Attachment`. */
  readonly file: GivenFile | Attachment;
  readonly caption: string;
  readonly viewOnce: boolean;
}

export const isTaken = (file: GivenFile | Attachment): file is Attachment => !('source' in file);

/** A file on the local disk that no instance keeps yet. */
export interface TakenFile {
  /** The path, in a temporary folder of the data folder. */
  readonly path: string;
  /** The size in bytes; never 0. */
  readonly size: number;
  /** SHA-256 of the bytes in hex. Equal bytes are one file. */
  readonly hash: string;
  /** The type by content, never by file name or response header; `application/octet-stream` if the content is not recognised. */
  readonly mimetype: string;
  /** The name at the source, without folders; '' if the source gave none. */
  readonly filename: string;
  /** Removes the file unless it was moved away. Idempotent, never rejects. */
  discard(): Promise<void>;
  /** Tells `discard` that the file was moved away. */
  moved?(): void;
}
