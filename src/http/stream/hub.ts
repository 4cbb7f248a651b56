/** Streams of all instances: one stream per instance that someone listens to, or did a moment ago. */
import type { ServerResponse } from 'node:http';
import type { InstanceId } from '#actors/gateway.ts';
import { InstanceStream } from './instance-stream.ts';
import { comment, createSubscriber, type Subscription } from './subscriber.ts';
import { type HubParts, InspectorHub } from './inspector-hub.ts';

const hello = comment('stream open');
const heartbeat = comment('keep-alive');

export class Hub {
  /** Streams of the administrator. */
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

  /** Returns why no further stream of the instance may be opened; null if one may. */
  objection(id: InstanceId): string | null {
    const { perToken } = this.#parts.limits;
    const isFull = (this.#streams.get(id)?.size ?? 0) >= perToken;
    return isFull ? `Maximum number of open streams per token reached (${perToken})` : null;
  }

  /** Turns the response into a stream. `lastEventId` is '' for a client that does not resume. */
  open(id: InstanceId, subscription: Subscription, lastEventId: string, response: ServerResponse): void {
    const subscriber = createSubscriber(response, subscription, this.#parts.limits, this.#parts.meter);
    if (this.#closed) return subscriber.end();
    const stream = this.#streamOf(id);
    if (stream.ended) return subscriber.end();
    subscriber.push(hello);
    stream.join(subscriber, lastEventId);
    this.#parts.log.debug({ instance: id, streams: stream.size }, 'stream.opened');
    response.once('close', () => {
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
