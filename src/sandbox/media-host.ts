/** The media host: HTTPS uploads and downloads of encrypted files, under a certificate of the sandbox's own authority. */
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { generate } from 'selfsigned';
import type { Fault } from './face.ts';
import type { Faults } from './faults.ts';
import { respond, upload, type UploadParts } from './media-uploads.ts';
import { isPreview, makePreview } from './media.ts';
import type { Records } from './store/database.ts';

// Faults of the media host in a download: the file is gone, the transfer breaks off or is slow, or the bytes are wrong.

export const damageKinds = ['mediaGone', 'mediaCut', 'mediaSlow', 'mediaForged'] as const;

/** The next fault for a download, and one use of it less. */
const takeDamage = (faults: Faults): Fault | undefined => {
  for (const kind of damageKinds) {
    const fault = faults.take(kind);
    if (fault) return fault;
  }
  return undefined;
};

/** Bytes at a time while the host is slow. */
const slowChunk = 16_384;

/** The bytes of a file as the damaged host sends them; `cut` ends without the rest. */
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

/** PEM. */
interface Certificates {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** Loads the certificates from the data folder, or makes them. Clients go on trusting the authority after a restart. */
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
      // The client disconnected or the disk failed. When the answer has begun, the connection can only be cut.
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
