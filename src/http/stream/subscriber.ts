/** One open stream: writes what it is given, and cuts a reader that does not keep up. */
import type { ServerResponse } from 'node:http';
import type { StreamLimits, StreamMeter } from '../options.ts';
import type { Subscription } from './subscription.ts';

export interface Sink {
  /** Writes a frame; a reader that is too far behind loses its connection instead. */
  push(frame: Buffer): void;
  /** Writes a comment, unless there is something under way that keeps the connection alive anyway. */
  ping(frame: Buffer): void;
  /** Ends the stream, by force when the reader does not take what is left in time. */
  end(): void;
}

export interface Subscriber extends Sink {
  readonly subscription: Subscription;
}

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Proxies that buffer answers would hold events back.
  'x-accel-buffering': 'no',
};

/** The token is in the address and cookies count for nothing here, so a page of any origin that knows the token may listen. */
const forAnyPage = { 'access-control-allow-origin': '*' };

export const createSubscriber = (
  response: ServerResponse,
  subscription: Subscription,
  limits: StreamLimits,
  meter?: StreamMeter,
): Subscriber => ({
  subscription,
  ...createSink(response, limits, meter, forAnyPage),
});

export const createSink = (
  response: ServerResponse,
  limits: StreamLimits,
  meter?: StreamMeter,
  more: Readonly<Record<string, string>> = {},
): Sink => {
  meter?.stream('opened');
  response.once('close', () => meter?.stream('closed'));
  let behind = 0;
  let judging = false;
  const written = (): void => void (behind -= 1);
  const gone = (): boolean => response.destroyed || response.writableEnded;
  const lost = (): boolean => behind > limits.backlogEvents || response.writableLength > limits.backlogBytes;
  // Consumers wait for the headers before they do anything that makes events.
  response.writeHead(200, { ...headers, ...more }).flushHeaders();

  const judge = (): void => {
    judging = false;
    if (gone() || !lost()) return;
    meter?.stream('cut');
    response.destroy();
  };

  return {
    push(frame) {
      if (gone()) return;
      behind += 1;
      response.write(frame, written);
      if (judging || !lost()) return;
      // A burst needs a moment to pass through the socket of a client that does read; only what is left then counts.
      judging = true;
      setTimeout(judge, limits.graceMs).unref();
    },
    ping(frame) {
      if (behind === 0 && !gone()) response.write(frame);
    },
    end() {
      response.end();
      const force = setTimeout(() => response.destroy(), limits.endMs).unref();
      response.once('close', () => clearTimeout(force));
    },
  };
};
