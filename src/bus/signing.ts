/**
 * Signatures of what nodes send each other. NATS authorises nobody: whoever reaches the server can publish a command, and owners answer with tokens. Each
 * piece carries an HMAC in a header, which nodes of the last release pass over.
 */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/** The signed fields beside the data. A piece of one message is not valid in another, and an answer is not valid for another request. */
export interface Signed {
  readonly subject: string;
  /** Subject of the answer; '' for a message without an answer. */
  readonly reply: string;
  /** The header that says which piece it is. */
  readonly piece: string;
}

/** `unsigned`: from a node of the last release, or from no node. */
type Objection = 'unsigned' | 'forged' | 'too old' | 'repeated';

/** The state of a message's arrival. */
export interface Receipt {
  /** True if the message was published a while ago, so that its age is ignored. */
  readonly kept?: boolean;
  /**
   * Milliseconds for which this node has listened to the subject; absent: for ever. Nodes remember only their own nonces. An older request may have
   * been executed by another node, or by this node before its start.
   */
  readonly listenedMs?: number;
}

interface SigningOptions {
  /** The first key signs. Messages by any of the keys are accepted, so that nodes can change the key one by one. */
  readonly keys: readonly Uint8Array[];
  /** Unix milliseconds, the same on all nodes within a few seconds. */
  readonly now: () => number;
  /** True if messages without a signature are accepted, because nodes of an earlier release still run. */
  readonly takesUnsigned: () => boolean;
}

/** Milliseconds. Clocks of nodes are corrected by the database's; the rest is for a message that waits at the server. */
const freshMs = 30_000;
/** Milliseconds: the largest difference between the corrected clocks of two nodes, and the time from the signature to the write. */
const skewMs = 3_000;
const nonceBytes = 12;
/** Requests whose nonces are remembered, at least. Beyond them the oldest are forgotten before their time. */
const mostNonces = 200_000;

/** Derives a key for the bus alone, because a key has only one purpose. */
const keyOf = (key: Uint8Array): Buffer => Buffer.from(hkdfSync('sha256', key, '', 'dormouse bus', 32));

/** Two generations, each of half of the time that a message may be old and more. */
class Nonces {
  #young = new Set<string>();
  #old = new Set<string>();
  #since = 0;

  /** True if the nonce is new. */
  add(nonce: string, now: number): boolean {
    if (now - this.#since > 2 * freshMs || this.#young.size >= mostNonces) {
      this.#old = this.#young;
      this.#young = new Set();
      this.#since = now;
    }
    if (this.#young.has(nonce) || this.#old.has(nonce)) return false;
    this.#young.add(nonce);
    return true;
  }
}

export class Signing {
  readonly #keys: readonly Buffer[];
  readonly #options: SigningOptions;
  readonly #nonces = new Nonces();

  constructor(options: SigningOptions) {
    this.#options = options;
    this.#keys = options.keys.map(keyOf);
  }

  /** The header. */
  sign(signed: Signed, data: Uint8Array): string {
    const stamp = `${this.#options.now()} ${randomBytes(nonceBytes).toString('base64url')}`;
    return `${stamp} ${this.#mac(this.#keys[0]!, stamp, signed, data).toString('base64url')}`;
  }

  /** Null if a node sent the message, so that it may be executed. */
  objection(header: string, signed: Signed, data: Uint8Array, { kept = false, listenedMs = Infinity }: Receipt = {}): Objection | null {
    if (header === '') return this.#options.takesUnsigned() ? null : 'unsigned';
    const [time = '', nonce = '', mac = ''] = header.split(' ');
    const given = Buffer.from(mac, 'base64url');
    const isOurs = this.#keys.some((key) => {
      const own = this.#mac(key, `${time} ${nonce}`, signed, data);
      return own.length === given.length && timingSafeEqual(own, given);
    });
    if (!isOurs) return 'forged';
    if (kept) return null;
    const now = this.#options.now();
    const age = now - Number(time);
    if (Math.abs(age) > freshMs) return 'too old';
    // Events are numbered by their chain, and an answer is waited for once: only requests do something again.
    if (signed.reply === '') return null;
    if (age > listenedMs + skewMs) return 'too old';
    return this.#nonces.add(nonce, now) ? null : 'repeated';
  }

  #mac(key: Buffer, stamp: string, { subject, reply, piece }: Signed, data: Uint8Array): Buffer {
    const head = JSON.stringify([stamp, subject, reply, piece]);
    return createHmac('sha256', key).update(`${head.length} ${head}`).update(data).digest();
  }
}
