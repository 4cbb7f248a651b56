/** Takes files from where clients have them, addresses and texts, to the disk: streamed, hashed on the way, bounded, typed by content. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Result } from '#actors/model.ts';
import type { TakenFile } from '#src/files/taken-file.ts';
import { removeFile, type TemporaryFolder } from '#src/files/temporary-folder.ts';
import { inlineBytes } from './base64.ts';
import { BoundedWork } from './bounded-work.ts';
import { createFileFetcher, type FetchOptions } from './fetch-file.ts';
import { plainName } from './file-name.ts';
import { MediaFailure, tooManyBytes } from './media-failure.ts';
import { typeOf } from './type-of.ts';
import { untilAborted } from './until-aborted.ts';

export interface TakeOptions {
  /** Ends the work; the answer is a refusal then, and nothing is left on the disk. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReceiveOptions extends TakeOptions {
  readonly filename?: string;
  /** Instead of the limit for files of clients. */
  readonly maxBytes?: number;
}

/** Refusals: `tooLarge`; `invalid` with what is wrong with the source; `unavailable` after an abort and while the server stops. */
export interface Intake {
  /** `source`: an http(s) URL, a data URL, or base64 in either alphabet. */
  take(source: string, options?: TakeOptions): Promise<Result<TakenFile>>;
  /** Takes bytes that somebody else streams, such as a download from the platform. What `bytes` throws rejects. */
  receive(bytes: AsyncIterable<Uint8Array>, options?: ReceiveOptions): Promise<Result<TakenFile>>;
  /** Refuses everything from now on; resolves when nothing is under way any more. */
  close(): Promise<void>;
}

export interface IntakeOptions extends FetchOptions {
  readonly folder: TemporaryFolder;
  /** Longest time for a file as a whole. */
  readonly timeoutMs: number;
}

/** Writes what comes and hashes it. The file is gone when this rejects. */
const write = async (
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ readonly size: number; readonly hash: string }> => {
  const file = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of untilAborted(bytes, signal)) {
      size += chunk.length;
      if (size > maxBytes) throw tooManyBytes(maxBytes);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    if (size === 0) throw new MediaFailure('invalid', 'the file is empty');
    return { size, hash: hash.digest('hex') };
  } catch (error) {
    await removeFile(path);
    throw error;
  } finally {
    await file.close();
  }
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
    const mimetype = await typeOf(path).catch(async (error: unknown) => {
      await removeFile(path);
      throw error;
    });
    return { ...written, path, mimetype, filename: plainName(filename), discard: () => removeFile(path) };
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
