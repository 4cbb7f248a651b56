/** The media host: HTTPS uploads and downloads of files, with a certificate from the sandbox's own certificate authority. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep, setTimeout as wait } from 'node:timers/promises';
import { generate } from 'selfsigned';
import type { Fault } from './interface.ts';
import type { Faults } from './faults.ts';
import { channelPath, handleOf, isPreview, makePreview, maxMedia, type Media } from './media.ts';
import type { Counters } from './stats.ts';
import type { Records } from './store/database.ts';

// Uploads to the media host: `POST /mms/<type>/<hash>` of encrypted files, `POST /newsletter/newsletter-<type>/<hash>` of plain files, and `POST
// /product/image/<hash>` of pictures of products, which are plain JPEGs. The hash is the SHA-256 of the sent bytes, in URL-safe base64. An interrupted upload
// is resumed with `file_offset`. A request with `resume=1` asks for the number of stored bytes.

/** The token that permits uploads. Clients request it with `media_conn`, and a fault can revoke it. */
export class MediaRights {
  #auth = MediaRights.#make();

  static #make(): string {
    return randomBytes(24).toString('base64url');
  }

  get auth(): string {
    return this.#auth;
  }

  holds(auth: string | null): boolean {
    return auth === this.#auth;
  }

  /** Revokes the token and makes a new one. */
  renew(): void {
    this.#auth = MediaRights.#make();
  }
}

interface UploadParts {
  readonly media: Media;
  readonly counters: Counters;
  readonly rights: MediaRights;
  readonly faults: Faults;
}

/** The status and body of an answer. */
export type HostAnswer = readonly [status: number, body: object];

const path = /^\/(?:mms|product|pps|newsletter)\/(?<type>[\w-]+)\/(?<hash>[\w%=-]+)$/;

const refused = (status: number, error: string): HostAnswer => [status, { error }];

/** Makes a stream that passes bytes on and fails after more than `left` bytes. After `cutAt` bytes, it ends its output and calls `cut`. */
const meter = (left: number, cutAt: number, cut: () => void): Transform => {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      seen += chunk.length;
      if (seen > left) return next(new RangeError('file too large'));
      if (seen <= cutAt) return next(null, chunk);
      this.push(chunk.subarray(0, Math.max(0, chunk.length - (seen - cutAt))));
      this.push(null);
      cut();
    },
  });
};

/** Waits `ms` milliseconds. Returns false if the client disconnects meanwhile. */
const pause = async (request: IncomingMessage, ms: number): Promise<boolean> => {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  request.socket.once('close', leave);
  const stayed = await sleep(ms, true, { signal: gone.signal }).catch(() => false);
  request.socket.off('close', leave);
  return stayed;
};

const drain = async (request: IncomingMessage): Promise<void> => {
  for await (const _ of request);
};

/** Handles an upload and returns its answer; undefined if the connection broke. */
async function upload(parts: UploadParts, url: URL, request: IncomingMessage): Promise<HostAnswer | undefined> {
  const { media, counters, rights, faults } = parts;
  const { type = '', hash = '' } = path.exec(url.pathname)?.groups ?? {};
  const token = decodeURIComponent(hash);
  const asks = url.searchParams.get('resume') === '1';
  if (!asks) counters.media.begun += 1;
  if (faults.take('uploadUnauthorised')) rights.renew();
  const slow = faults.take('uploadSlow');
  if (slow && !(await pause(request, slow.ms ?? 1000))) return undefined;
  if (!rights.holds(url.searchParams.get('auth'))) return drain(request).then(() => refused(401, 'wrong auth'));
  if (token === '' || url.searchParams.get('token') !== token) return drain(request).then(() => refused(400, 'wrong token'));
  if (asks) return drain(request).then(() => progress(parts, type, token));
  const refusal = faults.take('uploadRefused');
  if (refusal) return drain(request).then(() => refused(refusal.code ?? 507, 'refused by a fault'));
  return media.inTurn(token, () => take(parts, url, request, token, type));
}

/** Receives an upload. The caller runs uploads of the same file one after the other, because they share the part file. */
async function take(
  { media, counters, faults }: UploadParts,
  url: URL,
  request: IncomingMessage,
  token: string,
  type: string,
): Promise<HostAnswer | undefined> {
  const offset = Number(url.searchParams.get('file_offset') ?? 0);
  const known = await media.partSize(token);
  if (offset !== 0 && offset !== known) return drain(request).then(() => refused(416, `${known} bytes are here`));
  const half = Math.floor(Number(request.headers['content-length'] ?? 0) / 2);
  const cutAt = faults.take('uploadCut') ? half : Number.POSITIVE_INFINITY;
  const target = createWriteStream(media.part(token), offset === 0 ? { flags: 'w' } : { flags: 'r+', start: offset });
  let isCut = false;
  const cut = (): void => {
    isCut = true;
    request.destroy();
  };
  // A pipeline may hang if its source is destroyed after a stream in its middle has ended. The end of the output is therefore awaited too.
  const written = Promise.race([pipeline(request, meter(maxMedia - offset, cutAt, cut), target), once(target, 'finish')]);
  const broken = await written.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (broken instanceof RangeError) return refused(413, broken.message);
  if (broken !== undefined || isCut) return undefined;
  if (url.pathname.startsWith('/product/') && !(await isJpeg(media.part(token)))) return refused(415, 'a JPEG is wanted');
  const directPath = await media.adopt(token);
  if (directPath === undefined) return refused(400, 'hash differs');
  counters.uploaded(String(request.headers.host), offset > 0);
  return [200, answerOf(media, type, directPath)];
}

/** Returns true if the first bytes of a file are those of a JPEG. */
const isJpeg = async (file: string): Promise<boolean> => {
  await using opened = await open(file, 'r');
  const { buffer } = await opened.read(Buffer.alloc(3), 0, 3, 0);
  return buffer.toString('hex') === 'ffd8ff';
};

const answerOf = (media: Media, type: string, stored: string): object => {
  if (!type.startsWith('newsletter-')) return { url: media.url(stored), direct_path: stored };
  const directPath = channelPath(stored);
  return { url: media.url(directPath), direct_path: directPath, handle: handleOf(directPath) };
};

async function progress({ media }: UploadParts, type: string, token: string): Promise<HostAnswer> {
  const directPath = await media.stored(token);
  if (directPath !== undefined) return [200, { resume: 'complete', ...answerOf(media, type, directPath) }];
  return [200, { resume: String(await media.partSize(token)) }];
}

function respond(response: ServerResponse, [status, body]: HostAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...(status < 300 ? {} : { connection: 'close' }) });
  response.end(JSON.stringify(body));
}

// Faults of the media host in a download: the file is missing, the transfer breaks off or is slow, or the bytes are wrong.

export const damageKinds = ['mediaGone', 'mediaCut', 'mediaSlow', 'mediaForged'] as const;

/** Returns the next fault for a download, and counts one use of it. */
const takeDamage = (faults: Faults): Fault | undefined => {
  for (const kind of damageKinds) {
    const fault = faults.take(kind);
    if (fault) return fault;
  }
  return undefined;
};

/** The largest size of a chunk of a download. The fault `mediaSlow` delays each chunk. In bytes. */
const slowChunk = 16_384;

/** Yields the bytes of a file with the effect of the fault, if there is one. With `mediaCut`, throws in the middle. */
async function* damaged(
  path: string,
  range: { readonly start: number; readonly end: number },
  fault: Fault | undefined,
): AsyncGenerator<Buffer> {
  const length = range.end - range.start + 1;
  const half = length / 2;
  const forged = fault?.kind === 'mediaForged' ? Math.floor(fault.code ? length - fault.code : half) : -1;
  let sent = 0;
  for await (const chunk of createReadStream(path, { ...range, highWaterMark: slowChunk }) as AsyncIterable<Buffer>) {
    if (fault?.kind === 'mediaSlow') await wait(fault.ms ?? 1000);
    if (fault?.kind === 'mediaCut' && sent + chunk.length > half) {
      yield chunk.subarray(0, Math.max(1, Math.floor(half - sent)));
      throw new Error('cut by a fault');
    }
    if (sent <= forged && forged < sent + chunk.length) chunk[forged - sent]! ^= 0xff;
    sent += chunk.length;
    yield chunk;
  }
}

/** The certificate of the authority, and the certificate and private key of the host, in PEM. */
interface Certificates {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** Loads the certificates from the data folder, or makes and stores them. Clients therefore still trust the authority after a restart. */
export async function openCertificates(records: Records): Promise<Certificates> {
  const known = records.get<Certificates>('setting', 'tls');
  if (known) return known;
  const notAfterDate = new Date(Date.now() + 10 * 365 * 24 * 3600 * 1000);
  const common = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256', notAfterDate } as const;
  const authority = await generate([{ name: 'commonName', value: 'Sandbox media authority' }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const host = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
    ...common,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  const made = { authority: authority.cert, certificate: host.cert, key: host.private };
  records.put('setting', 'tls', made);
  return made;
}

export function createMediaHost(certificates: Certificates, parts: UploadParts): Server {
  const server = createServer({ key: certificates.key, cert: certificates.certificate }, (request, response) => {
    answer(parts, request, response).catch(() => {
      // The client disconnected or the disk failed. If the answer has begun, the connection can only be cut.
      if (!response.headersSent) fail(response, 500, 'internal error');
      else response.destroy();
    });
  });
  server.requestTimeout = 120_000;
  return server;
}

async function answer(parts: UploadParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://127.0.0.1');
  if (request.method === 'POST') {
    parts.counters.arrived('files', request.socket.remoteAddress);
    const answer = await upload(parts, url, request);
    if (answer) respond(response, answer);
  } else if (request.method === 'GET') await download(parts, url, request, response);
  else fail(response, 405, 'method not allowed');
}

async function download(
  { media, counters, faults }: UploadParts,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const file = media.locate(`${url.pathname}${url.search}`);
  const size = file === undefined ? undefined : await media.size(file);
  if (file === undefined || size === undefined) return fail(response, 404, 'no such file');
  counters.arrived('files', request.socket.remoteAddress);
  if (isPreview(url)) {
    counters.media.downloads += 1;
    const preview = await makePreview(file);
    response.writeHead(200, { 'content-type': 'image/jpeg', 'content-length': preview.length }).end(preview);
    return;
  }
  const fault = takeDamage(faults);
  if (fault?.kind === 'mediaGone') return fail(response, fault.code ?? 410, 'dropped by a fault');
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const start = Number(range?.[1] ?? 0);
  const end = Math.min(range?.[2] ? Number(range[2]) : size - 1, size - 1);
  if (start > end && size > 0) return fail(response, 416, 'range not satisfiable');
  counters.media.downloads += 1;
  const partial = range ? { 'content-range': `bytes ${start}-${end}/${size}` } : {};
  response.writeHead(range ? 206 : 200, { 'content-type': 'application/octet-stream', 'content-length': end - start + 1, ...partial });
  await pipeline(damaged(file, { start, end }, fault), response);
}

function fail(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error }));
}
