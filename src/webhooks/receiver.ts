/** Posts events to receivers. Each call makes one attempt, bounded in time and bytes, and returns its outcome as a value. */
import { createHmac, randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Cuts, Receiver, Signer } from '#actors/ports.ts';
import { type AddressGuard, createAgent, reasonOf } from './address-guard.ts';

// Sends one POST. Only the status and the Retry-After header of the answer matter. The beginning of a refusal's body is kept. The code uses the
// dispatcher directly, because the streams and signals of an ordinary request would double the cost of a delivery.

export interface Answer {
  readonly status: number;
  readonly retryAfter: string;
  /** The beginning of the body of a refusal; '' for a success. */
  readonly text: string;
}

/** The length of the kept beginning of a refusal's body. An operator finds the reason in this part. In bytes. */
const keptBytes = 1_000;

interface PostOptions {
  readonly origin: string;
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The time-out from the call to the end of the answer. In milliseconds. */
  readonly timeoutMs: number;
  /** The largest number of bytes of the answer that are read. The connection can be used again only after the whole answer was read. */
  readonly most: number;
  readonly cuts?: Cuts;
}

/** Returns the text of truncated bytes, without an incomplete character at the end, and with no control characters but tabs and line breaks. */
const readable = (bytes: Buffer): string => {
  const text = bytes.toString();
  let end = text.length;
  while (text[end - 1] === '\uFFFD') end -= 1;
  return text.slice(0, end).replace(/[^\P{Cc}\t\n\r]/gu, '');
};

/** Returns the error of an attempt that exceeded its time-out. The error has the code of other time-outs, so it is reported like them. */
const late = (): Error => Object.assign(new Error('no answer in time'), { code: 'UND_ERR_ABORTED' });

class Listener implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #cuts: Cuts | undefined;
  readonly #cutNow = (): void => this.#cut(late());
  #controller: Dispatcher.DispatchController | null = null;
  #answer: Omit<Answer, 'text'> | null = null;
  readonly #kept: Buffer[] = [];
  /** The length of the body that may still be kept. In bytes. */
  #wanted = 0;
  #left: number;
  #over = false;

  constructor({ timeoutMs, most, cuts }: PostOptions, resolve: (answer: Answer) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#left = most;
    this.#timer = setTimeout(this.#cutNow, timeoutMs);
    this.#cuts = cuts?.add(this.#cutNow);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The attempt ended while it waited for a connection.
    if (this.#over) controller.abort(late());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Readonly<Record<string, unknown>>): void {
    if (status < 200) return; // an informational answer (1xx)
    const asked = headers['retry-after'];
    this.#answer = { status, retryAfter: typeof asked === 'string' ? asked : '' };
    if (status > 299) this.#wanted = keptBytes;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#left -= chunk.length;
    this.#keep(chunk);
    if (this.#left < 0) this.#cut(late());
  }

  #keep(chunk: Buffer): void {
    if (this.#wanted === 0) return;
    // The bytes are copied, because the parser reuses the memory of the chunk.
    const kept = Buffer.from(chunk.subarray(0, this.#wanted));
    this.#kept.push(kept);
    this.#wanted -= kept.length;
  }

  onResponseEnd(): void {
    if (this.#answer) this.#end(this.#answer);
    else this.fail(late());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** Ends the attempt with the status if one has arrived, and otherwise with the error. */
  fail(error: unknown): void {
    if (this.#over) return;
    if (this.#answer) return this.#end(this.#answer);
    this.#finish();
    this.#reject(error);
  }

  #end(answer: Omit<Answer, 'text'>): void {
    this.#finish();
    this.#resolve({
      ...answer,
      text: this.#kept.length === 0 ? '' : readable(Buffer.concat(this.#kept)),
    });
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#cuts?.delete(this.#cutNow);
  }

  #cut(error: Error): void {
    this.fail(error);
    this.#controller?.abort(error);
  }
}

/** Posts once. Rejects if no status arrives. The error has the code of undici or of the system. */
const post = (dispatcher: Dispatcher, options: PostOptions): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const listener = new Listener(options, resolve, reject);
    const { origin, path, body, headers } = options;
    try {
      dispatcher.dispatch({ origin, path, body, headers, method: 'POST' }, listener);
    } catch (error) {
      listener.fail(error);
    }
  });

interface ReceiverOptions {
  readonly guard: AddressGuard;
  /** Time-out of a whole attempt, in milliseconds. */
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** The largest number of connections to one host. */
  readonly connections?: number;
  /** Returns the time in Unix milliseconds, for a Retry-After that names a date. */
  readonly now?: () => number;
}

/** The largest number of bytes of an answer that are read. A connection can be reused only if the whole body was read. */
const answerBytes = 65_536;
/** The longest pause that a receiver can request. A longer pause is shortened. In seconds. */
const maxRetryAfter = 3_600;

interface AddressVerdict {
  /** The reason why requests to this address are refused; null if the address is allowed. */
  readonly refusal: string | null;
  readonly origin: string;
  readonly path: string;
}
const mostKnown = 1000;

/** Reads a Retry-After header, which is a number of seconds or a date. Returns seconds. */
export const retryAfterOf = (header: string, now: number): { retryAfter?: number } => {
  const text = header.trim();
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now) / 1000);
  return Number.isFinite(seconds) && seconds > 0 ? { retryAfter: Math.min(seconds, maxRetryAfter) } : {};
};

export class WebhookReceiver implements Receiver {
  readonly #options: ReceiverOptions;
  readonly #now: () => number;
  readonly #dispatcher: Dispatcher;
  readonly #defaults: Readonly<Record<string, string>>;
  /** Parsed addresses. Most posts go to few addresses, and parsing an address is a noticeable part of the time of a post. */
  readonly #known = new Map<string, AddressVerdict>();

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#dispatcher = createAgent(options.guard, options.timeoutMs, options.connections);
    this.#defaults = { 'content-type': 'application/json', 'user-agent': options.userAgent };
  }

  async post(url: string, body: string, headers: Readonly<Record<string, string>>, cuts?: Cuts): ReturnType<Receiver['post']> {
    const { refusal, origin, path } = this.#verdictOf(url);
    if (refusal !== null) return { ok: false, error: `webhook could not be reached: ${refusal}` };
    try {
      const { timeoutMs } = this.#options;
      const sent = { origin, path, body, headers: { ...this.#defaults, ...headers }, timeoutMs, most: answerBytes, ...(cuts && { cuts }) };
      const { status, retryAfter, text } = await post(this.#dispatcher, sent);
      if (status >= 200 && status <= 299) return { ok: true, status };
      const error = `webhook returned non-success status: ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
      return { ok: false, status, error, ...(text === '' ? {} : { answer: text }), ...retryAfterOf(retryAfter, this.#now()) };
    } catch (error) {
      return { ok: false, error: `webhook could not be reached: ${reasonOf(error)}` };
    }
  }

  objection(url: string): string | null {
    return this.#options.guard.checkUrl(url);
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }

  #verdictOf(url: string): AddressVerdict {
    const found = this.#known.get(url);
    if (found) return found;
    const { origin = '', pathname = '', search = '' } = URL.parse(url) ?? {};
    const verdict = { refusal: this.#options.guard.checkUrl(url), origin, path: pathname + search };
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.set(url, verdict);
    return verdict;
  }
}

// Signatures of the Standard Webhooks specification: HMAC-SHA256 over id, timestamp and body, under a secret that both sides know.

const prefix = 'whsec_';
/** The lengths of a secret in bytes: the least and the most that the specification allows, and the length of a generated secret. */
const [least, most, made] = [24, 64, 32];

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(prefix.length), 'base64');

export const signer: Signer = {
  make: () => prefix + randomBytes(made).toString('base64'),
  objection(secret) {
    const text = secret.slice(prefix.length);
    const wellFormed = secret.startsWith(prefix) && /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0;
    const { length } = keyOf(secret);
    if (wellFormed && length >= least && length <= most) return null;
    return `secret must be true, empty, or ${prefix} with ${least} to ${most} bytes in base64`;
  },
  sign: (secret, id, timestamp, body) => `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
};
