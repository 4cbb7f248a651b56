/** Hashes of passwords: Argon2id of Node, in its thread pool, in the text form of the PHC. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Passwords } from '#actors/ports.ts';

/** Parameters of a hash: memory in KiB, passes over it, and lanes. */
export interface HashCost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** The parameters of new hashes, by the OWASP Password Storage Cheat Sheet. One hash takes some 50 ms of one core and 19 MiB. */
const owaspCost: HashCost = { memory: 19_456, passes: 2, parallelism: 1 };

/** Hashes at once. Node has four threads for all files, addresses and hashes. */
const atOnce = 2;
/** Hashes that may wait for a thread: some 2 s of work. */
const mostWaiting = 64;

const saltBytes = 16;
const hashBytes = 32;

interface Parsed extends HashCost {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const form = /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,3})\$([\w+/]{11,88})\$([\w+/]{16,88})$/;

const parse = (text: string): Parsed | null => {
  const found = form.exec(text);
  if (found === null) return null;
  const [, memory, passes, parallelism, salt = '', hash = ''] = found;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
};

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

/** The same password may be typed as different code points. */
const bytesOf = (password: string): Buffer => Buffer.from(password.normalize('NFKC'), 'utf8');

const derive = (password: string, salt: Buffer, cost: HashCost, tagLength: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { memory, passes, parallelism } = cost;
    argon2('argon2id', { message: bytesOf(password), nonce: salt, memory, passes, parallelism, tagLength }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });

/** Runs at most `atOnce` pieces of work side by side, in their order. Returns null beyond the limit of waiting ones. */
const queueOf = () => {
  const waiting: (() => void)[] = [];
  let busy = 0;
  return async <T>(work: () => Promise<T>): Promise<T | null> => {
    if (busy >= atOnce) {
      if (waiting.length >= mostWaiting) return null;
      // The work that ended passes its place to the next one.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else busy += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else busy -= 1;
    }
  };
};

export const createPasswords = (cost: HashCost = owaspCost): Passwords => {
  const inTurn = queueOf();
  /** Stands for the hash of an unknown name. No password matches, because the result of the check is ignored. */
  const nobody: Parsed = { ...cost, salt: randomBytes(saltBytes), hash: randomBytes(hashBytes) };
  return {
    hash: (password) =>
      inTurn(async () => {
        const salt = randomBytes(saltBytes);
        const hash = await derive(password, salt, cost, hashBytes);
        return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(salt)}$${unpadded(hash)}`;
      }),
    verify: (password, text) =>
      inTurn(async () => {
        const known = text === null ? null : parse(text);
        const { salt, hash, ...costs } = known ?? nobody;
        const isSame = timingSafeEqual(await derive(password, salt, costs, hash.length), hash);
        return known !== null && isSame;
      }),
  };
};
