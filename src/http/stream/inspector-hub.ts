/** Streams of the inspector: steps of single instances, and changes of the list. A reader that does not keep up is cut, as on every stream. */
import type { ServerResponse } from 'node:http';
import type { Gateway, InstanceId, Result, Step } from '#actors/gateway.ts';
import { changesView, stepView } from '#src/contract/views.ts';
import type { HttpLog, StreamLimits, StreamMeter } from '../options.ts';
import { done } from '../route.ts';
import { comment, plainFrame, Sink } from './subscriber.ts';

const frameOf = (step: Step): Buffer => plainFrame('step', stepView(step), String(step.n));

const hello = comment('stream open');
const heartbeat = comment('keep-alive');
const gap = comment('gap: some of the steps after the given one are not kept any more');

/** Writes what the reader missed; answers the number of the last step. Steps count from 1 anew with each owner, so that a number from before says nothing. */
const pushMissed = async (gateway: Gateway, id: InstanceId, after: number, sink: Sink): Promise<number> => {
  const actor = await gateway.actor(id);
  const steps = actor.ok ? actor.value.steps : [];
  const [first, last] = [steps.at(0)?.n ?? 1, steps.at(-1)?.n ?? 0];
  const isGap = after > last || after < first - 1;
  if (isGap) sink.push(gap);
  const missed = isGap ? steps : steps.filter(({ n }) => n > after);
  // In one piece: what is replayed must not count as many steps behind.
  if (missed.length > 0) sink.push(Buffer.concat(missed.map(frameOf)));
  return last;
};

/** Holds steps that are taken while those before them are looked for. `release`: the last one that was found. */
const inOrder = (write: (step: Step) => void) => {
  let held: Step[] | null = [];
  const show = (step: Step): void => (held === null ? write(step) : void held.push(step));
  const release = (last: number): void => {
    const waiting = held ?? [];
    held = null;
    for (const step of waiting) if (step.n > last) write(step);
  };
  return { show, release };
};

export interface HubParts {
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

  /** Returns why the caller may open no further stream; null if it may. */
  objection(caller: string): string | null {
    const { inspectorPerCaller: own, inspectorInAll: all } = this.#parts.limits;
    const isFull = this.#sinks.size >= all;
    if (!isFull && [...this.#sinks.values()].filter((one) => one === caller).length < own) return null;
    return `Maximum number of open streams of the inspector reached (${isFull ? all : own})`;
  }

  /** Streams the steps of an instance. `after` is the number of the last step that the reader has; later steps that are held come first. Null sends none of them. */
  openSteps(caller: string, id: InstanceId, after: number | null, response: () => ServerResponse): Result<null> {
    let sink: Sink | null = null;
    const steps = inOrder((step) => sink?.push(frameOf(step)));
    const watch = this.#parts.gateway.watchSteps(id, { onStep: steps.show, onEnd: () => sink?.end() });
    if (!watch.ok) return watch;
    const raw = response();
    const opened = (sink = this.#open(caller, raw));
    const failed = (error: unknown): void => {
      this.#parts.log.warn({ instance: id, error }, 'inspector.notResumed');
      opened.end();
    };
    if (after === null) steps.release(0);
    else void pushMissed(this.#parts.gateway, id, after, opened).then(steps.release, failed);
    this.#untilClosed(raw, opened, watch.value);
    return done(null);
  }

  /** Streams the changes of the list. */
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
    response.once('close', () => {
      leave();
      this.#sinks.delete(sink);
      this.#parts.log.debug({ streams: this.#sinks.size }, 'inspector.streamClosed');
    });
    if (this.#closed) sink.end();
  }
}
