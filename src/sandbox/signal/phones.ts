/**
 * The Signal device of every simulated phone. Work on one phone is serial. The changed keys are stored in one transaction with the effects. A ratchet
 * is therefore stored before its message is sent.
 */
import {
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalRepositoryWithLIDStore,
} from '@whiskeysockets/baileys';
import { pino } from 'pino';
import { lidJid } from '../address.ts';
import type { People, Person } from '../people.ts';
import { decryptFirst, decryptOnCopies, repairSenderKeys, repairStanzaWords, type Sessions } from './library-patches.ts';
import type { Database } from '../store/database.ts';
import type { KeyStore } from '../store/keys.ts';
import { makePhoneKeys, toSession, type Bundle, type PhoneKeys } from './identity.ts';

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
export type Effects = () => void;

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
