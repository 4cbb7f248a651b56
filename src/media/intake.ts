/** Takes files from where clients have them, addresses and texts, to the disk: streamed, hashed on the way, bounded, typed by content. */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Result } from '#actors/model.ts';
import type { TakenFile } from '#actors/ports.ts';
import { removeFile, type TemporaryFolder } from '#src/files/blobs.ts';
import { createFileFetcher, type FetchOptions, inlineBytes, plainName, untilAborted } from './sources.ts';
import { BoundedWork, MediaFailure, tooManyBytes } from './bounded-work.ts';
import { release } from './release.ts';
import { typeOf, typeOfHead } from './type-of.ts';

interface TakeOptions {
  /** Aborts the work. The result is then a refusal, and no file is left on the disk. */
  readonly signal?: AbortSignal | undefined;
}

interface ReceiveOptions extends TakeOptions {
  readonly filename?: string;
  /** Instead of the limit for files of clients. */
  readonly maxBytes?: number;
}

/** Refusals: `tooLarge`; `invalid` with the fault of the source; `unavailable` after an abort and while the server stops. */
export interface Intake {
  /** `source`: an http(s) URL, a data URL, or base64 in either alphabet. */
  take(source: string, options?: TakeOptions): Promise<Result<TakenFile>>;
  /** Takes streamed bytes, such as a download from the platform. The chunks are consumed and freed. Errors of `bytes` reject. */
  receive(bytes: AsyncIterable<Uint8Array>, options?: ReceiveOptions): Promise<Result<TakenFile>>;
  /** Refuses all new work. Resolves when no work is left. */
  close(): Promise<void>;
}

export interface IntakeOptions extends FetchOptions {
  readonly folder: TemporaryFolder;
  /** Longest time for a file as a whole. */
  readonly timeoutMs: number;
}

interface Written {
  readonly size: number;
  readonly hash: string;
  /** Null if the first bytes do not show the type. */
  readonly mimetype: string | null;
}

/** Bytes that are gathered before a write. Each write goes to another thread, which costs more than hashing 64 KiB. */
const gathered = { bytes: 512 * 1024, pieces: 64 } as const;

/** Writes all of it, and frees it. */
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

/** Makes the owner of a taken file. The first `discard` removes the file, unless it was moved away. */
const ownerOf = (path: string): Pick<TakenFile, 'discard'> & { moved(): void } => {
  let gone: Promise<void> | null = null;
  return { discard: () => (gone ??= removeFile(path)), moved: () => void (gone ??= Promise.resolve()) };
};

export const createIntake = ({ folder, timeoutMs, ...fetching }: IntakeOptions): Intake => {
  const fetcher = createFileFetcher(fetching);
  const tooSlow = `the file could not be fetched: it took longer than ${Math.ceil(timeoutMs / 1000)} seconds`;
  const bounded = new BoundedWork(timeoutMs, () => new MediaFailure('invalid', tooSlow));

  const receive = async (
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    filename: string,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<TakenFile> => {
    const path = folder.newPath();
    const written = await write(path, bytes, maxBytes, signal);
    const findType = (): Promise<string> =>
      typeOf(path).catch(async (error: unknown) => {
        await removeFile(path);
        throw error;
      });
    const mimetype = written.mimetype ?? (await findType());
    return { ...written, path, mimetype, filename: plainName(filename), ...ownerOf(path) };
  };

  const take = async (text: string, signal: AbortSignal): Promise<TakenFile> => {
    const { bytes, filename } = /^https?:/i.test(text) ? await fetcher.open(text, signal) : inlineBytes(text);
    return receive(bytes, filename, fetching.maxBytes, signal);
  };

  return {
    take: (source, { signal } = {}) => bounded.run((limited) => take(source.trim(), limited), signal),
    receive: (bytes, { signal, filename = '', maxBytes = fetching.maxBytes } = {}) =>
      bounded.run((limited) => receive(bytes, filename, maxBytes, limited), signal),
    async close() {
      await bounded.close();
      await fetcher.close();
    },
  };
};
