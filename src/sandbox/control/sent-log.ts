/**
 * The log of messages that were sent through the control interface, with their receipts. The `Sandbox` interface has no list of sent messages with their
 * receipts.
 */
import type { ServerResponse } from 'node:http';
import type { Content, Digits, Sandbox, WorldEvent } from '../interface.ts';
import type { SentMessage, SentStorage, SentStatus } from '../store/queue.ts';

/** The events of the live stream: those of the platform, and one for each sent message. */
type ControlEvent = WorldEvent | { readonly type: 'sent'; readonly message: SentMessage };

const noMemory: SentStorage = { all: () => [], put: () => undefined, confirm: () => undefined };

const maxLogged = 5_000;
const order: readonly SentStatus[] = ['sent', 'delivered', 'read', 'played'];

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

/** Adds an entry, and removes the oldest entry if there are too many. A map keeps the order of insertion, so its first key is the oldest. */
const putBounded = <V>(map: Map<string, V>, key: string, value: V): void => {
  map.set(key, value);
  if (map.size > maxLogged) for (const oldest of map.keys()) return void map.delete(oldest);
};

interface SentLogOptions {
  readonly memory?: SentStorage;
  /** Returns the current time, in Unix milliseconds. */
  readonly now?: () => number;
}

export class SentLog {
  readonly #sandbox: Pick<Sandbox, 'send'>;
  readonly #memory: SentStorage;
  readonly #now: () => number;
  readonly #sent = new Map<string, Omit<SentMessage, 'status'>>();
  /** A receipt may arrive before `send` has returned. Statuses are therefore stored apart from the messages. */
  readonly #statuses = new Map<string, SentStatus>();
  readonly #listeners = new Set<(event: ControlEvent) => void>();
  readonly #unsubscribe: () => void;

  constructor(sandbox: Pick<Sandbox, 'send' | 'subscribe'>, { memory = noMemory, now = Date.now }: SentLogOptions = {}) {
    this.#sandbox = sandbox;
    this.#memory = memory;
    this.#now = now;
    for (const { status, ...message } of memory.all()) {
      this.#sent.set(message.id, message);
      this.#statuses.set(message.id, status);
    }
    this.#unsubscribe = sandbox.subscribe((event) => this.#note(event));
  }

  /** Sends a message and logs it. Rejects as `Sandbox.send` does. */
  async send(from: Digits, to: string, content: Content, addressing?: 'pn' | 'lid'): Promise<{ readonly id: string }> {
    const { id } = await this.#sandbox.send(from, to, content, addressing === undefined ? {} : { addressing });
    const message = { id, from, to, at: this.#now(), kind: content.kind, text: textOf(content), ...aboutOf(content) };
    putBounded(this.#sent, id, message);
    this.#memory.put(this.#view(message), maxLogged);
    this.#emit({ type: 'sent', message: this.#view(message) });
    return { id };
  }

  /** Returns the messages that `number` sent and that are still in the log, oldest first. */
  sentBy(number: Digits): readonly SentMessage[] {
    return [...this.#sent.values()].filter((message) => message.from === number).map((message) => this.#view(message));
  }

  subscribe(listener: (event: ControlEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#unsubscribe();
  }

  #note(event: WorldEvent): void {
    if (event.type === 'receipt' && order.indexOf(event.kind) > order.indexOf(this.#statuses.get(event.id) ?? 'sent')) {
      putBounded(this.#statuses, event.id, event.kind);
      if (this.#sent.has(event.id)) this.#memory.confirm(event.id, event.kind);
    }
    this.#emit(event);
  }

  #emit(event: ControlEvent): void {
    this.#listeners.forEach((listener) => listener(event));
  }

  #view(message: Omit<SentMessage, 'status'>): SentMessage {
    return { ...message, status: this.#statuses.get(message.id) ?? 'sent' };
  }
}

// The live stream of the page: all events as server-sent events. Each event is serialised once for all readers.

/** The largest buffer for a slow reader, in bytes. If the buffer exceeds this size, the stream is cut. The page then connects again and reloads the state. */
const maxBehind = 1024 * 1024;
const heartbeatMs = 15_000;

export class EventStream {
  readonly #readers = new Set<ServerResponse>();
  readonly #unsubscribe: () => void;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(sentLog: SentLog) {
    this.#unsubscribe = sentLog.subscribe((event) => {
      if (this.#readers.size > 0) this.#write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    });
    this.#heartbeat = setInterval(() => this.#write(': still here\n\n'), heartbeatMs).unref();
  }

  /** Streams events to this response until the control interface or the client ends the response. */
  join(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
    response.write('retry: 1000\n\n');
    this.#readers.add(response);
    response.on('close', () => this.#readers.delete(response));
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#unsubscribe();
    for (const reader of this.#readers) reader.end();
  }

  #write(text: string): void {
    for (const reader of this.#readers) {
      if (reader.writableLength > maxBehind) reader.destroy();
      else reader.write(text);
    }
  }
}
