/**
 * Signatures of the messages between nodes. NATS does not authorise senders: any client of the server could publish a command, and answers of owners
 * contain tokens. Each piece carries an HMAC in a header. Nodes of the previous release ignore this header.
 */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/** The signed fields beside the data. They make a piece valid in one message only, and an answer valid for one request only. */
export interface Signed {
  readonly subject: string;
  /** The subject of the answer; '' for a message without an answer. */
  readonly reply: string;
  /** The header with the id, the index and the count of the piece. */
  readonly piece: string;
}

/** The reason for which a message is refused. An `unsigned` message is from a node of the previous release, or from a stranger. */
type Objection = 'unsigned' | 'forged' | 'too old' | 'repeated';

/** The circumstances in which a message was received. */
export interface Receipt {
  /** True for a message from the stream of kept messages. Its age is ignored. */
  readonly kept?: boolean;
  /**
   * The time for which this node has listened to the subject; unlimited if absent. A request that was signed before this node began to listen is refused.
   * Another node, or this node before its restart, may have executed the request, and this node does not know its nonce. In milliseconds.
   */
  readonly listenedMs?: number;
}

interface SigningOptions {
  /** The first key signs. Messages signed by any of the keys are accepted, so that nodes can change the key one by one. */
  readonly keys: readonly Uint8Array[];
  /** Returns Unix milliseconds. The clocks of all nodes agree within a few seconds. */
  readonly now: () => number;
  /** Returns true if messages without a signature are accepted, because nodes of an earlier release still run. */
  readonly takesUnsigned: () => boolean;
}

/** The maximum age of a message. Nodes correct their clocks by the database's clock. Most of this time allows for a wait at NATS. In milliseconds. */
const freshMs = 30_000;
/** The sum of the largest difference between the corrected clocks of two nodes and the time from the signature to the write. In milliseconds. */
const skewMs = 3_000;
const nonceBytes = 12;
/** The largest number of nonces in a generation. Beyond this limit the oldest nonces are forgotten early. */
const mostNonces = 200_000;

/** Derives a key for the bus, because a key must serve one purpose only. */
const keyOf = (key: Uint8Array): Buffer => Buffer.from(hkdfSync('sha256', key, '', 'dormouse bus', 32));

/**
 * The nonces of recent requests, in two generations of 60 s each. A nonce is remembered for at least 60 s. That is the whole time in which its
 * message is accepted: from `freshMs` before the time of the message to `freshMs` after it.
 */
class Nonces {
  #young = new Set<string>();
  #old = new Set<string>();
  #since = 0;

  /** Remembers a nonce. Returns true if it is new. */
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

  /** Returns the value of the signature header. */
  sign(signed: Signed, data: Uint8Array): string {
    const stamp = `${this.#options.now()} ${randomBytes(nonceBytes).toString('base64url')}`;
    return `${stamp} ${this.#mac(this.#keys[0]!, stamp, signed, data).toString('base64url')}`;
  }

  /** Returns the reason to refuse a message. Returns null if a node sent the message and it may be executed. */
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
    // Only requests need a nonce. Receivers recognise a repeated event by its number, and a node waits only once for an answer.
    if (signed.reply === '') return null;
    if (age > listenedMs + skewMs) return 'too old';
    return this.#nonces.add(nonce, now) ? null : 'repeated';
  }

  #mac(key: Buffer, stamp: string, { subject, reply, piece }: Signed, data: Uint8Array): Buffer {
    const head = JSON.stringify([stamp, subject, reply, piece]);
    return createHmac('sha256', key).update(`${head.length} ${head}`).update(data).digest();
  }
}
