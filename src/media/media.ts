/** Work that would hold the event loop, done in a small pool of threads. */
import { Piscina } from 'piscina';
import type { Media as MediaPort } from '#actors/ports.ts';

/** After `close` every method rejects. */
export interface Media extends MediaPort {
  /**
   * `count` X25519 key pairs in one array, which the caller owns: 64 bytes a pair, the private key and then the public one,
   * both raw (without the version byte that Signal puts before public keys).
   */
  generatePreKeys(count: number): Promise<Uint8Array>;
  /** A small JPEG of a picture, or null when it cannot be read, does not fit or this installation cannot make any. */
  thumbnail(picture: Uint8Array, maxBytes: number): Promise<Uint8Array | null>;
  /** Ends the threads; what is under way is given up. */
  close(): Promise<void>;
}

/** Threads start when there is work and end when there was none for a while: an idle gateway has none. */
const idleMs = 30_000;

export const createMedia = ({ threads = 2 }: { threads?: number } = {}): Media => {
  const pool = new Piscina({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idleMs,
    env: {},
  });
  return {
    qrPng: (text) => pool.run(text, { name: 'qrPng' }),
    generatePreKeys: (count) => pool.run(count, { name: 'generatePreKeys' }),
    thumbnail: (picture, maxBytes) => pool.run({ picture, maxBytes }, { name: 'thumbnail' }),
    close: () => pool.destroy(),
  };
};
