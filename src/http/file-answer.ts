/** Answers with a kept file: its headers, and its bytes at the pace of the reader. */
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply } from 'fastify';
import type { ByteRange, KeptFile } from '#actors/gateway.ts';

/** Shown by browsers without running anything; everything else is for saving. */
const shown: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'video/mp4',
  'video/webm',
  'video/3gpp',
  'audio/mpeg',
  'audio/ogg',
  'audio/mp4',
  'audio/aac',
  'audio/wav',
]);

/** The characters that a header may hold. Other characters would end the answer. */
const headerText = /^[\x20-\x7e]{1,200}$/;

/** The bytes under a name never change, and belong to one reader. A name is a secret: no page tells another where it came from. */
const always = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'private, max-age=86400, immutable',
  'accept-ranges': 'bytes',
} as const;

const tagOf = ({ hash }: KeptFile): string => `"${hash}"`;

const headersOf = (file: KeptFile): Readonly<Record<string, string>> => {
  const type = file.mimetype.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const disposition = contentDisposition(file.filename || file.name, { type: shown.has(type) ? 'inline' : 'attachment' });
  return {
    ...always,
    etag: tagOf(file),
    'content-type': headerText.test(file.mimetype) ? file.mimetype : 'application/octet-stream',
    'content-disposition': disposition,
  };
};

/** Returns true if the client already has these bytes. */
export const isKnown = (headers: IncomingHttpHeaders, file: KeptFile): boolean =>
  (headers['if-none-match'] ?? '').split(',').some((tag) => ['*', tagOf(file)].includes(tag.trim().replace(/^W\//, '')));

/** Returns the requested range. A range of a file with other bytes is ignored. */
export const rangeHeader = (headers: IncomingHttpHeaders, file: KeptFile): string | undefined => {
  const condition = headers['if-range'];
  return condition === undefined || condition === tagOf(file) ? headers.range : undefined;
};

/** Takes the reply over: the client has the bytes already. */
export const sendUnchanged = (reply: FastifyReply, file: KeptFile): void => {
  reply.hijack();
  reply.raw.writeHead(304, headersOf(file)).end();
};

export interface FileAnswer {
  readonly file: KeptFile;
  readonly range: ByteRange | null;
  /** null: the headers alone. */
  readonly bytes: AsyncIterable<Uint8Array> | null;
}

/** Takes the reply over. A client that leaves ends the reading; a file that cannot be read to its end cuts the connection, because its length was sent already. */
export const sendFile = async (reply: FastifyReply, { file, range, bytes }: FileAnswer): Promise<void> => {
  reply.hijack();
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  reply.raw.writeHead(range === null ? 200 : 206, {
    ...headersOf(file),
    'content-length': end - start + 1,
    ...(range === null ? {} : { 'content-range': `bytes ${start}-${end}/${file.size}` }),
  });
  if (bytes === null) return void reply.raw.end();
  await pipeline(Readable.from(bytes, { objectMode: false }), reply.raw).catch(() => reply.raw.destroy());
};

// The header `Range` (RFC 9110): one range of bytes. Several at once are answered with the whole, as the standard allows.

/** null: the whole. `unsatisfiable`: none of the bytes is there. */
export const rangeOf = (header: string | undefined, size: number): ByteRange | null | 'unsatisfiable' => {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return null;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  // The last byte before the first one is no range at all.
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  return start < size && start <= end ? { start, end } : 'unsatisfiable';
};
