/**
 * The Signal device of every simulated phone. Work on one phone is serial. The changed keys are stored in one transaction with the effects.
 * A ratchet is therefore stored before its message is sent.
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

// Changes of the library and of libsignal in memory, made once for the phones.

// The library stores the seeds of skipped group messages as Node writes buffers in JSON, with a list of numbers. It revives buffers only from base64.
// A group message that arrives after a later one could then not be read. Here the seed becomes a buffer again before it is used.

let repaired = false;

/** Once per process; later calls do nothing. */
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

// Reads a Signal message as Signal's own library does: each session with the sender is tried on a copy, and the one that fits is promoted,
// which means that answers are written in it. libsignal 6 advances the ratchet of every session that it tries and stores those that did not
// fit.

interface StoredSession {
  /** `closed` is -1 in the open session, else the time at which it was closed, in milliseconds. */
  readonly indexInfo: { readonly closed: number; readonly used: number };
  readonly _chains: unknown;
}

/** libsignal's record for one device: sessions by the base key that began them. */
export interface StoredRecord {
  readonly _sessions: Readonly<Record<string, StoredSession>>;
}

/** The stored sessions with one device. */
interface Sessions {
  /** Null after the library deleted the record in this turn. */
  load(): StoredRecord | null | undefined;
  store(record: StoredRecord): void;
}

const open = -1;

/** The open session first, then those that were used last. */
const inOrder = ({ _sessions }: StoredRecord): [string, StoredSession][] =>
  Object.entries(_sessions).toSorted(
    ([, { indexInfo: a }], [, { indexInfo: b }]) => Number(b.closed === open) - Number(a.closed === open) || b.used - a.used,
  );

/** The session `name` open, every other one closed. */
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

/** For a message that names its session. The session that was used is the one whose chains moved. */
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

/** For a message that does not name its session. Rejects without a change when it fits none of them. */
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
      // Another session may fit; this one stays as it was.
      failure = error;
      sessions.store(record);
    }
  }
  throw failure;
};

// The library writes words that are often used as numbers, which it looks up in a plain object: a text such as `constructor` finds what
// every object inherits, and the stanza is written wrong. Here that object stops inheriting.

/** Idempotent. */
const repairStanzaWords = (): void => {
  Object.setPrototypeOf(TOKEN_MAP, null);
};

export type EnvelopeType = 'pkmsg' | 'msg';

/** The Signal operations of one phone. Devices are named by their LID jid. */
export interface SignalAccess {
  hasSession(jid: string): Promise<boolean>;
  startSession(jid: string, bundle: Bundle): Promise<void>;
  encrypt(jid: string, data: Uint8Array): Promise<{ type: EnvelopeType; ciphertext: Uint8Array }>;
  /** Rejects when the message cannot be decrypted. `identity`: the identity key of the sender's session. */
  decrypt(jid: string, type: EnvelopeType, ciphertext: Uint8Array): Promise<{ plain: Uint8Array; identity: Uint8Array | undefined }>;
  encryptGroup(group: string, data: Uint8Array): Promise<{ ciphertext: Uint8Array; distribution: Uint8Array }>;
  decryptGroup(group: string, jid: string, ciphertext: Uint8Array): Promise<Uint8Array>;
  learnSenderKey(group: string, jid: string, distribution: Uint8Array): Promise<void>;
  /** The devices that already have this phone's sender key of the group. */
  senderKeyMemory(group: string): Promise<Record<string, boolean>>;
  rememberSenderKey(group: string, jids: Record<string, boolean>): Promise<void>;
}

/** Runs in the transaction that stores the changed keys. */
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

  /** Gives the phone other keys. All its sessions go. Waits for work that uses the keys before. */
  async renew(person: Person): Promise<void> {
    await this.#signals.get(person.number)?.turn;
    this.#signals.delete(person.number);
    person.keys = makePhoneKeys();
    this.#db.atomically(() => {
      this.#keys.forgetSignal(person.number);
      this.#people.save(person);
    });
  }

  /** The key bundle of the phone itself, with a new one-time key. */
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
      // Work on a phone is serial already; the library's own transactions have nothing to do.
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
