/** Receivers that misbehave in every known way, each on a port of its own. */
import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createTcp, type AddressInfo, type Server } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Heard {
  readonly id: string;
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly at: number;
}

/** Sends an answer that never ends. */
const endless: RequestListener = (_request, response) => {
  response.writeHead(500);
  const write = (): void => {
    if (response.destroyed) return;
    if (response.write(Buffer.alloc(65_536))) setImmediate(write);
    else response.once('drain', write);
  };
  write();
};

const listeners = {
  never: () => undefined,
  'no end of headers': (_request, response) => void response.socket?.write('HTTP/1.1 200 OK\r\nx-a: b\r\n'),
  endless,
  huge: (_request, response) => void response.writeHead(503).end(Buffer.alloc(20_000_000)),
  redirect: (_request, response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
  gone: (_request, response) => void response.writeHead(410).end(),
  busy: (_request, response) => void response.writeHead(429, { 'retry-after': '3000' }).end(),
  'not found': (_request, response) => void response.writeHead(404).end(),
  broken: (_request, response) => void response.writeHead(502).end('<html>'),
} as const satisfies Readonly<Record<string, RequestListener>>;

export type HostileName = keyof typeof listeners | 'reset' | 'no TLS' | 'closed';
export const hostileNames: readonly HostileName[] = [
  ...(Object.keys(listeners) as (keyof typeof listeners)[]),
  'reset',
  'no TLS',
  'closed',
];

export class Receivers {
  readonly #servers: Server[] = [];

  async listen(server: Server): Promise<string> {
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  }

  async hostile(name: HostileName): Promise<string> {
    if (name === 'reset')
      return this.listen(createTcp((socket) => socket.on('error', () => undefined).once('data', () => socket.resetAndDestroy())));
    if (name === 'no TLS') return (await this.listen(createHttp((_request, response) => response.end()))).replace('http:', 'https:');
    if (name !== 'closed') return this.listen(createHttp(listeners[name]));
    const server = createHttp();
    const url = await this.listen(server);
    await new Promise((resolve) => server.close(resolve));
    return url;
  }

  /** Accepts posts. `answer` returns the status for each. */
  async friendly(heard: Heard[], answer: (heard: Heard) => number | Promise<number> = () => 200): Promise<string> {
    return this.listen(
      createHttp(async (request, response) => {
        const body = JSON.parse(await text(request)) as Heard['body'];
        const one = { id: String(request.headers['webhook-id']), url: request.url ?? '', body, at: performance.now() };
        heard.push(one);
        response.writeHead(await answer(one)).end();
      }),
    );
  }

  async close(): Promise<void> {
    for (const server of this.#servers) {
      if ('closeAllConnections' in server) (server as ReturnType<typeof createHttp>).closeAllConnections();
      server.close();
    }
  }
}
