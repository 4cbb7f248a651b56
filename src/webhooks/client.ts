/** The HTTP client for addresses that a user gave: guarded, pooled, bounded, and with errors that reveal nothing secret. */
import { Agent } from 'undici';
import { AddressRefused, type AddressGuard } from './address-guard.ts';

/** `most`: bytes of an answer; -1: no bound. */
export const createAgent = (guard: AddressGuard, timeoutMs: number, connections = 64, most = -1): Agent =>
  new Agent({
    // One answer never waits for another on the same connection, and a slow receiver holds no more than its own.
    allowH2: false,
    pipelining: 1,
    connections,
    keepAliveTimeout: 10_000,
    connect: { lookup: guard.lookup, timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: 16_384,
    maxResponseSize: most,
  });

/** A signal that aborts after `ms`, and a way to forget it: an `AbortSignal.timeout` would stay behind for every request that was quicker. */
export const deadline = (ms: number): { readonly signal: AbortSignal; readonly clear: () => void } => {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
};

const sentences: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'connection closed before the answer'],
  [/^ENOTFOUND$/, 'host not found'],
  [/^EAI_/, 'host name could not be looked up'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'host unreachable'],
  [/^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/, 'no answer in time'],
  [/^(?:UND_ERR_ABORTED|ABORT_ERR|AbortError)$/, 'no answer in time'],
  [/^(?:UND_ERR_DESTROYED|UND_ERR_CLOSED)$/, 'the server is stopping'],
  [/^(?:HTTPParserError|HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES)/, 'the answer is not valid HTTP'],
  [/CERT|VERIFY|SSL|TLS|EPROTO/, 'TLS failed'],
];

/** A readable reason without address, path or anything else of the URL. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AddressRefused) return error.message;
  const { code, name } = error as { code?: unknown; name?: unknown };
  const word = typeof code === 'string' ? code : String(name);
  const sentence = sentences.find(([pattern]) => pattern.test(word))?.[1];
  return sentence === undefined ? word : sentence === 'TLS failed' ? `${sentence} (${word})` : sentence;
};
