/** The source of randomness. With a seed, ids and references repeat from run to run; keys of Signal and Noise are always random. */
import { createHash, randomBytes } from 'node:crypto';

export interface Random {
  bytes(length: number): Buffer;
  /** Makes a message id in the form of phones. */
  messageId(): string;
  /** Makes a stanza id. */
  id(): string;
}

export function createRandom(seed?: number): Random {
  const bytes = seed === undefined ? randomBytes : seeded(seed);
  return {
    bytes,
    messageId: () => `AC${bytes(15).toString('hex').toUpperCase()}`,
    id: () => bytes(8).toString('hex'),
  };
}

/** Makes a source of bytes from a hashed counter, which is sufficient for ids but not for real secrets. */
function seeded(seed: number): (length: number) => Buffer {
  let counter = 0;
  return (length) => {
    const blocks: Buffer[] = [];
    for (let made = 0; made < length; made += 32) blocks.push(createHash('sha256').update(`${seed}:${counter++}`).digest());
    return Buffer.concat(blocks).subarray(0, length);
  };
}
