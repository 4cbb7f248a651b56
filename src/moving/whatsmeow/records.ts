/** Signal records of whatsmeow as records of the client library: the JSON of libsignal-protocol-go, sender keys, and sessions. */
import { BufferJSON } from '@whiskeysockets/baileys';

// The JSON in which whatsmeow stores Signal records (tulir/libsignal-protocol-go, `state/record`): names of Go fields, bytes in base64 or null.

/** A record that cannot be carried over; `message` is a clause without any of its content. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

type GoObject = Readonly<Record<string, unknown>>;

/** The error for unknown forms, which forks of whatsmeow store. */
const foreignForm = 'the record is not in the JSON form of whatsmeow';
const broken = 'the record is broken';

const firstByte = '{'.charCodeAt(0);

const parseRecord = (record: Uint8Array): GoObject => {
  if (record[0] !== firstByte) throw new UnreadableRecord(foreignForm);
  try {
    return JSON.parse(Buffer.from(record).toString()) as GoObject;
  } catch {
    // The parser's sentence would quote the record.
    throw new UnreadableRecord(broken);
  }
};

/** Returns the value if it is an object. Like all functions of this file, it throws `UnreadableRecord` otherwise. */
const objectOf = (value: unknown): GoObject => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UnreadableRecord(broken);
  return value as GoObject;
};

/** Returns a list of objects. Go writes null for an empty slice. */
const listOf = (value: unknown): readonly GoObject[] => {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new UnreadableRecord(broken);
  return value.map(objectOf);
};

/** Decodes bytes of exactly this length. */
const bytesOf = (value: unknown, length: number): Buffer => {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : null;
  if (bytes?.length !== length) throw new UnreadableRecord(broken);
  return bytes;
};

/** Returns a `uint32` of Go. */
const numberOf = (value: unknown): number => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 0xffff_ffff) throw new UnreadableRecord(broken);
  return value;
};

const privateLength = 32;
/** A public key with the type of the curve before it. */
const publicLength = 33;
const secretLength = 32;

// Sender keys of whatsmeow as records of the client library. All their fields convert.

/**
 * Returns the private half of a signing key. Keys of other people have none: whatsmeow writes null at first, and zeros after it has read the
 * record.
 */
const privateOf = (value: unknown): Buffer => {
  if (value === null || value === undefined || value === '') return Buffer.alloc(0);
  const bytes = bytesOf(value, privateLength);
  return bytes.every((byte) => byte === 0) ? Buffer.alloc(0) : bytes;
};

const stateOf = (state: GoObject) => {
  const chain = objectOf(state['SenderChainKey']);
  return {
    senderKeyId: numberOf(state['KeyID']),
    senderChainKey: { iteration: numberOf(chain['Iteration']), seed: bytesOf(chain['ChainKey'], secretLength) },
    senderSigningKey: { public: bytesOf(state['SigningKeyPublic'], publicLength), private: privateOf(state['SigningKeyPrivate']) },
    senderMessageKeys: listOf(state['Keys']).map((key) => ({
      iteration: numberOf(key['Iteration']),
      seed: bytesOf(key['Seed'], secretLength),
    })),
  };
};

/** Converts a record to JSON text in a Buffer, as the library stores it. Returns null for a record without any key. Throws `UnreadableRecord`. */
export const senderKeyOf = (record: Uint8Array): Buffer | null => {
  // whatsmeow stores the newest key first. The library stores the newest key last.
  const states = listOf(parseRecord(record)['SenderKeyStates']).map(stateOf).toReversed();
  return states.length === 0 ? null : Buffer.from(JSON.stringify(states, BufferJSON.replacer));
};

// Converts Signal sessions of whatsmeow to records of libsignal-node. Both programs number the messages of a chain from different starts, and
// store different fields.

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
    /** -1 for the current session, which is used for sending. */
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
  // whatsmeow stores the number of the next message. libsignal-node stores the number of the last message that was written or read.
  const chainKey = { counter: numberOf(Index) - 1, key: base64(bytesOf(Key, secretLength)) };
  // whatsmeow stores derived keys of skipped messages, and the library stores their seeds. Derived keys cannot be converted to seeds.
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
 * Returns true for the receiving chain that whatsmeow stores under the signed pre-key of the contact, in a session that this account began. No message is ever
 * read with this chain, and libsignal-node has no such chain. If the chain were copied, answers of Go clients that count from -1 would be unreadable.
 */
const isUnread = (chain: GoObject): boolean => objectOf(chain['ChainKey'])['Index'] === 0;

/**
 * Returns true if a first message (`pkmsg`) of the contact was skipped. The key of this message cannot be converted. In a carried session the message
 * would fail as a repetition, and the library would not ask for the message again. Without the session, the message fails because its pre-key was
 * used, and the contact sends it again.
 */
const lostFirstMessages = (state: GoObject): boolean => {
  const chains = listOf(state['ReceiverChains']);
  return chains.length === 1 && listOf(chains[0]?.['MessageKeys']).length > 0;
};

/** Converts one state. `age`: 0 for the current state, 1 for the newest previous state, and so on. `now`: Unix milliseconds. */
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
 * Converts a record. Returns null if no session of the record can be carried. Throws `UnreadableRecord`. `now` is in Unix milliseconds. The times of the last
 * use follow the order of the states, because libsignal-node tries sessions in the order of their last use.
 */
export const sessionRecordOf = (record: Uint8Array, now: number): SessionRecord | null => {
  const { SessionState, PreviousStates } = parseRecord(record);
  const sessions: Record<string, SessionEntry> = {};
  for (const [age, state] of [objectOf(SessionState), ...listOf(PreviousStates)].entries()) {
    if (lostFirstMessages(state)) continue;
    const entry = entryOf(state, age, now);
    // whatsmeow may keep an old copy of the current state among the previous ones. The newer state comes first, and is kept.
    sessions[entry.indexInfo.baseKey] ??= entry;
  }
  return Object.keys(sessions).length === 0 ? null : { _sessions: sessions, version: 'v1' };
};
