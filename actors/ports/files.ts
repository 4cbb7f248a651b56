/** Files that the gateway keeps for instances: files of sent and received messages, and their conversions. */
import type { Attachment, GivenFile, InstanceId, KeptFile, Message, Result, TakenFile } from '../model.ts';

export type { KeptFile, TakenFile } from '../model.ts';

/** The facts that a message states about its file. */
export interface MediaFacts {
  /** SHA-256 of the file in hex; '' if the sender gave none. */
  readonly hash: string;
  /** The kind, as in `mediaType` of a message: `image`, `ptt`, … */
  readonly kind: string;
  /** The size; 0 if unknown. In bytes. */
  readonly size: number;
  readonly mimetype: string;
  /** '' for all files except documents. */
  readonly filename: string;
}

/** Reads the file facts of a message, or of the message that it quotes if `quoted` is true. Returns null if there is no file. Pure. */
export type ReadMedia = (message: Pick<Message, 'raw'>, quoted: boolean) => MediaFacts | null;

/**
 * Facts about a file to keep. If the instance keeps the same bytes already, new facts replace the stored facts. The stored MIME type does not change.
 */
export interface FileAbout {
  /** The platform's id of the message to which the file belongs. */
  readonly messageId?: string;
  /** The type and the name to store in place of those of the taken file; '' or absent to use those of the taken file. */
  readonly mimetype?: string;
  readonly filename?: string;
  /** The hash of the file from which this file was converted. */
  readonly madeOf?: string;
}

/** The search key of a kept file. `madeOf` and `mimetype` name a converted file by the hash of its original and by its own type. */
export type FileKey = { readonly hash: string } | { readonly messageId: string } | { readonly madeOf: string; readonly mimetype: string };

/** The first and the last byte, inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A file under a local path, for programs that read files by path. No caller may write to the path. */
export interface LocalCopy {
  readonly path: string;
  /** Releases the path. The path is not valid afterwards. Idempotent, never rejects. */
  release(): Promise<void>;
}

/**
 * The file store. Methods that read bytes return null if the bytes are missing. The row is then deleted too, unless another node may have the bytes.
 * Methods reject with `FilesUnavailable` if the store does not answer, and with its subclass `FileUnreadable` if only this file cannot be read.
 */
export interface FileStore {
  /** Keeps the bytes and discards the taken file, whatever the outcome. Returns null if the instance was removed meanwhile. */
  keep(instance: InstanceId, file: TakenFile, about?: FileAbout): Promise<KeptFile | null>;
  /** Returns a file only if its bytes exist. Counts as a use of the file. */
  find(instance: InstanceId, key: FileKey): Promise<KeptFile | null>;
  /** Returns the file of any instance by its public name. Accepts any text. Counts as a use of the file. */
  named(name: string): Promise<KeptFile | null>;
  /** Returns the instance that keeps a file under this name, on any node; null if none does. */
  holder(name: string): Promise<InstanceId | null>;
  /** Reads the file or a range of it. The reader must read to the end or return the iterator. */
  read(file: KeptFile, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>;
  /** Reads the whole file into memory. Only for small files. The caller owns the buffer. */
  whole(file: KeptFile): Promise<Uint8Array | null>;
  localCopy(file: KeptFile): Promise<LocalCopy | null>;
  /** Reads a file to its end and discards the bytes, to find the fault after work on its local copy failed. Rejects if the store cannot read the file. */
  readThrough(file: KeptFile): Promise<void>;
  /** The size of all kept blobs, each counted once; null until `audit` has checked every part. In bytes. */
  readonly bytes: number | null;
  /** Removes at most `limit` files without use since `before` (Unix milliseconds), the longest unused first. Returns the number of removed files. */
  removeUnused(before: number, limit: number): Promise<number>;
  /**
   * Works like `removeUnused`, but only for files whose bytes are in this store. Frees the disk of a node that keeps its files in a folder of its own. If all
   * bytes are in this store, both methods do the same.
   */
  removeUnusedHere(before: number, limit: number): Promise<number>;
  /** Removes a batch of the files of one instance. Returns the number of removed files; 0 if none are left. */
  removeOf(instance: InstanceId): Promise<number>;
  /** The number of parts into which the files are divided for `audit`. */
  readonly parts: number;
  /** Removes bytes without a row and rows without bytes in one part (counted from 0). Returns both numbers. */
  audit(part: number): Promise<{ readonly blobs: number; readonly rows: number }>;
}

/** Conversion and transcription of audio. */
export interface Sounds {
  /** Converts a file to MP3. Refuses with `notConvertible` if this machine cannot convert it, or if the file has no audio. */
  toMp3(instance: InstanceId, path: string): Promise<Result<TakenFile>>;
  /** Transcribes speech with a service that the key pays for. A refusal has a sentence for the owner of the key. */
  transcribe(sound: { readonly path: string; readonly name: string; readonly mimetype: string }, key: string): Promise<Result<string>>;
}

/** A stored row of a file. The row records that an instance keeps these bytes. Times in Unix milliseconds. */
export interface FileRow extends Omit<KeptFile, 'url'> {
  readonly instanceId: InstanceId;
  /** '' if unknown. */
  readonly messageId: string;
  readonly madeOf: string;
  readonly created: number;
  readonly used: number;
}

/** The stored bytes of a file. Several rows can share one blob. */
export interface Blob {
  readonly hash: string;
  readonly size: number;
}

/** Rows of files. A method that removes rows returns their blobs, so that the caller can delete bytes that no other row keeps. */
export interface FileRows {
  /** Returns the row under which the instance now keeps these bytes: an existing row or the given row. Returns null if the instance was removed. */
  add(row: FileRow): Promise<FileRow | null>;
  find(instance: InstanceId, key: FileKey): Promise<FileRow | null>;
  named(name: string): Promise<FileRow | null>;
  touch(name: string, used: number): Promise<void>;
  /**
   * Runs the work unless an instance keeps these bytes. During the work no node can add a row for the bytes. The work must end within 60 s. Returns true
   * if the work ran.
   */
  whileUnkept(hash: string, work: () => Promise<void>): Promise<boolean>;
  /** Returns all kept blobs whose hash begins with this text, each once, in order. */
  startingWith(prefix: string): Promise<readonly Blob[]>;
  /** Removes all rows of a hash whose bytes are missing. */
  removeHash(hash: string): Promise<void>;
  /** Removes at most `limit` rows without use since `before`, the longest unused first. */
  removeUnused(before: number, limit: number): Promise<readonly Blob[]>;
  /** Returns at most `limit` rows without use since `before`, the longest unused first, starting after the row `after`. */
  unused(before: number, after: { readonly used: number; readonly name: string }, limit: number): Promise<readonly FileRow[]>;
  /** Removes the rows with these names that are still without use since `before`. */
  removeNamed(names: readonly string[], before: number): Promise<readonly Blob[]>;
  /** Removes at most `limit` rows of one instance. */
  removeOf(instance: InstanceId, limit: number): Promise<readonly Blob[]>;
}

// Preparation of files for messages, and of pictures for groups, people and products.

/** Prepares pictures. `portrait`: a square picture of a group or a person. `product`: a picture of a product, which keeps its proportions. */
export interface Portraits {
  /** Makes a JPEG from a URL, a data URL or base64. Refuses like `Attachments.take`, and with `notConvertible` for a file that is no picture. */
  take(instance: InstanceId, source: string, as: 'portrait' | 'product'): Promise<Result<Uint8Array>>;
}

export interface Attachments {
  /**
   * Fetches a file from the client's source, prepares it for its kind, and keeps it for the instance. Refuses with `invalid` if the source has no
   * usable file, and with `tooLarge` or `notConvertible`. `limited`: too many files are in preparation. `unavailable`: the process stops. `notFound`:
   * the instance was removed meanwhile. Rejects with `FilesUnavailable` if a disk or the store fails. Time, bytes and memory are bounded. A failure leaves no
   * file behind.
   */
  take(instance: InstanceId, given: GivenFile): Promise<Result<Attachment>>;
}
