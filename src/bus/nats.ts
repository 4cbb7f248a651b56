/**
 * The bus on NATS. A body is sent in pieces, because a NATS server accepts at most one megabyte in a message. NATS keeps the pieces of one sender in order.
 *
 * Nothing is published while the client library is not connected. The library would keep the message, and send it after its caller has given up.
 */
import { connect, createInbox, headers, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import type { Bus, BusAnswer, Log } from '#actors/ports.ts';
import { Kept, type KeepOptions } from './kept.ts';
import { Assembly, inPieces, type Piece } from './pieces.ts';
import type { Receipt, Signed, Signing } from './signing.ts';

interface NatsOptions {
  readonly url: string;
  /** The name of this node, as the NATS server shows it in its list of connections. */
  readonly name: string;
  readonly log: Log;
  /** Null if messages are neither signed nor verified. Only tests of the bus use null. */
  readonly signing: Signing | null;
  /** The subjects whose messages are kept for some minutes. */
  readonly keep?: KeepOptions;
}

interface Waiting {
  readonly pieces: Assembly;
  readonly end: (answer: BusAnswer) => void;
  readonly counts: (body: Uint8Array) => Promise<boolean>;
}

const always = (_body: Uint8Array): Promise<boolean> => Promise.resolve(true);
type Received = Pick<Msg, 'subject' | 'data' | 'headers'> & { readonly reply?: string };

/** Handles a message. Returns null if the sender waits for no answer. */
type Answer = (body: Uint8Array) => Promise<Uint8Array> | null;

/** A listener of a subject. It is subscribed again on each new connection. */
interface Listener {
  readonly subject: string;
  readonly answer: Answer;
  /** The time at which listening began, in milliseconds of the monotonic clock. */
  readonly since: number;
}

const reconnectMs = 500;
/**
 * The pause between two pings. If two pings are still unanswered when the next ping is due, the connection is closed. With the library's default of two
 * minutes, a dead connection would be noticed too late. In milliseconds.
 */
const pingMs = 4_000;
/** Status of the message by which the NATS server reports that there is no subscriber. */
const noResponders = 503;
const pieceHeader = 'Piece';

const signatureHeader = 'Signature';
/** The pause between two log lines about refused messages. In milliseconds. */
const refusedMs = 10_000;

const pieceOf = ({ headers: given, data }: Pick<Msg, 'data' | 'headers'>): Piece => {
  const [id = '', index = '0', count = '1'] = (given?.get(pieceHeader) ?? '').split(' ');
  // The data is a view of a buffer of the socket. A kept view would keep the whole buffer in memory, so the data is copied.
  return { id, index: Number(index), count: Number(count), data: data.slice() };
};

export class NatsBus implements Bus {
  readonly #options: NatsOptions;
  #connection: NatsConnection | null = null;
  #connected = false;
  #closed = false;
  readonly #inbox = createInbox();
  readonly #waiting = new Map<string, Waiting>();
  readonly #subscriptions = new Map<object, Listener & { live: Subscription | null }>();
  #requests = 0;
  /** Earliest time of the next log line about a refused message, in milliseconds of the monotonic clock. */
  #tellsAgain = 0;
  readonly #opening: Promise<void>;
  readonly #kept: Kept | null;

  constructor(options: NatsOptions) {
    this.#options = options;
    this.#kept = options.keep ? new Kept(options.keep, options.log) : null;
    this.#opening = this.#open();
  }

  request(subject: string, body: Uint8Array, ms: number, counts = always): Promise<BusAnswer> {
    const connection = this.#connection;
    this.#requests += 1;
    const id = String(this.#requests);
    const pieces = inPieces(id, body);
    if (connection === null || !this.#connected || pieces === null) return Promise.resolve({ kind: 'away' });
    return new Promise((resolve) => {
      const timer = setTimeout(() => end({ kind: 'late' }), ms);
      const end = (answer: BusAnswer): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(answer);
      };
      this.#waiting.set(id, { pieces: new Assembly(), end, counts });
      const sent = this.#sendAll(connection, pieces, subject, `${this.#inbox}.${id}`);
      if (sent < pieces.length) end({ kind: sent === 0 ? 'away' : 'late' });
    });
  }

  /**
   * Subscribes to a subject. The returned function drains the subscription. Requests that arrive before the NATS server ends the subscription are still
   * answered.
   */
  subscribe(subject: string, answer: Answer): () => void {
    return this.#subscribed(subject, answer, (live) => void live.drain().catch(() => undefined));
  }

  publish(subject: string, body: Uint8Array): void {
    this.#requests += 1;
    const pieces = inPieces(`${this.#inbox}.${this.#requests}`, body);
    if (this.#connection === null || !this.#connected || pieces === null) return;
    this.#sendAll(this.#connection, pieces, subject);
  }

  async flush(): Promise<void> {
    if (this.#connected) await this.#connection?.flush().catch(() => undefined);
  }

  listen(subject: string, take: (body: Uint8Array) => void): () => void {
    const answer = (body: Uint8Array): null => {
      take(body);
      return null;
    };
    return this.#subscribed(subject, answer, (live) => live.unsubscribe());
  }

  get connected(): boolean {
    return this.#connected;
  }

  get keeps(): boolean {
    return this.#kept?.ready ?? false;
  }

  async kept(subject: string): Promise<readonly Uint8Array[] | null> {
    const whole = new Assembly();
    const found = await this.#kept?.all(subject);
    const own = found?.filter(({ data, header }) => this.#isOurs({ subject, data, headers: header }, { kept: true }));
    return own?.flatMap(({ data, header }) => whole.add(pieceOf({ data, headers: header })) ?? []) ?? null;
  }

  async lastKept(subject: string): Promise<Uint8Array | null> {
    const last = await this.#kept?.last(subject);
    if (!last || !this.#isOurs({ subject, data: last.data, headers: last.header }, { kept: true })) return null;
    const piece = pieceOf({ data: last.data, headers: last.header });
    return piece.count === 1 ? piece.data : ((await this.kept(subject))?.at(-1) ?? null);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#lose();
    // Without a connection, an attempt to connect may be under way. If it succeeds, its connection is closed.
    const connection = this.#connection;
    // A connection that is lost meanwhile cannot be drained. It is closed instead, because it would try to reconnect for ever.
    if (connection !== null) await connection.drain().catch(() => connection.close());
    else void this.#opening.then(() => this.#connection?.close());
  }

  /** Connects to the NATS server, and retries until the connection is open. Never rejects. */
  async #open(): Promise<void> {
    const { url, name, log } = this.#options;
    while (!this.#closed && this.#connection === null) {
      try {
        // Without `ignoreAuthErrorAbort` the library gives up after the server has refused its credentials twice.
        const again = { maxReconnectAttempts: -1, reconnectTimeWait: reconnectMs, pingInterval: pingMs, ignoreAuthErrorAbort: true };
        this.#connection = await connect({ servers: url, name, ...again, noEcho: true });
        this.#subscribeAll(this.#connection);
      } catch (error) {
        this.#connection = null;
        log.warn({ error }, 'bus.notConnected');
        await new Promise((resolve) => setTimeout(resolve, reconnectMs));
      }
    }
    const connection = this.#connection;
    if (connection === null) return;
    log.info({}, 'bus.connected');
    void this.#follow(connection);
  }

  #subscribeAll(connection: NatsConnection): void {
    connection.subscribe(`${this.#inbox}.*`, { callback: this.#safely('answer', (error, message) => this.#answered(error, message)) });
    for (const one of this.#subscriptions.values()) one.live = this.#listen(one);
    this.#connected = !this.#closed;
    if (this.#connected) void this.#kept?.begin(connection);
  }

  /** Follows the state of a connection until it is closed. Then a new connection is opened. */
  async #follow(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') this.#lose();
      if (type === 'reconnect') {
        this.#connected = true;
        void this.#kept?.begin(connection);
      }
      if (type === 'disconnect' || type === 'reconnect') this.#options.log.warn({}, type === 'reconnect' ? 'bus.connected' : 'bus.lost');
    }
    if (this.#closed) return;
    // The library has given up the connection, for example after an unreadable frame.
    this.#lose();
    this.#connection = null;
    this.#options.log.warn({ error: await connection.closed() }, 'bus.closed');
    await new Promise((resolve) => setTimeout(resolve, reconnectMs));
    await this.#open();
  }

  /** Ends all waiting requests as late, because the connection is lost. The requests may have arrived, and their answers are lost. */
  #lose(): void {
    this.#connected = false;
    this.#kept?.lose();
    for (const { end } of this.#waiting.values()) end({ kind: 'late' });
  }

  #answered(error: Error | null, message: Msg): void {
    const id = message.subject.slice(this.#inbox.length + 1);
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    if (error !== null) return waiting.end({ kind: 'late' });
    if (message.headers?.code === noResponders) return waiting.end({ kind: 'nobody' });
    if (!this.#isOurs(message)) return;
    const body = waiting.pieces.add(pieceOf(message));
    if (body !== null) void this.#judge(waiting, body);
  }

  async #judge({ counts, end }: Waiting, body: Uint8Array): Promise<void> {
    if (await counts(body)) end({ kind: 'answered', body });
  }

  /**
   * Sends pieces of a body and returns the number of sent pieces. The client library refuses a piece after it has closed the connection, and a piece that
   * exceeds the size limit of the NATS server.
   */
  #sendAll(connection: NatsConnection, pieces: readonly Piece[], subject: string, reply = ''): number {
    let sent = 0;
    try {
      for (const piece of pieces) {
        this.#send(connection, piece, subject, reply);
        sent += 1;
      }
    } catch (error) {
      this.#options.log.warn({ subject, error }, 'bus.notSent');
    }
    return sent;
  }

  #send(connection: NatsConnection, { id, index, count, data }: Piece, subject: string, reply = ''): void {
    const piece = `${id} ${index} ${count}`;
    const made = headers();
    made.set(pieceHeader, piece);
    const signature = this.#options.signing?.sign({ subject, reply, piece }, data);
    if (signature !== undefined) made.set(signatureHeader, signature);
    connection.publish(subject, data, { headers: made, ...(reply === '' ? {} : { reply }) });
  }

  /** Returns true if a node of the cluster signed the message. Other messages are dropped without an answer, because an answer would help an attacker. */
  #isOurs({ subject, reply = '', data, headers: given }: Received, receipt: Receipt = {}): boolean {
    const signed: Signed = { subject, reply, piece: given?.get(pieceHeader) ?? '' };
    const objection = this.#options.signing?.objection(given?.get(signatureHeader) ?? '', signed, data, receipt) ?? null;
    if (objection === null) return true;
    const now = performance.now();
    if (now >= this.#tellsAgain) {
      this.#tellsAgain = now + refusedMs;
      this.#options.log.warn({ subject, error: `a message was refused: ${objection}` }, 'bus.refused');
    }
    return false;
  }

  #subscribed(subject: string, answer: Answer, end: (live: Subscription) => void): () => void {
    const key = {};
    const listener = { subject, answer, since: performance.now() };
    this.#subscriptions.set(key, { ...listener, live: this.#listen(listener) });
    return () => {
      const live = this.#subscriptions.get(key)?.live ?? null;
      this.#subscriptions.delete(key);
      if (live !== null) end(live);
    };
  }

  #listen({ subject, answer, since }: Listener): Subscription | null {
    const connection = this.#connection;
    // Without an open connection, nothing can be subscribed. The next connection subscribes all listeners. A connection drains only if this node closes the
    // bus.
    if (connection === null || connection.isClosed() || connection.isDraining()) return null;
    const requests = new Assembly();
    const take = (message: Msg): void => {
      if (!this.#isOurs(message, { listenedMs: performance.now() - since })) return;
      const { reply = '' } = message;
      const piece = pieceOf(message);
      const body = requests.add({ ...piece, id: `${reply} ${piece.id}` });
      const answered = body && answer(body);
      if (answered !== null) this.#reply(connection, reply, answered).catch((failure: unknown) => this.#notTaken(subject, failure));
    };
    const callback = this.#safely(subject, (error, message) => void (error === null && take(message)));
    return connection.subscribe(subject, { callback });
  }

  /** Catches the errors of a callback. They would end the client library's read loop for all subjects. */
  #safely(subject: string, take: (error: Error | null, message: Msg) => void): (error: Error | null, message: Msg) => void {
    return (error, message) => {
      try {
        take(error, message);
      } catch (failure) {
        this.#notTaken(subject, failure);
      }
    };
  }

  #notTaken(subject: string, error: unknown): void {
    this.#options.log.warn({ subject, error }, 'bus.notTaken');
  }

  async #reply(connection: NatsConnection, reply: string, answer: Promise<Uint8Array>): Promise<void> {
    // The id of the answer names this node, because two subscribers may answer one request at the same time.
    const pieces = inPieces(`answer.${this.#inbox}`, await answer);
    if (pieces === null) return this.#options.log.error({}, 'bus.answerTooLarge');
    if (connection.isClosed() || reply === '') return;
    for (const piece of pieces) this.#send(connection, piece, reply);
  }
}
