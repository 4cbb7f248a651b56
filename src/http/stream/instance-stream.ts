/** The events of one instance, serialised once and given to everyone who listens. */
import { streamTypes, type Gateway, type GatewayEvent, type InstanceId } from '#actors/gateway.ts';
import type { StreamLimits } from '../options.ts';
import { comment, frameOf, type Subscriber, wants } from './subscriber.ts';
import { createRing, type Framed, type Ring } from './ring.ts';

const gap = comment('gap: the events after the given Last-Event-ID are not kept any more');
const lost = comment('gap: some events were lost on their way from the node that has the instance');

const framedOf = (event: GatewayEvent): Framed => ({ event, frame: frameOf(event) });

export class InstanceStream {
  readonly #gateway: Gateway;
  readonly #id: InstanceId;
  readonly #limits: StreamLimits;
  readonly #onEnd: () => void;
  readonly #ring: Ring;
  readonly #subscribers = new Set<Subscriber>();
  /** Subscribers whose past events are being read. */
  readonly #joining = new Set<Subscriber>();
  #reading: Promise<void> | null = null;
  /** The ring reaches back as far as the past does. */
  #isRead = false;
  #linger: NodeJS.Timeout | undefined;
  #ended = false;
  #unsubscribe: (() => void) | null = null;

  /** `onEnd` is called once, when the instance, its token or the last listener's interest is gone. */
  constructor(gateway: Gateway, id: InstanceId, limits: StreamLimits, onEnd: () => void) {
    this.#gateway = gateway;
    this.#id = id;
    this.#limits = limits;
    this.#onEnd = onEnd;
    this.#ring = createRing(limits);
    const stop = gateway.subscribe(
      id,
      (event) => this.#take(event),
      () => this.end(),
      () => this.#miss(),
    );
    // An instance that went away in this moment ends the feed before `subscribe` returns.
    if (this.#ended) stop();
    else this.#unsubscribe = stop;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get size(): number {
    return this.#subscribers.size + this.#joining.size;
  }

  /** Sends what was missed since the given event, '' for nothing, and everything from now on. */
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

  /** The feed goes on for a while: who was cut comes back within seconds and asks for what it missed. */
  leave(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    this.#joining.delete(subscriber);
    if (this.size === 0 && !this.#ended) this.#linger = setTimeout(() => this.end(), this.#limits.lingerMs).unref();
  }

  ping(frame: Buffer): void {
    for (const subscriber of this.#subscribers) subscriber.ping(frame);
  }

  /** Idempotent. Ends all streams. */
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

  /** Marks a gap. No subscriber resumes over it. */
  #miss(): void {
    this.#ring.clear();
    this.#isRead = false;
    for (const subscriber of [...this.#subscribers, ...this.#joining]) subscriber.push(lost);
  }

  #admit(subscriber: Subscriber, missed: readonly Framed[]): void {
    const wanted = missed.filter(({ event }) => wants(subscriber.subscription, event));
    // In one piece: what is replayed must not count as a thousand events behind.
    if (wanted.length > 0) subscriber.push(Buffer.concat(wanted.map(({ frame }) => frame)));
    this.#subscribers.add(subscriber);
  }

  async #joinAfterPast(subscriber: Subscriber, lastEventId: string): Promise<void> {
    const { pushed } = this.#ring;
    // One question for all who come back meanwhile.
    this.#reading ??= this.#readPast()
      .catch(() => undefined)
      .finally(() => (this.#reading = null));
    await this.#reading;
    if (!this.#joining.delete(subscriber) || this.#ended) return;
    const missed = this.#ring.after(lastEventId);
    if (missed === null) subscriber.push(gap);
    this.#admit(subscriber, missed ?? this.#ring.since(pushed));
  }

  /** Reads the kept events that were sent before this node listened. */
  async #readPast(): Promise<void> {
    const past = await this.#gateway.past(this.#id);
    if (past === null) return;
    this.#ring.precede({ anchor: past.anchor, framed: past.events.map(framedOf) });
    this.#isRead = true;
  }
}
