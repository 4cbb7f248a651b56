/** Uploads of one connection: each file once within an hour, one retry on another host; every upload ends with a result. */
import type { WASocket } from '@whiskeysockets/baileys';
import type { Dispatcher } from 'undici';
import { done, refuse, type Attachment, type Result } from '#actors/model.ts';
import { FilesUnavailable } from '#actors/ports.ts';
import type { LruMap } from '#src/lru-map.ts';
import { notSent, refused } from '../../outcomes.ts';
import { createMediaHosts, type MediaHostList } from './media-hosts.ts';
import { askProgress, put, type Place, type PutOutcome, type PutTarget } from './put.ts';
import { sealFile, type SealedFile, type SealParts, type UploadType } from './sealed-file.ts';

/** What a message says of its file so that receivers can fetch and read it. */
export interface Uploaded extends Place {
  readonly mediaKey: Uint8Array;
  readonly fileEncSha256: Uint8Array;
  /** Unix seconds. */
  readonly at: number;
}

/** Uploads that may be used again. Of one account: a key that two accounts share would show that they belong together. */
export type UploadMemory = LruMap<Uploaded>;

export interface UploadLimits {
  /** Milliseconds for an upload with all that it takes. */
  readonly wholeMs: number;
  /** Milliseconds for which a host may take nothing. */
  readonly silenceMs: number;
}

export interface UploadParts extends SealParts {
  readonly dispatcher: Dispatcher | undefined;
  readonly memory: UploadMemory;
  readonly limits: UploadLimits;
  now(): number;
}

/** How long receivers are sent to the same upload; the platform keeps files for weeks. */
const rememberMs = 3_600_000;
/** From this size on a host is asked how much it has before anything is sent again, as the platform's own clients do. */
const resumeBytes = 5 * 1024 * 1024;

interface Failure {
  readonly host: string;
  readonly why: string;
}

const refusalOf = (failures: readonly Failure[]) =>
  refused(null, `Failed to upload media: ${failures.map(({ host, why }) => `${host} ${why}`).join(', ')}`);

/** The work's value, unless the signal aborts first. */
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
    this.#hosts = createMediaHosts(sock, parts.now);
  }

  /** `account`: whose upload it is. Refused with `refused` and the hosts that failed, or `notSent` when the connection ends. */
  upload(account: string, file: Attachment, type: UploadType): Promise<Result<Uploaded>> {
    const { memory, now } = this.#parts;
    const key = `${account} ${type} ${file.hash}`;
    const known = memory.get(key);
    if (known && known.at * 1000 > now() - rememberMs) return Promise.resolve(done(known));
    const underWay = this.#underWay.get(key);
    if (underWay) return underWay;
    const upload = this.#bounded(file, type).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, upload);
    void upload.then(
      (result) => result.ok && memory.set(key, result.value),
      () => undefined,
    );
    return upload;
  }

  /** Ends what is under way. Idempotent. */
  close(): void {
    this.#closing.abort();
  }

  async #bounded(file: Attachment, type: UploadType): Promise<Result<Uploaded>> {
    const { limits } = this.#parts;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limits.wholeMs);
    try {
      return await this.#sealed(file, type, AbortSignal.any([late.signal, this.#closing.signal]));
    } catch (error) {
      if (this.#closing.signal.aborted) return notSent;
      if (late.signal.aborted) return refused(null, `Failed to upload media: it took longer than ${limits.wholeMs / 1000} seconds`);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #sealed(file: Attachment, type: UploadType, signal: AbortSignal): Promise<Result<Uploaded>> {
    const sealed = await sealFile(file, type, this.#parts, signal).catch((error: unknown) => {
      if (error instanceof FilesUnavailable) return error;
      throw error;
    });
    if (sealed instanceof Error) return refuse('unavailable', sealed.message);
    if (sealed === null) return refuse('notFound', 'the file is not kept any more');
    let arrived = false;
    try {
      const placed = await this.#place(sealed, type, signal);
      if (!placed.ok) return placed;
      arrived = true;
      const { mediaKey, hash: fileEncSha256 } = sealed;
      return done({ ...placed.value, mediaKey, fileEncSha256, at: Math.floor(this.#parts.now() / 1000) });
    } finally {
      await sealed.release(arrived);
    }
  }

  /** Two hosts are tried, or the same one twice when there is no other. A refused right is renewed once, and does not count as a try. */
  async #place(file: SealedFile, type: UploadType, signal: AbortSignal): Promise<Result<Place>> {
    const { dispatcher, limits } = this.#parts;
    let hosts = await unless(signal, this.#hosts.current());
    let renewed = false;
    const failures: Failure[] = [];
    while (failures.length < 2) {
      signal.throwIfAborted();
      const host = hosts.names[failures.length] ?? hosts.names[0];
      if (host === undefined) return refused(null, 'Failed to upload media: the platform names no host');
      const target = { host, auth: hosts.auth, type, file, dispatcher, signal, silenceMs: limits.silenceMs };
      const outcome = await this.#try(target, failures.length > 0);
      if (outcome.kind === 'kept') return done(outcome.place);
      if (outcome.kind === 'unauthorised' && !renewed) {
        renewed = true;
        hosts = await unless(signal, this.#hosts.after(hosts));
      } else failures.push({ host, why: outcome.why });
    }
    return refusalOf(failures);
  }

  async #try(target: PutTarget, again: boolean): Promise<PutOutcome> {
    const progress = again && target.file.size >= resumeBytes ? await askProgress(target) : 0;
    return typeof progress === 'number' ? put(target, progress) : { kind: 'kept', place: progress };
  }
}
