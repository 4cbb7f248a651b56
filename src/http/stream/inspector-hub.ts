/** Streams of the inspector: steps of single instances, and changes of the list. A reader that does not keep up is cut, as on every stream. */
import type { ServerResponse } from 'node:http';
import type { Gateway, InstanceId, Result } from '#actors/gateway.ts';
import { changesView, stepView } from '#src/contract/views.ts';
import type { HttpLog, StreamLimits, StreamMeter } from '../options.ts';
import { done } from '../outcome.ts';
import { comment, plainFrame } from './frame.ts';
import { createSink, type Sink } from './subscriber.ts';

export interface InspectorHub {
  /** Why no further stream may be opened, null when one may. */
  objection(): string | null;
  /** `after`: number of the last step that the reader has; those after it that are held come first. null: none of them. */
  openSteps(id: InstanceId, after: number | null, response: () => ServerResponse): Result<null>;
  openList(response: () => ServerResponse): void;
  close(): void;
}

const hello = comment('stream open');
const heartbeat = comment('keep-alive');
const gap = comment('gap: some of the steps after the given one are not kept any more');

/** What the reader missed: steps count from 1 anew when the process restarts, so that a number from before says nothing. */
const pushMissed = (gateway: Gateway, id: InstanceId, after: number, sink: Sink): void => {
  const actor = gateway.actor(id);
  const steps = actor.ok ? actor.value.steps : [];
  const [first, last] = [steps.at(0)?.n ?? 1, steps.at(-1)?.n ?? 0];
  const isGap = after > last || after < first - 1;
  if (isGap) sink.push(gap);
  const missed = isGap ? steps : steps.filter(({ n }) => n > after);
  // In one piece: what is replayed must not count as many steps behind.
  if (missed.length > 0) sink.push(Buffer.concat(missed.map((step) => plainFrame('step', stepView(step), String(step.n)))));
};

export const createInspectorHub = (gateway: Gateway, limits: StreamLimits, log: HttpLog, meter?: StreamMeter): InspectorHub => {
  const sinks = new Set<Sink>();
  let closed = false;
  const pulse = setInterval(() => {
    for (const sink of sinks) sink.ping(heartbeat);
  }, limits.heartbeatMs).unref();

  const open = (response: ServerResponse): Sink => {
    const sink = createSink(response, limits, meter);
    sink.push(hello);
    sinks.add(sink);
    log.debug({ streams: sinks.size }, 'inspector.streamOpened');
    return sink;
  };
  const untilClosed = (response: ServerResponse, sink: Sink, leave: () => void): void => {
    response.once('close', () => {
      leave();
      sinks.delete(sink);
      log.debug({ streams: sinks.size }, 'inspector.streamClosed');
    });
    if (closed) sink.end();
  };

  return {
    objection: () =>
      sinks.size >= limits.perToken ? `Maximum number of open streams of the inspector reached (${limits.perToken})` : null,
    openSteps(id, after, response) {
      // A step may be taken while the stream is opened: nothing waits between the two.
      let sink: Sink | null = null;
      const watch = gateway.watchSteps(id, {
        onStep: (step) => sink?.push(plainFrame('step', stepView(step), String(step.n))),
        onEnd: () => sink?.end(),
      });
      if (!watch.ok) return watch;
      const raw = response();
      sink = open(raw);
      if (after !== null) pushMissed(gateway, id, after, sink);
      untilClosed(raw, sink, watch.value);
      return done(null);
    },
    openList(response) {
      const raw = response();
      const sink = open(raw);
      const leave = gateway.watchActors({
        onChanges: (changes) => sink.push(plainFrame('moved', changesView(changes))),
        onEnd: () => sink.end(),
      });
      untilClosed(raw, sink, leave);
    },
    close() {
      closed = true;
      clearInterval(pulse);
      for (const sink of sinks) sink.end();
    },
  };
};
