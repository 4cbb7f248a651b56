/** The streams of all instances and of the inspector. A stream exists while a reader listens, and shortly afterwards. */
import type { ServerResponse } from 'node:http';
import type { Gateway, InstanceId, Result, Step } from '#actors/gateway.ts';
import { changesView, stepView } from '#src/contract/views.ts';
import type { HttpLog, StreamLimits, StreamMeter } from '../options.ts';
import { done } from '../route.ts';
import { InstanceStream } from './instance-stream.ts';
import { commentFrame, onceClosed, plainFrame, Sink, Subscriber, type Subscription } from './subscriber.ts';

// Streams of the inspector: steps of single instances, and changes of the list. A reader that is too slow is disconnected, as on every stream.

const frameOf = (step: Step): Buffer => plainFrame('step', stepView(step), String(step.n));

const hello = commentFrame('stream open');
const heartbeat = commentFrame('keep-alive');
const gap = commentFrame('gap: some of the steps after the given one are not kept any more');

/**
 * Writes the steps that the reader missed. Returns the number of the last step. Each owner counts steps from 1, so a number of an earlier
 * owner is meaningless.
 */
const pushMissed = async (gateway: Gateway, id: InstanceId, after: number, sink: Sink): Promise<number> => {
  const actor = await gateway.actor(id);
  const steps = actor.ok ? actor.value.steps : [];
  const [first, last] = [steps.at(0)?.n ?? 1, steps.at(-1)?.n ?? 0];
  const isGap = after > last || after < first - 1;
  if (isGap) sink.push(gap);
  const missed = isGap ? steps : steps.filter(({ n }) => n > after);
  // Replayed steps are one write, so they count as one frame in the reader's backlog.
  if (missed.length > 0) sink.push(Buffer.concat(missed.map(frameOf)));
  return last;
};

/** Holds back new steps during the look-up of earlier steps. */
class HeldSteps {
  readonly #write: (step: Step) => void;
  #held: Step[] | null = [];

  constructor(write: (step: Step) => void) {
    this.#write = write;
  }

  show(step: Step): void {
    if (this.#held === null) this.#write(step);
    else this.#held.push(step);
  }

  /** Sends the held steps with a number above `last`. Later steps are sent at once. */
  release(last: number): void {
    const waiting = this.#held ?? [];
    this.#held = null;
    for (const step of waiting) if (step.n > last) this.#write(step);
  }
}

interface HubParts {
  readonly gateway: Gateway;
  readonly limits: StreamLimits;
  readonly log: HttpLog;
  readonly meter?: StreamMeter | undefined;
}

export class InspectorHub {
  readonly #parts: HubParts;
  /** The open streams with their callers. */
  readonly #sinks = new Map<Sink, string>();
  readonly #pulse: NodeJS.Timeout;
  #closed = false;

  constructor(parts: HubParts) {
    this.#parts = parts;
    this.#pulse = setInterval(() => {
      for (const sink of this.#sinks.keys()) sink.ping(heartbeat);
    }, parts.limits.heartbeatMs).unref();
  }

  /** Returns the reason why the caller may not open a further stream; null if it may. */
  objection(caller: string): string | null {
    const { inspectorPerCaller: own, inspectorInAll: all } = this.#parts.limits;
    const isFull = this.#sinks.size >= all;
    if (!isFull && [...this.#sinks.values()].filter((one) => one === caller).length < own) return null;
    return `Maximum number of open streams of the inspector reached (${isFull ? all : own})`;
  }

  /**
   * Streams the steps of an instance. `after` is the number of the last step that the reader has. Later steps in memory are sent first. With null, no earlier
   * step is sent.
   */
  openSteps(caller: string, id: InstanceId, after: number | null, response: () => ServerResponse): Result<null> {
    let sink: Sink | null = null;
    const steps = new HeldSteps((step) => sink?.push(frameOf(step)));
    const watch = this.#parts.gateway.watchSteps(id, { onStep: (step) => steps.show(step), onEnd: () => sink?.end() });
    if (!watch.ok) return watch;
    const raw = response();
    const opened = (sink = this.#open(caller, raw));
    const failed = (error: unknown): void => {
      this.#parts.log.warn({ instance: id, error }, 'inspector.notResumed');
      opened.end();
    };
    if (after === null) steps.release(0);
    else void pushMissed(this.#parts.gateway, id, after, opened).then((last) => steps.release(last), failed);
    this.#untilClosed(raw, opened, watch.value);
    return done(null);
  }

  /** Streams the changes of the list of instances. */
  openList(caller: string, response: () => ServerResponse): void {
    const raw = response();
    const sink = this.#open(caller, raw);
    const leave = this.#parts.gateway.watchActors({
      onChanges: (changes) => sink.push(plainFrame('moved', changesView(changes))),
      onEnd: () => sink.end(),
    });
    this.#untilClosed(raw, sink, leave);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#pulse);
    for (const sink of this.#sinks.keys()) sink.end();
  }

  #open(caller: string, response: ServerResponse): Sink {
    const sink = new Sink(response, this.#parts.limits, this.#parts.meter);
    sink.push(hello);
    this.#sinks.set(sink, caller);
    this.#parts.log.debug({ streams: this.#sinks.size }, 'inspector.streamOpened');
    return sink;
  }

  #untilClosed(response: ServerResponse, sink: Sink, leave: () => void): void {
    onceClosed(response, () => {
      leave();
      this.#sinks.delete(sink);
      this.#parts.log.debug({ streams: this.#sinks.size }, 'inspector.streamClosed');
    });
    if (this.#closed) sink.end();
  }
}

// Streams of all instances. An instance has one stream while a client listens to it, and for a short time afterwards.

export class Hub {
  /** The streams of the inspector. */
  readonly inspector: InspectorHub;
  readonly #parts: HubParts;
  readonly #streams = new Map<InstanceId, InstanceStream>();
  readonly #pulse: NodeJS.Timeout;
  #closed = false;

  constructor(parts: HubParts) {
    this.#parts = parts;
    this.inspector = new InspectorHub(parts);
    this.#pulse = setInterval(() => {
      for (const stream of this.#streams.values()) stream.ping(heartbeat);
    }, parts.limits.heartbeatMs).unref();
  }

  /** Returns the reason why no further stream of the instance may be opened; null if it may. */
  objection(id: InstanceId): string | null {
    const { perToken } = this.#parts.limits;
    const isFull = (this.#streams.get(id)?.size ?? 0) >= perToken;
    return isFull ? `Maximum number of open streams per token reached (${perToken})` : null;
  }

  /** Turns the response into a stream. `lastEventId` is '' for a client that does not resume. */
  open(id: InstanceId, subscription: Subscription, lastEventId: string, response: ServerResponse): void {
    const subscriber = new Subscriber(response, subscription, this.#parts.limits, this.#parts.meter);
    if (this.#closed) return subscriber.end();
    const stream = this.#streamOf(id);
    if (stream.ended) return subscriber.end();
    subscriber.push(hello);
    stream.join(subscriber, lastEventId);
    this.#parts.log.debug({ instance: id, streams: stream.size }, 'stream.opened');
    onceClosed(response, () => {
      stream.leave(subscriber);
      this.#parts.log.debug({ instance: id, streams: stream.size }, 'stream.closed');
    });
  }

  /** Ends all streams. A stream that is opened afterwards ends at once. */
  close(): void {
    this.#closed = true;
    this.inspector.close();
    clearInterval(this.#pulse);
    for (const stream of this.#streams.values()) stream.end();
  }

  #streamOf(id: InstanceId): InstanceStream {
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    const stream = new InstanceStream(this.#parts.gateway, id, this.#parts.limits, () => void this.#streams.delete(id));
    if (!stream.ended) this.#streams.set(id, stream);
    return stream;
  }
}
