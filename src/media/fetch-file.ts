/** Opens files at addresses that a user gave: every hop behind the address guard, bounded in redirects, bytes and silence. */
import { type Dispatcher, request } from 'undici';
import type { AddressGuard } from '#src/webhooks/address-guard.ts';
import { createAgent, reasonOf } from '#src/webhooks/client.ts';
import { nameFrom } from './file-name.ts';
import { MediaFailure, tooManyBytes } from './media-failure.ts';

export interface FetchOptions {
  readonly guard: AddressGuard;
  readonly userAgent: string;
  /** Longest wait for the connection, for the headers and between two pieces of the body. */
  readonly silenceMs: number;
  readonly maxBytes: number;
}

export interface OpenedFile {
  /** Fails with `MediaFailure` when it ends in the middle or falls silent. Leaving it early closes the connection. */
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly filename: string;
}

export interface FileFetcher {
  /** Fails with `MediaFailure`; with the error of the signal when that aborts. */
  open(url: string, signal: AbortSignal): Promise<OpenedFile>;
  close(): Promise<void>;
}

type Answer = Dispatcher.ResponseData;

const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const notFetched = (why: string): MediaFailure => new MediaFailure('invalid', `the file could not be fetched: ${why}`);

/** One value of a header that a server may repeat. */
const headerOf = (answer: Answer, name: string): string => [answer.headers[name]].flat()[0] ?? '';

/** `declared`: what `Content-Length` said; null when it said nothing. */
async function* bodyOf(answer: Answer, declared: number | null, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    const silent = (error as { code?: unknown }).code === 'UND_ERR_BODY_TIMEOUT';
    throw notFetched(silent ? 'the server fell silent in the middle of it' : 'it ended in the middle');
  }
  if (declared !== null && length < declared) throw notFetched('it ended in the middle');
}

export const createFileFetcher = ({ guard, userAgent, silenceMs, maxBytes }: FetchOptions): FileFetcher => {
  const dispatcher = createAgent(guard, silenceMs);
  const headers = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };

  const answerAt = async (url: string, signal: AbortSignal): Promise<Answer> => {
    const objection = guard.checkUrl(url);
    if (objection !== null) throw notFetched(objection);
    try {
      return await request(url, { dispatcher, headers, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw notFetched(reasonOf(error));
    }
  };

  /** Returns why the answer is refused before its body is read; null if it is accepted. */
  const objectionTo = (answer: Answer, declared: number | null): MediaFailure | null => {
    if (answer.statusCode < 200 || answer.statusCode > 299) return notFetched(`the server answered with status ${answer.statusCode}`);
    const encoding = headerOf(answer, 'content-encoding');
    if (encoding && encoding !== 'identity') return notFetched('the server sent it compressed, which was not asked for');
    return declared !== null && declared > maxBytes ? tooManyBytes(maxBytes) : null;
  };

  const open = async (url: string, signal: AbortSignal, hops = maxRedirects): Promise<OpenedFile> => {
    const answer = await answerAt(url, signal);
    const location = headerOf(answer, 'location');
    if (redirects.has(answer.statusCode) && location) {
      // Destroyed, not read to its end: the body of a redirect has no bound.
      answer.body.on('error', () => undefined).destroy();
      const next = URL.parse(location, url);
      if (!next) throw notFetched('the server redirects to what is no address');
      if (hops === 0) throw notFetched(`it is behind more than ${maxRedirects} redirects`);
      return open(next.href, signal, hops - 1);
    }
    const length = headerOf(answer, 'content-length');
    const declared = /^\d+$/.test(length) ? Number(length) : null;
    const objection = objectionTo(answer, declared);
    if (objection) {
      answer.body.on('error', () => undefined).destroy();
      throw objection;
    }
    return { bytes: bodyOf(answer, declared, signal), filename: nameFrom(headerOf(answer, 'content-disposition'), url) };
  };

  return { open, close: () => dispatcher.destroy() };
};
