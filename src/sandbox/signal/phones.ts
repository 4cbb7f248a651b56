/**
 * The Signal device of every simulated phone. Work on one phone is serial. The changed keys are stored in one transaction with the effects of the work. A
 * ratchet is therefore stored before its message is sent.
 */
import {
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalRepositoryWithLIDStore,
} from '@whiskeysockets/baileys';
import { SenderKeyState } from '@whiskeysockets/baileys/lib/Signal/Group/sender-key-state.js';
import { TOKEN_MAP } from '@whiskeysockets/baileys/lib/WABinary/constants.js';
import { pino } from 'pino';
import { lidJid } from '../address.ts';
import type { People, Person } from '../people.ts';
import type { Database } from '../store/database.ts';
import type { KeyStore } from '../store/keys.ts';
import { type Bundle, makePhoneKeys, type PhoneKeys, toSession } from './identity.ts';

// Patches of the library and of libsignal in memory, applied once for all phones.

// The library stores the seed of a skipped group message as a JSON list of numbers. It revives buffers only from base64. Without a patch, a group message that
// arrives after a later message cannot be decrypted. The patch turns the seed into a buffer before it is used.

let repaired = false;

/** Applies the patch once per process. */
const repairSenderKeys = (): void => {
  if (repaired) return;
  repaired = true;
  const { prototype } = SenderKeyState;
  const remove = prototype.removeSenderMessageKey;
  prototype.removeSenderMessageKey = function (iteration) {
    const key = this.getStructure().senderMessageKeys.find((one) => one.iteration === iteration);
    if (key) key.seed = Buffer.from(key.seed);
    return remove.call(this, iteration);
  };
};

// Decrypts a Signal message like Signal's own library. Each session with the sender is tried on a copy. The session that fits becomes the open
// session, which is used for answers. libsignal 6 instead advances the ratchet of every session that it tries, and also stores the sessions
// that did not fit.

interface StoredSession {
  /** `closed` is -1 for the open session, else the time of its closing in Unix milliseconds. */
  readonly indexInfo: { readonly closed: number; readonly used: number };
  readonly _chains: unknown;
}

/** libsignal's record for one device: sessions by their base key. */
export interface StoredRecord {
  readonly _sessions: Readonly<Record<string, StoredSession>>;
}

/** The stored sessions with one device. */
interface Sessions {
  /** Returns the record; null if the library deleted the record during the current work. */
  load(): StoredRecord | null | undefined;
  store(record: StoredRecord): void;
}

const open = -1;

/** Sorts sessions: first the open session, then the closed sessions, of which the most recently used is first. */
const inOrder = ({ _sessions }: StoredRecord): [string, StoredSession][] =>
  Object.entries(_sessions).toSorted(
    ([, { indexInfo: a }], [, { indexInfo: b }]) => Number(b.closed === open) - Number(a.closed === open) || b.used - a.used,
  );

/** Makes `name` the open session, and closes all other sessions. */
const promote = (record: StoredRecord, name: string): StoredRecord => {
  const now = Date.now();
  const closedAt = (one: string, { closed }: { readonly closed: number }): number => {
    if (one === name) return open;
    return closed === open ? now : closed;
  };
  const sessions = Object.entries(record._sessions).map(([one, session]) => {
    const indexInfo = { ...session.indexInfo, closed: closedAt(one, session.indexInfo) };
    return [one, { ...session, indexInfo }] as const;
  });
  return { ...record, _sessions: Object.fromEntries(sessions) };
};

/** Decrypts a message that names its session, and makes this session the open session. The session is recognized by its changed chains. */
const decryptFirst = async <T>(sessions: Sessions, decrypt: () => Promise<T>): Promise<T> => {
  const before = sessions.load()?._sessions ?? {};
  const result = await decrypt();
  const after = sessions.load();
  const chains = (session: StoredSession | undefined): string => JSON.stringify(session?._chains);
  if (!after) return result;
  const used = Object.keys(after._sessions).find((name) => chains(before[name]) !== chains(after._sessions[name]));
  if (used !== undefined) sessions.store(promote(after, used));
  return result;
};

/** Decrypts a message that does not name its session. If no session fits, rejects and leaves the sessions unchanged. */
const decryptOnCopies = async <T>(sessions: Sessions, decrypt: () => Promise<T>): Promise<T> => {
  const record = sessions.load() ?? { _sessions: {} };
  let failure: unknown = new Error('no session with the sender');
  for (const [name, session] of inOrder(record)) {
    sessions.store({ ...record, _sessions: { [name]: session } });
    try {
      const result = await decrypt();
      sessions.store(promote({ ...record, _sessions: { ...record._sessions, ...sessions.load()?._sessions } }, name));
      return result;
    } catch (error) {
      // This session did not fit and is restored. Another session may fit.
      failure = error;
      sessions.store(record);
    }
  }
  throw failure;
};

// The library writes frequent words as numbers, which it looks up in a plain object. A text such as `constructor` finds an inherited
// property, and the stanza becomes wrong. The patch removes the prototype of that object.

/** Applies the patch. Idempotent. */
const repairStanzaWords = (): void => {
  Object.setPrototypeOf(TOKEN_MAP, null);
};

export type EnvelopeType = 'pkmsg' | 'msg';

/** The Signal operations of one phone. Devices are named by their LID jid. */
export interface SignalAccess {
  hasSession(jid: string): Promise<boolean>;
  startSession(jid: string, bundle: Bundle): Promise<void>;
  encrypt(jid: string, data: Uint8Array): Promise<{ type: EnvelopeType; ciphertext: Uint8Array }>;
  /** Decrypts a message. Rejects if that is not possible. `identity` is the identity key of the sender's session. */
  decrypt(jid: string, type: EnvelopeType, ciphertext: Uint8Array): Promise<{ plain: Uint8Array; identity: Uint8Array | undefined }>;
  encryptGroup(group: string, data: Uint8Array): Promise<{ ciphertext: Uint8Array; distribution: Uint8Array }>;
  decryptGroup(group: string, jid: string, ciphertext: Uint8Array): Promise<Uint8Array>;
  learnSenderKey(group: string, jid: string, distribution: Uint8Array): Promise<void>;
  /** Returns the devices that already have this phone's sender key of the group. */
  senderKeyMemory(group: string): Promise<Record<string, boolean>>;
  rememberSenderKey(group: string, jids: Record<string, boolean>): Promise<void>;
}

/** Effects that run in the transaction that stores the changed keys. */
type Effects = () => void;

interface Signal {
  readonly repository: SignalRepositoryWithLIDStore;
  changes: Record<string, Record<string, unknown>>;
  turn: Promise<void>;
}

const silent = pino({ level: 'silent' });

export class Phones {
  readonly #signals = new Map<string, Signal>();
  readonly #db: Database;
  readonly #keys: KeyStore;
  readonly #people: People;

  constructor(db: Database, keys: KeyStore, people: People) {
    repairSenderKeys();
    repairStanzaWords();
    this.#db = db;
    this.#keys = keys;
    this.#people = people;
  }

  keysOf(person: Person): PhoneKeys {
    if (!person.keys) {
      person.keys = makePhoneKeys();
      this.#people.save(person);
    }
    return person.keys;
  }

  /** Gives the phone new keys, and deletes all its sessions. First waits until the current work on the phone has ended. */
  async renew(person: Person): Promise<void> {
    await this.#signals.get(person.number)?.turn;
    this.#signals.delete(person.number);
    person.keys = makePhoneKeys();
    this.#db.atomically(() => {
      this.#keys.forgetSignal(person.number);
      this.#people.save(person);
    });
  }

  /** Returns the key bundle of the phone itself, with a new one-time key. */
  bundle(person: Person): Bundle {
    const keys = this.keysOf(person);
    const id = keys.nextPreKey;
    const pair = Curve.generateKeyPair();
    keys.nextPreKey = (id % 0xff_ff_fe) + 1;
    this.#db.atomically(() => {
      this.#keys.putSignal(person.number, { 'pre-key': { [id]: pair } });
      this.#people.save(person);
    });
    return { ...this.publicBundle(person), preKey: { id, value: pair.public } };
  }

  publicBundle(person: Person): Bundle {
    const { identity, registrationId, signedPreKey } = this.keysOf(person);
    const { keyId: id, keyPair, signature } = signedPreKey;
    return { registrationId, identity: identity.public, signedPreKey: { id, value: keyPair.public, signature } };
  }

  /** Runs `work` while no other work uses this phone's keys. Then stores the changed keys together with the effects that `work` returned. */
  async exclusively(person: Person, work: (signal: SignalAccess) => Promise<Effects | void>): Promise<void> {
    const signal = this.#signalOf(person);
    const before = signal.turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.turn = promise;
    await before;
    try {
      signal.changes = {};
      const effects = await work(
        accessOf(signal.repository, person, {
          read: (type, id) => this.#read(person.number, signal, type, id),
          write: (type, id, value) => {
            signal.changes[type] = { ...signal.changes[type], [id]: value };
          },
        }),
      );
      this.#db.atomically(() => {
        this.#keys.putSignal(person.number, signal.changes);
        effects?.();
      });
    } finally {
      signal.changes = {};
      resolve();
    }
  }

  #signalOf(person: Person): Signal {
    const known = this.#signals.get(person.number);
    if (known) return known;
    const { identity, registrationId, signedPreKey } = this.keysOf(person);
    const store = {
      get: <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) =>
        Object.fromEntries(
          ids.map((id) => [id, this.#read(person.number, signal, type, id)]).filter(([, value]) => value !== undefined && value !== null),
        ) as { [id: string]: SignalDataTypeMap[T] },
      set: (data: SignalDataSet) => {
        for (const [type, values] of Object.entries(data)) signal.changes[type] = { ...signal.changes[type], ...values };
      },
      isInTransaction: () => false,
      // Work on a phone is already serial, so the library's own transactions only run the work.
      transaction: <T>(run: () => Promise<T>) => run(),
    };
    const creds = { signedIdentityKey: identity, signedPreKey, registrationId };
    const auth = { creds, keys: store } as unknown as Parameters<typeof DEFAULT_CONNECTION_CONFIG.makeSignalRepository>[0];
    const repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, silent, async () => []);
    const signal: Signal = { repository, changes: {}, turn: Promise.resolve() };
    this.#signals.set(person.number, signal);
    return signal;
  }

  #read(owner: string, signal: Signal, type: string, id: string): unknown {
    const changed = signal.changes[type];
    return changed && id in changed ? changed[id] : this.#keys.signal(owner, type, id);
  }
}

interface Values {
  read(type: string, id: string): unknown;
  write(type: string, id: string, value: unknown): void;
}

function accessOf(repository: SignalRepositoryWithLIDStore, person: Person, { read, write }: Values): SignalAccess {
  const me = lidJid(person.lid);
  return {
    hasSession: async (jid) => (await repository.validateSession(jid)).exists,
    startSession: (jid, bundle) => repository.injectE2ESession({ jid, session: toSession(bundle) }),
    encrypt: (jid, data) => repository.encryptMessage({ jid, data }),
    async decrypt(jid, type, ciphertext) {
      const address = repository.jidToSignalProtocolAddress(jid);
      const sessions: Sessions = {
        load: () => read('session', address) as ReturnType<Sessions['load']>,
        store: (record) => write('session', address, record),
      };
      const open = () => repository.decryptMessage({ jid, type, ciphertext: Buffer.from(ciphertext) });
      const plain = await (type === 'pkmsg' ? decryptFirst(sessions, open) : decryptOnCopies(sessions, open));
      const identity = read('identity-key', address);
      return { plain, identity: identity instanceof Uint8Array ? identity.subarray(1) : undefined };
    },
    async encryptGroup(group, data) {
      const { ciphertext, senderKeyDistributionMessage: distribution } = await repository.encryptGroupMessage({ group, meId: me, data });
      return { ciphertext, distribution };
    },
    decryptGroup: (group, authorJid, msg) => repository.decryptGroupMessage({ group, authorJid, msg }),
    learnSenderKey: (groupId, authorJid, axolotlSenderKeyDistributionMessage) =>
      repository.processSenderKeyDistributionMessage({ authorJid, item: { groupId, axolotlSenderKeyDistributionMessage } }),
    senderKeyMemory: async (group) => (read('sender-key-memory', group) as Record<string, boolean> | undefined) ?? {},
    rememberSenderKey: async (group, jids) => {
      write('sender-key-memory', group, jids);
    },
  };
}
