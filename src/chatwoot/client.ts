/** Sends one request to a Chatwoot server. The request is guarded and bounded in time and bytes, and its errors contain no secret. */
import { STATUS_CODES } from 'node:http';
import { FormData, request } from 'undici';
import type { ChatwootTarget } from '#actors/model.ts';
import type { ChatwootAnswer, ChatwootFailure } from '#actors/ports.ts';
import { type AddressGuard, createAgent, deadline, reasonOf } from '#src/webhooks/address-guard.ts';
import { retryAfterOf } from '#src/webhooks/receiver.ts';

export interface ClientOptions {
  readonly guard: AddressGuard;
  readonly userAgent: string;
  /** Time-out of a request, in milliseconds. A request with a file gets this time for each started 10 MB. */
  readonly timeoutMs: number;
  /** The time-out in milliseconds if a caller waits; 4 s if absent. */
  readonly awaitedMs?: number;
  /** The largest number of concurrent connections to one host. */
  readonly connections: number;
}

export interface Ask {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** The path after the account, such as `inboxes/5`. */
  readonly path: string;
  /** JSON, or form data with a file. */
  readonly body?: object | FormData;
  /** The size of the file in the form data. In bytes. */
  readonly bytes?: number;
  /** True if a caller waits for the answer. The time-out is then shorter. */
  readonly isAwaited?: boolean;
}

export interface ChatwootClient {
  /** Sends a request. The value is the JSON of the answer. Never rejects. */
  ask(target: ChatwootTarget, ask: Ask): Promise<ChatwootAnswer<unknown>>;
  close(): Promise<void>;
}

/** The largest size of an answer. A page of conversations has some hundred KB. In bytes. */
const answerBytes = 4 * 1024 * 1024;
const slice = 10_000_000;

/** Texts of refusals. The server's own words are never used, because they may come from inside the operator's network, or repeat the request. */
const sentences: Readonly<Record<number, string>> = {
  401: 'Chatwoot does not take the access token',
  403: 'Chatwoot does not allow this to the owner of the access token',
  404: 'Chatwoot does not know it',
  413: 'Chatwoot takes no file of this size',
  422: 'Chatwoot refused the data (422)',
  429: 'Chatwoot is asked too often',
};

const sentenceOf = (status: number): string => sentences[status] ?? `Chatwoot answered ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();

/**
 * The wait before a POST without an answer is retried. Chatwoot may still process the first POST, and has no idempotency key by which it could reject the
 * second POST. Chatwoot ends a request 15 s after it begins to process the request (its RACK_TIMEOUT_SERVICE_TIMEOUT). This wait and the time-out of 20 s are
 * 30 s together, so the first POST may also have waited in a queue for 15 s. In seconds.
 */
const settling = 10;

/** Errors of a request that Chatwoot has read and did not answer in time. */
const timedOut: ReadonlySet<unknown> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
/** Statuses of proxies that got no answer from Chatwoot in time. */
const unanswered: ReadonlySet<number> = new Set([504, 524]);

const settlingOf = ({ method }: Ask, isUnanswered: boolean): { readonly laneAfter?: number } =>
  isUnanswered && method === 'POST' ? { laneAfter: settling } : {};

class TooLong extends Error {}

const read = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > answerBytes) throw new TooLong();
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
};

const failure = (error: unknown): ChatwootFailure => {
  if (error instanceof TooLong) return { ok: false, error: 'Chatwoot gave too long an answer' };
  if (error instanceof SyntaxError) return { ok: false, error: 'what answers there is no Chatwoot: the answer is no JSON' };
  return { ok: false, error: `Chatwoot could not be reached: ${reasonOf(error)}` };
};

export const createChatwootClient = ({ guard, userAgent, timeoutMs, awaitedMs = 4_000, connections }: ClientOptions): ChatwootClient => {
  const dispatcher = createAgent(guard, timeoutMs, connections);

  const answerOf = async ({ url, accountId, accessToken }: ChatwootTarget, ask: Ask, signal: AbortSignal) => {
    const { method, path, body } = ask;
    const isForm = body instanceof FormData;
    const answer = await request(`${url}/api/v1/accounts/${accountId}/${path}`, {
      method,
      dispatcher,
      signal,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        // The name has hyphens, because proxies in front of Chatwoot drop names with underscores.
        'api-access-token': accessToken,
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const { statusCode: status, headers } = answer;
    if (status >= 200 && status <= 299) return { ok: true, value: JSON.parse((await read(answer.body)) || '{}') as unknown } as const;
    await answer.body.dump({ limit: 65_536 });
    const patience = { ...retryAfterOf(String(headers['retry-after'] ?? ''), Date.now()), ...settlingOf(ask, unanswered.has(status)) };
    return { ok: false, status, error: sentenceOf(status), ...patience } as const;
  };

  return {
    async ask(target, ask) {
      const refusal = guard.checkUrl(target.url);
      if (refusal !== null) return { ok: false, error: `Chatwoot could not be reached: ${refusal}` };
      const whole = timeoutMs * Math.max(1, Math.ceil((ask.bytes ?? 0) / slice));
      const { signal, clear } = deadline(ask.isAwaited ? Math.min(whole, awaitedMs) : whole);
      try {
        return await answerOf(target, ask, signal);
      } catch (error) {
        return { ...failure(error), ...settlingOf(ask, signal.aborted || timedOut.has((error as { code?: unknown }).code)) };
      } finally {
        clear();
      }
    },
    close: () => dispatcher.destroy(),
  };
};
