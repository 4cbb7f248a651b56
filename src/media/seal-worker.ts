/** Encrypts a file into another file, in the threads of the pool. Garbage collection is cheap in these threads, because their heaps are nearly empty. */
import { createCipheriv, createHash, createHmac } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** The keys for AES-256-CBC, and for HMAC-SHA256 over the initialisation vector and the ciphertext. */
export interface SealKeys {
  readonly iv: Uint8Array;
  readonly cipher: Uint8Array;
  readonly mac: Uint8Array;
}

export interface SealTask {
  readonly path: string;
  /** The path of an existing empty file. A thread that ends late must not create a removed file again. */
  readonly target: string;
  readonly keys: SealKeys;
}

export interface Seal {
  /** SHA-256 of the written bytes. */
  readonly hash: Uint8Array;
  /** Number of the written bytes. */
  readonly size: number;
}

/** The authentication code is truncated to this length, and ends the file. In bytes. */
export const macBytes = 10;
const pieceBytes = 64 * 1024;

const writeAll = (file: number, bytes: Uint8Array): void => {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
};

const sealInto = (from: number, to: number, { iv, cipher, mac }: SealKeys): Seal => {
  const encryption = createCipheriv('aes-256-cbc', cipher, iv);
  const [code, hash] = [createHmac('sha256', mac).update(iv), createHash('sha256')];
  const buffer = Buffer.allocUnsafeSlow(pieceBytes);
  let size = 0;
  const add = (piece: Uint8Array): void => {
    hash.update(piece);
    writeAll(to, piece);
    size += piece.length;
  };
  const encrypted = (piece: Buffer): void => {
    code.update(piece);
    add(piece);
  };
  for (let read = readSync(from, buffer); read > 0; read = readSync(from, buffer)) encrypted(encryption.update(buffer.subarray(0, read)));
  encrypted(encryption.final());
  add(code.digest().subarray(0, macBytes));
  // The hash is copied, because it may be a part of a large pooled buffer. Such a buffer would be transferred as a whole.
  return { hash: Uint8Array.from(hash.digest()), size };
};

export const seal = ({ path, target, keys }: SealTask): Seal => {
  const from = openSync(path, 'r');
  try {
    const to = openSync(target, 'r+');
    try {
      return sealInto(from, to, keys);
    } finally {
      closeSync(to);
    }
  } finally {
    closeSync(from);
  }
};
