/**
 * Connections through a proxy, for the WebSocket and for media. Each attempt has a time limit, and all connections are closed together. Their errors
 * contain no secrets.
 */
import { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SocksProxyAgent } from 'socks-proxy-agent';

// The CONNECT exchange with an HTTP proxy. The head of the answer has a limit, because a hostile proxy could send an endless one.

/** The limit of an answer's head in bytes, which is the limit of Node's own parser. */
const mostHead = 16 * 1024;
const headEnd = '\r\n\r\n';

interface ConnectRequest {
  /** The address of the proxy (`http:` or `https:`), with percent-encoded credentials. */
  readonly proxy: URL;
  /** Resolves the name of the proxy; undefined for the system's resolver. */
  readonly lookup: LookupFunction | undefined;
  readonly host: string;
  readonly port: number;
  /** Aborts the exchange. Do not abort after the exchange, because the abort would destroy the finished connection. */
  readonly signal: AbortSignal;
}

export interface ConnectAnswer {
  readonly status: number;
  /** The connection through the proxy. It is paused until the caller reads from it. */
  readonly socket: Socket;
}

/** The error of a bad answer. `headTooLong`: its head is too long. `noHttp`: it is not HTTP. `ended`: it was cut off. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  readonly code: 'headTooLong' | 'noHttp' | 'ended';
  constructor(code: ConnectFailure['code']) {
    super(code);
    this.code = code;
  }
}

const dial = ({ proxy, lookup, signal }: ConnectRequest): Socket => {
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  const port = Number(proxy.port) || (proxy.protocol === 'https:' ? 443 : 80);
  const way = { host, port, signal, ...(lookup === undefined ? {} : { lookup }) };
  if (proxy.protocol !== 'https:') return connectPlain(way);
  return connectTls({ ...way, ALPNProtocols: ['http/1.1'], ...(isIP(host) > 0 ? {} : { servername: host }) });
};

const requestText = ({ proxy, host, port }: ConnectRequest): string => {
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const secret = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const credentials = secret === ':' ? '' : `Proxy-Authorization: Basic ${Buffer.from(secret).toString('base64')}\r\n`;
  return `CONNECT ${target} HTTP/1.1\r\n${credentials}Host: ${target}\r\nProxy-Connection: close${headEnd}`;
};

/** Collects the chunks of a head. Each byte is copied once. */
class Head {
  readonly #bytes = Buffer.alloc(mostHead);
  #length = 0;

  /** Returns the status when the head is complete, and null before. */
  take(piece: Buffer): number | null {
    const before = this.#length;
    this.#length += piece.copy(this.#bytes, before);
    const end = this.#bytes.subarray(0, this.#length).indexOf(headEnd, Math.max(0, before - headEnd.length));
    if (end === -1 && this.#length === mostHead) throw new ConnectFailure('headTooLong');
    if (end === -1) return null;
    const status = /^HTTP\/1\.[01] (\d{3})\b/.exec(this.#bytes.toString('latin1', 0, end))?.[1];
    if (status === undefined) throw new ConnectFailure('noHttp');
    return Number(status);
  }
}

/** Connects through an HTTP proxy. Rejects with `ConnectFailure` or the network's error, and then destroys the socket. */
const connectOverHttp = (request: ConnectRequest): Promise<ConnectAnswer> => {
  const socket = dial(request);
  const head = new Head();
  const { promise, resolve, reject } = Promise.withResolvers<ConnectAnswer>();
  const ended = (): void => reject(new ConnectFailure('ended'));
  const read = (): void => {
    try {
      for (let piece = socket.read() as Buffer | null; piece !== null; piece = socket.read() as Buffer | null) {
        const status = head.take(piece);
        if (status === null) continue;
        // The tunnel ignores bytes after the head, because in TLS and HTTP the client sends first.
        return resolve({ status, socket });
      }
    } catch (error) {
      reject(error as Error);
    }
  };
  socket.on('error', reject).on('end', ended).on('close', ended).on('readable', read);
  socket.write(requestText(request));
  return promise
    .catch((error: unknown) => {
      socket.destroy();
      throw error;
    })
    .finally(() => socket.off('readable', read).off('end', ended).off('close', ended));
};

/** The error if the proxy did not make a connection, or lost it. `message` is one of a fixed set of texts. */
class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  readonly code = 'PROXY_FAILED';
}

interface Destination {
  readonly host: string;
  readonly port: number;
}

/** The guard against proxy addresses in private networks, which an owner of an instance could otherwise probe. */
export interface ProxyGuard {
  /** Returns the reason for which this host is not allowed; null if it is allowed. Does not resolve names. */
  checkHost(host: string): string | null;
  /** Resolves names, and refuses names with addresses that are not allowed. */
  readonly lookup: LookupFunction;
}

export interface TunnelParts {
  /** The address of the proxy, with the scheme `http`, `https`, `socks5`, `socks5h` or `socks`, and with percent-encoded credentials. */
  readonly url: string;
  /** Time limit of a connection attempt. In milliseconds. */
  readonly timeoutMs: number;
  /** The guard for the address of the proxy; null if every address is allowed. The proxy resolves the platform's names. */
  readonly guard: ProxyGuard | null;
}

const notAllowed = 'its address is not allowed (see ALLOW_PRIVATE_PROXIES)';

/** Texts by the code of a network error or of a `ConnectFailure`. */
const texts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refuses connections',
  ECONNRESET: 'it broke the connection off',
  EPIPE: 'it broke the connection off',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up now',
  ETIMEDOUT: 'it did not answer in time',
  EHOSTUNREACH: 'it cannot be reached',
  ENETUNREACH: 'it cannot be reached',
  ADDRESS_REFUSED: notAllowed,
  headTooLong: 'its answer is too long',
  ended: 'it broke the connection off',
};

/** Texts for errors of the SOCKS library, by their message. The library drops the field `code` of network errors, but the message contains the code. */
const socksTexts: readonly (readonly [RegExp, string])[] = [
  [/is not allowed/, notAllowed],
  [/timed out/i, 'it did not answer in time'],
  [/authentication/i, 'it does not take the credentials'],
  [/rejected|NotAllowed|Failure|Refused|Unreachable/i, 'it does not connect to the platform'],
  [/closed/i, 'it broke the connection off'],
];

const saidBySocks = (message: string): string | undefined =>
  Object.entries(texts).find(([code]) => message.split(/[\s:]/).includes(code))?.[1] ??
  socksTexts.find(([pattern]) => pattern.test(message))?.[1];

const failureOf = (error: unknown): ProxyFailure => {
  if (error instanceof ProxyFailure) return error;
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const known = typeof code === 'string' ? texts[code] : undefined;
  const said = typeof message === 'string' ? saidBySocks(message) : undefined;
  return new ProxyFailure(known ?? said ?? 'it does not speak the protocol of its address');
};

const statusText = (status: number): string =>
  status === 407 || status === 401 ? `it does not take the credentials (${status})` : `it does not connect to the platform (${status})`;

/** Makes the fields of a request that the SOCKS library needs. */
const stubRequest = () => Object.assign(new EventEmitter(), { destroy: () => undefined }) as unknown as ClientRequest;

/** Returns the host of an address, without the brackets of IPv6. */
export const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

const isSocks = (url: string): boolean => url.startsWith('socks');

/** Makes the proxy resolve names. A look-up by this process would reveal to its own network where a session connects. */
const remoteNames = (url: string): string => url.replace(/^socks5:/, 'socks5h:');

/** Connects through a SOCKS proxy. The library reads answers of fixed lengths, so a hostile proxy cannot fill the memory. */
const connectBySocks = async ({ url, timeoutMs, guard }: TunnelParts, { host, port }: Destination): Promise<Socket> => {
  const resolve = guard === null ? {} : { lookup: guard.lookup };
  const agent = new SocksProxyAgent(remoteNames(url), { timeout: timeoutMs, socketOptions: resolve as object });
  const socket = (await agent.connect(stubRequest(), { host, port, secureEndpoint: false } as never)) as Socket;
  return socket.setTimeout(0);
};

/** Connects through the proxy. An abort of `signal` ends the exchange with an HTTP proxy. The exchange with a SOCKS proxy has only a time limit. */
const connectBy = async (parts: TunnelParts, to: Destination, signal: AbortSignal): Promise<Socket> => {
  if (isSocks(parts.url)) return connectBySocks(parts, to);
  const { status, socket } = await connectOverHttp({ ...to, proxy: new URL(parts.url), lookup: parts.guard?.lookup, signal });
  if (status === 200) return socket;
  socket.destroy();
  throw new ProxyFailure(statusText(status));
};

export class Tunnel {
  readonly #parts: TunnelParts;
  /** The functions that end the open connections and the running connection attempts. */
  readonly #open = new Set<() => void>();
  #closed = false;

  constructor(parts: TunnelParts) {
    this.#parts = parts;
  }

  /** Makes a connection. Rejects with `ProxyFailure`. */
  async connect(to: Destination): Promise<Socket> {
    const { url, timeoutMs, guard } = this.#parts;
    if (this.#closed) throw new ProxyFailure('the connection is closed');
    // A literal IP address causes no look-up, so the guard must check it before the connection.
    if (guard?.checkHost(hostOf(url))) throw new ProxyFailure(notAllowed);
    const ending = new AbortController();
    const late = Promise.withResolvers<never>();
    const end = (): void => {
      ending.abort();
      late.reject(new ProxyFailure('the connection is closed'));
    };
    const timer = setTimeout(() => {
      late.reject(new ProxyFailure('it did not answer in time'));
      ending.abort();
    }, timeoutMs);
    this.#open.add(end);
    const made = connectBy(this.#parts, to, ending.signal);
    try {
      const socket = await Promise.race([made, late.promise]);
      const destroy = (): void => void socket.destroy();
      this.#open.add(destroy);
      socket.once('close', () => this.#open.delete(destroy));
      return socket;
    } catch (error) {
      // A connection that is made after the failure is destroyed.
      made.then(
        (socket) => socket.destroy(),
        () => undefined,
      );
      throw failureOf(error);
    } finally {
      clearTimeout(timer);
      this.#open.delete(end);
    }
  }

  /** Closes all connections, and aborts connection attempts. Idempotent. */
  close(): void {
    this.#closed = true;
    for (const end of this.#open) end();
    this.#open.clear();
  }
}
