/** Remembers what people sent through this interface and how far it came: the platform itself only keeps what they received. */
import type { Content, Digits, Sandbox, WorldEvent } from '../face.ts';

export interface SentMessage {
  readonly id: string;
  readonly from: Digits;
  /** Digits, or the jid of a group. */
  readonly to: string;
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly kind: Content['kind'];
  /** Text, caption or what stands for it. */
  readonly text: string;
  /** The message that a reaction, an edit, a deletion, a vote or a reply is about. */
  readonly about?: string;
  readonly status: Status;
}
type Status = 'sent' | 'delivered' | 'read' | 'played';

/** What a page is told: the world's own events and those of the journal. */
export type ControlEvent = WorldEvent | { readonly type: 'sent'; readonly message: SentMessage };

export interface Journal {
  /** Sends and remembers. Rejects as `Sandbox.send` does. */
  send(from: Digits, to: string, content: Content, addressing?: 'pn' | 'lid'): Promise<{ readonly id: string }>;
  /** What `number` sent, oldest first, as far as it is remembered. */
  sentBy(number: Digits): readonly SentMessage[];
  subscribe(listener: (event: ControlEvent) => void): () => void;
  close(): void;
}

/** Where it is kept beyond a restart. */
export interface SentMemory {
  /** Oldest first. */
  all(): readonly SentMessage[];
  /** Keeps the message, and of all no more than the newest `most`. */
  put(message: SentMessage, most: number): void;
  confirm(id: string, status: SentMessage['status']): void;
}

const noMemory: SentMemory = { all: () => [], put: () => undefined, confirm: () => undefined };

const remembered = 5_000;
const order: readonly Status[] = ['sent', 'delivered', 'read', 'played'];

const textOf = (content: Content): string => {
  switch (content.kind) {
    case 'text':
    case 'edit':
      return content.text;
    case 'reaction':
      return content.emoji;
    case 'delete':
      return '';
    case 'poll':
      return content.name;
    case 'pollVote':
      return content.options.join(', ');
    case 'contact':
      return content.displayName;
    case 'location':
      return content.name ?? `${content.latitude}, ${content.longitude}`;
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

/** Keeps the newest entries only: a map remembers the order in which its keys came. */
const putBounded = <V>(map: Map<string, V>, key: string, value: V): void => {
  map.set(key, value);
  if (map.size > remembered) for (const oldest of map.keys()) return void map.delete(oldest);
};

export interface JournalOptions {
  readonly memory?: SentMemory;
  /** Unix time in milliseconds. */
  readonly now?: () => number;
}

export const createJournal = (
  sandbox: Pick<Sandbox, 'send' | 'subscribe'>,
  { memory = noMemory, now = Date.now }: JournalOptions = {},
): Journal => {
  const sent = new Map<string, Omit<SentMessage, 'status'>>();
  const statuses = new Map<string, Status>();
  const listeners = new Set<(event: ControlEvent) => void>();
  for (const { status, ...message } of memory.all()) {
    sent.set(message.id, message);
    statuses.set(message.id, status);
  }

  const emit = (event: ControlEvent) => listeners.forEach((listener) => listener(event));
  // A receipt may come before `send` has answered, so statuses are kept apart from the messages.
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
      memory.put(view(message), remembered);
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
