/** Uploads a file to a media host. An upload can be resumed, because a host reports the stored part of a file. Also queries the hosts and their token. */
import { Readable } from 'node:stream';
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, type WASocket } from '@whiskeysockets/baileys';
import { type Dispatcher, request } from 'undici';
import type { SealedFile } from './sealed-file.ts';

// One upload of a file to one media host, and the query for the bytes that the host has already.

export interface HostedFile {
  readonly url: string;
  readonly directPath: string;
  /** The host's name for a file of a channel; '' for other files. */
  readonly handle: string;
}

/**
 * The outcome of an upload. `unauthorised`: the permission to upload has expired. `why`: the reason, as the end of a sentence that begins with the name of
 * the host. `code`: the status of the refusal; null without one.
 */
export type PutOutcome =
  | { readonly kind: 'kept'; readonly file: HostedFile }
  | { readonly kind: 'unauthorised'; readonly why: string; readonly code: number }
  | { readonly kind: 'failed'; readonly why: string; readonly code: number | null };

export interface PutTarget {
  readonly host: string;
  readonly auth: string;
  /** The folder of the host, such as `mms/image`. */
  readonly folder: string;
  readonly file: Pick<SealedFile, 'hash' | 'size' | 'bytes'>;
  readonly dispatcher: Dispatcher | undefined;
  /** Aborts the whole upload, including retries. */
  readonly signal: AbortSignal;
  /** The longest time in which a host neither accepts a byte nor answers. In milliseconds. */
  readonly silenceMs: number;
}

/** The beginning of `PutTarget.folder` for files of channels. */
export const channelFolder = 'newsletter/';
const origin = 'https://web.whatsapp.com';
/** The size limit of an answer. Usual answers have some hundred bytes. In bytes. */
const longestAnswer = 65_536;

const addressOf = ({ host, auth, folder, file }: PutTarget, more: Readonly<Record<string, string>>): string => {
  const token = file.hash.toString('base64url');
  return `https://${host}/${folder}/${token}?${new URLSearchParams({ auth, token, ...more }).toString()}`;
};

interface HostAnswer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

const jsonOf = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? (json as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
};

/** The error if a host accepted no byte and sent no answer for too long. */
class Silence extends Error {}

/** Posts a body and reads the answer. Rejects if the connection fails, with `Silence` after a time-out, and if `signal` aborts. */
const post = async (target: PutTarget, url: string, body: AsyncGenerator<Buffer> | null, length: number): Promise<HostAnswer> => {
  const silence = new AbortController();
  const silent = (): void => silence.abort();
  let timer = setTimeout(silent, target.silenceMs);
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(silent, target.silenceMs);
  };
  async function* timedBody(): AsyncGenerator<Buffer> {
    for await (const piece of body ?? []) {
      heard();
      yield piece;
    }
  }
  const stream = Readable.from(timedBody());
  // An interrupted upload also destroys its body with an error. The error is ignored, because the request reports the failure.
  stream.on('error', () => undefined);
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/octet-stream', 'content-length': String(length) },
      body: stream,
      signal: AbortSignal.any([target.signal, silence.signal]),
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(target.dispatcher ? { dispatcher: target.dispatcher } : {}),
    });
    heard();
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of answer.body as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > longestAnswer) break;
      pieces.push(piece);
    }
    return { status: answer.statusCode, json: jsonOf(Buffer.concat(pieces).toString()) };
  } catch (error) {
    throw silence.signal.aborted ? new Silence() : error;
  } finally {
    clearTimeout(timer);
    stream.destroy();
  }
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Reads the address of the uploaded file. Returns null if the answer lacks a field that a message needs. */
const hostedFileOf = ({ url, direct_path: path, handle }: HostAnswer['json'], { folder }: PutTarget): HostedFile | null => {
  const file = { url: textOf(url), directPath: textOf(path), handle: textOf(handle) };
  return file.directPath === '' || (folder.startsWith(channelFolder) && file.handle === '') ? null : file;
};

const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? ` (${code})` : '';
};

/** Returns the number of bytes that the host has; 0 if the host does not report it. If the host has all bytes, returns the address of the file. */
export const askProgress = async (target: PutTarget): Promise<number | HostedFile> => {
  const answer = await post(target, addressOf(target, { resume: '1' }), null, 0).catch(() => null);
  target.signal.throwIfAborted();
  if (answer === null || answer.status >= 300) return 0;
  const file = answer.json['resume'] === 'complete' ? hostedFileOf(answer.json, target) : null;
  const offset = Number(answer.json['resume']);
  return file ?? (Number.isInteger(offset) && offset > 0 && offset < target.file.size ? offset : 0);
};

/** Sends the file from this offset on. Rejects only if `signal` aborts. */
export const put = async (target: PutTarget, offset: number): Promise<PutOutcome> => {
  const url = addressOf(target, offset > 0 ? { file_offset: String(offset) } : {});
  try {
    const { status, json } = await post(target, url, target.file.bytes(offset), target.file.size - offset);
    const why = `answered ${status}`;
    if (status === 401 || status === 403) return { kind: 'unauthorised', why, code: status };
    const file = status < 300 ? hostedFileOf(json, target) : null;
    if (file) return { kind: 'kept', file };
    return status < 300 ? { kind: 'failed', why: 'did not say where the file is', code: null } : { kind: 'failed', why, code: status };
  } catch (error) {
    target.signal.throwIfAborted();
    if (error instanceof Silence) return { kind: 'failed', why: `took nothing for ${target.silenceMs / 1000} seconds`, code: null };
    return { kind: 'failed', why: `broke the connection${codeOf(error)}`, code: null };
  }
};

// The hosts for uploads and their token. They are queried from the platform, and cached for the lifetime that the platform states.

interface MediaHosts {
  readonly auth: string;
  /** Host names in the order of preference, with a port if there is one. Empty if the platform names no host. */
  readonly names: readonly string[];
  /** The end of the validity of the names and the token, in Unix milliseconds. */
  readonly until: number;
}

const hostsRequest: BinaryNode = {
  tag: 'iq',
  attrs: { type: 'set', xmlns: 'w:m', to: '@s.whatsapp.net' },
  content: [{ tag: 'media_conn', attrs: {} }],
};

const hostsOf = (answer: BinaryNode, now: number): MediaHosts => {
  const { attrs = {} } = getBinaryNodeChild(answer, 'media_conn') ?? {};
  const hosts = getBinaryNodeChildren(getBinaryNodeChild(answer, 'media_conn'), 'host').map(({ attrs: host }) => host);
  const ordered = [...hosts.filter(({ type }) => type !== 'fallback'), ...hosts.filter(({ type }) => type === 'fallback')];
  const names = [...ordered.map(({ hostname }) => hostname), ...ordered.map(({ fallback_hostname: name }) => name)];
  const seconds = Math.min(Number(attrs['ttl'] ?? 0), Number(attrs['auth_ttl'] ?? attrs['ttl'] ?? 0));
  return {
    auth: attrs['auth'] ?? '',
    names: [...new Set(names.filter((name): name is string => Boolean(name)))],
    until: now + (Number.isFinite(seconds) ? seconds : 0) * 1000,
  };
};

/** Caches the hosts. The library is not used, because it caches a failed query until its connection ends. Rejects with the errors of `query`. */
export class MediaHostList {
  readonly #sock: Pick<WASocket, 'query'>;
  readonly #now: () => number;
  #known: Promise<MediaHosts> | null = null;

  constructor(sock: Pick<WASocket, 'query'>, now: () => number) {
    this.#sock = sock;
    this.#now = now;
  }

  async current(): Promise<MediaHosts> {
    const hosts = await (this.#known ?? this.#ask());
    return hosts.until > this.#now() ? hosts : this.after(hosts);
  }

  /** Returns newer hosts than `stale`, whose permission was refused or has expired. */
  async after(stale: MediaHosts): Promise<MediaHosts> {
    const hosts = await (this.#known ?? this.#ask());
    return hosts === stale ? this.#ask() : hosts;
  }

  #ask(): Promise<MediaHosts> {
    const asked: Promise<MediaHosts> = this.#sock.query(hostsRequest).then((answer: BinaryNode) => hostsOf(answer, this.#now()));
    this.#known = asked;
    asked.catch(() => {
      if (this.#known === asked) this.#known = null;
    });
    return asked;
  }
}
