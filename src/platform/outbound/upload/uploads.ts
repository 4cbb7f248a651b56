/** The uploads of one connection. A file is uploaded at most once an hour for each account and type. There is one retry, on another host if possible. */
import { createHash } from 'node:crypto';
import type { WASocket } from '@whiskeysockets/baileys';
import type { Dispatcher } from 'undici';
import { done, refuse, type Attachment, type Result } from '#actors/model.ts';
import type { LruMap } from '#src/base/lru-map.ts';
import { notSent, refused } from '../../wire/outcomes.ts';
import { askProgress, channelFolder, type HostedFile, MediaHostList, put, type PutOutcome, type PutTarget } from './put.ts';
import { type ChannelUploadType, isForChannel, plainFile, sealFile, type SealParts, type UploadType } from './sealed-file.ts';

/** The facts about an uploaded file that receivers need to download and decrypt it. */
export interface Uploaded extends HostedFile {
  /** The key; null for files of channels, which are not encrypted. The hash of the encrypted file is then null too. */
  readonly mediaKey: Uint8Array | null;
  readonly fileEncSha256: Uint8Array | null;
  /** The time of the upload in Unix seconds. */
  readonly at: number;
}

/** Uploads that the same account may reuse. If two accounts sent a file with the same key, receivers could see that the accounts belong together. */
export type UploadMemory = LruMap<Uploaded>;

interface UploadLimits {
  /** Time limit of an upload with its encryption and its retry. In milliseconds. */
  readonly wholeMs: number;
  /** The longest time in which a host neither accepts a byte nor answers. In milliseconds. */
  readonly silenceMs: number;
}

export interface UploadParts extends SealParts {
  readonly dispatcher: Dispatcher | undefined;
  readonly memory: UploadMemory;
  readonly limits: UploadLimits;
  now(): number;
}

/** The time for which an upload is reused. The platform keeps files for weeks. In milliseconds. */
const rememberMs = 3_600_000;
/** The file size from which a retry first asks the host for the stored bytes, as the platform's own clients do. In bytes. */
const resumeBytes = 5 * 1024 * 1024;

interface Failure {
  readonly host: string;
  readonly why: string;
  readonly code: number | null;
}

/** Returns the refusal of an upload, with the status of the last host. */
const refusalOf = (failures: readonly Failure[]) =>
  refused(failures.at(-1)?.code ?? null, `Failed to upload media: ${failures.map(({ host, why }) => `${host} ${why}`).join(', ')}`);

/** Waits for work, and rejects if the signal aborts first. */
const unless = async <T>(signal: AbortSignal, work: Promise<T>): Promise<T> => {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
};

export class Uploads {
  readonly #parts: UploadParts;
  readonly #hosts: MediaHostList;
  readonly #closing = new AbortController();
  readonly #underWay = new Map<string, Promise<Result<Uploaded>>>();

  constructor(sock: Pick<WASocket, 'query'>, parts: UploadParts) {
    this.#parts = parts;
    this.#hosts = new MediaHostList(sock, parts.now);
  }

  /**
   * Uploads a file for an account, or reuses an upload. Refuses with `refused` and the failed hosts, or with `notSent` if the connection ends. Rejects with
   * `FilesUnavailable` if the store does not answer, so that the caller retries later.
   */
  upload(account: string, file: Attachment, type: UploadType | ChannelUploadType): Promise<Result<Uploaded>> {
    const { memory, now } = this.#parts;
    const key = `${account} ${type} ${file.hash}`;
    const known = memory.get(key);
    if (known && known.at * 1000 > now() - rememberMs) return Promise.resolve(done(known));
    const underWay = this.#underWay.get(key);
    if (underWay) return underWay;
    const upload = this.#bounded((signal) => this.#sealed(file, type, signal)).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, upload);
    void upload.then(
      (result) => result.ok && memory.set(key, result.value),
      () => undefined,
    );
    return upload;
  }

  /**
   * Uploads unencrypted bytes of a public file. `folder`: a folder of the host, such as `product/image`. Refuses like `upload`.
   */
  plain(bytes: Uint8Array, folder: string): Promise<Result<HostedFile>> {
    async function* from(offset: number): AsyncGenerator<Buffer> {
      yield Buffer.from(bytes.subarray(offset));
    }
    const file = { hash: createHash('sha256').update(bytes).digest(), size: bytes.length, bytes: from };
    return this.#bounded((signal) => this.#upload(file, folder, signal));
  }

  /** Ends all uploads. Idempotent. */
  close(): void {
    this.#closing.abort();
  }

  async #bounded<T>(work: (signal: AbortSignal) => Promise<Result<T>>): Promise<Result<T>> {
    const { limits } = this.#parts;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limits.wholeMs);
    try {
      return await work(AbortSignal.any([late.signal, this.#closing.signal]));
    } catch (error) {
      if (this.#closing.signal.aborted) return notSent;
      if (late.signal.aborted) return refused(null, `Failed to upload media: it took longer than ${limits.wholeMs / 1000} seconds`);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #sealed(file: Attachment, type: UploadType | ChannelUploadType, signal: AbortSignal): Promise<Result<Uploaded>> {
    const sealed = await (isForChannel(type) ? plainFile(file, this.#parts) : sealFile(file, type, this.#parts, signal));
    if (sealed === null) return refuse('notFound', 'the file is no longer stored');
    let arrived = false;
    try {
      const uploaded = await this.#upload(sealed, `${isForChannel(type) ? channelFolder : 'mms/'}${type}`, signal);
      if (!uploaded.ok) {
        await sealed.check?.();
        return uploaded;
      }
      arrived = true;
      const { mediaKey, hash } = sealed;
      return done({ ...uploaded.value, mediaKey, fileEncSha256: mediaKey && hash, at: Math.floor(this.#parts.now() / 1000) });
    } finally {
      await sealed.release(arrived);
    }
  }

  /** Uploads a file with at most two attempts, on two hosts if possible. The first renewal of a refused permission does not count as an attempt. */
  async #upload(file: PutTarget['file'], folder: string, signal: AbortSignal): Promise<Result<HostedFile>> {
    const { dispatcher, limits } = this.#parts;
    let hosts = await unless(signal, this.#hosts.current());
    let renewed = false;
    const failures: Failure[] = [];
    while (failures.length < 2) {
      signal.throwIfAborted();
      const host = hosts.names[failures.length] ?? hosts.names[0];
      if (host === undefined) return refused(null, 'Failed to upload media: the platform names no host');
      const target = { host, auth: hosts.auth, folder, file, dispatcher, signal, silenceMs: limits.silenceMs };
      const outcome = await this.#try(target, failures.length > 0);
      if (outcome.kind === 'kept') return done(outcome.file);
      if (outcome.kind === 'unauthorised' && !renewed) {
        renewed = true;
        hosts = await unless(signal, this.#hosts.after(hosts));
      } else failures.push({ host, why: outcome.why, code: outcome.code });
    }
    return refusalOf(failures);
  }

  async #try(target: PutTarget, again: boolean): Promise<PutOutcome> {
    const progress = again && target.file.size >= resumeBytes ? await askProgress(target) : 0;
    return typeof progress === 'number' ? put(target, progress) : { kind: 'kept', file: progress };
  }
}
