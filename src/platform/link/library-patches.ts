/** Changes of the library and of libsignal in memory, made once before the first connection. */
import crypto from 'node:crypto';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Inflate } from 'node:zlib';
import { SenderKeyState } from '@whiskeysockets/baileys/lib/Signal/Group/sender-key-state.js';
import { TOKEN_MAP } from '@whiskeysockets/baileys/lib/WABinary/constants.js';

// Bounds what the library inflates: parts of a history from the own phone, as files or within messages, and frames of the platform. The
// library names no limit, so that 200 KB can become 200 MB. Its streams are those of the process: nothing else in it inflates more in this
// format.

/** In bytes. Parts of the histories of real phones have up to some ten million. */
const usualMost = 128 * 1024 * 1024;

let most = usualMost;
let isInflationBounded = false;

/** The patch is applied once per process. Later calls change only the bound. */
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

// Makes HMACs and ciphers cheaper. Node 24 tries whether a key is a key object, and catches an exception when it is bytes, twice: 13 µs for an HMAC
// beside 4 µs with a key object (measured). The library and libsignal make a dozen for each text. All callers in the process get the faster form.

let areKeysObjects = false;

/** Gives keys of bytes to Node as key objects. Applied once per process. */
export const passKeysAsObjects = (): void => {
  if (areKeysObjects) return;
  areKeysObjects = true;
  for (const name of ['createHmac', 'createCipheriv', 'createDecipheriv'] as const) {
    const make = crypto[name] as (algorithm: string, key: unknown, ...more: readonly unknown[]) => unknown;
    const faster: typeof make = (algorithm, key, ...more) =>
      make(algorithm, key instanceof Uint8Array ? crypto.createSecretKey(key) : key, ...more);
    Object.assign(crypto, { [name]: faster });
  }
  // For modules that import the functions by name.
  syncBuiltinESMExports();
};

// The library writes words that are often used as numbers, which it looks up in a plain object: a text such as `constructor` or `__proto__`
// finds what every object inherits, and the stanza is written wrong. Here that object stops inheriting.

/** Idempotent. */
export const repairStanzaWords = (): void => {
  Object.setPrototypeOf(TOKEN_MAP, null);
};

// The library stores the seeds of skipped group messages as Node writes buffers in JSON, with a list of numbers. It revives buffers only from base64.
// A group message that arrives after a later one could then not be read. Here the seed becomes a buffer again before it is used.

let areSenderKeysRepaired = false;

/** Applied once per process. */
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

// Bounds Signal sessions. Each turn of a conversation adds a receiving chain, and libsignal deletes none: a session of 400 turns takes 43
// KB. Signal's own library keeps the last five chains (`MAX_RECEIVER_CHAINS`), with which late messages of the last five turns are read.

interface Chain {
  readonly chainType: number;
}

interface Entry {
  /** In the order in which they were added. */
  readonly _chains: Record<string, Chain>;
  addChain(key: Buffer, chain: Chain): void;
}

interface RecordLibrary {
  readonly SessionRecord: { createEntry(): { readonly constructor: { readonly prototype: Entry } } };
}

const kept = 5;
/** libsignal's `chain_type.js`. */
const receiving = 2;

let areChainsBounded = false;

/** Applied once per process. */
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

// libsignal tries a message on one session of a contact after the other. A try on the wrong session turns its ratchet before the message fails. The
// turned ratchet is stored together with the session that fitted: the next message of the wrong one is then lost. Every new connection begins new
// sessions with its contacts, so that a contact's last words in the old one come often. Here a try is on a copy.

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

/** Applied once per process. */
export const repairSessionTrials = (): void => {
  if (areTrialsRepaired) return;
  areTrialsRepaired = true;
  // The very copy that the client library uses.
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
    // Fails as it always does, or the only session has to fit.
    return decrypt.call(this, message, sessions);
  };
};

// libsignal prints session objects with private keys through the console. Its output is recognised by text and values, and dropped. Other
// output passes.

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

/** Applied once per process. */
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
