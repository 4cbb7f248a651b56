/** Connections through a proxy, for the WebSocket and for media alike: bounded in time, ended together, and with a reason that names no secret. */
import { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import { SocksProxyAgent } from 'socks-proxy-agent';
import { connectOverHttp } from './http-connect.ts';

/** The proxy did not make the connection, or lost it. `message` is one of a fixed set of texts. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  readonly code = 'PROXY_FAILED';
}

export interface Destination {
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
