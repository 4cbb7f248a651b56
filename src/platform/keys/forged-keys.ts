/** Remembers for whom the platform gave forged keys. The library only says that a message has no receiver. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { proto, type SignalKeyStore, type WASocket } from '@whiskeysockets/baileys';
import { createLruMap } from '#src/base/lru-map.ts';
import { addressesOf, bare, type Directory } from '../wire/jid.ts';

/** People that are remembered, up to twice as many. */
const most = 500;

export interface KeyJudge {
  /** The keys of one device of a contact were used, or were not signed by the contact. */
  judged(deviceJid: string, forged: boolean): void;
}

export class ForgedKeyNotes implements KeyJudge {
  readonly #people = createLruMap<true>(most);
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

  /** True if the last keys of the person were forged, under whichever address. */
  has(directory: Directory, jid: string): boolean {
    const { pn, lid } = addressesOf(directory, jid);
    return [pn, lid].some((address) => this.#people.get(address) === true);
  }
}

// Keys of the shared state that this device lacks. The library sets such collections aside, and never asks the phone.

/** Returns the store. `missing` is called with each key of the shared state that the store lacks. */
export const watchSharedKeys = (keys: SignalKeyStore, missing: (id: string) => void): SignalKeyStore => ({
  ...keys,
  async get(type, ids) {
    const found = await keys.get(type, ids);
    if (type === 'app-state-sync-key') for (const id of ids) if (!found[id]) missing(id);
    return found;
  },
});

/** Runs work outside the library's transactions: work that begins within one would join it. */
export const outsideTransactions = AsyncLocalStorage.snapshot();

/** Asks the phone for keys, once on each connection. The form is that of tulir/whatsmeow (`appstate.go`, `send.go`). */
export class KeyRequests {
  readonly #sock: Pick<WASocket, 'relayMessage' | 'authState'>;
  readonly #stumbled: (error: unknown) => void;
  readonly #asked = new Set<string>();
  #waiting: string[] = [];

  constructor(sock: Pick<WASocket, 'relayMessage' | 'authState'>, stumbled: (error: unknown) => void) {
    this.#sock = sock;
    this.#stumbled = stumbled;
  }

  /** `id`: in base64, as the library names keys. Keys that are missing in the same turn are one request. */
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
