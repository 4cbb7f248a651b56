/** Files that the gateway keeps for instances: of messages that came or went, and what was made of those. */
import type { InstanceId, KeptFile, Message, Result, TakenFile } from '../model.ts';

export type { KeptFile, TakenFile } from '../model.ts';

/** What a message says of its file. */
export interface MediaFacts {
  /** SHA-256 of the file in hex; '' when the sender did not say. */
  readonly hash: string;
  /** As `mediaType` of a message: `image`, `ptt`, … */
  readonly kind: string;
  /** Bytes, 0 when unknown. */
  readonly size: number;
  readonly mimetype: string;
  /** '' for all but documents. */
  readonly filename: string;
}

/** What a message, or with `quoted` the one that it quotes, says of its file; null when it has none. Pure. */
export type ReadMedia = (message: Pick<Message, 'raw'>, quoted: boolean) => MediaFacts | null;

/** What a file is about; the last word counts when a file is kept again. */
export interface FileAbout {
  /** The message that it belongs to, by the platform's id. */
  readonly messageId?: string;
  /** Instead of what the file itself says; '' changes nothing. */
  readonly mimetype?: string;
  readonly filename?: string;
  /** Hash of the file that it was converted from. */
  readonly madeOf?: string;
}

/** How a kept file is looked for; `madeOf` is the hash of what it was converted from, `mimetype` into what. */
export type FileKey = { readonly hash: string } | { readonly messageId: string } | { readonly madeOf: string; readonly mimetype: string };

/** First and last byte, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A file under a path of this machine, for programs that read paths. The path must not be written to. */
export interface LocalCopy {
  readonly path: string;
  /** Idempotent, never rejects. The path means nothing afterwards. */
  release(): Promise<void>;
}

/** Methods that look for bytes answer null when they are gone; the row is gone then too, unless another node may have the bytes. A store that does not answer rejects with `FilesUnavailable`. */
export interface FileStore {
  /** Keeps the bytes and discards the taken file, whatever the outcome. Null when the instance was removed meanwhile. */
  keep(instance: InstanceId, file: TakenFile, about?: FileAbout): Promise<KeptFile | null>;
  /** Only answers with files whose bytes are there. Counts as a use. */
  find(instance: InstanceId, key: FileKey): Promise<KeptFile | null>;
  /** Of any instance, by its public name; any text may be asked for. Counts as a use. */
  named(name: string): Promise<KeptFile | null>;
  /** The instance that keeps a file under this name, wherever its bytes are; null when none does. */
  holder(name: string): Promise<InstanceId | null>;
  /** The reader must read to the end or return the iterator. */
  read(file: KeptFile, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>;
  /** For files that are small enough to be held in memory. The buffer is the caller's. */
  whole(file: KeptFile): Promise<Uint8Array | null>;
  localCopy(file: KeptFile): Promise<LocalCopy | null>;
  /** Bytes of all that is kept, each blob once; null until every part was looked at by `audit`. */
  readonly bytes: number | null;
  /** At most `limit` of what was not used since (Unix milliseconds), that unused for longest first; how many went. */
  removeUnused(before: number, limit: number): Promise<number>;
  /**
   * The same, but only files whose bytes are in this store: to make room on a node whose folder is its own. Everything else when the bytes of all are here.
   */
  removeUnusedHere(before: number, limit: number): Promise<number>;
  /** A piece of what one instance keeps; how many went, 0 when there is nothing. */
  removeOf(instance: InstanceId): Promise<number>;
  /** Parts in which `audit` looks at everything. */
  readonly parts: number;
  /** Removes bytes that nobody keeps and rows whose bytes are gone, in one part (counted from 0); how many. */
  audit(part: number): Promise<{ readonly blobs: number; readonly rows: number }>;
}

/** What becomes of sound. */
export interface Sounds {
  /** Makes an MP3. Refused with `notConvertible` when this machine cannot, or the file holds no sound. */
  toMp3(path: string): Promise<Result<TakenFile>>;
  /** The words that are spoken, by a service that is paid with the key. Refused with a sentence for the owner of the key. */
  transcribe(sound: { readonly path: string; readonly name: string; readonly mimetype: string }, key: string): Promise<Result<string>>;
}

/** One row: an instance keeps these bytes. Times in Unix milliseconds. */
export interface FileRow extends Omit<KeptFile, 'url'> {
  readonly instanceId: InstanceId;
  /** '' where it is not known. */
  readonly messageId: string;
  readonly madeOf: string;
  readonly created: number;
  readonly used: number;
}

/** Bytes that some rows keep. */
export interface Blob {
  readonly hash: string;
  readonly size: number;
}

/** Rows of files. What a method removes it names, so that the bytes can go when no other row keeps them. */
export interface FileRows {
  /** The row under which the instance keeps these bytes now: the one that it had, or this one. Null when the instance is gone. */
  add(row: FileRow): Promise<FileRow | null>;
  find(instance: InstanceId, key: FileKey): Promise<FileRow | null>;
  named(name: string): Promise<FileRow | null>;
  touch(name: string, used: number): Promise<void>;
  /** Does the work unless an instance keeps these bytes; no row for them is added meanwhile, on any node. True if it was done. */
  whileUnkept(hash: string, work: () => Promise<void>): Promise<boolean>;
  /** All that is kept whose hash begins with this text, each once, in order. */
  startingWith(prefix: string): Promise<readonly Blob[]>;
  /** Rows of bytes that are gone. */
  removeHash(hash: string): Promise<void>;
  /** At most `limit` rows that were not used since, those unused for longest first. */
  removeUnused(before: number, limit: number): Promise<readonly Blob[]>;
  /** At most `limit` rows that were not used since, those unused for longest first, behind this one. */
  unused(before: number, after: { readonly used: number; readonly name: string }, limit: number): Promise<readonly FileRow[]>;
  /** Rows of these names. */
  removeNamed(names: readonly string[]): Promise<readonly Blob[]>;
  /** At most `limit` rows of one instance. */
  removeOf(instance: InstanceId, limit: number): Promise<readonly Blob[]>;
}
