/**
 * The asynchronous queue of one session: messages that were accepted without waiting, sent one by one whenever the session is live.
 *
 * Storage is the queue; memory holds a window of its oldest messages. What does not fit in the window is read again when the window is empty.
 */
import { createMutex } from '../keyed-mutex.ts';
import type { Message } from '../model.ts';
import type { QueueLimits } from '../policy/policy.ts';
import { StorageFailure, type Time } from '../ports.ts';
import type { SupervisedWorker, WorkerInput } from '../supervised-workers.ts';
import { Pause, storageRetryMs } from '../waiting.ts';

/** `later`: the session went away. `waitMs`: nothing may be sent for so many milliseconds. */
export type Sending = 'done' | 'later' | { readonly waitMs: number };

export interface QueueHost {
  readonly time: Time;
  readonly limits: QueueLimits;
  readonly live: () => boolean;
  /** Why nothing is sent now; '' when nothing speaks against it. */
  readonly held: () => string;
  /** The oldest messages that wait in storage, at most `limit`. What was sent before the call is not among them. */
  read(limit: number): Promise<readonly Message[]>;
  /** Sends one message; unless it is done, the message stays in the queue. */
  send(message: Message): Promise<Sending>;
  /** Milliseconds until the next message may go, drawn anew after each. */
  pace(): number;
  /** Records that a message will not be sent: it waited too long, was cancelled, or broke the worker. */
  giveUp(message: Message, why: 'tooOld' | 'cancelled' | 'accountChanged' | 'broken'): Promise<void>;
  supervise(input: WorkerInput): SupervisedWorker;
}

/** Milliseconds between two looks whether the reason is gone for which nothing is sent. */
const heldLookMs = 5_000;

/** Messages held in memory. */
const windowSize = 200;

export class SendQueue {
  readonly #host: QueueHost;
  #window: Message[] = [];
  /** Storage holds messages that the window does not, or may hold them while it is read. */
  #more = false;
  /** A message was pushed during the read of now, whose answer need not have it. */
  #missed = false;
  /** Messages that wait, places that are reserved included; the one that is being sent is not. */
  #pending = 0;
  #current: Message | null = null;
  /** No message is sent before this moment of the monotonic clock. */
  #nextAt = 0;
  /** Ids that were taken out of the window since storage was read last. */
  #taken = new Set<string>();
  /** Two readers must not fill the window with the same messages. */
  readonly #serially = createMutex();
  #expiry: unknown = null;
  readonly #worker: SupervisedWorker;
  readonly #pause: Pause;

  constructor(host: QueueHost) {
    this.#host = host;
    this.#pause = new Pause(host.time);
    this.#worker = host.supervise({ name: 'queue', run: () => this.#work() });
  }

  /** Takes a place for a message that is about to be stored; false when the queue is full. A place is either `push`ed or `release`d. */
  reserve(): boolean {
    if (this.#pending >= this.#host.limits.items) return false;
    this.#pending += 1;
    return true;
  }

  release(): void {
    this.#pending -= 1;
  }

  /** A message that was stored, in its reserved place. */
  push(message: Message): void {
    // The message can be in the window already: a read may find it between its commit and this call.
    if (this.#more || this.#window.length >= windowSize) this.#more = this.#missed = true;
    else if (!this.#knows(message)) this.#window.push(message);
    this.resume();
  }

  /** Messages of an earlier run wait in storage. */
  restore(count: number): void {
    this.#pending += count;
    this.#more ||= count > 0;
    // When the earlier run sent its last one is not known.
    if (count > 0) this.#nextAt = this.#host.time.monotonic() + this.#host.pace();
    this.resume();
  }

  /** The session is live again, or there is something to do. */
  resume(): void {
    this.#worker.wake();
  }

  /** The pace was changed: what waits for the old one goes on. */
  repace(): void {
    this.#nextAt = 0;
    this.#pause.cut();
    this.resume();
  }

  /** Cancels one message; false when it does not wait here, such as the one that is being sent. */
  async cancel(message: Message): Promise<boolean> {
    const { messageId } = message;
    if (this.#current?.messageId === messageId || this.#taken.has(messageId)) return false;
    const at = this.#window.findIndex((one) => one.messageId === messageId);
    if (at < 0 && !this.#more) return false;
    if (at >= 0) this.#window.splice(at, 1);
    this.#pending = Math.max(0, this.#pending - 1);
    this.#taken.add(messageId);
    await this.#host.giveUp(message, 'cancelled');
    return true;
  }

  /** Cancels what waits; the number of cancelled messages. */
  async clear(why: 'cancelled' | 'accountChanged' = 'cancelled'): Promise<number> {
    let left = this.#pending;
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

  get pending(): number {
    return this.#pending;
  }

  /** When the next message may go, in Unix milliseconds; null when none waits for the pace. */
  get nextAt(): number | null {
    const { time } = this.#host;
    const left = this.#nextAt - time.monotonic();
    return this.#pending > 0 && left > 0 ? time.now() + left : null;
  }

  get processing(): boolean {
    return this.#current !== null;
  }

  /** Nothing more is sent; what waits stays in storage. */
  stop(): void {
    this.#pause.end();
    this.#host.time.clearTimeout(this.#expiry);
  }

  /** Until nothing waits, or the session is away. Storage that is away is asked again after a pause. */
  async #work(): Promise<void> {
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

  /** Reads the next window when this one is empty; false when nothing waits. */
  #fill(): Promise<boolean> {
    return this.#serially(async () => {
      while (this.#window.length === 0 && this.#more) {
        await this.#read();
        if (!this.#missed) break;
      }
      return this.#window.length > 0;
    });
  }

  /** Reads a window. Messages that are pushed meanwhile are left to the next read, because older ones may still be in storage. */
  async #read(): Promise<void> {
    const before = this.#taken;
    this.#taken = new Set(this.#current ? [this.#current.messageId] : []);
    this.#missed = false;
    try {
      const read = await this.#host.read(windowSize);
      // A message that is sent while storage is read is still `Queued` in the answer.
      const fresh = read.filter(({ messageId }) => !before.has(messageId) && !this.#taken.has(messageId));
      this.#window = [...fresh, ...this.#window.filter(({ messageId }) => !fresh.some((one) => one.messageId === messageId))];
      this.#more = this.#missed || read.length === windowSize;
    } catch (error) {
      for (const id of before) this.#taken.add(id);
      throw error;
    }
  }

  #knows({ messageId }: Message): boolean {
    return this.#taken.has(messageId) || this.#window.some((one) => one.messageId === messageId);
  }

  /** Sends the oldest message; false when it has to wait for the next connection. One that breaks the worker is given up, and its error thrown. */
  async #next(): Promise<boolean> {
    if (this.#host.held() !== '') return this.#pause.wait(heldLookMs).then(() => true);
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
      if (error instanceof StorageFailure) this.#putBack(message);
      else await this.#host.giveUp(message, 'broken');
      throw error;
    } finally {
      this.#current = null;
    }
  }

  /** False when the queue has to wait for the next connection. */
  async #end(message: Message, sending: Sending): Promise<boolean> {
    if (sending === 'done') {
      this.#nextAt = this.#host.time.monotonic() + this.#host.pace();
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
    this.#pending = Math.max(0, this.#pending - 1);
    this.#taken.add(message.messageId);
    return message;
  }

  #putBack(message: Message): false {
    this.#window.unshift(message);
    this.#taken.delete(message.messageId);
    this.#pending += 1;
    return false;
  }

  #isOld({ timestamp }: Message): boolean {
    return this.#host.time.now() - timestamp > this.#host.limits.age;
  }

  /** While the session is away messages still grow too old. */
  async #expireOld(): Promise<void> {
    const { time, limits } = this.#host;
    time.clearTimeout(this.#expiry);
    this.#expiry = null;
    // A clock that is in doubt makes everything look old.
    while (this.#host.held() === '' && (await this.#fill()) && this.#isOld(this.#window[0]!))
      await this.#host.giveUp(this.#take()!, 'tooOld');
    const oldest = this.#window[0];
    if (!oldest || this.#host.live()) return;
    const left = oldest.timestamp + limits.age + 1 - time.now();
    this.#expiry = time.setTimeout(() => this.resume(), Math.max(left, this.#host.held() === '' ? 0 : heldLookMs));
  }
}
