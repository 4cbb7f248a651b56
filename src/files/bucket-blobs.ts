/** Blobs in a bucket of an S3 service. The prefix `dormouse/` of the bucket belongs to one gateway or cluster. */
import { createWriteStream, openAsBlob } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { S3mini, S3ServiceError } from 's3mini';
import { Agent, fetch as request } from 'undici';
import { FilesUnavailable } from '#actors/ports.ts';
import { type BlobStore, byHash, isHash, removeFile, type TemporaryFolder } from './blobs.ts';

interface BucketOptions {
  /** The URL of the bucket. The first part of the host, or the path, is the name of the bucket. */
  readonly endpoint: string;
  readonly region: string;
  readonly keyId: string;
  readonly secret: string;
  /** The longest time without a byte from the service. In milliseconds. */
  readonly silenceMs: number;
}

interface BucketBlobs extends BlobStore {
  /** Ends the connections. */
  close(): Promise<void>;
}

const keyOf = (hash: string): string => `dormouse/${hash}`;

/** Converts an error of the service. The new message omits the text of the service, which may contain the address or the key. */
const failureOf = (error: unknown): FilesUnavailable => {
  const what = error instanceof S3ServiceError ? `answered ${error.status}` : 'does not answer';
  return new FilesUnavailable(`the bucket of files ${what}`, { cause: error });
};

const isAbsent = (error: unknown): boolean => error instanceof S3ServiceError && error.status === 404;

/** `instead`: the outcome if the object does not exist. */
const orAbsent = async <T, U>(work: Promise<T>, instead: U): Promise<T | U> => {
  try {
    return await work;
  } catch (error) {
    if (isAbsent(error)) return instead;
    throw failureOf(error);
  }
};

/** Throws the error of the service instead of the client's wrapper. The client wraps only the errors of `getContentLength`. */
const unwrapped = (error: unknown): never => {
  throw error instanceof Error && error.cause instanceof S3ServiceError ? error.cause : error;
};

const gathered = (pieces: AsyncIterable<Uint8Array>): Promise<Buffer> =>
  Array.fromAsync(pieces).then(
    (all) => Buffer.concat(all),
    (error: unknown) => {
      throw failureOf(error);
    },
  );

export const openBucketBlobs = (options: BucketOptions, temporary: TemporaryFolder): BucketBlobs => {
  const { silenceMs: ms } = options;
  const dispatcher = new Agent({ connect: { timeout: ms }, headersTimeout: ms, bodyTimeout: ms });
  const bucket = new S3mini({
    accessKeyId: options.keyId,
    secretAccessKey: options.secret,
    endpoint: options.endpoint,
    region: options.region,
    // The global `fetch` has no time-out for a service that stops sending. A removal also has a limit for the whole request, because its caller holds a lock
    // meanwhile.
    fetch: ((input: string, { method, ...init }: { readonly method: string }) => {
      const limit = method === 'DELETE' ? { signal: AbortSignal.timeout(ms * 2) } : {};
      return request(input, { method, ...init, ...limit, dispatcher });
    }) as unknown as typeof fetch,
  });

  const read: BlobStore['read'] = async (hash, range) => {
    const asked = range ? bucket.getObjectRaw(keyOf(hash), false, range.start, range.end + 1) : bucket.getObjectRaw(keyOf(hash));
    const answer = await orAbsent(asked, null);
    return (answer?.body ?? null) as AsyncIterable<Uint8Array> | null;
  };
  return {
    read,
    size: (hash) => orAbsent(bucket.getContentLength(keyOf(hash)).catch(unwrapped), null),
    async put(hash, path) {
      const file = await openAsBlob(path);
      await bucket.putObject(keyOf(hash), file, 'application/octet-stream', undefined, undefined, file.size).catch((error: unknown) => {
        throw failureOf(error);
      });
      await rm(path, { force: true });
    },
    async whole(hash) {
      const found = await read(hash);
      return found && gathered(found);
    },
    async localCopy(hash) {
      const bytes = await read(hash);
      if (bytes === null) return null;
      const path = temporary.newPath();
      try {
        await pipeline(bytes, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      } catch (error) {
        await removeFile(path);
        throw failureOf(error);
      }
      return { path, release: () => removeFile(path) };
    },
    readThrough: async () => undefined,
    async remove(hash) {
      await orAbsent(bucket.deleteObject(keyOf(hash)), false);
    },
    async list(prefix) {
      const found = await orAbsent(bucket.listObjects('/', keyOf(prefix)), null);
      if (found === null) throw new FilesUnavailable('the bucket of files does not exist');
      const blobs = found.map(({ Key, Size }) => ({ hash: Key.split('/').at(-1) ?? '', size: Number(Size) }));
      return blobs.filter(({ hash }) => isHash(hash)).toSorted(byHash);
    },
    close: () => dispatcher.destroy(),
  };
};
