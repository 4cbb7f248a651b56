/** The live stream of the page: all events as server-sent events. Each event is serialised once for all readers. */
import type { ServerResponse } from 'node:http';
import type { SentLog } from './sent-log.ts';

/** Bytes that may be buffered for a slow reader. A reader with more is cut; its page connects again and reloads the state. */
const maxBehind = 1024 * 1024;
const heartbeatMs = 15_000;

export interface EventStream {
  /** Streams events to this response until either side ends it. */
  join(response: ServerResponse): void;
  close(): void;
}

export const createEventStream = (sentLog: SentLog): EventStream => {
  const readers = new Set<ServerResponse>();

  const write = (text: string) => {
    for (const reader of readers) {
      if (reader.writableLength > maxBehind) reader.destroy();
      else reader.write(text);
    }
  };
  const unsubscribe = sentLog.subscribe((event) => {
    if (readers.size > 0) write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  });
  const heartbeat = setInterval(write, heartbeatMs, ': still here\n\n').unref();

  return {
    join(response) {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
      response.write('retry: 1000\n\n');
      readers.add(response);
      response.on('close', () => readers.delete(response));
    },
    close() {
      clearInterval(heartbeat);
      unsubscribe();
      for (const reader of readers) reader.end();
    },
  };
};
