/** The stream of one instance between two nodes: the chain of its messages, the sender at the owner, and the follower at the listener. */
import type { GatewayEvent } from '../model.ts';
import type { Time } from '../ports.ts';
import type { StreamPast } from '../views.ts';

// The messages that the owner of an instance sends for its events. Each message names the event before it, so that a reader detects gaps
// even across owners. Event ids are unique and are compared for equality only.

export interface Sent {
  /** The id of the previous event. Without `event`, the id of the last event so far. Null if the previous event is unknown or was not sent. */
  readonly after: string | null;
  readonly event?: GatewayEvent;
  /** Epoch of the ownership. A message of an earlier owner can arrive after messages of its successor. Absent from nodes of the previous release. */
  readonly epoch?: number;
}

/** Returns the newest messages that form a chain without gaps. */
export const linked = (all: Iterable<Sent>): StreamPast => {
  let anchor: string | null = null;
  let events: GatewayEvent[] = [];
  let known = new Set<string>();
  let highest = 0;
  let isCut = false;
  for (const { after, event, epoch = highest } of all) {
    // A late message of an earlier owner shows that events are missing before the next message.
    isCut ||= epoch < highest;
    if (epoch < highest) continue;
    highest = epoch;
    // A new owner may name an event before the very last events of the former owner. Those events are in the list and are not lost.
    if (isCut || after === null || !known.has(after)) {
      anchor = isCut ? null : after;
      events = [];
      known = new Set(after === null ? [] : [after]);
      isCut = false;
    }
    if (event === undefined) continue;
    events.push(event);
    known.add(event.id);
  }
  return { anchor, events };
};

/** Returns the id of the last event, or null if it is unknown. */
export const lastOf = ({ anchor, events }: StreamPast): string | null => events.at(-1)?.id ?? anchor;

// The owner's side of the streams of one instance. Events go over the bus while a listener wants them. Sending continues for some time afterwards, because the
// bus keeps the events for listeners that reconnect. Without listeners, only the id of the last event is kept.

interface StreamSenderInput {
  readonly time: Time;
  /** Returns the epoch under which this node owns, or owned, the instance. */
  epoch(): number;
  /** The time for which events are sent after the last request. In milliseconds. */
  readonly sentFor: number;
  /** Returns the last message of the former owner; null if there is no such message, or it is unknown. Never rejects. */
  before(): Promise<Sent | null>;
  /** Sends a message over the bus. */
  send(sent: Sent): void;
  /** Passes a message to the listeners of this node, even if no other node listens. Never throws. */
  here(sent: Sent): void;
  /** Returns true if this node may still act for the instance. */
  isOwner(): boolean;
  /** Informs the owner of the instance of an event that is not sent. Never throws. */
  announce(event: GatewayEvent): void;
}

/** The largest number of events that wait until the last message of the former owner is known. */
const mostHeld = 1_000;

export class StreamSender {
  readonly #input: StreamSenderInput;
  /** Resolves when the look-up of the last message of the former owner has ended. */
  readonly #begun: Promise<void>;
  #held: GatewayEvent[] | null = [];
  /** The id of the last event, sent or not; null if it is unknown. */
  #last: string | null = null;
  /** The end of sending, by the monotonic clock. In milliseconds. */
  #until = -Infinity;
  #sentAt = -Infinity;
  /**
   * True if the last message on the bus seems to be the newest one of the chain. An unknown last message counts as the newest one, because the bus may have a
   * message that this owner could not read.
   */
  #isWhole = true;

  constructor(input: StreamSenderInput) {
    this.#input = input;
    this.#begun = input.before().then((sent) => this.#begin(sent));
  }

  /** True if a listener asked recently. */
  get isSending(): boolean {
    return this.#input.time.monotonic() < this.#until;
  }

  take(event: GatewayEvent): void {
    if (this.#held === null) return this.#step(event);
    this.#held.push(event);
    if (this.#held.length > mostHeld) this.#begin(null);
  }

  /**
   * Reports an event that is not sent. The process was suspended after storing the event, and the next owner may have sent later events. Readers learn of the
   * gap. The bus may lose the message about the gap, so the owner is informed of the event, too.
   */
  missed(event: GatewayEvent): void {
    this.#here({ after: event.id });
    if (this.#input.time.monotonic() < this.#until) this.#send({ after: event.id });
    this.#input.announce(event);
  }

  /**
   * Puts an event that a former owner stored, and did not send, into the chain. The next event names the skipped event, so that readers learn of the
   * gap even if they lost all earlier messages about the gap. Repeating a call shows the gap again.
   */
  async skip(id: string): Promise<void> {
    await this.#begun;
    this.#here({ after: id });
    if (this.isSending) this.#send({ after: id });
    else if (this.#isWhole) this.#pause();
    this.#last = id;
  }

  /** Starts or prolongs sending. Resolves with the id of the last event, or null if this id is unknown. */
  async want(): Promise<string | null> {
    await this.#begun;
    const { time, sentFor } = this.#input;
    const now = time.monotonic();
    this.#until = now + sentFor;
    // Kept messages expire, and the last message on the bus may be out of date. In both cases the id of the last event is sent again, so that the next
    // owner and its readers find this id.
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
    this.#isWhole = before === null || this.#last !== null;
    if (this.#last !== null) {
      // The former owner had listeners, which may reconnect.
      this.#until = time.monotonic() + sentFor;
    }
    for (const event of held) {
      if (this.#input.isOwner()) this.#step(event);
      else this.missed(event);
    }
  }

  #step(event: GatewayEvent): void {
    this.#here({ after: this.#last, event });
    if (this.#input.time.monotonic() < this.#until) this.#send({ after: this.#last, event });
    else if (this.#isWhole) this.#pause();
    this.#last = event.id;
  }

  /** Marks the end of sending. The next owner must not mistake the last event that was sent for the last event that was stored. */
  #pause(): void {
    this.#send({ after: null });
    this.#isWhole = false;
  }

  #stamped(sent: Sent): Sent {
    return { ...sent, epoch: this.#input.epoch() };
  }

  #here(sent: Sent): void {
    this.#input.here(this.#stamped(sent));
  }

  #send(sent: Sent): void {
    this.#input.send(this.#stamped(sent));
    this.#sentAt = this.#input.time.monotonic();
    this.#isWhole = true;
  }
}

// A listener to the events of an instance on any node.

export interface Listener {
  readonly onEvent: (event: GatewayEvent) => void;
  readonly onEnd: () => void;
  /** Called when events were lost on their way from another node. */
  readonly onGap: () => void;
}

interface FollowerInput {
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

/**
 * The pause between two requests to the owner (`askEvery`), and between two checks of the token (`lookEvery`). In milliseconds. The first is much shorter than
 * the time for which the owner sends events.
 */
const askEvery = 10_000;
const lookEvery = 400;

export class Follower {
  readonly #input: FollowerInput;
  readonly #listener: Listener;
  #unlisten: readonly (() => void)[] = [];
  #timer: unknown = null;
  #askedAt = -Infinity;
  #last: string | null = null;
  /** The highest epoch of a received message. */
  #epoch = 0;
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

  /** Ends the subscriptions, without a call of `onEnd`. Idempotent. */
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
  received({ after, event, epoch = this.#epoch }: Sent): void {
    if (this.#isOver) return;
    // A late message of an earlier owner would follow later events, so the listener learns only of a gap.
    if (epoch < this.#epoch) return this.#listener.onGap();
    this.#epoch = epoch;
    // A message without an id means that the owner paused sending. The next event shows whether an event is missing.
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
