/**
 * What a crash may have done to a session's keys, and how the next start makes up for it.
 *
 * A run lasts from the opening of the keys to their end. It is noted before its first message leaves, and noted as over when everything is stored.
 * A frame leaves before the chain that made it is stored: after a crash the stored chain may be behind, and a key that is used twice is unreadable
 * for the receiver. So the sending chains of an unclean run are moved forward. Skipped keys cost nothing but a gap in the numbers.
 */
import { createHmac } from 'node:crypto';
import { BufferJSON } from '@whiskeysockets/baileys';

/** Messages sent and not stored, at most, in all sessions of an account together. Receivers put up with gaps of 2,000 in a chain. */
export const unstoredSends = 100;
/** The library's group cipher uses every other key of its chain. */
const groupSkip = 2 * unstoredSends;

const sending = 1;

interface Chain {
  readonly chainType: number;
  readonly chainKey: { counter: number; key?: string };
}

/** As libsignal writes a record of sessions; what is not needed here is left out. */
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

/** As the library writes the keys of one sender in a group. */
interface StoredSender {
  readonly senderChainKey: { iteration: number; seed: Uint8Array };
  readonly senderSigningKey: { readonly private?: Uint8Array };
}

const advanced = (key: Uint8Array, steps: number): Buffer => {
  let next = Buffer.from(key);
  for (let step = 0; step < steps; step += 1) next = createHmac('sha256', next).update(Buffer.of(2)).digest();
  return next;
};

/** Changes the record in place; only open sessions send. */
export const skipInSessions = (record: unknown): void => {
  for (const { indexInfo, currentRatchet, _chains } of Object.values((record as StoredSessions | null)?._sessions ?? {})) {
    const chain = _chains[currentRatchet.ephemeralKeyPair.pubKey];
    if (indexInfo.closed !== -1 || chain?.chainType !== sending || chain.chainKey.key === undefined) continue;
    chain.chainKey.key = advanced(Buffer.from(chain.chainKey.key, 'base64'), unstoredSends).toString('base64');
    chain.chainKey.counter += unstoredSends;
  }
};

/** Only the keys of the account itself hold the private half, and only their newest state sends. */
export const skipInSenderKey = (value: Uint8Array): Uint8Array => {
  const states = JSON.parse(Buffer.from(value).toString('utf8'), BufferJSON.reviver) as StoredSender[];
  const state = states.at(-1);
  if (state === undefined || Buffer.from(state.senderSigningKey.private ?? []).length === 0) return value;
  const { senderChainKey } = state;
  senderChainKey.seed = advanced(Buffer.from(senderChainKey.seed), groupSkip);
  senderChainKey.iteration += groupSkip;
  return Buffer.from(JSON.stringify(states));
};

/** Where the note stands among the keys. */
export const runType = 'gateway-run';
export const runId = 'last';

export interface RunNote {
  readonly run: number;
  /** Messages may have been sent that are not in the stored chains. */
  readonly open: boolean;
  /** The last run that ended without a farewell; -1 when there was none. */
  readonly unclean: number;
}

/** Types whose values tell in which run they were stored. */
const stamped = new Set(['session', 'sender-key']);

interface Stamped {
  readonly run: number;
  readonly value: unknown;
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

  /** Before a message leaves. True when the note of it is not stored yet. */
  begin(): boolean {
    if (this.#open) return false;
    this.#open = true;
    this.#note();
    return true;
  }

  /** Everything that was sent is stored. */
  end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#note();
  }

  /** The value as it is stored. */
  stamp(type: string, value: unknown): unknown {
    return stamped.has(type) ? { run: this.#run, value } : value;
  }

  /** The value as it is used: what an unclean run may have sent with, unnoticed by what is stored, is skipped. */
  unstamp(type: string, stored: unknown): unknown {
    if (!stamped.has(type)) return stored;
    const { run, value } = isStamped(stored) ? stored : { run: 0, value: stored };
    if (run > this.#unclean || value === null) return value;
    if (type === 'sender-key') return value instanceof Uint8Array ? skipInSenderKey(value) : value;
    skipInSessions(value);
    return value;
  }

  #note(): void {
    this.#put({ run: this.#run, open: this.#open, unclean: this.#unclean });
  }
}
