/**
 * Events of instances for listeners on any node. Where this node owns the instance they come from here; else the owner sends them over the bus, for as
 * long as somebody asks it to. A listener stays when the session moves. What was sent lately is kept by the bus: a listener that comes back to any node
 * gets what it missed, or learns that something is missing.
 */
import type { StreamPast } from '../face.ts';
import { streamTypes, type GatewayEvent, type InstanceId } from '../model.ts';
import type { Bus, Log, Time } from '../ports.ts';
import { Follower, type Listener } from './stream-follower.ts';
import { lastOf, linked, type Sent } from './stream-chain.ts';
import { within } from '../waiting.ts';
import { StreamSender } from './stream-sender.ts';
import { decode, encode } from './wire.ts';

export interface StreamsInput {
  readonly bus: Bus;
  readonly prefix: string;
  readonly time: Time;
  readonly log: Log;
  /** How long the bus keeps events, and how long they are sent after somebody asked for them. Milliseconds. */
  readonly keptFor: number;
  /** Whether this node may act for the instance now. */
  mayAct(id: InstanceId): boolean;
  /** The last epoch under which this node owned the instance; null when it never did. */
  epochOf(id: InstanceId): number | null;
  /** Null when there is no such instance. */
  token(id: InstanceId): string | null;
  /** Asks the owner, another node, to send the events of the instance; null when none answers. Never rejects. */
  ask(id: InstanceId): Promise<Asked | null>;
}

/** What an owner answers who was asked to send. */
export interface Asked {
  /** Id of the last event; null when the owner does not know it. */
  readonly last: string | null;
}

/** An owner sends for so long at least, so that one question lost ends nothing. Milliseconds. */
const leastSentFor = 30_000;
/** What was published a moment ago may not be kept yet. */
const tries = 10;
const againMs = 100;
const flushMs = 3_000;

const ended = new TextEncoder().encode('ended');

const isEvent = (event: Partial<GatewayEvent> | null | undefined): event is GatewayEvent =>
  typeof event?.id === 'string' && typeof event.type === 'string';

/** As it came over the bus; null when it is from another version or another sender, and means nothing here. */
const sentIn = (body: Uint8Array): Sent | null => {
  try {
    const { after = null, event } = decode(body) as Partial<Sent>;
    if (after !== null && typeof after !== 'string') return null;
    if (event === undefined) return { after };
    return isEvent(event) ? { after, event } : null;
  } catch {
    return null;
  }
};

export class ClusterStreams {
  readonly #input: StreamsInput;
  readonly #followers = new Map<InstanceId, Set<Follower>>();
  /** Of the instances that this node owns, or is giving away. */
  readonly #senders = new Map<InstanceId, StreamSender>();
  /** Of the instances that left this node, while somebody may read them elsewhere. */
  readonly #former = new Map<InstanceId, StreamSender>();

  constructor(input: StreamsInput) {
    this.#input = input;
  }

  subscribe(
    id: InstanceId,
    onEvent: Listener['onEvent'],
    onEnd: Listener['onEnd'],
    onGap: Listener['onGap'] = () => undefined,
  ): () => void {
    const token = this.#input.token(id);
    if (token === null) {
      onEnd();
      return () => undefined;
    }
    const follower: Follower = new Follower(this.#surroundings(id, token), { onEvent, onGap, onEnd: () => leave(onEnd) });
    const all = this.#followers.get(id) ?? new Set();
    this.#followers.set(id, all.add(follower));
    const leave = (then: () => void): void => {
      all.delete(follower);
      if (all.size === 0 && this.#followers.get(id) === all) this.#followers.delete(id);
      follower.stop();
      then();
    };
    follower.start();
    return () => leave(() => undefined);
  }

  /** What listeners of the instance got lately, up to what those get who listen already; null when it is not kept. Never rejects. */
  async past(id: InstanceId): Promise<StreamPast | null> {
    const { bus, time } = this.#input;
    if (!bus.keeps) return null;
    const asked = await this.#want(id);
    if (asked?.last === null) return null;
    for (let tried = 1; ; tried += 1) {
      const bodies = await bus.kept(`${this.#input.prefix}.events.${id}`);
      if (bodies === null) return null;
      const past = linked(bodies.map(sentIn).filter((sent) => sent !== null));
      if (asked === null) return lastOf(past) === null ? null : past;
      if (past.anchor === asked.last || past.events.some((event) => event.id === asked.last)) return past;
      if (tried === tries) return { anchor: asked.last, events: [] };
      await new Promise<void>((resolve) => void time.setTimeout(resolve, againMs));
    }
  }

  /** Gets what happens to the instances of this node. A stop ends it after the last sessions, which still have events. */
  get reader() {
    return {
      note: (event: GatewayEvent, epoch: number) => this.note(event, epoch),
      live: () => undefined,
      // While a session closes, its last events are still sent; `left` follows.
      forget: (_id: InstanceId) => undefined,
      stop: () => undefined,
    };
  }

  /** An event was committed here under that epoch. One of an earlier ownership comes behind events that were sent since. Never throws. */
  note(event: GatewayEvent, epoch: number): void {
    if (!streamTypes.includes(event.type)) return;
    const sender = this.#senders.get(event.instanceId);
    if (sender === undefined) return this.#missed(event);
    const { mayAct, epochOf } = this.#input;
    if (mayAct(event.instanceId) && epochOf(event.instanceId) === epoch) sender.take(event);
    else sender.missed(event);
  }

  /** Another node has listeners: events of the instance are sent for a while. */
  async send(id: InstanceId): Promise<Asked> {
    return { last: (await this.#senders.get(id)?.want()) ?? null };
  }

  /** This node owns the instance from now on. Idempotent. */
  owned(id: InstanceId): void {
    if (this.#senders.has(id)) return;
    const { bus, prefix, time, keptFor } = this.#input;
    const subject = `${prefix}.events.${id}`;
    const sender = new StreamSender({
      time,
      sentFor: Math.max(keptFor, leastSentFor),
      before: async () => {
        const body = bus.keeps ? await bus.lastKept(subject) : null;
        return body && sentIn(body);
      },
      send: (sent) => bus.publish(subject, encode(sent)),
      here: (sent) => this.#here(id, sent),
      isOwner: () => this.#input.mayAct(id),
    });
    this.#senders.set(id, sender);
    this.#former.delete(id);
    if (this.#followers.has(id) && bus.keeps) void sender.want();
    bus.publish(`${prefix}.owned.${id}`, new Uint8Array());
  }

  /**
   * The session of the instance is closed here. Resolves when the bus has its last events, so that the next owner reads them there, and after some
   * seconds. Never rejects.
   */
  async left(id: InstanceId): Promise<void> {
    const sender = this.#senders.get(id);
    this.#senders.delete(id);
    for (const [other, { isSending }] of this.#former) if (!isSending) this.#former.delete(other);
    if (!sender?.isSending) return;
    this.#former.set(id, sender);
    await within(this.#input.time, flushMs, this.#input.bus.flush());
  }

  /** Its token is void: nobody listens any more, on any node. */
  ended(id: InstanceId): void {
    const { bus, prefix } = this.#input;
    bus.publish(`${prefix}.owned.${id}`, ended);
    for (const follower of this.#followers.get(id) ?? []) follower.end();
  }

  stop(): void {
    for (const all of this.#followers.values()) for (const follower of all) follower.stop();
    this.#followers.clear();
    this.#senders.clear();
    this.#former.clear();
  }

  /** An event that is known to be stored only after its session was closed here, because the reply of the database was late. */
  #missed(event: GatewayEvent): void {
    const former = this.#former.get(event.instanceId);
    if (former === undefined) this.#here(event.instanceId, { after: event.id });
    else former.missed(event);
  }

  /** To the listeners of this node. */
  #here(id: InstanceId, sent: Sent): void {
    for (const follower of this.#followers.get(id) ?? []) {
      try {
        follower.received(sent);
      } catch (error) {
        this.#input.log.error({ instance: id, error }, 'listener.failed');
      }
    }
  }

  #surroundings(id: InstanceId, token: string) {
    const { bus, prefix, time } = this.#input;
    return {
      time,
      isCurrent: () => this.#input.token(id) === token,
      want: () => void this.#want(id),
      hear: (take: (sent: Sent) => void) =>
        bus.listen(`${prefix}.events.${id}`, (body) => {
          const sent = sentIn(body);
          if (sent !== null) take(sent);
        }),
      owner: (changed: () => void, end: () => void) =>
        bus.listen(`${prefix}.owned.${id}`, (body) => (body.length === 0 ? changed() : end())),
    };
  }

  /** Null when nobody owns it who answers. */
  #want(id: InstanceId): Promise<Asked | null> {
    // Where nothing is kept, nobody elsewhere needs what those here get anyway.
    if (this.#senders.has(id)) return this.#input.bus.keeps ? this.send(id) : Promise.resolve({ last: null });
    return this.#input.ask(id);
  }
}
