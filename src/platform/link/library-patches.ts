/** Patches of the library and of libsignal in memory. They are applied once, before the first connection. */
import crypto from 'node:crypto';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Inflate } from 'node:zlib';
import { SenderKeyState } from '@whiskeysockets/baileys/lib/Signal/Group/sender-key-state.js';
import { TOKEN_MAP } from '@whiskeysockets/baileys/lib/WABinary/constants.js';

// A limit for inflated bytes. The library inflates frames of the platform and parts of the history, without a limit: 200 KB can become 200 MB. The patch
// applies to all inflate streams of the process. No other part of the process needs more.

/** The limit for each stream. A part of the history of a real phone inflates to a few ten million bytes at most. In bytes. */
const usualMost = 128 * 1024 * 1024;

let most = usualMost;
let isInflationBounded = false;

/** Applies the limit. The patch is applied once per process, and later calls change only the limit. */
export const boundInflation = (mostBytes = usualMost): void => {
  most = mostBytes;
  if (isInflationBounded) return;
  isInflationBounded = true;
  const came = new WeakMap<Inflate, number>();
  const { push } = Inflate.prototype;
  Inflate.prototype.push = function (chunk: Uint8Array | null, encoding) {
    const bytes = (came.get(this) ?? 0) + (chunk?.length ?? 0);
    came.set(this, bytes);
    if (bytes <= most) return push.call(this, chunk, encoding);
    this.destroy(new Error('the bytes inflate to more than is allowed'));
    return false;
  };
};

// Cheaper HMACs and ciphers. If a key is given as bytes, Node 24 tests twice if it is a key object, and catches an exception each time. An
// HMAC takes 13 µs with bytes and 4 µs with a key object (measured). The library and libsignal compute about twelve HMACs for each text message. The
// patch applies to all callers in the process.

let areKeysObjects = false;

/** Converts keys of bytes to key objects. The patch is applied once per process. */
export const passKeysAsObjects = (): void => {
  if (areKeysObjects) return;
  areKeysObjects = true;
  for (const name of ['createHmac', 'createCipheriv', 'createDecipheriv'] as const) {
    const make = crypto[name] as (algorithm: string, key: unknown, ...more: readonly unknown[]) => unknown;
    const faster: typeof make = (algorithm, key, ...more) =>
      make(algorithm, key instanceof Uint8Array ? crypto.createSecretKey(key) : key, ...more);
    Object.assign(crypto, { [name]: faster });
  }
  // Without this call, modules that import the functions by name would not get the patch.
  syncBuiltinESMExports();
};

// The library encodes frequent words as numbers. It looks them up in a plain object. A text such as `constructor` or `__proto__` finds an inherited
// property, and the stanza is encoded wrongly. The patch removes the prototype of this object.

/** Applies the patch. Idempotent. */
export const repairStanzaWords = (): void => {
  Object.setPrototypeOf(TOKEN_MAP, null);
};

// The library stores the seeds of skipped group messages as lists of numbers (Node's JSON form of buffers), but restores buffers only from base64. A group
// message that arrives after a later one can then not be decrypted. The patch converts a seed to a buffer before its use.

let areSenderKeysRepaired = false;

/** Applies the patch once per process. */
export const repairSenderKeys = (): void => {
  if (areSenderKeysRepaired) return;
  areSenderKeysRepaired = true;
  const { prototype } = SenderKeyState;
  const remove = prototype.removeSenderMessageKey;
  prototype.removeSenderMessageKey = function (iteration) {
    const key = this.getStructure().senderMessageKeys.find((one) => one.iteration === iteration);
    if (key) key.seed = Buffer.from(key.seed);
    return remove.call(this, iteration);
  };
};

// A limit for the size of Signal sessions. Each turn of a conversation adds a receiving chain, and libsignal deletes none, so a session after 400 turns has
// 43 KB. Signal's own library keeps the last five chains (`MAX_RECEIVER_CHAINS`), which suffice for late messages of the last five turns.

interface Chain {
  readonly chainType: number;
}

interface Entry {
  /** Chains in the order in which they were added. */
  readonly _chains: Record<string, Chain>;
  addChain(key: Buffer, chain: Chain): void;
}

interface RecordLibrary {
  readonly SessionRecord: { createEntry(): { readonly constructor: { readonly prototype: Entry } } };
}

const kept = 5;
/** The type of receiving chains (`src/chain_type.js` of libsignal). */
const receiving = 2;

let areChainsBounded = false;

/** Applies the patch once per process. */
export const boundSessionChains = (): void => {
  if (areChainsBounded) return;
  areChainsBounded = true;
  const { SessionRecord } = createRequire(import.meta.resolve('@whiskeysockets/baileys'))('libsignal') as RecordLibrary;
  const { prototype } = SessionRecord.createEntry().constructor;
  const add = prototype.addChain;
  prototype.addChain = function (key, chain) {
    add.call(this, key, chain);
    const received = Object.entries(this._chains).filter(([, { chainType }]) => chainType === receiving);
    for (const [id] of received.slice(0, -kept)) delete this._chains[id];
  };
};

// libsignal tries to decrypt a message with each session of a contact. A try with the wrong session advances its ratchet before it fails. The advanced
// ratchet is stored together with the right session, so the next message of the wrong session is lost. This is frequent, because new sessions are made
// often, and a contact's last messages then use the old session. With the patch, each try works on a copy.

interface Session {
  readonly indexInfo: { used: number };
  pendingPreKey?: unknown;
  serialize(): unknown;
}

interface Cipher {
  doDecryptWhisperMessage(message: Uint8Array, session: Session): Promise<Uint8Array>;
  decryptWithSessions(message: Uint8Array, sessions: readonly Session[]): Promise<{ session: Session; plaintext: Uint8Array }>;
}

interface CipherLibrary {
  readonly SessionCipher: { readonly prototype: Cipher };
  readonly SessionRecord: { createEntry(): Session & { readonly constructor: { deserialize(data: unknown): Session } } };
}

let areTrialsRepaired = false;

/** Applies the patch once per process. */
export const repairSessionTrials = (): void => {
  if (areTrialsRepaired) return;
  areTrialsRepaired = true;
  // libsignal is resolved from Baileys, so that the patch applies to the copy that Baileys uses.
  const { SessionCipher, SessionRecord } = createRequire(import.meta.resolve('@whiskeysockets/baileys'))('libsignal') as CipherLibrary;
  const { prototype } = SessionCipher;
  const decrypt = prototype.decryptWithSessions;
  const copyOf = (session: Session): Session => SessionRecord.createEntry().constructor.deserialize(session.serialize());
  prototype.decryptWithSessions = async function (message, sessions) {
    if (sessions.length > 1) {
      for (const session of sessions) {
        const copy = copyOf(session);
        const plaintext = await this.doDecryptWhisperMessage(message, copy).catch(() => null);
        if (plaintext === null) continue;
        copy.indexInfo.used = Date.now();
        Object.assign(session, copy);
        if (copy.pendingPreKey === undefined) delete session.pendingPreKey;
        return { session, plaintext };
      }
    }
    // The original method runs if no copy could decrypt the message, or if there is only one session.
    return decrypt.call(this, message, sessions);
  };
};

// libsignal prints session objects with private keys to the console. The patch recognises this output by its text and its values, and drops it.
// All other output is printed.

const levels = ['log', 'info', 'warn', 'error', 'debug'] as const;

/** The first words of all texts that libsignal 6.0.0 prints. */
const sentences = [
  'V1 session storage migration error',
  'Migrating session to:',
  'Session already closed',
  'Closing session:',
  'Session already open',
  'Opening session:',
  'Removing old closed session:',
  'Closing open session in favor of incoming prekey bundle',
  'WARNING: Expected pubkey of length 33',
  'Unhandled bucket type',
  'Failed to decrypt message with any known session',
  'Session error:',
  'Decrypted message with closed session',
];

const carriesSession = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (value.constructor?.name === 'SessionEntry' || value.constructor?.name === 'SessionRecord');

const isLibsignal = (args: readonly unknown[]): boolean => {
  const [first] = args;
  return (typeof first === 'string' && sentences.some((sentence) => first.startsWith(sentence))) || args.some(carriesSession);
};

let quiet = false;

/** Applies the patch once per process. */
export const quietConsole = (target: Record<(typeof levels)[number], (...args: unknown[]) => void> = console): void => {
  if (target === console && quiet) return;
  if (target === console) quiet = true;
  for (const level of levels) {
    const print = target[level].bind(target);
    target[level] = (...args) => {
      if (!isLibsignal(args)) print(...args);
    };
  }
};
