/** The way from an event of the library to entries: in order, one after the other, with what has to be looked up first. */
import type { WAMessage } from '@whiskeysockets/baileys';
import type { Entry, Message } from '#actors/model.ts';
import type { Log } from '#actors/ports.ts';
import type { AuthState } from '../keys/auth-state.ts';
import { type Directory, mappingKey } from '../directory.ts';
import type { BaileysEvent } from './baileys-event.ts';
import { fromBaileys } from './from-baileys.ts';
import { fromFirstState } from './from-history.ts';
import { bare, isLid, isPerson } from '../jid.ts';
import { createStorageRetry } from '../storage-retry.ts';
import { readVote, votedPoll } from './polls.ts';
import { createLruMap } from '#src/lru-map.ts';

export interface EventPipelineOptions {
  readonly instance: string;
  readonly auth: AuthState;
  readonly directory: Directory;
  readonly log: Log;
  quoted(messageId: string): Promise<Message | null>;
  record(entries: readonly Entry[]): void;
  /** `record` threw. */
  surprise(error: unknown): void;
}

/** What the phone shares with its devices. The first time it tells everything at once, in one turn of the loop. */
const shared: ReadonlySet<BaileysEvent['name']> = new Set(['labels.edit', 'labels.association', 'chats.update', 'contacts.upsert']);

/** Everything that a device is told of the shared state when it sees it for the first time. */
interface FirstState {
  readonly name: 'first-state';
  readonly data: readonly BaileysEvent[];
}

type Told = BaileysEvent | FirstState;

/** The library's echo of a message, not a change of the chat. */
const isEcho = (event: BaileysEvent): boolean => event.name === 'chats.update' && event.data.some(({ messages }) => messages !== undefined);

export interface EventPipeline {
  push(event: BaileysEvent): void;
  /** Resolves when everything pushed so far is recorded. */
  drain(): Promise<void>;
}

const noVotes: ReadonlyMap<string, string> = new Map();
/** Names told last, so that the same name with every message is told once. */
const namesKept = 500;

/** Addresses whose other half the event does not tell. */
const unpaired = ({ key }: WAMessage): string[] => {
  const jids = key.participant ? (key.participantAlt ? [] : [key.participant]) : [];
  return key.remoteJidAlt || !key.remoteJid ? jids : [key.remoteJid, ...jids];
};

const jidsOf = (event: Told): string[] => {
  switch (event.name) {
    case 'first-state':
      return event.data.flatMap(jidsOf);
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
    case 'message-receipt.update':
      return event.data.map(({ receipt }) => receipt.userJid ?? '');
    case 'presence.update':
      return [event.data.id, ...Object.keys(event.data.presences)];
    case 'contacts.upsert':
    case 'contacts.update':
    case 'chats.upsert':
    case 'chats.update':
      return event.data.map(({ id }) => id ?? '');
    case 'group-participants.update':
      return event.data.participants.map(({ id }) => id);
    case 'call':
      return event.data.map(({ from }) => from);
    default:
      return [];
  }
};

/** Polls of the last moments, which may not be stored yet: in a backlog votes come right behind them. */
const pollsKept = 100;

const createPolls = ({ quoted }: EventPipelineOptions) => {
  const recent = createLruMap<Message>(pollsKept);
  const keep = (message: Message): void => {
    if (message.type === 'poll' && message.convertOptions !== '') recent.set(message.messageId, message);
  };
  return {
    learn(entry: Entry): void {
      if (entry.kind === 'message') keep(entry.message);
      if (entry.kind === 'history' && entry.past.of === 'messages') for (const { message } of entry.past.items) keep(message);
    },
    find: async (id: string): Promise<Message | null> => recent.get(id) ?? quoted(id),
  };
};

const createLookUp = ({ auth, directory, log, instance }: EventPipelineOptions, findPoll: (id: string) => Promise<Message | null>) => {
  const patience = createStorageRetry(log, instance);
  const mappings = async (jids: readonly string[]): Promise<void> => auth.learn('lid-mapping', [...new Set(jids.map(mappingKey))]);

  const votes = async (messages: readonly WAMessage[]): Promise<ReadonlyMap<string, string>> => {
    const read = new Map<string, string>();
    for (const message of messages) {
      const poll = await findPoll(votedPoll(message));
      if (poll !== null) read.set(message.key.id ?? '', readVote(message, poll, directory));
    }
    return read;
  };

  /** Null when nothing has to be looked up, which is the rule. */
  return (event: Told): Promise<ReadonlyMap<string, string>> | null => {
    const unknown = jidsOf(event)
      .map(bare)
      .filter((jid) => (isLid(jid) || isPerson(jid)) && auth.peek('lid-mapping', mappingKey(jid)) === undefined);
    const voting = event.name === 'messages.upsert' ? event.data.messages.filter((message) => votedPoll(message) !== '') : [];
    if (unknown.length === 0 && voting.length === 0) return null;
    // The storage may be away for a while: order is kept, so everything waits.
    return patience.wait('events', async () => {
      await mappings(unknown);
      return voting.length === 0 ? noVotes : await votes(voting);
    });
  };
};

/** Contacts repeat their name with every message. */
const createNames = () => {
  const told = createLruMap<string>(namesKept);
  return (entry: Entry): boolean => {
    if (entry.kind !== 'chat') return true;
    const text = JSON.stringify(entry.chat);
    if (told.get(entry.chat.chatId) === text) return false;
    told.set(entry.chat.chatId, text);
    return true;
  };
};

const createConversion = ({ directory, log, instance }: EventPipelineOptions) => {
  /** A message that cannot be converted must not take the others with it, nor the connection. */
  const convert = (event: Told, votes: ReadonlyMap<string, string>): Entry[] => {
    try {
      if (event.name === 'first-state') return fromFirstState(event.data, directory);
      return fromBaileys(event, directory, votes);
    } catch (error) {
      if (event.name === 'messages.upsert' && event.data.messages.length > 1) {
        return event.data.messages.flatMap((message) => convert({ ...event, data: { ...event.data, messages: [message] } }, votes));
      }
      log.error({ instance, name: event.name, error: error instanceof Error ? error.message : typeof error }, 'platform.not-understood');
      return [];
    }
  };
  return convert;
};

export const createEventPipeline = (options: EventPipelineOptions): EventPipeline => {
  const { auth } = options;
  const polls = createPolls(options);
  const lookUp = createLookUp(options, polls.find);
  const convert = createConversion(options);
  const isNews = createNames();
  const queue: Told[] = [];
  const first: BaileysEvent[] = [];
  let running: Promise<void> = Promise.resolve();
  let busy = false;

  const handle = (event: Told, votes: ReadonlyMap<string, string>): void => {
    const converted = convert(event, votes);
    const entries = event.name === 'contacts.update' || event.name === 'contacts.upsert' ? converted.filter(isNews) : converted;
    entries.forEach(polls.learn);
    if (entries.length > 0) options.record(entries);
  };

  const run = async (): Promise<void> => {
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      const looking = lookUp(event);
      handle(event, looking === null ? noVotes : await looking);
    }
    busy = false;
  };

  const add = (event: Told): void => {
    queue.push(event);
    if (busy) return;
    busy = true;
    running = run().catch((error: unknown) => {
      queue.length = 0;
      busy = false;
      options.surprise(error);
    });
  };

  const addFirst = (): void => {
    if (first.length > 0) add({ name: 'first-state', data: first.splice(0) });
  };

  return {
    push(event) {
      // The library counts its synchronisations when they are done.
      const isFirst = !auth.state.creds.accountSyncCounter && shared.has(event.name) && !isEcho(event);
      if (!isFirst) return add(event);
      if (first.push(event) === 1) queueMicrotask(addFirst);
    },
    drain() {
      addFirst();
      return running;
    },
  };
};
