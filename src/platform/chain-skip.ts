/**
 * Moves the sending chains of stored sessions forward. A frame leaves before the chain that made it is stored: after a crash the stored chain
 * may be behind, and to send with a key twice would be unreadable for the receiver. Keys that are skipped cost nothing but a gap in the numbers.
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
