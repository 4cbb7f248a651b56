/** The CONNECT exchange with an HTTP proxy. Its answer is read with a bound: a hostile proxy could send a head without end. */
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Bytes of an answer's head, as much as Node's own parser takes. */
const mostHead = 16 * 1024;
const headEnd = '\r\n\r\n';

export interface ConnectRequest {
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
export const connectOverHttp = (request: ConnectRequest): Promise<ConnectAnswer> => {
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
