/** Streams of all instances: one feed per instance that someone listens to, or did a moment ago. */
import type { ServerResponse } from 'node:http';
import type { Gateway, InstanceId } from '#actors/gateway.ts';
import type { HttpLog, StreamLimits } from '../options.ts';
import { createFeed, type Feed } from './feed.ts';
import { comment } from './frame.ts';
import { createSubscriber } from './subscriber.ts';
import type { Subscription } from './subscription.ts';

export interface Hub {
  /** Turns the response into a stream. `lastEventId` is '' for a client that does not resume. */
  open(id: InstanceId, subscription: Subscription, lastEventId: string, response: ServerResponse): void;
  /** Ends all streams; one that is opened afterwards ends at once. */
  close(): void;
}

const hello = comment('stream open');
const heartbeat = comment('keep-alive');

export const createHub = (gateway: Gateway, limits: StreamLimits, log: HttpLog): Hub => {
  const feeds = new Map<InstanceId, Feed>();
  let closed = false;

  const feedOf = (id: InstanceId): Feed => {
    const known = feeds.get(id);
    if (known !== undefined) return known;
    const feed = createFeed(gateway, id, limits, () => void feeds.delete(id));
    if (!feed.ended) feeds.set(id, feed);
    return feed;
  };

  const pulse = setInterval(() => {
    for (const feed of feeds.values()) feed.ping(heartbeat);
  }, limits.heartbeatMs).unref();

  return {
    open(id, subscription, lastEventId, response) {
      const subscriber = createSubscriber(response, subscription, limits);
      if (closed) return subscriber.end();
      const feed = feedOf(id);
      if (feed.ended) return subscriber.end();
      subscriber.push(hello);
      feed.join(subscriber, lastEventId);
      log.debug({ instance: id, streams: feed.size }, 'stream.opened');
      response.once('close', () => {
        feed.leave(subscriber);
        log.debug({ instance: id, streams: feed.size }, 'stream.closed');
      });
    },
    close() {
      closed = true;
      clearInterval(pulse);
      for (const feed of feeds.values()) feed.end();
    },
  };
};
