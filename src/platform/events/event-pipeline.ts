/** Converts events of the library into entries. Events keep their order. The look-ups that an event needs come before its conversion. */
import type { WAMessage } from '@whiskeysockets/baileys';
import type { Entry, Group, Message } from '#actors/model.ts';
import { StorageFailure, type Log } from '#actors/ports.ts';
import type { AuthState } from '../keys/auth-state.ts';
import { bare, type Directory, isLid, isPerson, mappingKey } from '../wire/jid.ts';
import { type BaileysEvent, SeenPeople } from './library-values.ts';
import { fromBaileys } from './from-baileys.ts';
import { isOwnDeletion, jidsOfSharedAction } from './from-chats.ts';
import { MemberNumbers, type MemberNumbersOptions, needsRight, SenderRights } from './group-rights.ts';
import { groupAddresses } from './from-groups.ts';
import { fromFirstState, historySlices } from './from-history.ts';
import { StorageRetry } from '../wire/vault-port.ts';
import { type Reading, readAnswer, secretHolder } from './answers.ts';
import { LruMap } from '#src/base/lru-map.ts';

interface EventPipelineOptions {
  readonly instance: string;
  readonly auth: AuthState;
  readonly directory: Directory;
  readonly log: Log;
  /** True if messages that the owner deletes on the phone are deleted from the storage too. */
  readonly followsDeletions: boolean;
  quoted(messageId: string): Promise<Message | null>;
  record(entries: readonly Entry[]): void;
  /** Returns a group with its members, as `GroupCache.get` does. */
  group(jid: string): Promise<Group | null>;
  /** Stores pairs of addresses, so that the directory knows them. */
  pair: MemberNumbersOptions['pair'];
  /** Resolves when all entries given to `record` before are stored. */
  recorded(): Promise<unknown>;
  /** Resolves in a later turn of the event loop, when this session gets its share of the loop. */
  turn(): Promise<void>;
  /**
   * Resolves when no earlier part of the history is being fetched. Such a part has address pairs that later events need. Usually resolves at once, and at the
   * latest after a time limit.
   */
  fetched(): Promise<void>;
  /** Returns null if the names of groups are in memory, which is usual. Otherwise returns a promise of the read, which rejects with `StorageFailure`. */
  unread(): Promise<void> | null;
  /** Reports an unexpected error, such as one that `record` threw. The pipeline is then closed. */
  surprise(error: unknown): void;
}

/** Events of the shared state. At the first synchronisation, the library emits all of them in one turn of the event loop. */
const shared: ReadonlySet<BaileysEvent['name']> = new Set([
  'labels.edit',
  'labels.association',
  'chats.update',
  'contacts.upsert',
  'app-state.action',
]);

/** All events of the first synchronisation of the shared state, which are handled as one event. */
interface FirstState {
  readonly name: 'first-state';
  readonly data: readonly BaileysEvent[];
}

type QueuedEvent = BaileysEvent | FirstState;

/** Returns true if an event is an echo: the library also reports each message as a change of its chat. */
const isEcho = (event: BaileysEvent): boolean => event.name === 'chats.update' && event.data.some(({ messages }) => messages !== undefined);

export interface EventPipeline {
  push(event: BaileysEvent): void;
  /** Resolves with true when all events pushed so far are recorded, and with false if an event was not recorded. Never rejects. */
  drain(): Promise<boolean>;
  /** Closes the pipeline at the end of the connection. Events that still wait are dropped. */
  close(): void;
}

const noReadings: ReadonlyMap<string, Reading> = new Map();
/** Presence events are dropped while this many events wait. Other events have no such limit, because the inbox limits unacknowledged stanzas. */
const presenceLimit = 1_000;
/** The cache keeps the latest names of at least this many contacts, and of at most twice as many. */
const namesKept = 500;

/** Returns the addresses of a message for which the message does not give the other form (number or LID). */
const unpaired = ({ key }: WAMessage): string[] => {
  const jids = key.participant ? (key.participantAlt ? [] : [key.participant]) : [];
  return key.remoteJidAlt || !key.remoteJid ? jids : [key.remoteJid, ...jids];
};

const jidsOf = (event: QueuedEvent): string[] => {
  switch (event.name) {
    case 'first-state':
      return event.data.flatMap(jidsOf);
    case 'identity.changed':
      return [event.data.jid];
    case 'labels.association':
      return [event.data.association.chatId];
    case 'messages.upsert':
      return event.data.messages.flatMap(unpaired);
    case 'messaging-history.set':
      return [
        ...event.data.messages.flatMap(unpaired),
        ...event.data.chats.map(({ id }) => id ?? ''),
        ...event.data.contacts.map(({ id }) => id),
      ];
    case 'messages.update':
      return event.data.flatMap(({ key }) => [key.remoteJid ?? '', key.participant ?? '']);
    case 'messages.delete':
      return 'keys' in event.data ? event.data.keys.map(({ remoteJid }) => remoteJid ?? '') : [];
    case 'message-receipt.update':
      return event.data.map(({ receipt }) => receipt.userJid ?? '');
    case 'presence.update':
      return [event.data.id, ...Object.keys(event.data.presences)];
    case 'contacts.upsert':
    case 'contacts.update':
    case 'chats.upsert':
    case 'chats.update':
      return event.data.map(({ id }) => id ?? '');
    case 'group.notification':
      return [...groupAddresses(event.data)];
    case 'call':
      return event.data.map(({ from }) => from);
    case 'blocklist.set':
    case 'blocklist.update':
      return [...event.data.blocklist];
    case 'app-state.action':
      return [...jidsOfSharedAction(event.data)];
    default:
      return [];
  }
};

/**
 * The cache keeps at least this many polls and events, and at most twice as many. In a backlog, votes and answers directly follow their poll or event, which is
 * not stored yet.
 */
const holdersKept = 100;

/** The polls and events to which votes and answers belong. */
class Holders {
  readonly #options: Pick<EventPipelineOptions, 'quoted' | 'recorded'>;
  readonly #recent = new LruMap<Message>(holdersKept);

  constructor(options: Pick<EventPipelineOptions, 'quoted' | 'recorded'>) {
    this.#options = options;
  }

  apply(entry: Entry): void {
    if (entry.kind === 'message') this.#keep(entry.message);
    if (entry.kind === 'history' && entry.past.of === 'messages') for (const { message } of entry.past.items) this.#keep(message);
  }

  async find(id: string): Promise<Message | null> {
    const { quoted, recorded } = this.#options;
    const known = this.#recent.get(id) ?? (await quoted(id));
    if (known !== null) return known;
    // An edit may name any message, also one whose storing has not finished.
    await recorded();
    return quoted(id);
  }

  #keep(message: Message): void {
    const isPoll = message.type === 'poll' && message.convertOptions !== '';
    if (isPoll || (message.messageType === 'EventMessage' && message.edited === '')) this.#recent.set(message.messageId, message);
  }
}

class LookUp {
  readonly #options: EventPipelineOptions;
  readonly #holders: Holders;
  readonly #storageRetry: StorageRetry;
  readonly #members: MemberNumbers;
  readonly #rights: SenderRights;

  constructor(options: EventPipelineOptions, holders: Holders) {
    this.#options = options;
    this.#holders = holders;
    this.#storageRetry = new StorageRetry(options.log, options.instance);
    this.#members = new MemberNumbers(options);
    this.#rights = new SenderRights(options);
  }

  /**
   * Looks up the group names and the addresses that an event needs, and decrypts its answers. Returns null if no look-up is needed, which is usual. Waits while
   * the storage is unavailable. Later events then wait too, because events keep their order. Resolves with null if the pipeline was closed meanwhile. Never
   * rejects.
   */
  begin(event: QueuedEvent): Promise<ReadonlyMap<string, Reading> | null> | null {
    const { auth, unread } = this.#options;
    try {
      const unknown = jidsOf(event)
        .map(bare)
        .filter((jid) => (isLid(jid) || isPerson(jid)) && auth.peek('lid-mapping', mappingKey(jid)) === undefined);
      const answering = event.name === 'messages.upsert' ? event.data.messages.filter((message) => secretHolder(message) !== '') : [];
      const asserting = event.name === 'messages.upsert' ? event.data.messages.filter(needsRight) : [];
      let names = unread();
      const isMemberMissing = event.name !== 'first-state' && this.#members.missing(event).length > 0;
      if (unknown.length + answering.length + asserting.length === 0 && names === null && !isMemberMissing) return null;
      const work = async (): Promise<ReadonlyMap<string, Reading>> => {
        const first = names;
        names = null;
        await Promise.all([first ?? unread(), auth.load('lid-mapping', [...new Set(unknown.map(mappingKey))])]);
        if (isMemberMissing) await this.#members.store(this.#members.missing(event));
        if (asserting.length === 0) return answering.length === 0 ? noReadings : await this.#readings(answering);
        return new Map([...(await this.#readings(answering)), ...(await this.#rights.read(asserting))]);
      };
      return this.#storageRetry.wait('events', work).catch((error: unknown) => this.#failed(event, error));
    } catch (error) {
      return Promise.resolve(this.#failed(event, error));
    }
  }

  giveUp(): void {
    this.#storageRetry.giveUp();
    this.#rights.giveUp();
  }

  async #readings(messages: readonly WAMessage[]): Promise<ReadonlyMap<string, Reading>> {
    const read = new Map<string, Reading>();
    for (const message of messages) {
      const holder = await this.#holders.find(secretHolder(message));
      const reading = holder && readAnswer(message, holder, this.#options.directory);
      if (reading) read.set(message.key.id ?? '', reading);
    }
    return read;
  }

  #failed(event: QueuedEvent, error: unknown): ReadonlyMap<string, Reading> | null {
    if (error instanceof StorageFailure) return null;
    const { log, instance } = this.#options;
    // The event continues with the known facts. It is better to record an encrypted answer than to lose it.
    log.error({ instance, name: event.name, error: error instanceof Error ? error.message : typeof error }, 'platform.lookup-failed');
    return noReadings;
  }
}

class Conversion {
  readonly #options: EventPipelineOptions;
  readonly #holders: Holders;
  /** The latest entry with the name of each contact, as JSON. Every message repeats the name of its sender, and only a new name becomes an entry. */
  readonly #names = new LruMap<string>(namesKept);

  constructor(options: EventPipelineOptions, holders: Holders) {
    this.#options = options;
    this.#holders = holders;
  }

  /** Converts an event. Never throws: an event that cannot be converted is logged and left out, so that the connection continues. */
  event(event: QueuedEvent, readings: ReadonlyMap<string, Reading>): Entry[] {
    try {
      const all = this.#entriesOf(event, readings);
      const entries = this.#options.followsDeletions ? all : all.filter((entry) => !isOwnDeletion(entry));
      return this.#applied(entries);
    } catch (error) {
      if (event.name === 'messages.upsert' && event.data.messages.length > 1) {
        return event.data.messages.flatMap((message) => this.event({ ...event, data: { ...event.data, messages: [message] } }, readings));
      }
      return this.#failed(event, error);
    }
  }

  /** Converts a part of the history in slices, because it may have thousands of messages. Stops if `goesOn` returns false. Never rejects. */
  async past(event: Extract<BaileysEvent, { name: 'messaging-history.set' }>, goesOn: () => boolean): Promise<Entry[]> {
    try {
      const work = historySlices(event.data, this.#options.directory);
      for (let step = work.next(); goesOn(); step = work.next()) {
        if (step.done) return this.#applied(step.value);
        await this.#options.turn();
      }
      return [];
    } catch (error) {
      return this.#failed(event, error);
    }
  }

  #entriesOf(event: QueuedEvent, readings: ReadonlyMap<string, Reading>): Entry[] {
    const { directory } = this.#options;
    if (event.name === 'first-state') return fromFirstState(event.data, directory);
    const entries = fromBaileys(event, directory, readings);
    // Repeated names are dropped only from `contacts.update`. A repeated `contacts.upsert` may change a name that the API has set since.
    return event.name === 'contacts.update' ? entries.filter((entry) => this.#isNewName(entry)) : entries;
  }

  #isNewName(entry: Entry): boolean {
    if (entry.kind !== 'chat') return true;
    const text = JSON.stringify(entry.chat);
    if (this.#names.get(entry.chat.chatId) === text) return false;
    this.#names.set(entry.chat.chatId, text);
    return true;
  }

  #applied(entries: Entry[]): Entry[] {
    for (const entry of entries) this.#holders.apply(entry);
    return entries;
  }

  #failed({ name }: QueuedEvent, error: unknown): Entry[] {
    const { log, instance } = this.#options;
    log.error({ instance, name, error: error instanceof Error ? error.message : typeof error }, 'platform.not-understood');
    return [];
  }
}

class OrderedPipeline implements EventPipeline {
  readonly #options: EventPipelineOptions;
  readonly #lookUp: LookUp;
  readonly #conversion: Conversion;
  readonly #people: SeenPeople;
  readonly #queue: QueuedEvent[] = [];
  readonly #first: BaileysEvent[] = [];
  #running: Promise<void> = Promise.resolve();
  #busy = false;
  #closed = false;
  /** True if the entries of a pushed event were not recorded. */
  #lost = false;

  constructor(options: EventPipelineOptions) {
    const holders = new Holders(options);
    this.#options = options;
    this.#lookUp = new LookUp(options, holders);
    this.#conversion = new Conversion(options, holders);
    this.#people = new SeenPeople(() => options.directory.now());
  }

  push(event: BaileysEvent): void {
    // The library increments this counter at the end of a synchronisation. Changes of the shared state during the first synchronisation are gathered, and
    // recorded together.
    const isFirst = !this.#options.auth.state.creds.accountSyncCounter || this.#first.length > 0;
    if (!isFirst || !shared.has(event.name) || isEcho(event)) return this.#add(event);
    if (this.#first.push(event) === 1) void this.#options.fetched().then(() => this.#addFirst());
  }

  async drain(): Promise<boolean> {
    if (this.#first.length > 0) await this.#options.fetched();
    this.#addFirst();
    await this.#running;
    return !this.#lost;
  }

  close(): void {
    this.#lost ||= this.#busy || this.#queue.length > 0 || this.#first.length > 0;
    this.#closed = true;
    this.#queue.length = 0;
    this.#lookUp.giveUp();
  }

  #addFirst(): void {
    if (this.#first.length > 0) this.#add({ name: 'first-state', data: this.#first.splice(0) });
  }

  #add(event: QueuedEvent): void {
    if (this.#closed) return void (this.#lost = true);
    if (event.name === 'presence.update' && this.#queue.length >= presenceLimit) return;
    this.#queue.push(event);
    if (this.#busy) return;
    this.#busy = true;
    this.#running = this.#run().catch((error: unknown) => {
      this.close();
      this.#busy = false;
      this.#options.surprise(error);
    });
  }

  async #run(): Promise<void> {
    for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) {
      const looking = this.#lookUp.begin(event);
      const readings = looking === null ? noReadings : await looking;
      // The pipeline was closed meanwhile.
      if (readings === null || this.#closed) break;
      const goesOn = (): boolean => !this.#closed;
      const entries =
        event.name === 'messaging-history.set' ? await this.#conversion.past(event, goesOn) : this.#conversion.event(event, readings);
      if (this.#closed) break;
      const all = this.#people.applied(entries);
      if (all.length > 0) this.#options.record(all);
    }
    this.#busy = false;
  }
}

export const createEventPipeline = (options: EventPipelineOptions): EventPipeline => new OrderedPipeline(options);
