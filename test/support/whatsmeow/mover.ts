/** A device of the client library whose Signal records can be converted to the format of whatsmeow and back between any two messages. */
import {
  addTransactionCapability,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  generateSignalPubKey,
  initAuthCreds,
  type SignalDataSet,
  type SignalKeyStore,
} from '@whiskeysockets/baileys';
import { createBaileysLogger } from '#src/platform/app-state/baileys-logger.ts';
import { senderKeyOf, type SessionRecord, sessionRecordOf } from '#src/moving/whatsmeow/records.ts';
import { quietLog } from '#test/platform/setup.ts';
import { goSenderKeyOf, goSessionOf } from './records.ts';

const logger = createBaileysLogger(quietLog, 'r0');
const transactions = { maxCommitRetries: 1, delayBetweenTriesMs: 1 };

export class MovingDevice {
  readonly creds = initAuthCreds();
  readonly #stored = new Map<string, unknown>();
  #lastKey = 0;
  repository = this.#start();

  get #store(): SignalKeyStore {
    const stored = this.#stored;
    return {
      // The names and types of the records do not change.
      get: async (type, ids) =>
        Object.fromEntries(ids.map((id) => [id, stored.get(`${type} ${id}`)]).filter(([, value]) => value !== undefined)) as never,
      set: (data: SignalDataSet) => {
        for (const [type, values] of Object.entries(data)) {
          for (const [id, value] of Object.entries(values ?? {})) {
            if (value === null) stored.delete(`${type} ${id}`);
            else stored.set(`${type} ${id}`, value);
          }
        }
      },
    };
  }

  #start() {
    const keys = addTransactionCapability(this.#store, logger, transactions);
    return DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds: this.creds, keys }, logger);
  }

  bundle() {
    this.#lastKey += 1;
    const pair = Curve.generateKeyPair();
    this.#stored.set(`pre-key ${this.#lastKey}`, pair);
    return {
      registrationId: this.creds.registrationId,
      identityKey: generateSignalPubKey(this.creds.signedIdentityKey.public),
      signedPreKey: {
        keyId: this.creds.signedPreKey.keyId,
        publicKey: generateSignalPubKey(this.creds.signedPreKey.keyPair.public),
        signature: this.creds.signedPreKey.signature,
      },
      preKey: { keyId: this.#lastKey, publicKey: generateSignalPubKey(pair.public) },
    };
  }

  /** Returns the stored value of a Signal record, as the library wrote it. */
  record(type: 'session' | 'sender-key', id: string): unknown {
    return this.#stored.get(`${type} ${id}`);
  }

  set(type: 'session' | 'sender-key', id: string, value: unknown): void {
    this.#stored.set(`${type} ${id}`, value);
  }

  /** Converts every record to the format of whatsmeow and back. The library restarts on the result. */
  move(): void {
    for (const [name, value] of this.#stored) {
      const came = name.startsWith('session ')
        ? carried(goSessionOf(value as SessionRecord, this.creds), (record) => sessionRecordOf(record, Date.now()))
        : name.startsWith('sender-key ')
          ? carried(goSenderKeyOf(value as Uint8Array, true), senderKeyOf)
          : value;
      if (came === null) this.#stored.delete(name);
      else this.#stored.set(name, came);
    }
    this.repository = this.#start();
  }
}

const carried = <T>(record: Buffer | null, convert: (record: Buffer) => T | null): T | null => record && convert(record);
