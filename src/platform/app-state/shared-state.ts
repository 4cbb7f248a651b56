/**
 * Changes of the state that the account's devices share: chats, labels, contacts and quick replies. This file replaces the library's `appPatch`,
 * which treats a refusal as a success and allows only one mutation in a patch. The library stores the state of a collection in its key store. The
 * locks of that store serialise the library's own synchronisations and these patches.
 */
import {
  ALL_WA_PATCH_NAMES,
  type AuthenticationCreds,
  type BaileysEventEmitter,
  type BinaryNode,
  ensureLTHashStateVersion,
  getBinaryNodeChild,
  type LTHashState,
  processSyncAction,
  type SignalKeyStoreWithTransaction,
  type WAPatchName,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { Entry } from '#actors/model.ts';
import type { Outcome } from '#actors/ports.ts';
import type { BaileysEvent } from '../events/library-values.ts';
import { fromBaileys } from '../events/from-baileys.ts';
import { KeyRequests, outsideTransactions } from '../keys/forged-keys.ts';
import { type PatchNotes, versionType } from '../keys/patch-notes.ts';
import { type Directory, personServer } from '../wire/jid.ts';
import { answered, notSent, refusedAs } from '../wire/outcomes.ts';
import { encodePatch, type Mutation, REMOVE, type SharedKey } from './actions.ts';
import { createBaileysLogger } from './baileys-logger.ts';

// The translation of own mutations into entries. The library's function for received mutations reads the own mutations too. A change over the API then has
// the same entries as a change on the phone.

const noReadings: Parameters<typeof fromBaileys>[2] = new Map();
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Returns the events of a mutation. A removal is read like a record with an empty value. */
const read = ({ index, value, version, operation }: Mutation, directory: Directory): BaileysEvent[] => {
  const events: BaileysEvent[] = [];
  const emit = (name: string, data: unknown): boolean => {
    // The cast is safe, because the type of `emit` pairs each name with its data.
    events.push({ name, data } as BaileysEvent);
    return true;
  };
  const logger = createBaileysLogger(quiet, '', { unread: (action) => void events.push({ name: 'app-state.action', data: action }) });
  const { pn, name } = directory.me;
  const said = operation === REMOVE ? { contactAction: {} } : value;
  const action = { index: Buffer.from(JSON.stringify(index)), value: said, version, padding: new Uint8Array(0) };
  processSyncAction(
    { syncAction: action, index: [...index] },
    { emit } as unknown as BaileysEventEmitter,
    { id: pn, name },
    undefined,
    logger,
  );
  return events;
};

/** Returns true for the deletion or clearing of a chat. Only the API request says what is removed from the database. The mutation causes no entries. */
const isErasure = ({ index: [name] }: Mutation): boolean => name === 'clearChat' || name === 'deleteChat';

/** Returns the entries of mutations. Events that only the library reads (addresses, credentials) cause no entries. */
const entriesOfMutations = (mutations: readonly Mutation[], directory: Directory): Entry[] =>
  mutations
    .filter((mutation) => !isErasure(mutation))
    .flatMap((mutation) => read(mutation, directory))
    .flatMap((event) => fromBaileys(event, directory, noReadings));

/** The largest number of attempts at a patch. The platform's own client has the same limit. */
const rounds = 5;

export interface SharedState {
  /**
   * Sends mutations of one collection as one patch. Resolves when the platform has accepted the patch and its changes are stored like changes by the
   * phone. They are stored even if the caller has given up. After a conflict the missed changes are applied and reported, and the patch is sent again.
   * There are at most five attempts. `refused`: the platform refuses the patch. `notSent`: the phone has not shared its keys yet. Throws the errors of
   * the library's query.
   */
  patch(mutations: readonly [Mutation, ...Mutation[]]): Promise<Outcome<null>>;
  /** Synchronises in the background the collections whose last patch or fetch has no known outcome. Call this after the login. */
  opened(): void;
  /** Synchronises collections. Missed changes are reported. Throws the errors of the library's query. */
  refresh(collections: readonly WAPatchName[]): Promise<void>;
  /** Reads whole collections from the platform's snapshots, and reports their records as changes. Throws the errors of the library's query. */
  reload(collections: readonly WAPatchName[]): Promise<void>;
  /** Asks the phone for a missing key of the shared state. */
  keyMissing(id: string): void;
  /**
   * Handles a change of credentials, if the library does not synchronise by itself. A new key from the phone fetches all collections. A new
   * `accountSyncCounter` fetches them only if none was fetched before.
   */
  credentialsChanged(update: Partial<AuthenticationCreds>): void;
}

type Socket = Pick<WASocket, 'ws' | 'query' | 'relayMessage' | 'resyncAppState' | 'appStatePatchMutex' | 'authState'>;

interface SharedStateParts {
  readonly sock: Socket;
  readonly directory: Directory;
  /** Hands entries to the recorder, after all events that the library has reported before, so that the later change of a chat wins. Never rejects. */
  record(entries: readonly Entry[]): Promise<void>;
  /** Loads the address pairs of people into memory for `directory`, because records name people by LID. */
  loadMappings(jids: readonly string[]): Promise<void>;
  /** Resolves when all entries given to `record` before are stored. Never rejects. */
  recorded(): Promise<unknown>;
  readonly patches: PatchNotes;
  /** Reports that background work failed. */
  stumbled(error: unknown): void;
}

/** The platform's answer to a patch. `code`: an error code like those of HTTP. */
type Verdict = { readonly taken: true } | { readonly taken: false; readonly code: number; readonly text: string };

const verdictOf = (answer: BinaryNode): Verdict => {
  const collection = getBinaryNodeChild(getBinaryNodeChild(answer, 'sync'), 'collection');
  if (collection?.attrs['type'] !== 'error') return { taken: true };
  const { code, text } = getBinaryNodeChild(collection, 'error')?.attrs ?? {};
  return { taken: false, code: Number(code) || 500, text: text ?? '' };
};

const patchQuery = (name: WAPatchName, version: number, patch: Uint8Array): BinaryNode => ({
  tag: 'iq',
  attrs: { to: personServer, type: 'set', xmlns: 'w:sync:app:state' },
  content: [
    {
      tag: 'sync',
      attrs: {},
      content: [
        {
          tag: 'collection',
          attrs: { name, version: String(version), return_snapshot: 'false' },
          content: [{ tag: 'patch', attrs: {}, content: patch }],
        },
      ],
    },
  ],
});

class LiveSharedState implements SharedState {
  readonly #parts: SharedStateParts;
  readonly #sock: Socket;
  readonly #directory: Directory;
  readonly #requests: KeyRequests;

  constructor(parts: SharedStateParts) {
    this.#parts = parts;
    this.#sock = parts.sock;
    this.#requests = new KeyRequests(parts.sock, (error) => parts.stumbled(error));
    this.#directory = parts.directory;
  }

  async patch(mutations: readonly [Mutation, ...Mutation[]]): Promise<Outcome<null>> {
    const [{ collection }] = mutations;
    if (mutations.some((one) => one.collection !== collection)) throw new Error('mutations of two collections in one patch');
    const timestamp = this.#directory.now();
    const timed = mutations.map((one) => ({ ...one, value: { ...one.value, timestamp } }));
    try {
      const outcome = await this.#sock.appStatePatchMutex.mutex(() => this.#tryRounds(collection, timed));
      if (outcome.ok) await this.#parts.recorded();
      return outcome;
    } catch (error) {
      if (this.#sock.ws.isOpen) this.opened();
      throw error;
    }
  }

  opened(): void {
    const { patches, stumbled } = this.#parts;
    // Each collection has a query of its own, so that a collection that cannot be read holds up no other.
    for (const note of patches.open)
      this.refresh([note[0] as WAPatchName])
        .then(() => patches.settled(note))
        .catch(stumbled);
  }

  refresh(collections: readonly WAPatchName[]): Promise<void> {
    return this.#sock.appStatePatchMutex.mutex(() => this.#sock.resyncAppState(collections, false));
  }

  reload(collections: readonly WAPatchName[]): Promise<void> {
    return this.#sock.appStatePatchMutex.mutex(() => this.#readAnew(collections));
  }

  keyMissing(id: string): void {
    this.#requests.ask(id);
  }

  /**
   * Fetches all collections when the phone has shared its keys. Until `accountSyncCounter` is set, the library does so itself, after a wait of up to 20 s
   * for the history. Later, the library fetches only the collections that lacked a key on this connection.
   */
  credentialsChanged(update: Partial<AuthenticationCreds>): void {
    // At each login the library reports all credentials, because it stores routing information and a hash of properties among them.
    const isWhole = update.noiseKey !== undefined;
    const { myAppStateKeyId, accountSyncCounter } = this.#sock.authState.creds;
    if (isWhole || !myAppStateKeyId || !accountSyncCounter) return;
    const isShared = update.myAppStateKeyId !== undefined;
    if (isShared || update.accountSyncCounter !== undefined)
      outsideTransactions(() => this.#catchUp(isShared)).catch((error: unknown) => this.#parts.stumbled(error));
  }

  /**
   * Fetches all collections. Without `anyway`, fetches them only if no collection was fetched before. After a kill, the patch notes make the next
   * connection fetch them.
   */
  async #catchUp(anyway: boolean): Promise<void> {
    const known = Object.keys(await this.#keys.get(versionType, [...ALL_WA_PATCH_NAMES]));
    if (known.length > 0 && !anyway) return;
    const ends = await Promise.all(ALL_WA_PATCH_NAMES.map((name) => this.#parts.patches.begin(name)));
    await this.refresh(ALL_WA_PATCH_NAMES);
    for (const end of ends) end();
  }

  async #tryRounds(collection: WAPatchName, mutations: readonly Mutation[]): Promise<Outcome<null>> {
    let isReread = false;
    for (let round = 1; ; round += 1) {
      const key = await this.#sharedKey();
      if (key === null) return { ok: false, refusal: { ...notSent.refusal, message: noKeys } };
      const verdict = await this.#send(collection, mutations, key);
      if (verdict.taken) return answered(null);
      const isConflict = verdict.code === 409;
      if (round === rounds || (!isConflict && isReread)) return refusedAs(verdict.code, verdict.text);
      // The lock of the keys is released now. The library's events must not be handled inside a transaction of its keys.
      if (isConflict) await this.#sock.resyncAppState([collection], false);
      else await this.#readAnew([collection]);
      // After a refusal, the collection is read anew once. Its stored state may be wrong, because the library continues after a patch that it could not
      // verify.
      isReread ||= !isConflict;
    }
  }

  /** Sends the patch. If the platform accepts it, records its changes and stores the new state. */
  async #send(collection: WAPatchName, mutations: readonly Mutation[], key: SharedKey): Promise<Verdict> {
    const end = await this.#parts.patches.begin(collection);
    const sent = await this.#locked(async () => {
      const before = await this.#state(collection);
      const { patch, state } = encodePatch(collection, mutations, before, key);
      const verdict = verdictOf(await this.#sock.query(patchQuery(collection, before.version, patch)));
      if (verdict.taken) {
        // The changes are recorded before the state is stored. After a kill in between, the stored state is old, and the platform repeats the changes.
        await this.#parts.loadMappings(mutations.flatMap(({ index }) => index.slice(1)));
        await this.#parts.record(entriesOfMutations(mutations, this.#directory));
        await this.#keys.set({ [versionType]: { [collection]: state } });
      }
      return verdict;
    });
    end();
    return sent;
  }

  async #state(collection: WAPatchName): Promise<LTHashState> {
    const { [collection]: state } = await this.#keys.get(versionType, [collection]);
    return state ? ensureLTHashStateVersion(state) : { version: 0, hash: Buffer.alloc(128), indexValueMap: {} };
  }

  /** Deletes the stored versions of collections and synchronises. Without a version, the library requests the whole collection. */
  async #readAnew(collections: readonly WAPatchName[]): Promise<void> {
    await this.#locked(async () => this.#keys.set({ [versionType]: Object.fromEntries(collections.map((name) => [name, null])) }));
    await this.#sock.resyncAppState(collections, false);
  }

  async #sharedKey(): Promise<SharedKey | null> {
    const id = this.#sock.authState.creds.myAppStateKeyId;
    if (!id) return null;
    const { [id]: key } = await this.#keys.get('app-state-sync-key', [id]);
    return key?.keyData ? { id: Buffer.from(id, 'base64'), data: key.keyData } : null;
  }

  get #keys(): SignalKeyStoreWithTransaction {
    // The library adds the method `transaction` to the key store that it gets.
    return this.#sock.authState.keys as SignalKeyStoreWithTransaction;
  }

  /** Runs `work` under the lock of the library's synchronisation. The key changes of `work` are written after its success. */
  #locked<T>(work: () => Promise<T>): Promise<T> {
    return this.#keys.transaction(work, this.#sock.authState.creds.me?.id ?? 'app-patch');
  }
}

/** The text of a refusal while the phone has not shared its keys. The phone shares them at the first synchronisation. */
const noKeys = 'history sync still in progress, try again in a moment';

export const createSharedState = (parts: SharedStateParts): SharedState => new LiveSharedState(parts);
