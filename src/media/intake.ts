/** Writes files from URLs and texts of clients to the disk, in a bounded stream, and detects their type from the content. */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { fileTypeFromBuffer, fileTypeFromFile } from 'file-type';
import type { Result } from '#actors/model.ts';
import type { TakenFile } from '#actors/ports.ts';
import { onTemporaryDisk, removeFile, type TemporaryFolder } from '#src/files/blobs.ts';
import { BoundedWork, MediaFailure, tooManyBytes } from './bounded-work.ts';
import { release } from './release.ts';
import { createFileFetcher, type FetchOptions, inlineBytes, plainName, untilAborted } from './sources.ts';
import { Fetches, waitedTooLong } from './fetches.ts';

// Detects the type of a file from its content: by signatures, and for texts by careful guesses.

export const unknownType = 'application/octet-stream';

/** The names of media types that the platform and most programs use. The key is the name that the detection library uses. */
const usual: Readonly<Record<string, string>> = {
  'audio/x-m4a': 'audio/mp4',
  'audio/vnd.wave': 'audio/wav',
  'audio/opus': 'audio/ogg; codecs=opus',
};

const headBytes = 4_096;

/** Text that may precede the first element. Each pattern can match in one way only. A hostile file therefore causes no backtracking. */
const prologs: readonly RegExp[] = [/\s+/y, /<\?xml[^>]*>/iy, /<!doctype\s+svg[^>]*>/iy];

/** Returns the text after white space, comments and the declarations of a document. */
const withoutProlog = (text: string): string => {
  let at = 0;
  const skips = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  for (;;) {
    if (text.startsWith('<!--', at)) {
      const end = text.indexOf('-->', at + 4);
      if (end < 0) return '';
      at = end + 3;
    } else if (!prologs.some(skips)) return text.slice(at);
  }
};

/** Types by the text after the prolog. A text that begins with a script is an HTML page, whatever the type of the script. */
const documents: readonly (readonly [RegExp, string])[] = [
  [/^<(?:\w{1,40}:)?svg[\s>]/i, 'image/svg+xml'],
  [/^<(?:!doctype\s+html|html|head|body|script|iframe)[\s>]/i, 'text/html'],
];

/** Types by the beginning of the text. */
const texts: readonly (readonly [RegExp, string])[] = [
  [/^\s*<\?xml\s/i, 'application/xml'],
  [/^#EXTM3U/, 'application/vnd.apple.mpegurl'],
  [/^BEGIN:VCARD\b/i, 'text/vcard'],
  [/^BEGIN:VCALENDAR\b/i, 'text/calendar'],
];

const readHead = async (path: string): Promise<Buffer> => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
};

/**
 * Decodes the head of a file. Returns null if it is not text. The last character of the head may be cut, so the decoder expects more bytes.
 */
const textOf = (head: Buffer): string | null => {
  const encoding = head[0] === 0xff && head[1] === 0xfe ? 'utf-16le' : head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true });
    // oxlint-disable-next-line no-control-regex
    return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(text) ? null : text;
  } catch {
    return null;
  }
};

/** Types that the first dozen bytes determine, whatever follows. */
const plain: ReadonlySet<string> = new Set(['image/jpeg', 'image/gif', 'image/webp', 'application/pdf']);
const leastHead = 64;

/** Returns the type that `typeOf` would return for a file with this beginning; null if more bytes are needed. */
export const typeOfHead = async (bytes: Uint8Array): Promise<string | null> => {
  if (bytes.length < leastHead) return null;
  const found = await fileTypeFromBuffer(bytes.subarray(0, headBytes)).catch(() => undefined);
  return found && plain.has(found.mime) ? found.mime : null;
};

/**
 * Returns the media type of a file, or `application/octet-stream` if the content shows no type. Rejects only if the file cannot be read.
 */
export const typeOf = async (path: string): Promise<string> => {
  // The library throws if a file has the signature of a type but is broken. The type is then unknown.
  const found = await fileTypeFromFile(path).catch(() => undefined);
  if (found && found.mime !== 'application/xml') return usual[found.mime] ?? found.mime;
  const text = textOf(await readHead(path));
  if (text === null) return unknownType;
  const element = withoutProlog(text);
  const kind = documents.find(([pattern]) => pattern.test(element)) ?? texts.find(([pattern]) => pattern.test(text));
  return kind?.[1] ?? 'text/plain';
};

// Writes files of clients to the disk. The source is an address or a text. The bytes are streamed, hashed and bounded, and the type is detected from the
// content.

interface TakeOptions {
  /** Aborts the work. The result is then a refusal, and no file is left on the disk. */
  readonly signal?: AbortSignal | undefined;
}

interface ClientOptions extends TakeOptions {
  /** The instance whose slots the fetch uses; '' if not given. */
  readonly instance?: string;
}

interface ReceiveOptions extends TakeOptions {
  readonly filename?: string;
  /** The bound of this file, in bytes. It replaces the limit for files of clients. */
  readonly maxBytes?: number;
}

/**
 * The intake of files. Refusals: `tooLarge`; `invalid` with the fault of the source; `unavailable` after an abort and while the gateway stops. Rejects with
 * `FilesUnavailable` if the disk is full or fails.
 */
export interface Intake {
  /**
   * Stores a file from `source`: an http(s) URL, a data URL, or base64 in the standard or the URL-safe alphabet. Refuses with `limited` if too many fetches
   * wait or a fetch waits too long, and with `unavailable` while the disk is nearly full.
   */
  take(source: string, options?: ClientOptions): Promise<Result<TakenFile>>;
  /** Stores streamed bytes, such as a download from the platform. The chunks are consumed and freed. Rejects if `bytes` fails. */
  receive(bytes: AsyncIterable<Uint8Array>, options?: ReceiveOptions): Promise<Result<TakenFile>>;
  /** Refuses all new work. Resolves when no work is left. */
  close(): Promise<void>;
}

export interface IntakeOptions extends FetchOptions {
  readonly folder: TemporaryFolder;
  /** The time-out of a whole file, without its wait for a slot. In milliseconds. */
  readonly timeoutMs: number;
  /** Returns true if the disk has no room for files of clients. */
  isDiskFull?(): boolean;
}

interface Written {
  readonly size: number;
  readonly hash: string;
  /** The media type; null if the first bytes do not show it. */
  readonly mimetype: string | null;
}

/** A write starts at this number of bytes or of chunks. Each write is a task in another thread, which costs more than hashing 64 KiB. */
const gathered = { bytes: 512 * 1024, pieces: 64 } as const;

/** Writes all chunks, and frees their memory. */
const writeOut = async (file: FileHandle, pieces: readonly Uint8Array[], bytes: number): Promise<void> => {
  const { bytesWritten } = await file.writev(pieces);
  if (bytesWritten < bytes) await file.writeFile(Buffer.concat(pieces).subarray(bytesWritten));
  for (const piece of pieces) release(piece);
};

/** Writes and hashes the bytes. If this rejects, the file is removed. */
const write = async (
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Written> => {
  const file = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  let [size, waiting, pieces, mimetype]: [number, number, Uint8Array[], string | null] = [0, 0, [], null];
  const flush = async (): Promise<void> => {
    if (size === waiting && pieces[0]) mimetype = await typeOfHead(pieces[0]);
    await writeOut(file, pieces, waiting);
    [waiting, pieces] = [0, []];
  };
  try {
    for await (const piece of untilAborted(bytes, signal)) {
      if (piece.length === 0) continue;
      size += piece.length;
      if (size > maxBytes) throw tooManyBytes(maxBytes);
      hash.update(piece);
      waiting += piece.length;
      pieces.push(piece);
      if (waiting >= gathered.bytes || pieces.length >= gathered.pieces) await flush();
    }
    if (size === 0) throw new MediaFailure('invalid', 'the file is empty');
    if (waiting > 0) await flush();
    return { size, hash: hash.digest('hex'), mimetype };
  } catch (error) {
    await removeFile(path);
    throw error;
  } finally {
    await file.close();
  }
};

/** A file that the first `discard` removes, unless the file was moved away. */
class OwnedFile {
  readonly #path: string;
  #gone: Promise<void> | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  discard(): Promise<void> {
    return (this.#gone ??= removeFile(this.#path));
  }

  moved(): void {
    this.#gone ??= Promise.resolve();
  }
}

export const createIntake = ({ folder, timeoutMs, isDiskFull = () => false, ...fetching }: IntakeOptions): Intake => {
  const fetcher = createFileFetcher(fetching);
  const tooSlow = `the file could not be fetched: it took longer than ${Math.ceil(timeoutMs / 1000)} seconds`;
  const late = (isWaiting: boolean): MediaFailure => (isWaiting ? waitedTooLong() : new MediaFailure('invalid', tooSlow));
  // The waits have twice the time-out of a fetch. Every slot becomes free twice in this time.
  const bounded = new BoundedWork(timeoutMs, late, timeoutMs * 2);
  const fetches = new Fetches(isDiskFull);

  const receive = async (
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    filename: string,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<TakenFile> => {
    const path = folder.newPath();
    const written = await onTemporaryDisk(write(path, bytes, maxBytes, signal));
    const findType = (): Promise<string> =>
      typeOf(path).catch(async (error: unknown) => {
        await removeFile(path);
        throw error;
      });
    const mimetype = written.mimetype ?? (await findType());
    const owned = new OwnedFile(path);
    return { ...written, path, mimetype, filename: plainName(filename), discard: () => owned.discard(), moved: () => owned.moved() };
  };

  const take = async (text: string, signal: AbortSignal): Promise<TakenFile> => {
    const { bytes, filename } = /^https?:/i.test(text) ? await fetcher.open(text, signal) : inlineBytes(text);
    return receive(bytes, filename, fetching.maxBytes, signal);
  };

  return {
    take(source, { signal, instance = '' } = {}) {
      return bounded.run((task) => fetches.run(source.trim(), instance, task, (text) => take(text, task.signal)), signal, instance);
    },
    receive: (bytes, { signal, filename = '', maxBytes = fetching.maxBytes } = {}) =>
      bounded.run((task) => receive(bytes, filename, maxBytes, task.signal), signal),
    async close() {
      await bounded.close();
      await fetcher.close();
    },
  };
};
