/** Credentials of users: password hashes (Argon2id in the PHC string format) and one-time codes (TOTP, RFC 6238). */
import { argon2, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { OneTimeCodes, Passwords } from '#actors/ports.ts';

// Password hashes. Node computes Argon2id in its thread pool.

/** The cost parameters of Argon2id: memory in KiB, passes over the memory, and lanes. */
interface HashCost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** The parameters of new hashes, from the OWASP Password Storage Cheat Sheet. One hash takes some 50 ms of one core and 19 MiB. */
const owaspCost: HashCost = { memory: 19_456, passes: 2, parallelism: 1 };

/** The largest number of hashes at the same time. The thread pool of Node has four threads for file access, DNS look-ups and hashes. */
const atOnce = 2;
/** The largest number of waiting hashes, which is some 2 s of work. */
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

/** Normalises a password, because keyboards may encode the same characters as different code points. */
const bytesOf = (password: string): Buffer => Buffer.from(password.normalize('NFKC'), 'utf8');

const derive = (password: string, salt: Buffer, cost: HashCost, tagLength: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { memory, passes, parallelism } = cost;
    argon2('argon2id', { message: bytesOf(password), nonce: salt, memory, passes, parallelism, tagLength }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });

class TaskQueue {
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  /** Runs at most `atOnce` tasks at the same time, in FIFO order. A task gets null if `mostWaiting` tasks already wait. */
  async run<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.#busy >= atOnce) {
      if (this.#waiting.length >= mostWaiting) return null;
      // A finished task passes its slot on, so `#busy` does not change.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#busy += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy -= 1;
    }
  }
}

export const createPasswords = (cost: HashCost = owaspCost): Passwords => {
  const queue = new TaskQueue();
  /** The hash that is checked for an unknown name, so that the check takes as long as for a known name. Its result is ignored. */
  const nobody: Parsed = { ...cost, salt: randomBytes(saltBytes), hash: randomBytes(hashBytes) };
  return {
    hash: (password) =>
      queue.run(async () => {
        const salt = randomBytes(saltBytes);
        const hash = await derive(password, salt, cost, hashBytes);
        return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(salt)}$${unpadded(hash)}`;
      }),
    verify: (password, text) =>
      queue.run(async () => {
        const known = text === null ? null : parse(text);
        const { salt, hash, ...costs } = known ?? nobody;
        const isSame = timingSafeEqual(await derive(password, salt, costs, hash.length), hash);
        return known !== null && isSame;
      }),
  };
};

// One-time codes (TOTP, RFC 6238) with the parameters of authenticator apps: HMAC-SHA-1, six digits, a step of 30 s.

/** The base32 alphabet (RFC 4648). */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const stepMs = 30_000;
const digits = 6;
/** The length of a secret: 160 bits, as RFC 4226 recommends. In base32 they are 32 letters without padding. */
const secretBytes = 20;
/** The number of accepted time steps before the present step, and after it. These steps allow for clock differences and slow typing (RFC 6238, section 5.2). */
const tolerance = 1;

const toBase32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
};

const fromBase32 = (text: string): Buffer => {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

/** Returns the code of one time step (RFC 4226, section 5.3). */
export const codeOf = (secret: string, step: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 0xf) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
};

export const stepAt = (now: number): number => Math.floor(now / stepMs);

const isSecret = (secret: string): boolean => /^[A-Z2-7]{32}$/.test(secret);

export const createOneTimeCodes = (issuer = 'Dormouse'): OneTimeCodes => ({
  newSecret: () => toBase32(randomBytes(secretBytes)),
  uriOf: (secret, name) =>
    `otpauth://totp/${encodeURIComponent(`${issuer}:${name}`)}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1000}`,
  stepOf(secret, code, now) {
    if (!isSecret(secret) || !/^\d{6}$/.test(code)) return null;
    let found: number | null = null;
    for (let away = -tolerance; away <= tolerance; away += 1) {
      const step = stepAt(now) + away;
      if (timingSafeEqual(Buffer.from(codeOf(secret, step)), Buffer.from(code))) found = step;
    }
    return found;
  },
});
