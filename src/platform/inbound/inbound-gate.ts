/**
 * Stands before the library's listeners: a message is in the log before the library sees, and confirms, it. Stanzas keep their order; each
 * message is handled to its end before the next stanza goes on.
 */
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { EpochLost, type Close } from '#actors/ports.ts';
import { ownCloses } from '../connection/close-cause.ts';
import type { Arrived, InboundLog, Stanza } from './inbound-log.ts';
import { within } from '#actors/waiting.ts';
import { systemTime } from '#src/system-time.ts';

export const stanzaKinds = ['message', 'receipt', 'notification', 'call'] as const;
export type StanzaKind = (typeof stanzaKinds)[number];
export type Handlers = Readonly<Record<StanzaKind, (node: BinaryNode) => unknown>>;
/** What a stanza is to the gate: one that `repeats` a message which is finished needs nothing but a confirmation. */
type ItemKind = StanzaKind | 'repeats';

export interface GateLimits {
  /** That wait for the log. Beyond it the connection ends: the platform keeps what it has no confirmation of. */
  readonly bytes: number;
  /** Milliseconds. A message that takes longer (a history is fetched) holds the next ones up no longer. */
  readonly handling: number;
}

export interface GateOptions {
  readonly inbound: InboundLog;
  /** The library's own. */
  readonly handlers: Handlers;
  /** Tells the platform that a message was received. */
  confirm(node: BinaryNode): Promise<void>;
  /** Resolves when a stanza may be handled: others want to as well. */
  turn(): Promise<void>;
  readonly connected: () => boolean;
  /** Resolves when everything is stored that the handlers have led to so far; false when it never will be. */
  stored(): Promise<boolean>;
  failed(close: Close): void;
  /** A handler rejected. */
  stumbled(where: string, error: unknown): void;
  readonly limits?: GateLimits;
}

interface Item {
  readonly kind: ItemKind;
  readonly node: BinaryNode;
  /** For a message: when it is in the log; null when the connection ended before. */
  readonly logged: Promise<Arrived | null> | null;
}

interface Unlogged {
  readonly stanza: Stanza;
  readonly done: (arrived: Arrived | null) => void;
}

const mostInGroup = 256;
const usualLimits: GateLimits = { bytes: 32 * 1024 * 1024, handling: 10_000 };

/** Takes the library's listeners off its socket and puts `take` in their place. Throws when they are not what they were. */
export const divert = (sock: WASocket, take: (kind: StanzaKind, node: BinaryNode) => void): Handlers => {
  const handlers = stanzaKinds.map((kind) => {
    const event = `CB:${kind}`;
    const listeners = sock.ws.listeners(event);
    if (listeners.length !== 1) throw new Error(`the library has ${listeners.length} listeners for ${event}`);
    const handler = listeners[0] as (node: BinaryNode) => unknown;
    sock.ws.off(event, handler);
    sock.ws.on(event, (node: BinaryNode) => take(kind, node));
    return [kind, handler] as const;
  });
  return Object.fromEntries(handlers) as Handlers;
};

/** The library queues what is marked as old and tells nobody when it is done. The order is kept here. */
const unmarked = (node: BinaryNode): BinaryNode => {
  const { offline, ...attrs } = node.attrs;
  return offline === undefined ? node : { ...node, attrs };
};

export class InboundGate {
  readonly #options: GateOptions;
  readonly #stored: () => Promise<boolean>;
  /** In the order of arrival. */
  #queue = new Set<Item>();
  #unlogged: Unlogged[] = [];
  #waitingBytes = 0;
  #logging = false;
  #opened = false;
  #closed = false;
  #busy = false;
  #idle: (() => void)[] = [];
  /** Ids of messages in the library's hands; true when an event told of one. */
  readonly #told = new Map<string, boolean>();

  constructor(options: GateOptions) {
    this.#options = options;
    this.#stored = () => options.stored();
  }

  take(kind: StanzaKind, node: BinaryNode): void {
    if (this.#closed) return;
    if (kind === 'message') {
      const item = this.#arrived(node);
      if (item === null) return;
      this.#queue.add(item);
    } else if (this.#queue.size === 0) return this.#passOn({ kind, node, logged: null });
    else this.#queue.add({ kind, node, logged: null });
    this.#run();
  }

  /** The session is logged in: what an earlier connection did not finish goes first. */
  open(): void {
    // The platform does not wait for the login with what it has kept: some of that may be in the log already.
    const mine = new Set([...this.#queue].map(({ node }) => node));
    const earlier = this.#options.inbound.unfinished.filter(({ node }) => !mine.has(node));
    const again = earlier.map((arrived): Item => ({ kind: 'message', node: arrived.node, logged: Promise.resolve(arrived) }));
    this.#queue = new Set([...again, ...this.#queue]);
    this.#opened = true;
    this.#run();
  }

  /** An event told of this message: it is on its way to the storage. */
  tell(messageId: string): void {
    if (this.#told.has(messageId)) this.#told.set(messageId, true);
  }

  /** What is not in the library's hands stays out of them. Resolves when what is there has come to its end. */
  close(): Promise<void> {
    this.#closed = true;
    this.#queue.clear();
    this.#options.inbound.giveUpWaiting();
    for (const { stanza, done } of this.#unlogged) {
      this.#options.inbound.giveUp(stanza);
      done(null);
    }
    return this.#busy ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  #arrived(node: BinaryNode): Item | null {
    const { inbound } = this.#options;
    const stanza = inbound.arrive(node);
    if (stanza === null) return null;
    return stanza === 'finished' ? { kind: 'repeats', node, logged: null } : { kind: 'message', node, logged: this.#log(stanza) };
  }

  #log(stanza: Stanza): Promise<Arrived | null> {
    const { failed, limits = usualLimits } = this.#options;
    this.#waitingBytes += stanza.encoded.length;
    if (this.#waitingBytes > limits.bytes) failed(ownCloses.storage);
    return new Promise((done) => {
      this.#unlogged.push({ stanza, done });
      if (!this.#logging) this.#logAll().catch((error: unknown) => this.#lose(error));
    });
  }

  /** What arrives while a group is written is the next group. */
  async #logAll(): Promise<void> {
    this.#logging = true;
    while (this.#unlogged.length > 0 && !this.#closed) {
      const group = this.#unlogged.slice(0, mostInGroup);
      const arrived = await this.#options.inbound.append(group.map(({ stanza }) => stanza));
      this.#unlogged.splice(0, group.length);
      for (const [at, { stanza, done }] of group.entries()) {
        this.#waitingBytes -= stanza.encoded.length;
        done(arrived[at] ?? null);
      }
    }
    this.#logging = false;
  }

  #lose(error: unknown): void {
    if (this.#closed) return;
    this.#options.stumbled('log', error);
    this.#options.failed(error instanceof EpochLost ? ownCloses.epochLost : ownCloses.storage);
  }

  #run(): void {
    if (this.#opened && !this.#busy) this.#work().catch((error: unknown) => this.#lose(error));
  }

  async #work(): Promise<void> {
    this.#busy = true;
    try {
      for (const item of this.#queue) {
        const arrived = item.logged === null ? null : await item.logged;
        // A handler may wait for nothing but promises, and a backlog of them would stop the process.
        await this.#options.turn();
        if (this.#closed) break;
        if (arrived === null) this.#passOn(item);
        else await this.#handle(arrived);
        this.#queue.delete(item);
      }
    } finally {
      this.#busy = false;
      for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  #passOn({ kind, node }: Item): void {
    void this.#call(kind, node);
  }

  async #call(kind: ItemKind, node: BinaryNode): Promise<void> {
    const { handlers, confirm } = this.#options;
    try {
      await (kind === 'repeats' ? confirm(node) : handlers[kind](node));
    } catch (error) {
      this.#options.stumbled(`CB:${kind}`, error);
    }
  }

  async #handle(arrived: Arrived): Promise<void> {
    const { inbound, connected, limits = usualLimits } = this.#options;
    await inbound.trying(arrived);
    const id = arrived.node.attrs['id'] ?? '';
    this.#told.set(id, false);
    const handled = this.#call('message', unmarked(arrived.node)).then(() => {
      // Without an event and a connection it is half done: the library could not confirm it, and gave it up.
      const told = this.#told.get(id) === true;
      if (told || connected()) inbound.finish(arrived, told, this.#stored);
      this.#told.delete(id);
    });
    await within(systemTime, limits.handling, handled);
  }
}
