/** One listener, wherever the instance is. */
import type { GatewayEvent } from '../model.ts';
import type { Time } from '../ports.ts';
import type { Sent } from './stream-chain.ts';

export interface Listener {
  readonly onEvent: (event: GatewayEvent) => void;
  readonly onEnd: () => void;
  /** Events were lost on their way from another node. */
  readonly onGap: () => void;
}

export interface FollowerInput {
  readonly time: Time;
  /** Whether the token still counts with which the listener came. */
  isCurrent(): boolean;
  /** Asks the owner to send. */
  want(): void;
  /** What owners on other nodes send. Answers with what ends this. */
  hear(take: (sent: Sent) => void): () => void;
  /** Another node owns the instance from now on; or nobody may listen any more. */
  owner(changed: () => void, end: () => void): () => void;
}

/** Milliseconds. Owners are asked again long before they stop sending; now and then the token is compared. */
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

  /** Idempotent. */
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

  /** From the owner, whether this node or another one. */
  received({ after, event }: Sent): void {
    if (this.#isOver) return;
    // A mark without a name says that an owner sent nothing for a while; the next event shows whether one is missing.
    if (event === undefined && after === null) return;
    // A copy of the last message.
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
