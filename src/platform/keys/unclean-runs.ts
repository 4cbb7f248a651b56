/**
 * Prevents the use of a message key twice after a kill. The receiver could not decrypt the second message. A frame may leave before the sending chain of its
 * key is stored, so after a kill the stored chain may be behind by a bounded number of messages.
 *
 * A run begins when the keys of a session are loaded, and ends when all of them are stored. A note of the open run is stored before its first message leaves. A
 * note of its end is stored after all chains. If the next start finds the note of an open run, it moves each stored sending chain forward by the bound before
 * its use. Receivers accept the gap.
 */
import { createHmac } from 'node:crypto';
import { BufferJSON } from '@whiskeysockets/baileys';

/**
 * The largest number of messages that are sent and whose chains are not stored, in all Signal sessions of an account together. Receivers accept gaps of
 * 2,000.
 */
export const unstoredSends = 100;
/** The number of steps by which a group's chain is moved. The library's group cipher uses only every second key of its chain. */
const groupSkip = 2 * unstoredSends;

const sending = 1;

interface Chain {
  readonly chainType: number;
  readonly chainKey: { counter: number; key?: string };
}

/** The used fields of libsignal's record of sessions. */
interface StoredSessions {
  readonly _sessions?: Readonly<
    Record<
      string,
      {
        readonly indexInfo: { readonly closed: number };
        readonly currentRatchet: { readonly ephemeralKeyPair: { readonly pubKey: string } };
        readonly _chains: Readonly<Record<string, Chain>>;
      }
    >
  >;
}

/** The library's record of the keys of one sender in a group. */
interface StoredSender {
  readonly senderChainKey: { iteration: number; seed: Uint8Array };
  readonly senderSigningKey: { readonly private?: Uint8Array };
}

const advanced = (key: Uint8Array, steps: number): Buffer => {
  let next = Buffer.from(key);
  for (let step = 0; step < steps; step += 1) next = createHmac('sha256', next).update(Buffer.of(2)).digest();
  return next;
};

/** Moves the sending chains of a record in place. Returns true if it changed any. Only open sessions send. */
export const skipInSessions = (record: unknown): boolean => {
  let skipped = false;
  for (const { indexInfo, currentRatchet, _chains } of Object.values((record as StoredSessions | null)?._sessions ?? {})) {
    const chain = _chains[currentRatchet.ephemeralKeyPair.pubKey];
    if (indexInfo.closed !== -1 || chain?.chainType !== sending || chain.chainKey.key === undefined) continue;
    chain.chainKey.key = advanced(Buffer.from(chain.chainKey.key, 'base64'), unstoredSends).toString('base64');
    chain.chainKey.counter += unstoredSends;
    skipped = true;
  }
  return skipped;
};

/** Moves the chain of an own sender key, and returns other keys unchanged. Only own keys have a private key, and only their newest state sends. */
const skipInSenderKey = (value: Uint8Array): Uint8Array => {
  const states = JSON.parse(Buffer.from(value).toString('utf8'), BufferJSON.reviver) as StoredSender[];
  const state = states.at(-1);
  if (state === undefined || Buffer.from(state.senderSigningKey.private ?? []).length === 0) return value;
  const { senderChainKey } = state;
  senderChainKey.seed = advanced(Buffer.from(senderChainKey.seed), groupSkip);
  senderChainKey.iteration += groupSkip;
  return Buffer.from(JSON.stringify(states));
};

/** The type and the id of the note among the keys. */
export const runType = 'gateway-run';
export const runId = 'last';

/** The stored form of the note. */
export interface RunNote {
  readonly run: number;
  /** True if messages may have been sent whose chains are not stored. */
  readonly open: boolean;
  /** The last earlier run that ended uncleanly; -1 if there was none. */
  readonly unclean: number;
}

/** Types whose stored values contain the number of the run that stored them. */
const stamped = new Set(['session', 'sender-key']);

interface Stamped {
  readonly run: number;
  readonly value: unknown;
}

/** A stored value after its stamp is removed. */
interface Unstamped {
  readonly value: unknown;
  /** True if the value was moved forward. It must be stored before its next use: after another kill, the old value would be moved by the same steps. */
  readonly skipped: boolean;
}

const isStamped = (value: unknown): value is Stamped =>
  typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'number' && 'value' in value;

export class Runs {
  readonly #run: number;
  readonly #unclean: number;
  readonly #put: (note: RunNote) => void;
  #open = false;

  constructor(last: RunNote | null, put: (note: RunNote) => void) {
    this.#run = (last?.run ?? 0) + 1;
    this.#unclean = last === null ? -1 : last.open ? last.run : last.unclean;
    this.#put = put;
  }

  /** Opens the run. Call this before each message. Returns true if this call wrote the note, which must be stored before the message leaves. */
  begin(): boolean {
    if (this.#open) return false;
    this.#open = true;
    this.#note();
    return true;
  }

  /** Marks the run as ended, if it was open. Call this after all chains are stored. */
  end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#note();
  }

  /** Returns the stored form of a value, with the number of the run. */
  stamp(type: string, value: unknown): unknown {
    return stamped.has(type) ? { run: this.#run, value } : value;
  }

  /**
   * Returns the value of a stored form. Moves the sending chains in the value if the run that stored them, or a later run, ended uncleanly. May change `stored`
   * in place.
   */
  unstamp(type: string, stored: unknown): Unstamped {
    if (!stamped.has(type)) return { value: stored, skipped: false };
    const { run, value } = isStamped(stored) ? stored : { run: 0, value: stored };
    if (run > this.#unclean || value === null) return { value, skipped: false };
    if (type === 'sender-key') {
      const moved = value instanceof Uint8Array ? skipInSenderKey(value) : value;
      return { value: moved, skipped: moved !== value };
    }
    return { value, skipped: skipInSessions(value) };
  }

  #note(): void {
    this.#put({ run: this.#run, open: this.#open, unclean: this.#unclean });
  }
}
