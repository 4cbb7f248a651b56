/** Media: one file, shown in one of the ways that the platform knows. */

/** `videoplay`: plays by itself and without sound, as GIFs do. `ptt` and `myaudio`: voice messages. `ptv`: a round video message. */
export const mediaKinds = ['image', 'video', 'videoplay', 'document', 'audio', 'myaudio', 'ptt', 'ptv', 'sticker'] as const;

export type MediaKind = (typeof mediaKinds)[number];

/** A file as the client names it: nobody has looked at it yet. */
export interface GivenFile {
  /** URL, data URL or base64. */
  readonly source: string;
  readonly as: MediaKind;
  /** URL, data URL or base64 of a picture to show in place of the own one; '' for none. */
  readonly thumbnail: string;
  /** What a document's content does not say by itself; '' for nothing. */
  readonly mimetype: string;
  /** Name of a document; '' for that of the source. */
  readonly filename: string;
}

/** What an instance keeps. Two instances that keep the same bytes have a `KeptFile` each, and neither name leads to the other. */
export interface KeptFile {
  /** Unguessable (128 bits); it is the right to read the file. */
  readonly name: string;
  /** Absolute address of the file. */
  readonly url: string;
  /** SHA-256 of the bytes, in hex. */
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
  readonly mimetype: string;
  /** '' when it has none. */
  readonly filename: string;
}

/** A file that the gateway keeps for the instance, ready to be sent. Plain data: it waits in the asynchronous queue. */
export interface Attachment extends KeptFile {
  /** A small JPEG in base64; null when there is nothing to show. */
  readonly thumbnail: string | null;
  /** Pixels as they are shown; null where there are none or they are not known. */
  readonly width: number | null;
  readonly height: number | null;
  readonly seconds: number | null;
  /** 64 values from 0 to 100, in base64; of voice messages only. */
  readonly waveform: string | null;
  readonly isAnimated: boolean;
}

export interface MediaContent {
  readonly kind: 'media';
  readonly as: MediaKind;
  /** Taken before the message is accepted: what is composed or stored has an `Attachment`. */
  readonly file: GivenFile | Attachment;
  readonly caption: string;
  readonly viewOnce: boolean;
}

export const isTaken = (file: GivenFile | Attachment): file is Attachment => !('source' in file);

/** A file on this machine's disk that nobody keeps yet. */
export interface TakenFile {
  /** In a temporary folder of the data folder. */
  readonly path: string;
  /** Bytes; never 0. */
  readonly size: number;
  /** SHA-256 of the bytes, in hex: the same bytes are the same file. */
  readonly hash: string;
  /** By content, not by name or by what a server said; `application/octet-stream` when the content tells nothing. */
  readonly mimetype: string;
  /** As the source named it, without folders; '' when it had no name. */
  readonly filename: string;
  /** Removes the file unless it was moved away. Idempotent, never rejects. */
  discard(): Promise<void>;
  /** Says that the file was moved away; without it `discard` would look for it. */
  moved?(): void;
}
