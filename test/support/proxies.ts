/** Small HTTP CONNECT and SOCKS5 proxies with credentials, which refuse, stall and die on demand. */
import { createServer, connect, type Server, type Socket } from 'node:net';
import { freePort } from './ports.ts';

/** The behaviour of a proxy. `stall` accepts connections and never answers. `mute` opens the tunnel and passes nothing. */
export type Conduct = 'work' | 'refuse' | 'stall' | 'mute';

export interface TestProxy {
  readonly port: number;
  /** The address with valid credentials. */
  readonly url: string;
  /** The address with wrong credentials. */
  readonly wrongUrl: string;
  /** The IP address from which the platform sees connections through the proxy. */
  readonly from: string;
  conduct: Conduct;
  /** The target of each opened tunnel, as `host:port`. */
  readonly tunnels: readonly string[];
  /** The number of open connections of clients. */
  readonly open: number;
  /** Closes every connection. */
  cut(): void;
  /** Closes all connections and stops listening. */
  die(): Promise<void>;
  /** Listens again on the same port. */
  revive(): Promise<void>;
}

/** A user name with characters that must be percent-encoded in an address. */
const user = 'us er@shop';
const password = 'p%ss:wörd/';

interface Handshake {
  /** Reads the request of the client. Resolves with the requested target, or null if the credentials are wrong. */
  read(socket: Socket): Promise<{ readonly host: string; readonly port: number } | null>;
  readonly accepted: Buffer;
  readonly refused: Buffer;
  readonly denied: Buffer;
}

const chunk = (socket: Socket): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    socket.once('data', resolve);
    socket.once('close', () => reject(new Error('gone')));
  });

const httpConnect: Handshake = {
  async read(socket) {
    const head = (await chunk(socket)).toString();
    const [, target = ''] = head.split(' ');
    const sent = /^proxy-authorization: basic (\S+)/im.exec(head)?.[1] ?? '';
    const at = target.lastIndexOf(':');
    const isKnown = Buffer.from(sent, 'base64').toString() === `${user}:${password}`;
    return isKnown ? { host: target.slice(0, at), port: Number(target.slice(at + 1)) } : null;
  },
  accepted: Buffer.from('HTTP/1.1 200 Connection established\r\n\r\n'),
  refused: Buffer.from('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n'),
  denied: Buffer.from('HTTP/1.1 407 Proxy Authentication Required\r\nconnection: close\r\n\r\n'),
};

const socks5: Handshake = {
  async read(socket) {
    await chunk(socket);
    socket.write(Buffer.from([5, 2]));
    const auth = await chunk(socket);
    const name = auth.subarray(2, 2 + (auth[1] ?? 0)).toString();
    const secret = auth.subarray(3 + (auth[1] ?? 0)).toString();
    if (name !== user || secret !== password) return null;
    socket.write(Buffer.from([1, 0]));
    const request = await chunk(socket);
    const isName = request[3] === 3;
    const end = isName ? 5 + (request[4] ?? 0) : 8;
    const host = isName ? request.subarray(5, end).toString() : [...request.subarray(4, 8)].join('.');
    return { host, port: request.readUInt16BE(end) };
  },
  accepted: Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
  refused: Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0]),
  denied: Buffer.from([1, 1]),
};

const kinds = { http: httpConnect, socks5 } as const;

class SmallProxy implements TestProxy {
  conduct: Conduct = 'work';
  port = 0;
  readonly tunnels: string[] = [];
  readonly from: string;
  readonly #kind: keyof typeof kinds;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;

  constructor(kind: keyof typeof kinds, from: string) {
    this.#kind = kind;
    this.from = from;
  }

  get url(): string {
    return `${this.#kind}://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${this.port}`;
  }

  get wrongUrl(): string {
    return `${this.#kind}://${encodeURIComponent(user)}:wrong@127.0.0.1:${this.port}`;
  }

  get open(): number {
    return this.#sockets.size;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async die(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    this.cut();
    await new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)));
  }

  async revive(): Promise<void> {
    if (this.port === 0) this.port = await freePort();
    const server = createServer((socket) => void this.#serve(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', resolve);
    });
    this.#server = server;
  }

  async #serve(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    // A paused socket does not notice that the client closed the connection.
    if (this.conduct === 'stall') return void socket.resume();
    const { read, accepted, refused, denied } = kinds[this.#kind];
    try {
      const to = await read(socket);
      if (to === null || this.conduct === 'refuse') return void socket.resume().end(to === null ? denied : refused);
      this.tunnels.push(`${to.host}:${to.port}`);
      if (this.conduct === 'mute') return void socket.resume().write(accepted);
      const beyond = connect({ ...to, localAddress: this.from });
      beyond.on('error', () => socket.destroy());
      socket.once('close', () => beyond.destroy());
      beyond.once('close', () => socket.destroy());
      beyond.once('connect', () => {
        socket.write(accepted);
        socket.pipe(beyond).pipe(socket);
      });
    } catch {
      socket.destroy();
    }
  }
}

/** Opens a proxy. `from` is a loopback address by which the platform distinguishes the proxy from the gateway. */
export const openProxy = async (kind: keyof typeof kinds, from: string): Promise<TestProxy> => {
  const proxy = new SmallProxy(kind, from);
  await proxy.revive();
  return proxy;
};
