/**
 * The asynchronous queue of one session. The queue sends accepted messages one by one whenever the session is live.
 *
 * Storage is the queue. Memory holds a window of the oldest messages. All other messages are read when the window is empty.
 */
import { Mutex, Pause, storageRetryMs } from '../waiting.ts';
import type { Message } from '../model.ts';
import type { QueueLimits } from '../policy/policy.ts';
import { StorageFailure, type Time } from '../ports.ts';
import type { SupervisedWorker, WorkerInput } from '../policy/supervised-workers.ts';
import { type Obstacle, Patience } from './obstacles.ts';

/**
 * The outcome of an attempt. `later`: the message waits for the next connection. `waitMs`: nothing may be sent for this many milliseconds. `obstacle`: the
 * reason concerns only this message and messages that need the same file or answer.
 */
export type Sending = 'done' | 'later' | { readonly waitMs: number; readonly obstacle?: Obstacle };

export interface QueueHost {
  readonly time: Time;
  readonly limits: QueueLimits;
  readonly live: () => boolean;
  /** Returns the reason why nothing may be sent now, or '' if there is none. */
  readonly held: () => string;
  /**
   * Returns the oldest waiting messages of storage, at most `limit`. With `hasSent`, the call first waits until the recorder has stored everything, so that the
   * result excludes messages that were sent before. At the first read `hasSent` is false, because the queue has sent nothing. That read does not wait for the
   * recorder, which may be storing the history of a phone.
   */
  read(limit: number, hasSent: boolean): Promise<readonly Message[]>;
  /** Sends one message. Unless the outcome is `done`, the message stays in the queue. */
  send(message: Message): Promise<Sending>;
  /** Returns a random pause before the next message. In milliseconds. */
  pace(): number;
  /** Records that a message will not be sent. `broken`: the message crashed the worker. */
  giveUp(message: Message, why: 'tooOld' | 'cancelled' | 'accountChanged' | 'broken' | Obstacle['why']): Promise<void>;
  supervise(input: WorkerInput): SupervisedWorker;
}

/** The pause between two checks of `held`, while it forbids every send. In milliseconds. */
const heldLookMs = 5_000;

/** The largest number of messages in memory. */
const windowSize = 200;

export class SendQueue {
  readonly #host: QueueHost;
  #window: Message[] = [];
  /** True if storage has, or may have, messages outside the window. */
  #more = false;
  /** True if a message was pushed during the current read. The read may not include this message. */
  #missed = false;
  /** True if this queue has read storage. Before the first read, storage may have messages of an earlier run. */
  #isRead = false;
  /** The number of stored messages that wait, without the message that is being sent. The number is exact if the window contains all waiting messages. */
  #stored = 0;
  /** The number of reserved slots whose messages are being stored. */
  #reserved = 0;
  #current: Message | null = null;
  /** Earliest time of the next message, by the monotonic clock. */
  #nextAt = 0;
  /** Ids of messages that were sent or cancelled since the last read began, or since the queue was last empty. */
  #taken = new Set<string>();
  readonly #patience: Patience;
  /** Serializes reads, so that two readers do not fill the window with the same messages. */
  readonly #mutex = new Mutex();
  #expiry: unknown = null;
  readonly #worker: SupervisedWorker;
  readonly #pause: Pause;

  constructor(host: QueueHost) {
    this.#host = host;
    this.#pause = new Pause(host.time);
    this.#patience = new Patience(host.time);
    this.#worker = host.supervise({ name: 'queue', run: () => this.#work() });
  }

  /** Reserves a slot for a message that is about to be stored. Returns false if the queue is full. A reserved slot must be `push`ed or `release`d. */
  reserve(): boolean {
    if (this.pending >= this.#host.limits.items) return false;
    this.#reserved += 1;
    return true;
  }

  release(): void {
    this.#reserved -= 1;
  }

  /** Adds a stored message in the slot that was reserved for the message. */
  push(message: Message): void {
    this.#reserved -= 1;
    // A read may find the message between its commit and this call, so the window may already have it.
    const isOutside = !this.#isRead || this.#more || this.#window.length >= windowSize;
    if (isOutside || !this.#knows(message)) this.#stored += 1;
    if (isOutside) this.#more = this.#missed = true;
    else if (!this.#knows(message)) this.#window.push(message);
    this.resume();
  }

  /** Adds the messages of an earlier run. `count` messages wait in storage, and `#stored` already includes `known` of them. */
  restore(count: number, known = 0): void {
    this.#stored = count + Math.max(0, this.#stored - known);
    this.#more ||= count > 0;
    // The time of the last message of the earlier run is unknown, so the next message waits for a whole pause.
    if (count > 0) this.#nextAt = this.#host.time.monotonic() + this.#host.pace();
    this.resume();
  }

  /** Wakes the worker. Call this when the session becomes live. */
  resume(): void {
    this.#worker.wake();
  }

  /** Applies a new pace. The next message leaves at once. */
  repace(): void {
    this.#nextAt = 0;
    this.#pause.cut();
    this.resume();
  }

  /** Cancels one message. Returns false if the message does not wait in the queue, for example because it is being sent. */
  async cancel(message: Message): Promise<boolean> {
    const { messageId } = message;
    if (this.#current?.messageId === messageId || this.#taken.has(messageId)) return false;
    const at = this.#window.findIndex((one) => one.messageId === messageId);
    if (at < 0 && !this.#more) return false;
    if (at >= 0) this.#window.splice(at, 1);
    this.#stored = Math.max(0, this.#stored - 1);
    this.#taken.add(messageId);
    await this.#host.giveUp(message, 'cancelled');
    return true;
  }

  /** Cancels all waiting messages and returns the number of cancelled messages. */
  async clear(why: 'cancelled' | 'accountChanged' = 'cancelled'): Promise<number> {
    let left = this.pending;
    let cancelled = 0;
    while (left > 0) {
      await this.#fill();
      const batch = [];
      for (; batch.length < left && this.#window.length > 0;) batch.push(this.#take()!);
      if (batch.length === 0) break;
      left -= batch.length;
      cancelled += batch.length;
      await Promise.all(batch.map((message) => this.#host.giveUp(message, why)));
    }
    return cancelled;
  }

  /** The number of stored messages that wait. */
  get stored(): number {
    return this.#stored;
  }

  /** The number of waiting messages, including reserved slots and without the message that is being sent. */
  get pending(): number {
    return this.#stored + this.#reserved;
  }

  /** The time of the next message, or null if no message waits for the pace. In Unix milliseconds. */
  get nextAt(): number | null {
    const { time } = this.#host;
    const left = this.#nextAt - time.monotonic();
    return this.pending > 0 && left > 0 ? Math.ceil(time.now() + left) : null;
  }

  get processing(): boolean {
    return this.#current !== null;
  }

  /** Stops sending. Waiting messages stay in storage. */
  stop(): void {
    this.#pause.end();
    this.#host.time.clearTimeout(this.#expiry);
  }

  /** Sends until no message waits or the connection ends. Retries after a pause while storage is unavailable. */
  async #work(): Promise<void> {
    // The time of an obstacle counts only while the queue works. Time without a connection and time without messages do not count.
    this.#patience.reset();
    while (!this.#pause.ended) {
      try {
        while (this.#host.live() && (await this.#fill())) if (!(await this.#next())) break;
        return await this.#expireOld();
      } catch (error) {
        if (!(error instanceof StorageFailure)) throw error;
      }
      await this.#pause.wait(storageRetryMs);
    }
  }

  /** Reads the next window if the current one is empty. Returns false if no message waits. */
  #fill(): Promise<boolean> {
    return this.#mutex.run(async () => {
      while (this.#window.length === 0 && this.#more) {
        await this.#read();
        if (!this.#missed) break;
      }
      if (this.pending === 0 && !this.#more) this.#taken = this.#sending();
      return this.#window.length > 0;
    });
  }

  /** Reads a window. Messages that are pushed meanwhile wait for the next read, because storage may have older ones. */
  async #read(): Promise<void> {
    const before = this.#taken;
    this.#taken = this.#sending();
    this.#missed = false;
    try {
      const read = await this.#host.read(windowSize, this.#isRead);
      // A message that was sent during the read is still `Queued` in the answer.
      const fresh = read.filter(({ messageId }) => !before.has(messageId) && !this.#taken.has(messageId));
      this.#window = [...fresh, ...this.#window.filter(({ messageId }) => !fresh.some((one) => one.messageId === messageId))];
      this.#isRead = true;
      this.#more = this.#missed || read.length === windowSize;
      if (!this.#more) this.#stored = this.#window.length;
    } catch (error) {
      for (const id of before) this.#taken.add(id);
      throw error;
    }
  }

  /** Returns the id of the message that is being sent. */
  #sending(): Set<string> {
    return new Set(this.#current ? [this.#current.messageId] : []);
  }

  #knows({ messageId }: Message): boolean {
    return this.#taken.has(messageId) || this.#window.some((one) => one.messageId === messageId);
  }

  /**
   * Sends the oldest message. Returns false if the message must wait for the next connection. A message that crashes the worker is given up, and its
   * error is thrown.
   */
  async #next(): Promise<boolean> {
    if (this.#host.held() !== '') {
      this.#patience.reset();
      return this.#pause.wait(heldLookMs).then(() => true);
    }
    const wait = this.#nextAt - this.#host.time.monotonic();
    if (wait > 0) return this.#pause.wait(wait).then(() => true);
    const message = this.#take();
    if (!message) return true;
    this.#current = message;
    try {
      if (this.#isOld(message)) await this.#host.giveUp(message, 'tooOld');
      else return await this.#end(message, await this.#host.send(message));
      return true;
    } catch (error) {
      // An outage of the storage says nothing about the obstacle.
      this.#patience.reset();
      if (error instanceof StorageFailure) this.#putBack(message);
      else await this.#host.giveUp(message, 'broken');
      throw error;
    } finally {
      this.#current = null;
    }
  }

  /** Handles the outcome of an attempt. Returns false if the queue must wait for the next connection. */
  async #end(message: Message, sending: Sending): Promise<boolean> {
    const { time } = this.#host;
    const { obstacle } = typeof sending === 'object' ? sending : {};
    if (obstacle !== undefined && this.#patience.isOver(obstacle)) return this.#host.giveUp(message, obstacle.why).then(() => true);
    if (typeof sending === 'string') this.#patience.reset();
    if (sending === 'done') {
      this.#nextAt = time.monotonic() + this.#host.pace();
      return true;
    }
    this.#putBack(message);
    if (sending === 'later') return false;
    this.#current = null;
    await this.#pause.wait(sending.waitMs);
    return true;
  }

  #take(): Message | undefined {
    const message = this.#window.shift();
    if (!message) return undefined;
    this.#stored = Math.max(0, this.#stored - 1);
    this.#taken.add(message.messageId);
    return message;
  }

  #putBack(message: Message): false {
    this.#window.unshift(message);
    this.#taken.delete(message.messageId);
    this.#stored += 1;
    return false;
  }

  #isOld({ timestamp }: Message): boolean {
    return this.#host.time.now() - timestamp > this.#host.limits.age;
  }

  /**
   * Gives up messages that are too old. A timer wakes the worker again when the next message expires. During this call the session may still count as live,
   * because the chart notices the end of a connection with a delay.
   */
  async #expireOld(): Promise<void> {
    const { time, limits } = this.#host;
    time.clearTimeout(this.#expiry);
    this.#expiry = null;
    // While the clock is in doubt, every message may look too old, so none is given up.
    while (this.#host.held() === '' && (await this.#fill()) && this.#isOld(this.#window[0]!))
      await this.#host.giveUp(this.#take()!, 'tooOld');
    const oldest = this.#window[0];
    if (!oldest || this.#pause.ended) return;
    const left = oldest.timestamp + limits.age + 1 - time.now();
    this.#expiry = time.setTimeout(() => this.resume(), Math.max(left, this.#host.held() === '' ? 0 : heldLookMs));
  }
}
