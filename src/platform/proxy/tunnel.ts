/**
 * Connections through a proxy, for the WebSocket and for media alike: bounded in time, ended together, and with a reason that names no
 * secret.
 */
import { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SocksProxyAgent } from 'socks-proxy-agent';

// The CONNECT exchange with an HTTP proxy. Its answer is read with a bound: a hostile proxy could send a head without end.

/** Bytes of an answer's head, as much as Node's own parser takes. */
const mostHead = 16 * 1024;
const headEnd = '\r\n\r\n';

interface ConnectRequest {
  /** `http:` or `https:`, with percent-encoded credentials. */
  readonly proxy: URL;
  /** Resolves the proxy's own name; undefined: the system's resolver. */
  readonly lookup: LookupFunction | undefined;
  readonly host: string;
  readonly port: number;
  /** Ends the exchange; no more than that. */
  readonly signal: AbortSignal;
}

export interface ConnectAnswer {
  readonly status: number;
  /** Stands still until somebody reads from it. */
  readonly socket: Socket;
}

/** `headTooLong`, `noHttp` or `ended`: what is wrong with the answer. */
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

/** Takes pieces until the head is whole, and gives its status then; null before. Nothing is copied twice, however small the pieces are. */
const createHead = () => {
  const bytes = Buffer.alloc(mostHead);
  let length = 0;
  return (piece: Buffer): number | null => {
    const before = length;
    length += piece.copy(bytes, length);
    const end = bytes.subarray(0, length).indexOf(headEnd, Math.max(0, before - headEnd.length));
    if (end === -1 && length === mostHead) throw new ConnectFailure('headTooLong');
    if (end === -1) return null;
    const status = /^HTTP\/1\.[01] (\d{3})\b/.exec(bytes.toString('latin1', 0, end))?.[1];
    if (status === undefined) throw new ConnectFailure('noHttp');
    return Number(status);
  };
};

/** Rejects with `ConnectFailure`, or with what the network said; the socket is destroyed then. */
const connectOverHttp = (request: ConnectRequest): Promise<ConnectAnswer> => {
  const socket = dial(request);
  const take = createHead();
  const { promise, resolve, reject } = Promise.withResolvers<ConnectAnswer>();
  const ended = (): void => reject(new ConnectFailure('ended'));
  const read = (): void => {
    try {
      for (let piece = socket.read() as Buffer | null; piece !== null; piece = socket.read() as Buffer | null) {
        const status = take(piece);
        if (status === null) continue;
        // Bytes behind the head are nobody's: with TLS and HTTP the client speaks first.
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

/** The proxy did not make the connection, or lost it. `message` is one of a fixed set of texts. */
class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  readonly code = 'PROXY_FAILED';
}

interface Destination {
  readonly host: string;
  readonly port: number;
}

/** The guard of proxy addresses. */
export interface ProxyGuard {
  /** Returns why this host may not be used; null if it may. Does not resolve names. */
  checkHost(host: string): string | null;
  /** Resolves names, and refuses those that lead where they may not. */
  readonly lookup: LookupFunction;
}

export interface TunnelParts {
  /** `http`, `https`, `socks5`, `socks5h` or `socks`, with percent-encoded credentials. */
  readonly url: string;
  /** Milliseconds until a connection must be made. */
  readonly timeoutMs: number;
  /** For the address of the proxy; null: it may lie anywhere. The platform's names are resolved by the proxy. */
  readonly guard: ProxyGuard | null;
}

export interface Tunnel {
  /** Rejects with `ProxyFailure`. */
  connect(to: Destination): Promise<Socket>;
  /** Ends every connection, also those being made. Idempotent. */
  close(): void;
}

const notAllowed = 'its address is not allowed (see ALLOW_PRIVATE_PROXIES)';

/** Network errors in words. Other errors are `failed`. */
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

/** Sentences of the SOCKS library, by what they contain. It drops the code of what the network says, and keeps it in the sentence. */
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

/** The fields that the library expects of the request for which it connects. */
const stubRequest = () => Object.assign(new EventEmitter(), { destroy: () => undefined }) as unknown as ClientRequest;

/** Host of an address, without the brackets of IPv6. */
export const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

const isSocks = (url: string): boolean => url.startsWith('socks');

/** Names of the platform always go to the proxy: a look-up of our own would tell our network where a session connects. */
const remoteNames = (url: string): string => url.replace(/^socks5:/, 'socks5h:');

/** The library reads answers of fixed lengths, so that nothing grows while it waits. */
const connectBySocks = async ({ url, timeoutMs, guard }: TunnelParts, { host, port }: Destination): Promise<Socket> => {
  const resolve = guard === null ? {} : { lookup: guard.lookup };
  const agent = new SocksProxyAgent(remoteNames(url), { timeout: timeoutMs, socketOptions: resolve as object });
  const socket = (await agent.connect(stubRequest(), { host, port, secureEndpoint: false } as never)) as Socket;
  return socket.setTimeout(0);
};

/** An abort ends the exchange. */
const connectBy = async (parts: TunnelParts, to: Destination, signal: AbortSignal): Promise<Socket> => {
  if (isSocks(parts.url)) return connectBySocks(parts, to);
  const { status, socket } = await connectOverHttp({ ...to, proxy: new URL(parts.url), lookup: parts.guard?.lookup, signal });
  if (status === 200) return socket;
  socket.destroy();
  throw new ProxyFailure(statusText(status));
};

export const createTunnel = (parts: TunnelParts): Tunnel => {
  const open = new Set<() => void>();
  let closed = false;
  const connect = async (to: Destination): Promise<Socket> => {
    if (closed) throw new ProxyFailure('the connection is closed');
    // A connection to a literal address asks nobody for it.
    if (parts.guard?.checkHost(hostOf(parts.url))) throw new ProxyFailure(notAllowed);
    const ending = new AbortController();
    const late = Promise.withResolvers<never>();
    const end = (): void => {
      ending.abort();
      late.reject(new ProxyFailure('the connection is closed'));
    };
    const timer = setTimeout(() => {
      late.reject(new ProxyFailure('it did not answer in time'));
      ending.abort();
    }, parts.timeoutMs);
    open.add(end);
    const made = connectBy(parts, to, ending.signal);
    try {
      const socket = await Promise.race([made, late.promise]);
      const destroy = (): void => void socket.destroy();
      open.add(destroy);
      socket.once('close', () => open.delete(destroy));
      return socket;
    } catch (error) {
      // One that is made after all is of no use any more.
      made.then(
        (socket) => socket.destroy(),
        () => undefined,
      );
      throw failureOf(error);
    } finally {
      clearTimeout(timer);
      open.delete(end);
    }
  };
  return {
    connect,
    close() {
      closed = true;
      for (const end of open) end();
      open.clear();
    },
  };
};
