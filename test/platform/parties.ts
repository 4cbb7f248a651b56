/** Two parties of a Signal conversation: the gateway with its own keys, and a contact with those of the library. */
import {
  addTransactionCapability,
  type AuthenticationCreds,
  type BinaryNode,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  generateSignalPubKey,
  initAuthCreds,
  type SignalDataSet,
  type SignalKeyStore,
} from '@whiskeysockets/baileys';
import { type AuthState, openAuthState } from '#src/platform/keys/auth-state.ts';
import { createBaileysLogger } from '#src/platform/app-state/baileys-logger.ts';
import { ratchetsOf } from '#src/platform/keys/ratchets.ts';
import type { FakeVault } from '#test/fakes/vault.ts';
import { preKeys, quietLog } from './setup.ts';

const logger = createBaileysLogger(quietLog, 'r0');
const transactions = { maxCommitRetries: 1, delayBetweenTriesMs: 1 };

export const ourJid = '1001@lid';
export const contactJid = '2002@lid';
export const groupJid = '3003@g.us';

type Repository = ReturnType<(typeof DEFAULT_CONNECTION_CONFIG)['makeSignalRepository']>;

/** Returns the platform's pre-key bundle for a first message to this party. */
const bundleOf = (creds: AuthenticationCreds, preKey: { readonly keyId: number; readonly publicKey: Uint8Array }) => ({
  registrationId: creds.registrationId,
  identityKey: generateSignalPubKey(creds.signedIdentityKey.public),
  signedPreKey: {
    keyId: creds.signedPreKey.keyId,
    publicKey: generateSignalPubKey(creds.signedPreKey.keyPair.public),
    signature: creds.signedPreKey.signature,
  },
  preKey,
});

export interface Party {
  readonly repository: Repository;
  readonly jid: string;
  /** Returns a bundle with a new one-time key. */
  bundle(): ReturnType<typeof bundleOf>;
}

/** Creates a contact with keys in memory. */
export const makeContact = (jid = contactJid): Party => {
  const creds = initAuthCreds();
  const stored = new Map<string, unknown>();
  const store: SignalKeyStore = {
    // Names and types of the keys pass unchanged.
    get: async (type, ids) =>
      Object.fromEntries(ids.map((id) => [id, stored.get(`${type} ${id}`)]).filter(([, value]) => value !== undefined)) as never,
    set: (data: SignalDataSet) => {
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values ?? {})) stored.set(`${type} ${id}`, value ?? undefined);
      }
    },
  };
  const keys = addTransactionCapability(store, logger, transactions);
  let lastKey = 0;
  return {
    jid,
    repository: DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds, keys }, logger),
    bundle() {
      lastKey += 1;
      const pair = Curve.generateKeyPair();
      stored.set(`pre-key ${lastKey}`, pair);
      return bundleOf(creds, { keyId: lastKey, publicKey: generateSignalPubKey(pair.public) });
    },
  };
};

export interface Gateway extends Party {
  readonly auth: AuthState;
}

/** Starts the party of the gateway on the vault, as a new process. The earlier one counts as killed unless it settled. */
export const startGateway = async (vault: FakeVault): Promise<Gateway> => {
  const auth = await openAuthState({ vault, instance: 'r0', epoch: 1, preKeys, log: quietLog, onLost: () => undefined });
  const { creds } = auth.state;
  const keys = addTransactionCapability(auth.state.keys, logger, transactions);
  let lastKey = 0;
  const ids = Array.from({ length: 200 }, (_, at) => String(at + 1));
  const pairs = new Map(Object.entries(await auth.state.keys.get('pre-key', ids)));
  return {
    jid: ourJid,
    auth,
    repository: ratchetsOf(auth.ratchets, { judged: () => undefined }, () => undefined)({ creds, keys }, logger),
    bundle() {
      lastKey += 1;
      return bundleOf(creds, { keyId: lastKey, publicKey: generateSignalPubKey(pairs.get(String(lastKey))?.public ?? new Uint8Array()) });
    },
  };
};

const bytes = (text: string): Uint8Array => Buffer.from(text);

export interface Sent {
  readonly type: 'pkmsg' | 'msg';
  readonly ciphertext: Uint8Array;
}

export const write = (from: Party, to: Party, text: string): Promise<Sent> =>
  from.repository.encryptMessage({ jid: to.jid, data: bytes(text) });

export const read = async (by: Party, from: Party, { type, ciphertext }: Sent): Promise<string> =>
  Buffer.from(await by.repository.decryptMessage({ jid: from.jid, type, ciphertext })).toString();

export const meet = (from: Party, to: Party): Promise<void> => from.repository.injectE2ESession({ jid: to.jid, session: to.bundle() });

/** Returns a stanza with the message. */
export const stanzaOf = (id: string, { type, ciphertext }: Sent): BinaryNode => ({
  tag: 'message',
  attrs: { id, from: contactJid, t: '1', type: 'text' },
  content: [{ tag: 'enc', attrs: { v: '2', type }, content: ciphertext }],
});
