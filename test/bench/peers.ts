/** Runs the receivers of deliveries, a plain loop that posts, and readers of the stream in a separate process. */
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Pool } from 'undici';
import { answer } from './probe.ts';
import { arrived, now } from './tally.ts';

const server = createServer((request, response) => {
  const { url = '' } = request;
  if (url.startsWith('/dead')) return;
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    response.end();
    arrived(text);
  });
});

answer('receive', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

/** Posts the bodies over the connections, one after the other on each. This is the baseline. */
answer('post', async ({ url, posts, bytes, connections }: { url: string; posts: number; bytes: number; connections: number }) => {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const body = JSON.stringify({ at: 0, text: 'x'.repeat(bytes) });
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < posts) {
      next += 1;
      const reply = await pool.request({ path: '/plain', method: 'POST', body, headers: { 'content-type': 'application/json' } });
      await reply.body.dump();
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  await pool.close();
});

const readers: Socket[] = [];

/** An event that `readers` readers are expected to receive. */
interface Expected {
  readonly readers: number;
  heard: number;
  /** The time at which the event was made. */
  at: number;
  readonly all: PromiseWithResolvers<{ readonly at: number; readonly last: number }>;
}
let expected: Expected | null = null;

const hear = (text: string): void => {
  if (expected === null || !text.includes('event: messages')) return;
  if (expected.heard === 0) expected.at = Number(/"at":([\d.]+)/.exec(text)?.[1]);
  expected.heard += 1;
  if (expected.heard === expected.readers) expected.all.resolve({ at: expected.at, last: now() });
};

/** Opens readers of the stream. Resolves when all have received their headers. */
answer('read', async ({ port, readers: wanted, token }: { port: number; readers: number; token: string }) => {
  const open = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(`GET /sse?token=${token}&events=messages HTTP/1.1\r\nHost: bench\r\n\r\n`);
      });
      socket.once('error', reject);
      socket.on('data', (chunk) => {
        const text = chunk.toString('latin1');
        if (text.startsWith('HTTP/1.1 200')) resolve();
        else if (text.startsWith('HTTP/1.1')) reject(new Error(`a stream was refused: ${text}`));
        hear(text);
      });
      readers.push(socket);
    });
  for (let n = 0; n < wanted; n += 50) await Promise.all(Array.from({ length: Math.min(50, wanted - n) }, open));
});
/** Prepares the measurement of an event, before the gateway records the event. */
answer('expect', () => void (expected = { readers: readers.length, heard: 0, at: NaN, all: Promise.withResolvers() }));
/** Returns the times at which the event was made and the last reader received it. */
answer('heard', () => expected?.all.promise);
answer('leave', () => {
  for (const socket of readers.splice(0)) socket.destroy();
});
