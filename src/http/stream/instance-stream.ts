/** The events of one instance, serialised once and given to everyone who listens. */
import type { Gateway, InstanceId } from '#actors/gateway.ts';
import type { StreamLimits } from '../options.ts';
import { comment, frameOf } from './frame.ts';
import { createRing } from './ring.ts';
import type { Subscriber } from './subscriber.ts';
import { streamTypes, wants } from './subscription.ts';

export interface InstanceStream {
  /** Sends what was missed since the given event, '' for nothing, and everything from now on. */
  join(subscriber: Subscriber, lastEventId: string): void;
  /** The feed goes on for a while: who was cut comes back within seconds and asks for what it missed. */
  leave(subscriber: Subscriber): void;
  ping(frame: Buffer): void;
  /** Idempotent. Ends all streams. */
  end(): void;
  readonly ended: boolean;
  readonly size: number;
}

const gap = comment('gap: the events after the given Last-Event-ID are not kept any more');

/** `onEnd` is called once, when the instance, its token or the last listener's interest is gone. */
export const createInstanceStream = (gateway: Gateway, id: InstanceId, limits: StreamLimits, onEnd: () => void): InstanceStream => {
  const ring = createRing(limits);
  const subscribers = new Set<Subscriber>();
  let linger: NodeJS.Timeout | undefined;
  let ended = false;

  const end = (): void => {
    if (ended) return;
    ended = true;
    clearTimeout(linger);
    unsubscribe?.();
    for (const subscriber of subscribers) subscriber.end();
    onEnd();
  };

  let unsubscribe: (() => void) | undefined;
  const stop = gateway.subscribe(
    id,
    (event) => {
      if (!streamTypes.includes(event.type)) return;
      const frame = frameOf(event);
      ring.push({ event, frame });
      for (const subscriber of subscribers) if (wants(subscriber.subscription, event)) subscriber.push(frame);
    },
    end,
  );
  // An instance that went away in this moment ends the feed before `subscribe` returns.
  if (ended) stop();
  else unsubscribe = stop;

  return {
    join(subscriber, lastEventId) {
      clearTimeout(linger);
      const missed = lastEventId === '' ? [] : ring.after(lastEventId);
      if (missed === null) subscriber.push(gap);
      const wanted = (missed ?? []).filter(({ event }) => wants(subscriber.subscription, event));
      // In one piece: what is replayed must not count as a thousand events behind.
      if (wanted.length > 0) subscriber.push(Buffer.concat(wanted.map(({ frame }) => frame)));
      subscribers.add(subscriber);
    },
    leave(subscriber) {
      subscribers.delete(subscriber);
      if (subscribers.size === 0 && !ended) linger = setTimeout(end, limits.lingerMs).unref();
    },
    ping(frame) {
      for (const subscriber of subscribers) subscriber.ping(frame);
    },
    end,
    get ended() {
      return ended;
    },
    get size() {
      return subscribers.size;
    },
  };
};
