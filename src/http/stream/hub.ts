/** Streams of all instances: one stream per instance that someone listens to, or did a moment ago. */
import type { ServerResponse } from 'node:http';
import type { Gateway, InstanceId } from '#actors/gateway.ts';
import type { HttpLog, StreamLimits, StreamMeter } from '../options.ts';
import { InstanceStream } from './instance-stream.ts';
import { comment, createSubscriber, type Subscription } from './subscriber.ts';
import { createInspectorHub, type InspectorHub } from './inspector-hub.ts';

export interface Hub {
  /** Returns why no further stream of the instance may be opened; null if one may. */
  objection(id: InstanceId): string | null;
  /** Turns the response into a stream. `lastEventId` is '' for a client that does not resume. */
  open(id: InstanceId, subscription: Subscription, lastEventId: string, response: ServerResponse): void;
  /** Streams of the administrator. */
  readonly inspector: InspectorHub;
  /** Ends all streams; one that is opened afterwards ends at once. */
  close(): void;
}

const hello = comment('stream open');
const heartbeat = comment('keep-alive');

export const createHub = (gateway: Gateway, limits: StreamLimits, log: HttpLog, meter?: StreamMeter): Hub => {
  const streams = new Map<InstanceId, InstanceStream>();
  const inspector = createInspectorHub(gateway, limits, log, meter);
  let closed = false;

  const streamOf = (id: InstanceId): InstanceStream => {
    const known = streams.get(id);
    if (known !== undefined) return known;
    const stream = new InstanceStream(gateway, id, limits, () => void streams.delete(id));
    if (!stream.ended) streams.set(id, stream);
    return stream;
  };

  const pulse = setInterval(() => {
    for (const stream of streams.values()) stream.ping(heartbeat);
  }, limits.heartbeatMs).unref();

  return {
    inspector,
    objection(id) {
      const isFull = (streams.get(id)?.size ?? 0) >= limits.perToken;
      return isFull ? `Maximum number of open streams per token reached (${limits.perToken})` : null;
    },
    open(id, subscription, lastEventId, response) {
      const subscriber = createSubscriber(response, subscription, limits, meter);
      if (closed) return subscriber.end();
      const stream = streamOf(id);
      if (stream.ended) return subscriber.end();
      subscriber.push(hello);
      stream.join(subscriber, lastEventId);
      log.debug({ instance: id, streams: stream.size }, 'stream.opened');
      response.once('close', () => {
        stream.leave(subscriber);
        log.debug({ instance: id, streams: stream.size }, 'stream.closed');
      });
    },
    close() {
      closed = true;
      inspector.close();
      clearInterval(pulse);
      for (const stream of streams.values()) stream.end();
    },
  };
};
