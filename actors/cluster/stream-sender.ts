/**
 * The owner's side of the streams of one instance. Its events leave over the bus while somebody wants them, and for a while longer: they are kept there
 * for those who come back. An instance that nobody listens to costs the note of its last event.
 */
import type { GatewayEvent } from '../model.ts';
import type { Time } from '../ports.ts';
import type { Sent } from './stream-chain.ts';

export interface StreamSenderInput {
  readonly time: Time;
  /** How long events are sent after somebody wanted them, in milliseconds. */
  readonly sentFor: number;
  /** What an owner before sent last; null: nothing, or nobody knows. Never rejects. */
  before(): Promise<Sent | null>;
  /** Over the bus. */
  send(sent: Sent): void;
  /** To the listeners of this node, whether or not anybody listens elsewhere. Never throws. */
  here(sent: Sent): void;
  /** Returns true if this node may still act for the instance. */
  isOwner(): boolean;
}

/** Events that wait until it is known what was before. */
const mostHeld = 1_000;

export class StreamSender {
  readonly #input: StreamSenderInput;
  /** Resolves when it is known what was before. */
  readonly #begun: Promise<void>;
  #held: GatewayEvent[] | null = [];
  /** Id of the last event, sent or not; null when it is not known. */
  #last: string | null = null;
  /** Monotonic milliseconds. */
  #until = -Infinity;
  #sentAt = -Infinity;
  /** What was sent reaches to the last event. */
  #isWhole = false;

  constructor(input: StreamSenderInput) {
    this.#input = input;
    this.#begun = input.before().then((sent) => this.#begin(sent));
  }

  /** Somebody listens, or did lately. */
  get isSending(): boolean {
    return this.#input.time.monotonic() < this.#until;
  }

  take(event: GatewayEvent): void {
    if (this.#held === null) return this.#step(event);
    this.#held.push(event);
    if (this.#held.length > mostHeld) this.#begin(null);
  }

  /** The process stood still after it had stored the event, and the next owner may have sent later ones. Its readers learn that it is missing. */
  missed({ id }: GatewayEvent): void {
    this.#input.here({ after: id });
    if (this.#input.time.monotonic() < this.#until) this.#send({ after: id });
  }

  /** Somebody listens. Answers with the id of the last event; null when it is not known. */
  async want(): Promise<string | null> {
    await this.#begun;
    const { time, sentFor } = this.#input;
    const now = time.monotonic();
    this.#until = now + sentFor;
    // What was sent ages: the last event is named again, so that the next owner finds it, and those who have seen it.
    const isOld = now - this.#sentAt > sentFor / 2;
    if (this.#last !== null && (isOld || !this.#isWhole)) this.#send({ after: this.#last });
    return this.#last;
  }

  #begin(before: Sent | null): void {
    const held = this.#held;
    if (held === null) return;
    this.#held = null;
    const { time, sentFor } = this.#input;
    this.#last = before?.event?.id ?? before?.after ?? null;
    if (this.#last !== null) {
      // Somebody listened at the owner before, and may come back.
      this.#until = time.monotonic() + sentFor;
      this.#isWhole = true;
    }
    for (const event of held) {
      if (this.#input.isOwner()) this.#step(event);
      else this.missed(event);
    }
  }

  #step(event: GatewayEvent): void {
    this.#input.here({ after: this.#last, event });
    if (this.#input.time.monotonic() < this.#until) this.#send({ after: this.#last, event });
    else if (this.#isWhole) this.#pause();
    this.#last = event.id;
  }

  /** Without this, an owner to come would take the last one that was sent for the last one. */
  #pause(): void {
    this.#send({ after: null });
    this.#isWhole = false;
  }

  #send(sent: Sent): void {
    this.#input.send(sent);
    this.#sentAt = this.#input.time.monotonic();
    this.#isWhole = true;
  }
}
