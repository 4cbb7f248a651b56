/** The interface of a store of bytes. It keeps each blob once, under the hash of its bytes. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Blob, ByteRange, LocalCopy } from '#actors/ports.ts';

/** The first two digits of a hash: blobs are listed by them. */
export const prefixes: readonly string[] = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));

/** Names of blobs; other names in a store are not ours. */
export const isHash = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

export const byHash = (a: Blob, b: Blob): number => (a.hash < b.hash ? -1 : 1);

/** Rejects with `FilesUnavailable` when it does not answer or has no room. */
export interface BlobStore {
  /** Bytes; null when there is no such blob. */
  size(hash: string): Promise<number | null>;
  /** Stores the file at `path`, whole or not at all. The file is the store's afterwards. */
  put(hash: string, path: string): Promise<void>;
  /** Null when there is no such blob. */
  read(hash: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>;
  /** All of it, in a buffer of the caller's own. Null when there is no such blob. */
  whole(hash: string): Promise<Uint8Array | null>;
  localCopy(hash: string): Promise<LocalCopy | null>;
  /** Idempotent. */
  remove(hash: string): Promise<void>;
  /** All blobs whose hash begins with `prefix`, one of `prefixes`; by hash. */
  list(prefix: string): Promise<readonly Blob[]>;
}

// The name of bytes.

/** SHA-256 of a file in hex. */
export const hashFile = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) hash.update(piece);
  return hash.digest('hex');
};
