/** A listener to the events of an instance on any node. */
import type { GatewayEvent } from '../model.ts';
import type { Time } from '../ports.ts';
import type { Sent } from './stream-chain.ts';

export interface Listener {
  readonly onEvent: (event: GatewayEvent) => void;
  readonly onEnd: () => void;
  /** Called when events were lost on their way from another node. */
  readonly onGap: () => void;
}

export interface FollowerInput {
  readonly time: Time;
  /** Returns true if the token of the listener is still valid. */
  isCurrent(): boolean;
  /** Asks the owner to send events. */
  want(): void;
  /** Subscribes to the messages of owners on other nodes. Returns a function that ends the subscription. */
  hear(take: (sent: Sent) => void): () => void;
  /** Subscribes to changes of the owner (`changed`), and to the end of the permission to listen (`end`). */
  owner(changed: () => void, end: () => void): () => void;
}

/** Pauses between two requests to the owner, well before it would stop sending, and between two checks of the token. In milliseconds. */
const askEvery = 10_000;
const lookEvery = 400;

export class Follower {
  readonly #input: FollowerInput;
  readonly #listener: Listener;
  #unlisten: readonly (() => void)[] = [];
  #timer: unknown = null;
  #askedAt = -Infinity;
  #last: string | null = null;
  #isOver = false;

  constructor(input: FollowerInput, listener: Listener) {
    this.#input = input;
    this.#listener = listener;
  }

  start(): void {
    this.#unlisten = [
      this.#input.hear((sent) => this.received(sent)),
      this.#input.owner(
        () => this.#ask(),
        () => this.end(),
      ),
    ];
    this.#look();
  }

  /** Ends the listener. Idempotent. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#input.time.clearTimeout(this.#timer);
    for (const unlisten of this.#unlisten) unlisten();
  }

  end(): void {
    if (this.#isOver) return;
    this.stop();
    this.#listener.onEnd();
  }

  /** Takes a message of the owner, on this node or another one. */
  received({ after, event }: Sent): void {
    if (this.#isOver) return;
    // A message without an id says that the owner paused sending. The next event shows whether an event is missing.
    if (event === undefined && after === null) return;
    // The message is a copy of the last message.
    if (event !== undefined && event.id === this.#last) return;
    if (this.#last !== null && after !== this.#last) this.#listener.onGap();
    this.#last = event?.id ?? after;
    if (event !== undefined) this.#listener.onEvent(event);
  }

  #look(): void {
    const { time, isCurrent } = this.#input;
    if (this.#isOver) return;
    if (!isCurrent()) return this.end();
    if (time.monotonic() - this.#askedAt >= askEvery) this.#ask();
    this.#timer = time.setTimeout(() => this.#look(), lookEvery);
  }

  #ask(): void {
    if (this.#isOver) return;
    this.#askedAt = this.#input.time.monotonic();
    this.#input.want();
  }
}
