/** Receivers of events: a receiver of webhooks that can be made to fail, and a reader of the event stream. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from './until.ts';

export interface Posted {
  /** The header `webhook-id`: the same for every attempt of one event. */
  readonly id: string;
  readonly type: string;
  /** The token of the instance. */
  readonly token: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Receiver {
  readonly url: string;
  /** Posts that were answered with 200, repetitions included. */
  readonly posted: readonly Posted[];
  /** Attempts that were answered with 503. */
  readonly refused: number;
  /** Ids of events with two simultaneous attempts. */
  readonly overlapping: readonly string[];
  /** Sets the answer to all later posts. */
  answer(status: 200 | 503): void;
  /** Deletes the recorded posts. */
  forget(): void;
  /** Waits for the first recorded or later event for which `fits` returns true. */
  wait(fits: (posted: Posted) => boolean, what: string, ms?: number): Promise<Posted>;
  close(): Promise<void>;
}

/** Opens the receiver. `hold` returns the delay of the next answer. In milliseconds. */
export const openReceiver = async (hold: () => number = () => 0): Promise<Receiver> => {
  const posted: Posted[] = [];
  const underWay = new Set<string>();
  const overlapping: string[] = [];
  let status = 200;
  let refused = 0;
  const server = createServer((request, response) => {
    const { headers } = request;
    const id = String(headers['webhook-id']);
    if (underWay.has(id)) overlapping.push(id);
    underWay.add(id);
    response.once('close', () => underWay.delete(id));
    const take = async (): Promise<void> => {
      const sent = await text(request);
      const ms = hold();
      if (ms > 0) await wait(ms);
      // The sender has closed the connection and counts the post as unanswered.
      if (response.destroyed) return;
      response.writeHead(status).end(status === 200 ? '' : 'out of order');
      if (status !== 200) return void (refused += 1);
      const body = JSON.parse(sent) as Posted['body'];
      posted.push({ id, type: String(body['EventType']), token: String(body['token']), headers, body });
    };
    // A truncated body does not count as an answered attempt.
    take().catch(() => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    posted,
    overlapping,
    get refused() {
      return refused;
    },
    answer: (next) => void (status = next),
    forget: () => void posted.splice(0),
    wait: (fits, what, ms) => until(() => posted.find(fits), `${what}; posted were ${posted.map(({ type }) => type).join(', ')}`, ms),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

export interface StreamReader {
  /** The `data` of all events so far. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
  /** A promise that resolves when the stream has ended for any reason. */
  readonly ended: Promise<void>;
  close(): void;
}

export const readStream = async (address: string, token: string, events: string): Promise<StreamReader> => {
  const abort = new AbortController();
  const response = await fetch(`${address}/sse?token=${token}&events=${events}`, { signal: abort.signal });
  const heard: Readonly<Record<string, unknown>>[] = [];
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data: ')) heard.push(JSON.parse(line.slice(6)) as Readonly<Record<string, unknown>>);
    }
  };
  // A stream ends with the killed gateway, or by `close`.
  const ended = read().catch(() => undefined);
  return { events: heard, ended, close: () => abort.abort() };
};
