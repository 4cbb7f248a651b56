/** The server of a simulated bus. Each connection keeps the order of its messages, in both directions, and messages can be late, lost or doubled. */
import type { Bus, BusAnswer } from '#actors/ports.ts';
import type { FakeTime } from '#test/fakes/time.ts';
import type { Chaos } from './simulated-chaos.ts';
import type { SimulatedProcess } from './simulated-process.ts';

type Take = (body: Uint8Array) => Promise<Uint8Array> | null;

interface Subscription {
  readonly subject: string;
  readonly take: Take;
  readonly client: SimulatedClient;
}

/** The messages of one connection in one direction. */
interface Direction {
  /** The time at which the last message arrives. */
  at: number;
  /** The number of late messages that have not arrived. */
  waiting: number;
}

export class BusServer {
  readonly time: FakeTime;
  readonly chaos: Chaos;
  readonly subscriptions = new Set<Subscription>();
  readonly kept = new Map<string, Uint8Array[]>();

  constructor(time: FakeTime, chaos: Chaos) {
    this.time = time;
    this.chaos = chaos;
  }

  /** Routes a message that arrived at the server. Returns the number of clients that it is sent to, without the sender. */
  route(from: SimulatedClient, subject: string, body: Uint8Array, answer: ((body: Uint8Array) => void) | null): number {
    if (answer === null) this.kept.set(subject, [...(this.kept.get(subject) ?? []), body].slice(-1_000));
    const found = [...this.subscriptions].filter((one) => one.subject === subject && one.client !== from);
    for (const { client, take } of found)
      client.receive(() => void take(body)?.then((reply) => answer && client.send(() => answer(reply))));
    return found.length;
  }
}

/** A client of the simulated bus, one per process. */
export class SimulatedClient implements Bus {
  readonly #server: BusServer;
  readonly #process: SimulatedProcess;
  readonly #own = new Set<Subscription>();
  readonly #waiting = new Set<(answer: BusAnswer) => void>();
  #connected = true;
  /** The time at which the connection last broke. */
  lostAt = -Infinity;
  readonly #toServer: Direction = { at: 0, waiting: 0 };
  readonly #fromServer: Direction = { at: 0, waiting: 0 };

  constructor(server: BusServer, process: SimulatedProcess) {
    this.#server = server;
    this.#process = process;
  }

  get connected(): boolean {
    return this.#connected;
  }

  set connected(connected: boolean) {
    this.#connected = connected;
    if (!connected) this.lostAt = this.#server.time.now();
    for (const one of this.#own) this.#server.subscriptions[connected ? 'add' : 'delete'](one);
    if (!connected) for (const end of this.#waiting) this.#process.enter(() => end({ kind: 'late' }));
  }

  request(subject: string, body: Uint8Array, ms: number, counts = async (_body: Uint8Array): Promise<boolean> => true): Promise<BusAnswer> {
    if (!this.#connected) return Promise.resolve({ kind: 'away' });
    return new Promise((resolve) => {
      const end = (answer: BusAnswer): void => {
        this.#waiting.delete(end);
        this.#process.clearTimeout(timer);
        resolve(answer);
      };
      const timer = this.#process.setTimeout(() => end({ kind: 'late' }), ms);
      this.#waiting.add(end);
      this.send(() => {
        const taken = (reply: Uint8Array): void => void counts(reply).then((isLast) => isLast && end({ kind: 'answered', body: reply }));
        const answered = (reply: Uint8Array): void => this.receive(() => taken(reply));
        if (this.#server.route(this, subject, body, answered) === 0) this.receive(() => end({ kind: 'nobody' }));
      });
    });
  }

  subscribe(subject: string, take: Take): () => void {
    if (!this.#server.chaos.subscribes()) throw new Error('the bus takes no subscription');
    const one = { subject, take, client: this };
    this.#own.add(one);
    this.send(() => void (this.#own.has(one) && this.#server.subscriptions.add(one)));
    return () => {
      this.#own.delete(one);
      this.send(() => void this.#server.subscriptions.delete(one));
    };
  }

  publish(subject: string, body: Uint8Array): void {
    this.send(() => void this.#server.route(this, subject, body, null));
  }

  flush(): Promise<void> {
    if (!this.#connected) return Promise.resolve();
    return new Promise((resolve) => this.send(() => this.receive(resolve)));
  }

  listen(subject: string, take: (body: Uint8Array) => void): () => void {
    return this.subscribe(subject, (body) => {
      take(body);
      return null;
    });
  }

  get keeps(): boolean {
    return this.#connected;
  }

  kept(subject: string): Promise<readonly Uint8Array[] | null> {
    if (!this.#connected) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.send(() => {
        const found = this.#server.kept.get(subject) ?? [];
        this.receive(() => resolve(found));
      });
      this.#process.setTimeout(() => resolve(null), 3_000);
    });
  }

  async lastKept(subject: string): Promise<Uint8Array | null> {
    return (await this.kept(subject))?.at(-1) ?? null;
  }

  async close(): Promise<void> {
    this.kill();
  }

  /** Ends the connection of a process that is gone. */
  kill(): void {
    this.#connected = false;
    for (const one of this.#own) this.#server.subscriptions.delete(one);
  }

  /** Sends to the server. A message on its way is lost when the connection breaks. */
  send(arrive: () => void): void {
    if (this.#connected) this.#deliver(this.#toServer, arrive);
  }

  /** Receives from the server. */
  receive(arrive: () => void): void {
    for (let left = this.#server.chaos.arrivals(); left > 0; left -= 1) this.#deliver(this.#fromServer, () => this.#process.enter(arrive));
  }

  #deliver(direction: Direction, arrive: () => void): void {
    const { time, chaos } = this.#server;
    direction.at = Math.max(direction.at, time.now() + chaos.lateness());
    // A message that is not late still waits for earlier messages that arrive in the same millisecond.
    if (direction.at <= time.now() && direction.waiting === 0) return void Promise.resolve().then(arrive);
    direction.waiting += 1;
    const deliver = (): void => {
      direction.waiting -= 1;
      if (this.#connected) arrive();
    };
    time.setTimeout(deliver, direction.at - time.now());
  }
}
