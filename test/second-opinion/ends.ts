/** The interface of an end of a Signal conversation, and an end on the library of Signal. */
import {
  CiphertextMessageType,
  type Direction,
  IdentityKeyPair,
  IdentityKeyStore,
  PreKeyBundle,
  PreKeyRecord,
  PreKeySignalMessage,
  PreKeyStore,
  PrivateKey,
  processPreKeyBundle,
  ProtocolAddress,
  PublicKey,
  SessionRecord,
  SessionStore,
  signalDecrypt,
  signalDecryptPreKey,
  signalEncrypt,
  SignalMessage,
  SignedPreKeyRecord,
  SignedPreKeyStore,
} from '@signalapp/libsignal-client';
import type { Party, Sent } from '#test/platform/parties.ts';

/** The keys from which a first message starts. Public keys are 33 bytes, with the byte of their type. */
export type Bundle = ReturnType<Party['bundle']>;

/** One end of a conversation between two devices. */
export interface End {
  /** Returns the public keys for a first message, with a new one-time key at each call. */
  bundle(): Bundle;
  /** Begins a new session with the other end. */
  meet(bundle: Bundle): Promise<void>;
  write(text: string): Promise<Sent>;
  /** Decrypts a message. Rejects if the message cannot be read. */
  read(sent: Sent): Promise<string>;
}

class Sessions extends SessionStore {
  readonly #stored = new Map<string, Buffer>();

  async saveSession(name: ProtocolAddress, record: SessionRecord): Promise<void> {
    this.#stored.set(name.name(), record.serialize());
  }

  async getSession(name: ProtocolAddress): Promise<SessionRecord | null> {
    const stored = this.#stored.get(name.name());
    return stored === undefined ? null : SessionRecord.deserialize(stored);
  }

  async getExistingSessions(names: ProtocolAddress[]): Promise<SessionRecord[]> {
    const all = await Promise.all(names.map((name) => this.getSession(name)));
    return all.filter((one) => one !== null);
  }

  clear(): void {
    this.#stored.clear();
  }
}

/** Trusts any key of the other end, as the clients of the platform do. */
class Identities extends IdentityKeyStore {
  readonly pair = IdentityKeyPair.generate();
  readonly registrationId = 1 + Math.floor(Math.random() * 16_000);
  readonly #known = new Map<string, PublicKey>();

  async getIdentityKey(): Promise<PrivateKey> {
    return this.pair.privateKey;
  }

  async getLocalRegistrationId(): Promise<number> {
    return this.registrationId;
  }

  async saveIdentity(name: ProtocolAddress, key: PublicKey): Promise<boolean> {
    const before = this.#known.get(name.name());
    this.#known.set(name.name(), key);
    return before !== undefined && before.compare(key) !== 0;
  }

  async isTrustedIdentity(_name: ProtocolAddress, _key: PublicKey, _direction: Direction): Promise<boolean> {
    return true;
  }

  async getIdentity(name: ProtocolAddress): Promise<PublicKey | null> {
    return this.#known.get(name.name()) ?? null;
  }
}

class PreKeys extends PreKeyStore {
  readonly #stored = new Map<number, PreKeyRecord>();

  async savePreKey(id: number, record: PreKeyRecord): Promise<void> {
    this.#stored.set(id, record);
  }

  async getPreKey(id: number): Promise<PreKeyRecord> {
    const found = this.#stored.get(id);
    if (found === undefined) throw new Error(`no one-time key ${id}`);
    return found;
  }

  async removePreKey(id: number): Promise<void> {
    this.#stored.delete(id);
  }
}

class SignedPreKeys extends SignedPreKeyStore {
  readonly record: SignedPreKeyRecord;

  constructor({ privateKey }: IdentityKeyPair) {
    super();
    const key = PrivateKey.generate();
    this.record = SignedPreKeyRecord.new(1, Date.now(), key.getPublicKey(), key, privateKey.sign(key.getPublicKey().serialize()));
  }

  async saveSignedPreKey(): Promise<void> {
    // The signed pre-key never changes.
  }

  async getSignedPreKey(): Promise<SignedPreKeyRecord> {
    return this.record;
  }
}

/** A device on the library of Signal, with one other end. */
export class SignalPeer implements End {
  readonly #other = ProtocolAddress.new('the other end', 1);
  readonly #sessions = new Sessions();
  readonly #identities = new Identities();
  readonly #preKeys = new PreKeys();
  readonly #signedPreKeys = new SignedPreKeys(this.#identities.pair);
  #lastKey = 0;

  bundle(): Bundle {
    this.#lastKey += 1;
    const key = PrivateKey.generate();
    void this.#preKeys.savePreKey(this.#lastKey, PreKeyRecord.new(this.#lastKey, key.getPublicKey(), key));
    const { record } = this.#signedPreKeys;
    return {
      registrationId: this.#identities.registrationId,
      identityKey: this.#identities.pair.publicKey.serialize(),
      signedPreKey: { keyId: record.id(), publicKey: record.publicKey().serialize(), signature: record.signature() },
      preKey: { keyId: this.#lastKey, publicKey: key.getPublicKey().serialize() },
    };
  }

  /** Begins a session. Rejects if the signature of the signed key is not valid. */
  async meet({ registrationId, identityKey, signedPreKey, preKey }: Bundle): Promise<void> {
    const bundle = PreKeyBundle.new(
      registrationId,
      1,
      preKey.keyId,
      toKey(preKey.publicKey),
      signedPreKey.keyId,
      toKey(signedPreKey.publicKey),
      Buffer.from(signedPreKey.signature),
      toKey(identityKey),
    );
    await processPreKeyBundle(bundle, this.#other, this.#sessions, this.#identities);
  }

  async write(text: string): Promise<Sent> {
    const message = await signalEncrypt(Buffer.from(text), this.#other, this.#sessions, this.#identities);
    const type = message.type() === Number(CiphertextMessageType.PreKey) ? 'pkmsg' : 'msg';
    return { type, ciphertext: message.serialize() };
  }

  async read({ type, ciphertext }: Sent): Promise<string> {
    const [bytes, sessions, identities] = [Buffer.from(ciphertext), this.#sessions, this.#identities];
    const plain =
      type === 'msg'
        ? await signalDecrypt(SignalMessage.deserialize(bytes), this.#other, sessions, identities)
        : await signalDecryptPreKey(
            PreKeySignalMessage.deserialize(bytes),
            this.#other,
            sessions,
            identities,
            this.#preKeys,
            this.#signedPreKeys,
          );
    return plain.toString();
  }

  /** Deletes the sessions, as a restore from an old backup does. */
  loseSessions(): void {
    this.#sessions.clear();
  }
}

const toKey = (bytes: Uint8Array): PublicKey => PublicKey.deserialize(Buffer.from(bytes));
