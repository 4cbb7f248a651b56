/** Converts Signal records of the client library to the format of whatsmeow, which is the inverse of `src/moving/whatsmeow`. */
import { createHmac, hkdfSync } from 'node:crypto';
import { type AuthenticationCreds, BufferJSON, generateSignalPubKey } from '@whiskeysockets/baileys';
import type { SessionEntry, SessionRecord } from '#src/moving/whatsmeow/records.ts';

type Chain = SessionEntry['_chains'][string];

const derive = (seed: Uint8Array, info: string, length: number): Buffer =>
  Buffer.from(hkdfSync('sha256', seed, Buffer.alloc(32), Buffer.from(info), length));

/** Returns the key of a skipped message. libsignal for Go stores derived keys, and libsignal-node stores their seeds. */
const messageKey = ([index, seed]: readonly [string, string]) => {
  const keys = derive(Buffer.from(seed, 'base64'), 'WhisperMessageKeys', 80);
  const [CipherKey, MacKey, IV] = [keys.subarray(0, 32), keys.subarray(32, 64), keys.subarray(64)].map((part) => part.toString('base64'));
  return { CipherKey, MacKey, IV, Index: Number(index) };
};

/** A key for closed chains. libsignal-node drops the key of such a chain, and whatsmeow keeps it. */
const closedKey = createHmac('sha256', 'closed').digest('base64');

const chainOf = ([publicKey, chain]: readonly [string, Chain], privateKey: string | null) => ({
  SenderRatchetKeyPublic: publicKey,
  SenderRatchetKeyPrivate: privateKey,
  ChainKey: { Key: chain.chainKey.key ?? closedKey, Index: chain.chainKey.counter + 1 },
  MessageKeys: Object.entries(chain.messageKeys).map(messageKey),
});

/** Returns the chain that libsignal for Go creates for the signed pre-key of the contact at the start of a session. */
const unreadChain = (publicKey: string) => ({
  SenderRatchetKeyPublic: publicKey,
  SenderRatchetKeyPrivate: null,
  ChainKey: { Key: createHmac('sha256', 'unread').digest('base64'), Index: 0 },
  MessageKeys: [],
});

const stateOf = (entry: SessionEntry, creds: AuthenticationCreds) => {
  const { ephemeralKeyPair, lastRemoteEphemeralKey, previousCounter, rootKey } = entry.currentRatchet;
  const all = Object.entries(entry._chains);
  const last = (key: string): number => (key === lastRemoteEphemeralKey ? 1 : 0);
  const receivers = all.filter(([, { chainType }]) => chainType === 2).toSorted(([a], [b]) => last(a) - last(b));
  const sender = all.find(([key]) => key === ephemeralKeyPair.pubKey);
  if (sender === undefined) throw new Error('the session has no sending chain');
  const pending = entry.pendingPreKey;
  return {
    LocalIdentityPublic: Buffer.from(generateSignalPubKey(creds.signedIdentityKey.public)).toString('base64'),
    LocalRegistrationID: creds.registrationId,
    NeedsRefresh: false,
    PendingKeyExchange: null,
    PendingPreKey: pending
      ? {
          PreKeyID: { Value: pending.preKeyId ?? 0, IsEmpty: pending.preKeyId === undefined },
          SignedPreKeyID: pending.signedKeyId,
          BaseKey: pending.baseKey,
        }
      : null,
    PreviousCounter: previousCounter >>> 0,
    ReceiverChains: receivers.length === 0 ? [unreadChain(lastRemoteEphemeralKey)] : receivers.map((chain) => chainOf(chain, null)),
    RemoteIdentityPublic: entry.indexInfo.remoteIdentityKey,
    RemoteRegistrationID: entry.registrationId,
    RootKey: rootKey,
    SenderBaseKey: entry.indexInfo.baseKey,
    SenderChain: chainOf(sender, ephemeralKeyPair.privKey),
    SessionVersion: 3,
  };
};

/** Returns the session in the format of Go, or null if the record has no open session. A record of whatsmeow always has a current session. */
export const goSessionOf = ({ _sessions }: SessionRecord, creds: AuthenticationCreds): Buffer | null => {
  const entries = Object.values(_sessions).toSorted((a, b) => b.indexInfo.used - a.indexInfo.used);
  const current = entries.find(({ indexInfo }) => indexInfo.closed === -1);
  if (current === undefined) return null;
  const previous = entries.filter((entry) => entry !== current).map((entry) => stateOf(entry, creds));
  return Buffer.from(JSON.stringify({ SessionState: stateOf(current, creds), PreviousStates: previous }));
};

interface LibraryState {
  readonly senderKeyId: number;
  readonly senderChainKey: { readonly iteration: number; readonly seed: Uint8Array };
  readonly senderSigningKey: { readonly public: Uint8Array; readonly private: Uint8Array };
  readonly senderMessageKeys: readonly { readonly iteration: number; readonly seed: Uint8Array }[];
}

/** Returns the bytes of a sender key, which the library stores as base64 or as a list of numbers. */
const bytes = (value: unknown): Buffer => Buffer.from(value as Uint8Array);

const groupKey = (iteration: number, seed: Buffer) => {
  const keys = derive(seed, 'WhisperGroup', 48);
  return {
    Iteration: iteration,
    IV: keys.subarray(0, 16).toString('base64'),
    CipherKey: keys.subarray(16).toString('base64'),
    Seed: seed.toString('base64'),
  };
};

/** Returns the sender key in the format of Go. `zeros` writes the private keys of other people as whatsmeow does after its first read. */
export const goSenderKeyOf = (stored: Uint8Array, zeros = false): Buffer => {
  const states = JSON.parse(Buffer.from(stored).toString(), BufferJSON.reviver) as readonly LibraryState[];
  const none = zeros ? Buffer.alloc(32).toString('base64') : null;
  const SenderKeyStates = states.toReversed().map((state) => ({
    Keys: state.senderMessageKeys.map(({ iteration, seed }) => groupKey(iteration, bytes(seed))),
    KeyID: state.senderKeyId,
    SenderChainKey: { Iteration: state.senderChainKey.iteration, ChainKey: bytes(state.senderChainKey.seed).toString('base64') },
    SigningKeyPrivate: bytes(state.senderSigningKey.private).toString('base64') || none,
    SigningKeyPublic: Buffer.from(generateSignalPubKey(bytes(state.senderSigningKey.public))).toString('base64'),
  }));
  return Buffer.from(JSON.stringify({ SenderKeyStates }));
};
