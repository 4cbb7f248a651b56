/** Messages that were accepted with `async`: sent one by one whenever the session is live, kept in storage as `Queued` until then. */
import type { Message } from '../model.ts';

export interface QueueHost {
  readonly live: () => boolean;
  /** Sends one message. `later`: the session went away, it stays in the queue. */
  send(message: Message): Promise<'done' | 'later'>;
  /** A surprise; the message stays queued in storage. */
  failed(error: unknown): void;
}

export class SendQueue {
  readonly #host: QueueHost;
  #messages: Message[] = [];
  #working = false;
  #current: string | null = null;

  constructor(host: QueueHost) {
    this.#host = host;
  }

  push(messages: readonly Message[]): void {
    const known = new Set([...this.#messages.map((message) => message.messageId), this.#current]);
    this.#messages.push(...messages.filter((message) => !known.has(message.messageId)));
    this.resume();
  }

  /** The session is live again. */
  resume(): void {
    if (this.#working) return;
    this.#working = true;
    void this.#work();
  }

  /** What had not been started. */
  clear(): readonly Message[] {
    return this.#messages.splice(0);
  }

  get pending(): number {
    return this.#messages.length;
  }

  get processing(): boolean {
    return this.#current !== null;
  }

  async #work(): Promise<void> {
    while (this.#host.live()) {
      const message = this.#messages.shift();
      if (!message) break;
      this.#current = message.messageId;
      try {
        if ((await this.#host.send(message)) === 'later') {
          this.#messages.unshift(message);
          break;
        }
      } catch (error) {
        this.#host.failed(error);
      }
      this.#current = null;
    }
    this.#current = null;
    this.#working = false;
  }
}
