/** Streams of the inspector: steps of single instances, and changes of the list. A reader that does not keep up is cut, as on every stream. */
import type { ServerResponse } from 'node:http';
import type { Gateway, InstanceId, Result, Step } from '#actors/gateway.ts';
import { changesView, stepView } from '#src/contract/views.ts';
import type { HttpLog, StreamLimits, StreamMeter } from '../options.ts';
import { done } from '../route.ts';
import { comment, createSink, plainFrame, type Sink } from './subscriber.ts';

export interface InspectorHub {
  /** Returns why the caller may open no further stream; null if it may. */
  objection(caller: string): string | null;
  /** `after`: number of the last step that the reader has; those after it that are held come first. null: none of them. */
  openSteps(caller: string, id: InstanceId, after: number | null, response: () => ServerResponse): Result<null>;
  openList(caller: string, response: () => ServerResponse): void;
  close(): void;
}

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

/** `open`: the callers of the open streams. */
const objectionTo = (
  caller: string,
  open: readonly string[],
  { inspectorPerCaller: own, inspectorInAll: all }: StreamLimits,
): string | null => {
  const isFull = open.length >= all;
  if (!isFull && open.filter((one) => one === caller).length < own) return null;
  return `Maximum number of open streams of the inspector reached (${isFull ? all : own})`;
};

export const createInspectorHub = (gateway: Gateway, limits: StreamLimits, log: HttpLog, meter?: StreamMeter): InspectorHub => {
  /** The open streams with their callers. */
  const sinks = new Map<Sink, string>();
  let closed = false;
  const pulse = setInterval(() => {
    for (const sink of sinks.keys()) sink.ping(heartbeat);
  }, limits.heartbeatMs).unref();

  const open = (caller: string, response: ServerResponse): Sink => {
    const sink = createSink(response, limits, meter);
    sink.push(hello);
    sinks.set(sink, caller);
    log.debug({ streams: sinks.size }, 'inspector.streamOpened');
    return sink;
  }

  #untilClosed(response: ServerResponse, sink: Sink, leave: () => void): void {
    response.once('close', () => {
      leave();
      this.#sinks.delete(sink);
      this.#log.debug({ streams: this.#sinks.size }, 'inspector.streamClosed');
    });
    if (closed) sink.end();
  };

  return {
    objection: (caller) => objectionTo(caller, [...sinks.values()], limits),
    openSteps(caller, id, after, response) {
      let sink: Sink | null = null;
      const steps = inOrder((step) => sink?.push(frameOf(step)));
      const watch = gateway.watchSteps(id, { onStep: steps.show, onEnd: () => sink?.end() });
      if (!watch.ok) return watch;
      const raw = response();
      const opened = (sink = open(caller, raw));
      const failed = (error: unknown): void => {
        log.warn({ instance: id, error }, 'inspector.notResumed');
        opened.end();
      };
      if (after === null) steps.release(0);
      else void pushMissed(gateway, id, after, opened).then(steps.release, failed);
      untilClosed(raw, opened, watch.value);
      return done(null);
    },
    openList(caller, response) {
      const raw = response();
      const sink = open(caller, raw);
      const leave = gateway.watchActors({
        onChanges: (changes) => sink.push(plainFrame('moved', changesView(changes))),
        onEnd: () => sink.end(),
      });
      untilClosed(raw, sink, leave);
    },
    close() {
      closed = true;
      clearInterval(pulse);
      for (const sink of sinks.keys()) sink.end();
    },
  };
};
