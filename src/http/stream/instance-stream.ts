/** The events of one instance. Each event is serialised once for all subscribers. */
import { type Gateway, type GatewayEvent, type InstanceId, streamTypes } from '#actors/gateway.ts';
import type { StreamLimits } from '../options.ts';
import { commentFrame, frameOf, type Subscriber, wants } from './subscriber.ts';

// The newest events of an instance, bounded by number and bytes, for clients that resume.

interface Framed {
  readonly event: GatewayEvent;
  readonly frame: Buffer;
}

/** Consecutive events without a gap. */
interface FramedPast {
  /** Id of the event before the first one; null if unknown. */
  readonly anchor: string | null;
  readonly framed: readonly Framed[];
}

class Ring {
  readonly #most: { readonly ringEvents: number; readonly ringBytes: number };
  #held: Framed[] = [];
  #bytes = 0;
  #pushed = 0;
  /** Id of the event before the first one in the ring. */
  #before: string | null = null;

  constructor(most: { readonly ringEvents: number; readonly ringBytes: number }) {
    this.#most = most;
  }

  get pushed(): number {
    return this.#pushed;
  }

  push(framed: Framed): void {
    this.#held.push(framed);
    this.#bytes += framed.frame.length;
    this.#pushed += 1;
    this.#trim();
  }

  /** Adds earlier events before the events of the ring, without duplicates. No event may be missing in between. */
  precede({ anchor, framed }: FramedPast): void {
    const first = this.#held[0]?.event.id;
    // The ring already reaches back to these events.
    if (this.#isHere(anchor) || this.#isHere(framed[0]?.event.id)) {
      if (framed[0]?.event.id === first) this.#before = anchor;
      return;
    }
    const at = framed.findIndex(({ event }) => event.id === first);
    const earlier = at === -1 ? framed : framed.slice(0, at);
    this.#held = [...earlier, ...this.#held];
    this.#bytes += earlier.reduce((sum, { frame }) => sum + frame.length, 0);
    this.#before = anchor;
    this.#trim();
  }

  /** Returns all events after the event with this id; null if the ring no longer has it. */
  after(id: string): readonly Framed[] | null {
    if (id === this.#before) return [...this.#held];
    const index = this.#held.findLastIndex(({ event }) => event.id === id);
    return index === -1 ? null : this.#held.slice(index + 1);
  }

  /** Returns the events that were pushed after the first `pushed` events, as far as the ring still has them. */
  since(pushed: number): readonly Framed[] {
    return this.#held.slice(Math.max(0, this.#held.length - (this.#pushed - pushed)));
  }

  clear(): void {
    this.#held = [];
    this.#bytes = 0;
    this.#before = null;
  }

  #isHere(id: string | null | undefined): boolean {
    return this.#held.some(({ event }) => event.id === id);
  }

  #trim(): void {
    while (this.#held.length > this.#most.ringEvents || (this.#bytes > this.#most.ringBytes && this.#held.length > 1)) {
      const out = this.#held.shift();
      this.#bytes -= out?.frame.length ?? 0;
      this.#before = out?.event.id ?? null;
    }
  }
}

const gap = commentFrame('gap: the events after the given Last-Event-ID are not kept any more');
const lost = commentFrame('gap: some events were lost on their way from the node that has the instance');

const framedOf = (event: GatewayEvent): Framed => ({ event, frame: frameOf(event) });

export class InstanceStream {
  readonly #gateway: Gateway;
  readonly #id: InstanceId;
  readonly #limits: StreamLimits;
  readonly #onEnd: () => void;
  readonly #ring: Ring;
  readonly #subscribers = new Set<Subscriber>();
  /** Subscribers that wait for the query of past events. */
  readonly #joining = new Set<Subscriber>();
  #reading: Promise<void> | null = null;
  /** True if the stored past events were read, and no gap has followed. */
  #isRead = false;
  #linger: NodeJS.Timeout | undefined;
  #ended = false;
  #unsubscribe: (() => void) | null = null;

  /** Makes the stream of an instance. `onEnd` is called once: when the instance is deleted, its token changes, or no subscriber is left for a while. */
  constructor(gateway: Gateway, id: InstanceId, limits: StreamLimits, onEnd: () => void) {
    this.#gateway = gateway;
    this.#id = id;
    this.#limits = limits;
    this.#onEnd = onEnd;
    this.#ring = new Ring(limits);
    const stop = gateway.subscribe(
      id,
      (event) => this.#take(event),
      () => this.end(),
      () => this.#miss(),
    );
    // If the instance is deleted during this call, the feed ends before `subscribe` returns.
    if (this.#ended) stop();
    else this.#unsubscribe = stop;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get size(): number {
    return this.#subscribers.size + this.#joining.size;
  }

  /** Sends the events after the given id ('' for none), and all later events. */
  join(subscriber: Subscriber, lastEventId: string): void {
    clearTimeout(this.#linger);
    const missed = lastEventId === '' ? [] : this.#ring.after(lastEventId);
    if (missed !== null) return this.#admit(subscriber, missed);
    if (this.#isRead) {
      subscriber.push(gap);
      return this.#admit(subscriber, []);
    }
    this.#joining.add(subscriber);
    void this.#joinAfterPast(subscriber, lastEventId);
  }

  /** Removes a subscriber. The feed continues for a while, because a reader that was cut reconnects within seconds and asks for the missed events. */
  leave(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    this.#joining.delete(subscriber);
    if (this.size === 0 && !this.#ended) this.#linger = setTimeout(() => this.end(), this.#limits.lingerMs).unref();
  }

  ping(frame: Buffer): void {
    for (const subscriber of this.#subscribers) subscriber.ping(frame);
  }

  /** Ends all streams. Idempotent. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#linger);
    this.#unsubscribe?.();
    for (const subscriber of [...this.#subscribers, ...this.#joining]) subscriber.end();
    this.#onEnd();
  }

  #take(event: GatewayEvent): void {
    if (!streamTypes.includes(event.type)) return;
    const framed = framedOf(event);
    this.#ring.push(framed);
    for (const subscriber of this.#subscribers) if (wants(subscriber.subscription, event)) subscriber.push(framed.frame);
  }

  /** Marks a gap. No subscriber can resume across it. */
  #miss(): void {
    this.#ring.clear();
    this.#isRead = false;
    for (const subscriber of [...this.#subscribers, ...this.#joining]) subscriber.push(lost);
  }

  #admit(subscriber: Subscriber, missed: readonly Framed[]): void {
    const wanted = missed.filter(({ event }) => wants(subscriber.subscription, event));
    // Replayed events are one write, so they count as one frame in the reader's backlog.
    if (wanted.length > 0) subscriber.push(Buffer.concat(wanted.map(({ frame }) => frame)));
    this.#subscribers.add(subscriber);
  }

  async #joinAfterPast(subscriber: Subscriber, lastEventId: string): Promise<void> {
    const { pushed } = this.#ring;
    // Subscribers that resume at the same time share one query.
    this.#reading ??= this.#readPast()
      .catch(() => undefined)
      .finally(() => (this.#reading = null));
    await this.#reading;
    if (!this.#joining.delete(subscriber) || this.#ended) return;
    const missed = this.#ring.after(lastEventId);
    if (missed === null) subscriber.push(gap);
    this.#admit(subscriber, missed ?? this.#ring.since(pushed));
  }

  /** Reads the stored events that were sent before this node listened. */
  async #readPast(): Promise<void> {
    const past = await this.#gateway.past(this.#id);
    if (past === null) return;
    this.#ring.precede({ anchor: past.anchor, framed: past.events.map(framedOf) });
    this.#isRead = true;
  }
}
