/**
 * The durable inbox sits between the socket and the library's handlers of messages, receipts, notifications and calls. It ensures that a stanza is stored
 * before its acknowledgement. A message is in the durable log before the library gets it (`inbound-log.ts`). Other stanzas are not logged. Their
 * acknowledgements are held until the resulting entries are stored (`held-acks.ts`). Stanzas keep their order: a stanza that follows a message is passed on
 * only after that message is handled, or after a time limit.
 */
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { EpochLost, type Close, type Forgery } from '#actors/ports.ts';
import { ownCloses } from '../wire/outcomes.ts';
import { ackHeld, HeldAcks, unmarked, withHeldAck } from './held-acks.ts';
import { isUnsealed } from './forgeries.ts';
import { statusJid } from '../wire/jid.ts';
import type { InboundLog, Logged, Unlogged } from '../keys/inbound-log.ts';
import { within } from '#actors/waiting.ts';
import { systemTime } from '#src/base/system-time.ts';

const stanzaKinds = ['message', 'receipt', 'notification', 'call'] as const;
export type StanzaKind = (typeof stanzaKinds)[number];
export type Handlers = Readonly<Record<StanzaKind, (node: BinaryNode) => unknown>>;

export interface InboxLimits {
  /** The limit for stanzas that wait for the storage. Beyond this limit the connection ends. The platform keeps unacknowledged stanzas. In bytes. */
  readonly bytes: number;
  /**
   * The time for which later stanzas wait for a message. A message with a part of the history may take longer, because a file is downloaded. In milliseconds.
   */
  readonly handling: number;
  /** Pauses before each retry of a message whose file could not be fetched. After the last retry the message waits for the next connection. In milliseconds. */
  readonly again: readonly number[];
  /** The largest number of messages that wait for a retry of their file. A history has some dozens of files. Beyond this limit a message is not retried. */
  readonly files: number;
}

interface InboxOptions {
  readonly inbound: InboundLog;
  readonly handlers: Handlers;
  /** Sends the receipt of a repeated message to the platform. */
  confirm(node: BinaryNode): Promise<void>;
  /** Sends the acknowledgement of any other stanza, or of an ignored message, to the platform. */
  acknowledge(node: BinaryNode): Promise<void>;
  /** Resolves when this session may handle a stanza. Sessions share the event loop. */
  turn(): Promise<void>;
  readonly connected: () => boolean;
  /** Resolves with true when all entries of the handlers so far are stored, and with false if they never will be. Never rejects. */
  stored(): Promise<boolean>;
  /** Resolves with true when all changed keys are stored, and with false if they never will be. Never rejects. */
  keysStored(): Promise<boolean>;
  /** Reports that the connection must end. */
  failed(close: Close): void;
  /** Reports a forged stanza, which was dropped and acknowledged. */
  forged(what: Forgery): void;
  /** Reports an error of the inbox itself, which is a crash of the session. */
  crashed(error: unknown): void;
  /** Reports that a handler of the library rejected. */
  handlerFailed(where: string, error: unknown): void;
  readonly limits?: InboxLimits;
}

interface Item {
  readonly node: BinaryNode;
  /** `repeated`: the stanza was stored before, is ignored, or is forged. It is only acknowledged. */
  readonly kind: StanzaKind | 'repeated';
  /** For a message: resolves when the message is in the log, with null if the connection ended before. Null for other stanzas. */
  readonly logged: Promise<Logged | null> | null;
}

/** The progress of a message. False: no event contained it. True: an event contained it, and no file is missing. `missing`: the name of its missing file. */
type Reported = false | true | { readonly missing: string };

interface WaitsForLog {
  readonly message: Unlogged;
  readonly done: (logged: Logged | null) => void;
}

const mostInGroup = 256;
export const usualLimits: InboxLimits = {
  bytes: 16 * 1024 * 1024,
  handling: 10_000,
  again: [1_000, 10_000, 60_000, 600_000, 3_600_000],
  files: 500,
};
/** The limit for `whenFetched`, in milliseconds. */
const longestFetch = 1_000;
/** The age of a message from which the media hosts have deleted its file. The file is then not fetched again. In milliseconds. */
const filesKept = 30 * 86_400_000;

/** Replaces the library's listeners on its socket by `take`. Throws if the library has other listeners than expected. */
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

/** Returns false for requests to send a message again, and for steps of a pairing by code. They cause no entries, so the library acknowledges them at once. */
const holdsAck = ({ attrs: { type } }: BinaryNode): boolean => type !== 'retry' && type !== 'link_code_companion_reg';

/** Returns true for status posts, which the library ignores (`shouldIgnoreJid` in `socket-config.ts`). */
const isIgnored = ({ attrs }: BinaryNode): boolean => attrs['from'] === statusJid;

/** The memory of a waiting stanza with its entries, and of each child node of the stanza (measured). In bytes. */
const [perStanza, perNode] = [1_200, 240];
const sizeOf = ({ content }: BinaryNode): number =>
  Array.isArray(content) ? content.reduce((sum, child) => sum + perNode + sizeOf(child), 0) : (content?.length ?? 0);
const weightOf = (node: BinaryNode): number => perStanza + sizeOf(node);

export class DurableInbox {
  readonly #options: InboxOptions;
  readonly #limits: InboxLimits;
  readonly #stored: () => Promise<boolean>;
  readonly #acks: HeldAcks;
  /** Stanzas in the order of arrival. */
  #queue = new Set<Item>();
  #unlogged: WaitsForLog[] = [];
  /** The size of messages that are not logged yet, and of other stanzas that are not acknowledged yet. In bytes. */
  #waitingBytes = 0;
  /** True after the limit was exceeded. Later stanzas are ignored, and the platform keeps them. */
  #full = false;
  #logging = false;
  #opened = false;
  #closed = false;
  #busy = false;
  #idleWaiters: (() => void)[] = [];
  #fetchWaiters: (() => void)[] = [];
  /** The progress of each message that the library handles, by id. */
  readonly #reported = new Map<string, Reported>();
  readonly #handling = new Map<string, BinaryNode>();
  /** Messages whose file could not be fetched, with the timer of the next try. */
  readonly #again = new Map<Logged, { readonly tries: number; readonly timer: NodeJS.Timeout }>();

  constructor(options: InboxOptions) {
    const { inbound, stored, keysStored, acknowledge, limits = usualLimits } = options;
    this.#options = options;
    this.#limits = limits;
    this.#stored = () => stored();
    this.#acks = new HeldAcks({
      stored: async (nodes) => (await stored()) && (!nodes.some(({ tag }) => tag === 'notification') || (await keysStored())),
      // There are too many receipts to store their names. The journal drops repeated receipts of direct chats.
      finished: (nodes) => inbound.rememberFinished(nodes.filter(({ tag }) => tag !== 'receipt')),
      released: (nodes) => nodes.forEach((node) => this.#release(weightOf(node))),
      acknowledge,
      failed: (error) => this.#crash(error),
    });
  }

  take(kind: StanzaKind, node: BinaryNode): void {
    if (this.#closed || this.#full) return;
    const item = kind === 'message' ? this.#takeMessage(node) : this.#takeOther(kind, node);
    if (item === null) return;
    if (kind !== 'message' && this.#queue.size === 0) return this.#passOn(item);
    this.#queue.add(item);
    this.#run();
  }

  /** Starts to handle the queue at the login. Unfinished messages of an earlier connection come first. */
  open(): void {
    // The platform sends pending stanzas before the end of the login, so some unfinished messages may be new arrivals of this connection.
    const arrived = new Set([...this.#queue].map(({ node }) => node));
    const earlier = this.#options.inbound.takeUnfinished().filter(({ node }) => !arrived.has(node));
    const again = earlier.map((logged): Item => ({ kind: 'message', node: logged.node, logged: Promise.resolve(logged) }));
    this.#queue = new Set([...again, ...this.#queue]);
    this.#opened = true;
    this.#run();
  }

  /** Notes that an event of the library contained this message, so it will be stored. */
  reported(messageId: string): void {
    if (this.#reported.has(messageId)) this.#reported.set(messageId, true);
  }

  forged(what: Forgery): void {
    this.#options.forged(what);
  }

  /** Returns the stanza of a message that the library handles at the moment. */
  handling(messageId: string): BinaryNode | undefined {
    return this.#handling.get(messageId);
  }

  /**
   * Notes that an event contained this message, and that the library fetches its content as a file. The message is complete when `fetched` is
   * called with the same name.
   */
  fetching(messageId: string, file: string): void {
    if (this.#reported.has(messageId)) this.#reported.set(messageId, { missing: file });
  }

  fetched(file: string): void {
    for (const [id, state] of this.#reported) if (typeof state === 'object' && state.missing === file) this.#reported.set(id, true);
    this.#tellFetched();
  }

  /** Resolves when the library fetches no file, which is usually at once. Waits for at most `longestFetch`. Never rejects. */
  async whenFetched(): Promise<void> {
    if (!this.#isFetching) return;
    const fetched = new Promise<void>((resolve) => this.#fetchWaiters.push(resolve));
    await within(systemTime, longestFetch, fetched);
  }

  /**
   * Closes the inbox. Idempotent. Drops the stanzas that the library does not have yet. Resolves when all other stanzas are handled, and their entries
   * are stored if an acknowledgement is held.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#tellFetched();
    this.#queue.clear();
    for (const { timer } of this.#again.values()) clearTimeout(timer);
    this.#options.inbound.giveUpWaiting();
    for (const { message, done } of this.#unlogged.splice(0)) {
      this.#options.inbound.giveUp(message);
      done(null);
    }
    if (this.#busy) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
    await this.#acks.close();
  }

  get #isFetching(): boolean {
    return !this.#closed && this.#reported.values().some((state) => typeof state === 'object');
  }

  #tellFetched(): void {
    if (!this.#isFetching) for (const resolve of this.#fetchWaiters.splice(0)) resolve();
  }

  #takeMessage(node: BinaryNode): Item | null {
    if (isUnsealed(node)) {
      this.forged('unsealed');
      return { kind: 'repeated', node, logged: null };
    }
    if (isIgnored(node)) return { kind: 'repeated', node, logged: null };
    let message: Unlogged | 'finished' | null;
    try {
      message = this.#options.inbound.arrive(node);
    } catch (error) {
      // The stanza cannot be encoded for the log. The library gets it without a log entry.
      this.#options.handlerFailed('log', error);
      void this.#call('message', node);
      return null;
    }
    if (message === 'finished') return { kind: 'repeated', node, logged: null };
    // Null means that the log has this message already. Its first copy will be acknowledged.
    return message === null ? null : { kind: 'message', node, logged: this.#log(message) };
  }

  #takeOther(kind: StanzaKind, node: BinaryNode): Item {
    this.#hold(weightOf(node));
    return { kind: kind !== 'receipt' && this.#options.inbound.isFinished(node) ? 'repeated' : kind, node, logged: null };
  }

  #hold(bytes: number): void {
    this.#waitingBytes += bytes;
    if (this.#waitingBytes <= this.#limits.bytes || this.#full) return;
    this.#full = true;
    this.#options.failed(ownCloses.storage);
  }

  #release(bytes: number): void {
    this.#waitingBytes -= bytes;
  }

  #log(message: Unlogged): Promise<Logged | null> {
    this.#hold(message.encoded.length);
    return new Promise((done) => {
      this.#unlogged.push({ message, done });
      if (!this.#logging) this.#logAll().catch((error: unknown) => this.#lose(error));
    });
  }

  /** Writes waiting messages to the log in groups. Messages that arrive during a write form the next group. */
  async #logAll(): Promise<void> {
    this.#logging = true;
    while (this.#unlogged.length > 0 && !this.#closed) {
      const group = this.#unlogged.slice(0, mostInGroup);
      const logged = await this.#options.inbound.append(group.map(({ message }) => message));
      this.#unlogged.splice(0, group.length);
      for (const [at, { message, done }] of group.entries()) {
        this.#release(message.encoded.length);
        done(logged[at] ?? null);
      }
    }
    this.#logging = false;
  }

  /** Ends the connection after the log could not be written. */
  #lose(error: unknown): void {
    if (this.#closed) return;
    this.#options.handlerFailed('log', error);
    this.#options.failed(error instanceof EpochLost ? ownCloses.epochLost : ownCloses.storage);
  }

  #crash(error: unknown): void {
    if (!this.#closed) this.#options.crashed(error);
  }

  #run(): void {
    if (this.#opened && !this.#busy) this.#work().catch((error: unknown) => this.#lose(error));
  }

  async #work(): Promise<void> {
    this.#busy = true;
    try {
      for (const item of this.#queue) {
        const logged = item.logged === null ? null : await item.logged;
        // The inbox yields to the event loop before each stanza. Otherwise a backlog would block the loop if the handlers wait only for resolved promises.
        await this.#options.turn();
        if (this.#closed) break;
        if (logged === null) this.#passOn(item);
        else await this.#handle(logged);
        this.#queue.delete(item);
      }
    } finally {
      this.#busy = false;
      for (const resolve of this.#idleWaiters.splice(0)) resolve();
    }
  }

  #passOn({ kind, node }: Item): void {
    if (kind === 'repeated' || !holdsAck(node))
      return void this.#call(kind, node).then(() => node.tag === 'message' || this.#release(weightOf(node)));
    let isHandled = false;
    const held = withHeldAck(node, () => {
      isHandled = true;
      this.#acks.add(node);
    });
    // If the handler rejects before the acknowledgement, the platform repeats the stanza at the next login.
    void this.#call(kind, held).then((isDone) => isDone || isHandled || this.#release(weightOf(node)));
  }

  /** Calls the library's handler, or acknowledges a repeated stanza. Resolves with false if the call rejected. Never rejects. */
  async #call(kind: Item['kind'], node: BinaryNode): Promise<boolean> {
    const { handlers, confirm, acknowledge } = this.#options;
    try {
      if (kind !== 'repeated') await handlers[kind](node);
      else await (node.tag === 'message' && !isIgnored(node) ? confirm(node) : acknowledge(node));
      return true;
    } catch (error) {
      if (error !== ackHeld) this.#options.handlerFailed(`CB:${kind}`, error);
      return false;
    }
  }

  async #handle(logged: Logged): Promise<void> {
    const { inbound, connected } = this.#options;
    await inbound.trying(logged);
    const id = logged.node.attrs['id'] ?? '';
    this.#reported.set(id, false);
    this.#handling.set(id, logged.node);
    const handled = this.#call('message', unmarked(logged.node)).then(() => {
      const reported = this.#reported.get(id);
      this.#reported.delete(id);
      this.#handling.delete(id);
      this.#tellFetched();
      if (typeof reported === 'object' && this.#tryAgain(logged)) return;
      this.#again.delete(logged);
      // If the connection ended before an event contained the message, the library could not acknowledge the message. The message then stays in the log.
      if (reported || connected()) inbound.finish(logged, reported === true, this.#stored);
    });
    await within(systemTime, this.#limits.handling, handled);
  }

  /**
   * Schedules another try for a message whose file is missing. The library tries only once and reports no failure, and a phone sends its history only once.
   * Returns false if the file is too old, or if too many messages wait. The caller then gives up the message. After the last try, the message stays in the log.
   */
  #tryAgain(logged: Logged): boolean {
    const sent = Number(logged.node.attrs['t'] ?? 0) * 1000;
    const tries = this.#again.get(logged)?.tries ?? 0;
    this.#options.handlerFailed('file', new Error(`the file of a message could not be fetched, try ${tries + 1}`));
    if (sent < systemTime.now() - filesKept) return false;
    if (this.#again.size >= this.#limits.files && !this.#again.has(logged)) return false;
    const pause = this.#limits.again[tries];
    if (pause === undefined || this.#closed) {
      // The message waits in the log for the next connection. It no longer counts towards the limit of waiting messages.
      this.#again.delete(logged);
      return true;
    }
    const timer = setTimeout(() => {
      this.#queue.add({ kind: 'message', node: logged.node, logged: Promise.resolve(logged) });
      this.#run();
    }, pause).unref();
    this.#again.set(logged, { tries: tries + 1, timer });
    return true;
  }
}
