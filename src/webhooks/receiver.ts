/** Posts events to receivers: one attempt each, bounded in time and bytes, and its outcome is a value. */
import { STATUS_CODES } from 'node:http';
import type { Receiver } from '#actors/ports.ts';
import type { AddressGuard } from './address-guard.ts';
import { createAgent, reasonOf } from './client.ts';
import { post } from './post.ts';

export interface ReceiverOptions {
  readonly guard: AddressGuard;
  /** From the connection to the end of the answer. */
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** To one host. */
  readonly connections?: number;
  /** Unix time in milliseconds, for a Retry-After that names a date. */
  readonly now?: () => number;
}

/** Only the status code matters. The body is read up to this limit so that the connection can be reused. */
const answerBytes = 65_536;
/** Longest pause that a receiver may ask for, in seconds. */
const maxRetryAfter = 3_600;

interface Place {
  /** The reason why nothing is posted to this address; null if it is allowed. */
  readonly refusal: string | null;
  readonly origin: string;
  readonly path: string;
}
const mostKnown = 1000;

/** Seconds of a Retry-After, which is a number of seconds or a date. */
export const retryAfterOf = (header: string, now: number): { retryAfter?: number } => {
  const text = header.trim();
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now) / 1000);
  return Number.isFinite(seconds) && seconds > 0 ? { retryAfter: Math.min(seconds, maxRetryAfter) } : {};
};

export const createReceiver = ({
  guard,
  timeoutMs,
  userAgent,
  connections,
  now = Date.now,
}: ReceiverOptions): Receiver & { close(): Promise<void> } => {
  const dispatcher = createAgent(guard, timeoutMs, connections);
  const defaults = { 'content-type': 'application/json', 'user-agent': userAgent };

  /** Few addresses take all posts, and taking one apart costs as much as a part of the post. */
  const known = new Map<string, Place>();
  const placeOf = (url: string): Place => {
    const found = known.get(url);
    if (found) return found;
    const { origin = '', pathname = '', search = '' } = URL.parse(url) ?? {};
    const place = { refusal: guard.checkUrl(url), origin, path: pathname + search };
    if (known.size >= mostKnown) known.clear();
    known.set(url, place);
    return place;
  };

  return {
    async post(url, body, headers, cuts) {
      const { refusal, origin, path } = placeOf(url);
      if (refusal !== null) return { ok: false, error: `webhook could not be reached: ${refusal}` };
      try {
        const sent = { origin, path, body, headers: { ...defaults, ...headers }, timeoutMs, most: answerBytes, ...(cuts && { cuts }) };
        const { status, retryAfter } = await post(dispatcher, sent);
        if (status >= 200 && status <= 299) return { ok: true, status };
        const error = `webhook returned non-success status: ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
        return { ok: false, status, error, ...retryAfterOf(retryAfter, now()) };
      } catch (error) {
        return { ok: false, error: `webhook could not be reached: ${reasonOf(error)}` };
      }
    },
    objection: guard.checkUrl,
    close: () => dispatcher.destroy(),
  };
};
