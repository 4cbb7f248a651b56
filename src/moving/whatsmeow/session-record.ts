/** Signal sessions of whatsmeow as records of libsignal-node. Both count a chain from another end and keep other things of it. */
import {
  bytesOf,
  type GoObject,
  listOf,
  numberOf,
  objectOf,
  parseRecord,
  privateLength,
  publicLength,
  secretLength,
} from './signal-json.ts';

interface Chain {
  readonly chainKey: { readonly counter: number; readonly key: string };
  readonly chainType: 1 | 2;
  readonly messageKeys: Readonly<Record<string, string>>;
}

/** One session of libsignal-node, as `SessionEntry.serialize` writes it: bytes in base64. */
export interface SessionEntry {
  readonly registrationId: number;
  readonly currentRatchet: {
    readonly ephemeralKeyPair: { readonly pubKey: string; readonly privKey: string };
    readonly lastRemoteEphemeralKey: string;
    readonly previousCounter: number;
    readonly rootKey: string;
  };
  readonly indexInfo: {
    readonly baseKey: string;
    readonly baseKeyType: 1 | 2;
    /** -1 for the one session that is written in. */
    readonly closed: number;
    readonly used: number;
    readonly created: number;
    readonly remoteIdentityKey: string;
  };
  readonly _chains: Readonly<Record<string, Chain>>;
  readonly pendingPreKey?: { readonly signedKeyId: number; readonly baseKey: string; readonly preKeyId?: number };
}

export interface SessionRecord {
  readonly _sessions: Readonly<Record<string, SessionEntry>>;
  readonly version: 'v1';
}

const [sending, receiving] = [1, 2] as const;
const [ours, theirs] = [1, 2] as const;
const open = -1;

const base64 = (bytes: Buffer): string => bytes.toString('base64');
const publicKey = (value: unknown): string => base64(bytesOf(value, publicLength));

const chainOf = (chain: GoObject, chainType: 1 | 2): readonly [string, Chain] => {
  const { Key, Index } = objectOf(chain['ChainKey']);
  // Go counts the message that comes next, libsignal-node the last one that was written or read.
  const chainKey = { counter: numberOf(Index) - 1, key: base64(bytesOf(Key, secretLength)) };
  // Keys of skipped messages are kept derived there and as seeds here: they cannot be carried.
  return [publicKey(chain['SenderRatchetKeyPublic']), { chainKey, chainType, messageKeys: {} }];
};

const pendingOf = (value: unknown): SessionEntry['pendingPreKey'] => {
  if (value === null || value === undefined) return undefined;
  const { PreKeyID, SignedPreKeyID, BaseKey } = objectOf(value);
  const id = PreKeyID === null || PreKeyID === undefined ? { IsEmpty: true } : objectOf(PreKeyID);
  return {
    signedKeyId: numberOf(SignedPreKeyID),
    baseKey: publicKey(BaseKey),
    ...(id['IsEmpty'] === true ? {} : { preKeyId: numberOf(id['Value']) }),
  };
};

/**
 * True for the receiving chain of an initiator's state under the signed pre-key of the contact. No message is ever read by it, and libsignal-node has no
 * such chain. With it, answers of Go clients that count from -1 would be unreadable.
 */
const isUnread = (chain: GoObject): boolean => objectOf(chain['ChainKey'])['Index'] === 0;

/**
 * True if a first message (`pkmsg`) of the contact was skipped, whose key is lost. In a carried session it would fail as a repetition, for which the
 * library asks for nothing. Without the session it fails for its used pre-key, and the contact sends it again.
 */
const lostFirstMessages = (state: GoObject): boolean => {
  const chains = listOf(state['ReceiverChains']);
  return chains.length === 1 && listOf(chains[0]?.['MessageKeys']).length > 0;
};

/** Converts one state. `age` is 0 for the current state and grows with the previous ones, from new to old. `now` in Unix milliseconds. */
const entryOf = (state: GoObject, age: number, now: number): SessionEntry => {
  const sender = objectOf(state['SenderChain']);
  const receivers = listOf(state['ReceiverChains']);
  const pendingPreKey = pendingOf(state['PendingPreKey']);
  const [pubKey, sendingChain] = chainOf(sender, sending);
  const usedAt = now - age;
  return {
    registrationId: numberOf(state['RemoteRegistrationID']),
    currentRatchet: {
      ephemeralKeyPair: { pubKey, privKey: base64(bytesOf(sender['SenderRatchetKeyPrivate'], privateLength)) },
      lastRemoteEphemeralKey: publicKey(receivers.at(-1)?.['SenderRatchetKeyPublic']),
      previousCounter: numberOf(state['PreviousCounter']),
      rootKey: base64(bytesOf(state['RootKey'], secretLength)),
    },
    indexInfo: {
      baseKey: publicKey(state['SenderBaseKey']),
      baseKeyType: pendingPreKey === undefined ? theirs : ours,
      closed: age === 0 ? open : usedAt,
      used: usedAt,
      created: usedAt,
      remoteIdentityKey: publicKey(state['RemoteIdentityPublic']),
    },
    _chains: Object.fromEntries([
      ...receivers.filter((chain) => !isUnread(chain)).map((chain) => chainOf(chain, receiving)),
      [pubKey, sendingChain],
    ]),
    ...(pendingPreKey && { pendingPreKey }),
  };
};

/**
 * Converts a record. Returns null when no session of it can be carried. Throws `UnreadableRecord`. `now` in Unix milliseconds: libsignal-node tries
 * sessions in the order of their last use.
 */
export const sessionRecordOf = (record: Uint8Array, now: number): SessionRecord | null => {
  const { SessionState, PreviousStates } = parseRecord(record);
  const sessions: Record<string, SessionEntry> = {};
  for (const [age, state] of [objectOf(SessionState), ...listOf(PreviousStates)].entries()) {
    if (lostFirstMessages(state)) continue;
    const entry = entryOf(state, age, now);
    // whatsmeow may keep an old copy of the current state among the previous ones.
    sessions[entry.indexInfo.baseKey] ??= entry;
  }
  return Object.keys(sessions).length === 0 ? null : { _sessions: sessions, version: 'v1' };
};
