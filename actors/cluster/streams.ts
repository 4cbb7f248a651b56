/**
 * The event streams of instances for listeners on any node. If this node owns the instance, events come from memory. Otherwise the owner sends the
 * events over the bus while listeners ask for them. A listener stays subscribed when the session moves. The bus keeps recent events. A listener that
 * reconnects to any node gets the events that it missed, or learns of a gap.
 */
import type { StreamPast } from '../views.ts';
import { streamTypes, type GatewayEvent, type InstanceId } from '../model.ts';
import type { Bus, Log, Time } from '../ports.ts';
import { Follower, lastOf, linked, type Listener, type Sent, StreamSender } from './stream-chain.ts';
import { within } from '../waiting.ts';
import { decode, encode } from './wire.ts';

interface StreamsInput {
  readonly bus: Bus;
  readonly prefix: string;
  readonly time: Time;
  readonly log: Log;
  /** The time for which the bus keeps events, and for which the owner sends events after a request. In milliseconds. */
  readonly keptFor: number;
  /** Returns true if this node may act for the instance now. */
  mayAct(id: InstanceId): boolean;
  /** Returns the last epoch under which this node owned the instance; null if this node never owned it. */
  epochOf(id: InstanceId): number | null;
  /** Returns null if there is no such instance. */
  token(id: InstanceId): string | null;
  /**
   * Asks the owner on another node to send the events of the instance, and names an event that readers missed. An owner of the previous release ignores this
   * event. Resolves with null if no owner answers. Never rejects.
   */
  ask(id: InstanceId, missed?: string): Promise<Asked | null>;
}

/** The answer of an owner to a request for the stream of an instance. */
export interface Asked {
  /** The id of the last event; null if the owner does not know it. */
  readonly last: string | null;
}

/** The least time for which an owner sends, so that one lost request does not end a stream. In milliseconds. */
const leastSentFor = 30_000;
/** The number of attempts to read a message that the bus may not have stored yet (`tries`), and the pause between two attempts in milliseconds (`againMs`). */
const tries = 10;
const againMs = 100;
/** The longest wait until the bus has the last events of an instance. In milliseconds. */
const flushMs = 3_000;
/**
 * The number of attempts to report a missed event to the owner (`announceTries`), and the pause between two attempts in milliseconds (`announceMs`). An attempt
 * without an answer takes 3 s.
 */
const announceTries = 20;
const announceMs = 500;

const ended = new TextEncoder().encode('ended');

const isEvent = (event: Partial<GatewayEvent> | null | undefined): event is GatewayEvent =>
  typeof event?.id === 'string' && typeof event.type === 'string';

/** Decodes a message of the bus. Returns null for a malformed message. */
const sentIn = (body: Uint8Array): Sent | null => {
  try {
    const { after = null, event, epoch } = decode(body) as Partial<Sent>;
    if (after !== null && typeof after !== 'string') return null;
    const mark = { after, ...(typeof epoch === 'number' ? { epoch } : {}) };
    if (event === undefined) return mark;
    return isEvent(event) ? { ...mark, event } : null;
  } catch {
    return null;
  }
};

export class ClusterStreams {
  readonly #input: StreamsInput;
  readonly #followers = new Map<InstanceId, Set<Follower>>();
  /** Senders of the instances that this node owns or is giving away. */
  readonly #senders = new Map<InstanceId, StreamSender>();
  /** Senders of instances that left this node. A sender is kept as long as a listener asked for its events recently. */
  readonly #former = new Map<InstanceId, StreamSender>();
  /** Ids of the latest missed events that the owners do not know yet. */
  readonly #missing = new Map<InstanceId, string>();

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

  /**
   * Returns the recent events of the instance, up to the events that current listeners get. Resolves with null if the bus keeps no events. Never
   * rejects.
   */
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

  /** Reader of the events of this node's instances. The stop of the cluster ends the reader, after the last sessions have sent their events. */
  get reader() {
    return {
      note: (event: GatewayEvent, epoch: number) => this.note(event, epoch),
      live: () => undefined,
      // The sender stays, because a session that closes may still commit events. `left` ends the sender.
      forget: (_id: InstanceId) => undefined,
      stop: () => undefined,
    };
  }

  /**
   * Takes an event that this node committed under the given epoch. An event of an earlier ownership would follow later events, so it is reported as missed.
   * Never throws.
   */
  note(event: GatewayEvent, epoch: number): void {
    if (!streamTypes.includes(event.type)) return;
    const sender = this.#senders.get(event.instanceId);
    if (sender === undefined) return this.#missed(event);
    const { mayAct, epochOf } = this.#input;
    if (mayAct(event.instanceId) && epochOf(event.instanceId) === epoch) sender.take(event);
    else sender.missed(event);
  }

  /**
   * Starts to send the events of the instance for a while, because another node has listeners. `missed` is the id of an event that a former owner
   * stored and did not send.
   */
  async send(id: InstanceId, missed?: unknown): Promise<Asked> {
    const sender = this.#senders.get(id);
    if (typeof missed === 'string') await sender?.skip(missed);
    return { last: (await sender?.want()) ?? null };
  }

  /** Starts the streams of an instance that this node owns from now on. Idempotent. */
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
      epoch: () => this.#input.epochOf(id) ?? 0,
      isOwner: () => this.#input.mayAct(id),
      announce: (event) => this.#announce(event),
    });
    this.#senders.set(id, sender);
    this.#former.delete(id);
    if (this.#followers.has(id) && bus.keeps) void sender.want();
    bus.publish(`${prefix}.owned.${id}`, new Uint8Array());
  }

  /**
   * Ends the streams of an instance whose session is closed. Resolves when the bus has its last events for the next owner, or after some seconds.
   * Never rejects.
   */
  async left(id: InstanceId): Promise<void> {
    const sender = this.#senders.get(id);
    this.#senders.delete(id);
    for (const [other, { isSending }] of this.#former) if (!isSending) this.#former.delete(other);
    if (!sender?.isSending) return;
    this.#former.set(id, sender);
    await within(this.#input.time, flushMs, this.#input.bus.flush());
  }

  /** Ends all listeners of the instance on all nodes, because its token is void. */
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
    this.#missing.clear();
  }

  /** Reports an event whose commit became known only after its session was closed, because the reply of the database was late. */
  #missed(event: GatewayEvent): void {
    const former = this.#former.get(event.instanceId);
    if (former !== undefined) return former.missed(event);
    this.#here(event.instanceId, { after: event.id });
    this.#announce(event);
  }

  /**
   * Reports a missed event to the owner of the instance, until the owner confirms the report. Only the latest missed event is reported, because one event
   * for each gap is enough.
   */
  #announce({ id: missed, instanceId: id }: GatewayEvent): void {
    const isRunning = this.#missing.has(id);
    this.#missing.set(id, missed);
    if (!isRunning) void this.#tellOwner(id);
  }

  /** Sends the report of a missed event to the owner, with retries. Never rejects. */
  async #tellOwner(id: InstanceId): Promise<void> {
    const { mayAct, ask, time } = this.#input;
    for (let tried = 0; tried < announceTries; tried += 1) {
      const missed = this.#missing.get(id);
      if (missed === undefined) return;
      const told = mayAct(id) && this.#senders.has(id) ? await this.send(id, missed) : await ask(id, missed);
      if (told !== null && this.#missing.get(id) === missed) break;
      await new Promise<void>((resolve) => void time.setTimeout(resolve, announceMs));
    }
    this.#missing.delete(id);
  }

  /** Passes a message to the listeners of this node. */
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

  /** Asks the owner to send. Resolves with null if no owner answers. */
  #want(id: InstanceId): Promise<Asked | null> {
    // If the bus keeps no events, only the listeners of this node need the events, and they get the events directly.
    if (this.#senders.has(id)) return this.#input.bus.keeps ? this.send(id) : Promise.resolve({ last: null });
    return this.#input.ask(id);
  }
}
