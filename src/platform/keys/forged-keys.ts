/**
 * Remembers the people for whom the platform returned forged keys. The library only reports that a message has no receiver. Also asks the phone for missing
 * keys of the shared state.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { proto, type SignalKeyStore, type WASocket } from '@whiskeysockets/baileys';
import { LruMap } from '#src/base/lru-map.ts';
import { addressesOf, bare, type Directory } from '../wire/jid.ts';

/** The cache keeps at least this many people, and at most twice as many. */
const most = 500;

export interface KeyJudge {
  /** Reports the check of a device's keys. `forged`: true if the contact did not sign them. */
  judged(deviceJid: string, forged: boolean): void;
}

export class ForgedKeyNotes implements KeyJudge {
  readonly #people = new LruMap<true>(most);
  readonly #found: () => void;

  /** `found`: called for each device with forged keys. */
  constructor(found: () => void) {
    this.#found = found;
  }

  judged(deviceJid: string, forged: boolean): void {
    const person = bare(deviceJid);
    if (!forged) return void this.#people.delete(person);
    this.#people.set(person, true);
    this.#found();
  }

  /** Returns true if the last keys under one of the two addresses of the person were forged. */
  has(directory: Directory, jid: string): boolean {
    const { pn, lid } = addressesOf(directory, jid);
    return [pn, lid].some((address) => this.#people.get(address) === true);
  }
}

// Missing keys of the shared state. The library skips collections whose key is missing, and never asks the phone for it.

/** Returns a store that calls `missing` with the id of each key of the shared state that is read and does not exist. */
export const watchSharedKeys = (keys: SignalKeyStore, missing: (id: string) => void): SignalKeyStore => ({
  ...keys,
  async get(type, ids) {
    const found = await keys.get(type, ids);
    if (type === 'app-state-sync-key') for (const id of ids) if (!found[id]) missing(id);
    return found;
  },
});

/** Runs work outside of the library's transactions. Work that begins inside a transaction would otherwise join it. */
export const outsideTransactions = AsyncLocalStorage.snapshot();

/** Asks the phone for missing keys, once for each key and connection. The request has the form of tulir/whatsmeow (`appstate.go`, `send.go`). */
export class KeyRequests {
  readonly #sock: Pick<WASocket, 'relayMessage' | 'authState'>;
  readonly #stumbled: (error: unknown) => void;
  readonly #asked = new Set<string>();
  #waiting: string[] = [];

  constructor(sock: Pick<WASocket, 'relayMessage' | 'authState'>, stumbled: (error: unknown) => void) {
    this.#sock = sock;
    this.#stumbled = stumbled;
  }

  /** Requests a key. `id`: the key id in base64, as in the library. Keys of the same turn of the event loop share one request. */
  ask(id: string): void {
    if (this.#asked.has(id)) return;
    this.#asked.add(id);
    this.#waiting.push(id);
    if (this.#waiting.length === 1) outsideTransactions(() => setImmediate(() => this.#send().catch(this.#stumbled)));
  }

  async #send(): Promise<void> {
    const keyIds = this.#waiting.splice(0).map((id) => ({ keyId: Buffer.from(id, 'base64') }));
    const type = proto.Message.ProtocolMessage.Type.APP_STATE_SYNC_KEY_REQUEST;
    const request = { protocolMessage: { type, appStateSyncKeyRequest: { keyIds } } };
    const additionalAttributes = { category: 'peer', push_priority: 'high' };
    await this.#sock.relayMessage(bare(this.#sock.authState.creds.me?.id), request, { additionalAttributes });
  }
}
