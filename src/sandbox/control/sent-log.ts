/** The log of messages that were sent through this interface, with their receipts. The platform itself stores only received messages. */
import type { ServerResponse } from 'node:http';
import type { Content, Digits, Sandbox, WorldEvent } from '../interface.ts';

export interface SentMessage {
  readonly id: string;
  readonly from: Digits;
  /** Digits, or the jid of a group. */
  readonly to: string;
  /** The time of the message, in Unix milliseconds. */
  readonly at: number;
  readonly kind: Content['kind'];
  /** The text, the caption, or a summary of the content for lists. */
  readonly text: string;
  /** The message to which a reaction, an edit, a deletion, a vote or a reply refers. */
  readonly about?: string;
  readonly status: Status;
}
type Status = 'sent' | 'delivered' | 'read' | 'played';

/** The events of the live stream: those of the platform, and one for each sent message. */
type ControlEvent = WorldEvent | { readonly type: 'sent'; readonly message: SentMessage };

export interface SentLog {
  /** Sends a message and logs it. Rejects as `Sandbox.send` does. */
  send(from: Digits, to: string, content: Content, addressing?: 'pn' | 'lid'): Promise<{ readonly id: string }>;
  /** Returns the messages of `number` that are still in the log, oldest first. */
  sentBy(number: Digits): readonly SentMessage[];
  subscribe(listener: (event: ControlEvent) => void): () => void;
  close(): void;
}

/** Storage of the log. */
export interface SentStorage {
  /** Returns all messages, oldest first. */
  all(): readonly SentMessage[];
  /** Stores a message, and deletes all but the newest `most`. */
  put(message: SentMessage, most: number): void;
  confirm(id: string, status: SentMessage['status']): void;
}

const noMemory: SentStorage = { all: () => [], put: () => undefined, confirm: () => undefined };

const maxLogged = 5_000;
const order: readonly Status[] = ['sent', 'delivered', 'read', 'played'];

const textOf = (content: Content): string => {
  switch (content.kind) {
    case 'text':
    case 'edit':
      return content.text;
    case 'reaction':
      return content.emoji;
    case 'delete':
    case 'pin':
    case 'keep':
      return '';
    case 'poll':
      return content.name;
    case 'pollVote':
      return content.options.join(', ');
    case 'tap':
      return content.option;
    case 'event':
      return content.name;
    case 'eventAnswer':
      return content.answer;
    case 'eventEdit':
      return content.name ?? '';
    case 'contact':
      return content.displayName;
    case 'location':
      return content.name ?? `${content.latitude}, ${content.longitude}`;
    case 'product':
      return content.text ?? '';
    case 'order':
      return content.text ?? `${content.items.reduce((sum, { quantity }) => sum + quantity, 0)} ordered`;
    case 'message':
      return '';
    default:
      return content.caption ?? content.fileName ?? '';
  }
};

const aboutOf = (content: Content): { readonly about?: string } => {
  if ('messageId' in content) return { about: content.messageId };
  return content.kind === 'text' && content.replyTo !== undefined ? { about: content.replyTo } : {};
};

/** Adds an entry and removes the oldest one when there are too many. A map keeps the order of its keys. */
const putBounded = <V>(map: Map<string, V>, key: string, value: V): void => {
  map.set(key, value);
  if (map.size > maxLogged) for (const oldest of map.keys()) return void map.delete(oldest);
};

interface SentLogOptions {
  readonly memory?: SentStorage;
  /** Returns the current time, in Unix milliseconds. */
  readonly now?: () => number;
}

export const createSentLog = (
  sandbox: Pick<Sandbox, 'send' | 'subscribe'>,
  { memory = noMemory, now = Date.now }: SentLogOptions = {},
): SentLog => {
  const sent = new Map<string, Omit<SentMessage, 'status'>>();
  const statuses = new Map<string, Status>();
  const listeners = new Set<(event: ControlEvent) => void>();
  for (const { status, ...message } of memory.all()) {
    sent.set(message.id, message);
    statuses.set(message.id, status);
  }

  const emit = (event: ControlEvent) => listeners.forEach((listener) => listener(event));
  // A receipt may arrive before `send` has returned. Statuses are therefore stored apart from the messages.
  const unsubscribe = sandbox.subscribe((event) => {
    if (event.type === 'receipt' && order.indexOf(event.kind) > order.indexOf(statuses.get(event.id) ?? 'sent')) {
      putBounded(statuses, event.id, event.kind);
      if (sent.has(event.id)) memory.confirm(event.id, event.kind);
    }
    emit(event);
  });
  const view = (message: Omit<SentMessage, 'status'>): SentMessage => ({ ...message, status: statuses.get(message.id) ?? 'sent' });

  return {
    async send(from, to, content, addressing) {
      const { id } = await sandbox.send(from, to, content, addressing === undefined ? {} : { addressing });
      const message = { id, from, to, at: now(), kind: content.kind, text: textOf(content), ...aboutOf(content) };
      putBounded(sent, id, message);
      memory.put(view(message), maxLogged);
      emit({ type: 'sent', message: view(message) });
      return { id };
    },
    sentBy: (number) => [...sent.values()].filter((message) => message.from === number).map(view),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: unsubscribe,
  };
};

// The live stream of the page: all events as server-sent events. Each event is serialised once for all readers.

/** The largest buffer for a slow reader, in bytes. If the buffer exceeds this size, the stream is cut. The page then connects again and reloads the state. */
const maxBehind = 1024 * 1024;
const heartbeatMs = 15_000;

export interface EventStream {
  /** Streams events to this response until the server or the client ends it. */
  join(response: ServerResponse): void;
  close(): void;
}

export const createEventStream = (sentLog: SentLog): EventStream => {
  const readers = new Set<ServerResponse>();

  const write = (text: string) => {
    for (const reader of readers) {
      if (reader.writableLength > maxBehind) reader.destroy();
      else reader.write(text);
    }
  };
  const unsubscribe = sentLog.subscribe((event) => {
    if (readers.size > 0) write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  });
  const heartbeat = setInterval(write, heartbeatMs, ': still here\n\n').unref();

  return {
    join(response) {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
      response.write('retry: 1000\n\n');
      readers.add(response);
      response.on('close', () => readers.delete(response));
    },
    close() {
      clearInterval(heartbeat);
      unsubscribe();
      for (const reader of readers) reader.end();
    },
  };
};
