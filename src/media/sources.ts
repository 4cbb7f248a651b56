/** Sources of files: data URLs, base64, URLs of users, and names of files. */
import { type Dispatcher, request } from 'undici';
import { type AddressGuard, createAgent, reasonOf } from '#src/webhooks/address-guard.ts';
import { MediaFailure, tooManyBytes } from './bounded-work.ts';

// Reads the file name from a source.

const longest = 200;

/** Returns the last part of a path, without characters that file systems refuse; '' if no characters are left. */
export const plainName = (name: string): string => {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const plain = last
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"|?*]/g, '')
    .trim()
    .replace(/^\.+/, '');
  // A cut may leave half of a surrogate pair, which storage does not accept.
  return plain
    .slice(-longest)
    .replace(/^[\udc00-\udfff]/, '')
    .toWellFormed();
};

/** Decodes percent escapes if they are valid. */
const unescaped = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/**
 * Returns the name from the header `Content-Disposition`, or else the last part of the address. The extended form of the header takes
 * precedence (RFC 6266).
 */
const nameFrom = (disposition: string, url: string): string => {
  const extended = /filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1];
  const [, quoted, bare] = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? [];
  const named = extended === undefined ? (quoted?.replace(/\\(.)/g, '$1') ?? bare) : unescaped(extended);
  return plainName(named ?? '') || plainName(unescaped(URL.parse(url)?.pathname ?? ''));
};

// Decodes data URLs and base64 in slices, so a text of 90 MB never has a second copy in memory.

/** The length of a slice that is decoded at once. Decoding a slice needs some milliseconds. In characters. */
const sliceLength = 262_144;
/** The largest data URL without base64. Clients use this form for short texts. In characters. */
const longestPlain = 1_048_576;
const longestHead = 1_024;

const nonsense = (): MediaFailure => new MediaFailure('invalid', 'the file must be an http(s) URL, a data URL or base64');

/** Yields slices of a text. With `escapes`, percent escapes are decoded, and no escape is cut in two. */
function* slicesOf(text: string, from: number, escapes: boolean): Generator<string> {
  let cut = '';
  for (let at = from; at < text.length; at += sliceLength) {
    const slice = cut + text.slice(at, at + sliceLength);
    cut = escapes ? (/%[0-9a-f]?$/i.exec(slice)?.[0] ?? '') : '';
    const whole = slice.slice(0, slice.length - cut.length);
    yield escapes ? whole.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16))) : whole;
  }
  if (cut) yield cut;
}

/**
 * Decodes the last two or three digits. Throws if the unused bits of the last digit are not zero. These bits are zero in valid base64, but rarely in an
 * ordinary word.
 */
const lastBytes = (digits: string): Buffer => {
  const bytes = Buffer.from(digits, 'base64');
  if (digits.length === 1 || bytes.toString('base64url') !== digits.replaceAll('+', '-').replaceAll('/', '_')) throw nonsense();
  return bytes;
};

/** Decodes base64 in the standard or the URL-safe alphabet, with white space, with or without padding. Throws on any other character. */
function* base64Bytes(text: string, from: number, escapes: boolean): Generator<Buffer> {
  let [rest, padding] = ['', 0];
  for (const slice of slicesOf(text, from, escapes)) {
    const found = /^([\w+/-]*)(={0,2})$/.exec(slice.replace(/\s+/g, ''));
    const digits = found?.[1] ?? '';
    if (!found || (padding > 0 && digits !== '')) throw nonsense();
    padding += found[2]?.length ?? 0;
    const all = rest + digits;
    const whole = all.length - (all.length % 4);
    rest = all.slice(whole);
    if (whole > 0) yield Buffer.from(all.slice(0, whole), 'base64');
  }
  if (padding > 0 && rest.length + padding !== 4) throw nonsense();
  if (rest) yield lastBytes(rest);
}

function* plainBytes(text: string): Generator<Buffer> {
  if (text.length > longestPlain) throw new MediaFailure('invalid', 'a data URL as long as this must hold base64');
  const runs = text.matchAll(/(?:%[0-9a-f]{2})+|[^%]+|%/gi);
  for (const [run] of runs) yield /^%[0-9a-f]{2}/i.test(run) ? Buffer.from(run.replaceAll('%', ''), 'hex') : Buffer.from(run);
}

/**
 * Returns the bytes of a text, and the name that a data URL may contain (`;name=a.png`). The bytes fail with `MediaFailure` if the text is not
 * valid.
 */
export const inlineBytes = (text: string): { readonly bytes: Iterable<Buffer>; readonly filename: string } => {
  if (!/^data:/i.test(text)) return { bytes: base64Bytes(text, 0, false), filename: '' };
  const comma = text.slice(0, longestHead).indexOf(',');
  if (comma < 0) throw nonsense();
  const head = text.slice(0, comma);
  const filename = unescaped(/;\s*(?:file)?name="?([^;"]+)/i.exec(head)?.[1] ?? '');
  return { filename, bytes: /;\s*base64\s*$/i.test(head) ? base64Bytes(text, comma + 1, true) : plainBytes(text.slice(comma + 1)) };
};

// Fetches URLs of users. The address guard checks every redirect. Redirects, bytes and silence are bounded.

export interface FetchOptions {
  readonly guard: AddressGuard;
  readonly userAgent: string;
  /** The longest wait for the connection, for the headers and between two chunks of the body. In milliseconds. */
  readonly silenceMs: number;
  readonly maxBytes: number;
}

interface OpenedFile {
  /** The body. It fails with `MediaFailure` if it is cut off or stalls. Leaving the loop early closes the connection. */
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly filename: string;
}

interface FileFetcher {
  /** Opens an address. Fails with `MediaFailure`, or with the reason of the signal if the signal aborts. */
  open(url: string, signal: AbortSignal): Promise<OpenedFile>;
  close(): Promise<void>;
}

type Answer = Dispatcher.ResponseData;

const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const notFetched = (why: string): MediaFailure => new MediaFailure('invalid', `the file could not be fetched: ${why}`);

/** Returns one value of a header that a server may repeat. */
const headerOf = (answer: Answer, name: string): string => [answer.headers[name]].flat()[0] ?? '';

/** Yields the body. `declared` is the value of `Content-Length`; null if the header is missing. */
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

  /** Returns the reason to refuse the answer before its body is read; null to accept the answer. */
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
      // The body of a redirect has no bound, so it is destroyed and not read to its end.
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

// Makes streams abortable, because a stream may stay silent for ever.

const noop = (): void => undefined;

/** Yields the values of the source. Fails with the reason of the signal as soon as it aborts, even if the source is stuck. */
export async function* untilAborted<T>(source: AsyncIterable<T> | Iterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  let fail: (reason: unknown) => void = noop;
  const abort = (): void => fail(signal.reason);
  signal.addEventListener('abort', abort);
  const next = (): Promise<IteratorResult<T>> => {
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<T>>();
    fail = reject;
    if (signal.aborted) reject(signal.reason);
    else Promise.try(() => iterator.next()).then(resolve, reject);
    return promise;
  };
  try {
    for (let item = await next(); !item.done; item = await next()) yield item.value;
  } finally {
    signal.removeEventListener('abort', abort);
    // The call is not awaited, because a stuck source never returns.
    Promise.try(() => iterator.return?.()).catch(noop);
  }
}
