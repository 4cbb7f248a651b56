/**
 * Keeps a kill of the process from using a message key twice, which would be unreadable for the receiver. A frame leaves before the sending chain
 * that made its key is stored. After a kill, the stored chain may be behind by a bounded number of messages. A run lasts from the opening of a
 * session's keys to their end. A note that the run is open is stored before its first message leaves. A note that the run has ended is stored after
 * all chains. When the next start finds an open note, it moves each stored sending chain forward by that bound before using it. Receivers accept the
 * gap.
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

/** libsignal's record of sessions, reduced to the needed fields. */
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

/** Changes the record in place and says whether it did. Only open sessions send. */
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

/** The moved key, or the value itself when it sends nothing: only own keys hold the private half, and only their newest state sends. */
const skipInSenderKey = (value: Uint8Array): Uint8Array => {
  const states = JSON.parse(Buffer.from(value).toString('utf8'), BufferJSON.reviver) as StoredSender[];
  const state = states.at(-1);
  if (state === undefined || Buffer.from(state.senderSigningKey.private ?? []).length === 0) return value;
  const { senderChainKey } = state;
  senderChainKey.seed = advanced(Buffer.from(senderChainKey.seed), groupSkip);
  senderChainKey.iteration += groupSkip;
  return Buffer.from(JSON.stringify(states));
};

/** The place of the note among the keys. */
export const runType = 'gateway-run';
export const runId = 'last';

/** The stored form of the note. */
export interface RunNote {
  readonly run: number;
  /** Messages may have been sent that are not in the stored chains. */
  readonly open: boolean;
  /** The newest run before this one that ended uncleanly; -1 when there was none. */
  readonly unclean: number;
}

/** Types whose stored values name the run that stored them. */
const stamped = new Set(['session', 'sender-key']);

interface Stamped {
  readonly run: number;
  readonly value: unknown;
}

/** A stored value as it is used. */
interface Unstamped {
  readonly value: unknown;
  /** The value was moved forward. It must be stored before a message is encrypted with it: another unclean run would move the old one no further. */
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

  /** Takes each message before it leaves. Returns true if this call wrote the note, which must be stored before any message leaves. */
  begin(): boolean {
    if (this.#open) return false;
    this.#open = true;
    this.#note();
    return true;
  }

  /** Marks the run as ended cleanly, after all messages that were sent are stored. */
  end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#note();
  }

  /** The value as it is stored. */
  stamp(type: string, value: unknown): unknown {
    return stamped.has(type) ? { run: this.#run, value } : value;
  }

  /** Moves the sending chains of a value forward when the run that stored it, or a later one, ended uncleanly. May change `stored` in place. */
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
