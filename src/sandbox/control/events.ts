/** The live stream for the page: every event of the world as server-sent events, each serialised once. */
import type { ServerResponse } from 'node:http';
import type { Journal } from './journal.ts';

/** A reader this many bytes behind is cut; its page connects again and reads the state anew. */
const maxBehind = 1024 * 1024;
const heartbeatMs = 15_000;

export interface EventStream {
  /** Takes the response over, until either side ends. */
  join(response: ServerResponse): void;
  close(): void;
}

export const createEventStream = (journal: Journal): EventStream => {
  const readers = new Set<ServerResponse>();

  const write = (text: string) => {
    for (const reader of readers) {
      if (reader.writableLength > maxBehind) reader.destroy();
      else reader.write(text);
    }
  };
  const unsubscribe = journal.subscribe((event) => {
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
