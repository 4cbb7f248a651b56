/** The source of randomness. With a seed, ids and references are the same in every run. The keys of Signal and Noise are always random. */
import { createHash, randomBytes } from 'node:crypto';

export class Random {
  readonly #seed: number | undefined;
  #counter = 0;

  constructor(seed?: number) {
    this.#seed = seed;
  }

  /** Returns random bytes. With a seed, they come from a hashed counter and are not secret. */
  bytes(length: number): Buffer {
    if (this.#seed === undefined) return randomBytes(length);
    const blocks: Buffer[] = [];
    for (let made = 0; made < length; made += 32)
      blocks.push(
        createHash('sha256')
          .update(`${this.#seed}:${this.#counter++}`)
          .digest(),
      );
    return Buffer.concat(blocks).subarray(0, length);
  }

  /** Makes a message id in the form of phones. */
  messageId(): string {
    return `AC${this.bytes(15).toString('hex').toUpperCase()}`;
  }

  /** Makes a stanza id. */
  id(): string {
    return this.bytes(8).toString('hex');
  }
}
