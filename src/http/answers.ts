/** Large answers: pages of stored rows with a limited number of bytes, and kept files that are sent as fast as the client reads. */
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply } from 'fastify';
import type { ByteRange, KeptFile } from '#actors/gateway.ts';

// Pages of stored rows, bounded by rows and by bytes. A row is serialised once. The same text is measured and sent.

/** Returns the largest number of items in a page: the client's limit, but at most `most`. Returns `usual` if the client's limit is not positive. */
export const pageSize = (limit: number, { usual, most }: { readonly usual: number; readonly most: number }): number =>
  limit > 0 ? Math.min(limit, most) : usual;

const text = Symbol('serialised');

interface Serialised {
  readonly [text]?: string;
}

/** Returns the JSON of an answer. For an answer with a page, returns the text that was prepared with the page. */
export const serialise = (value: unknown): string =>
  (typeof value === 'object' && value !== null ? (value as Serialised)[text] : undefined) ?? JSON.stringify(value);

/** Space that is reserved for the parts of an answer outside its list. In bytes. */
const rest = 1024;

export interface Page<View> {
  readonly views: readonly View[];
  /** True if some items did not fit. */
  readonly cut: boolean;
  /** The list as JSON. */
  readonly json: string;
}

export const emptyPage: Page<never> = { views: [], cut: false, json: '[]' };

/**
 * Returns a page with the items of `before`, followed by as many of `items` as fit into `bytes`. An empty page accepts a first item of any length, because
 * paging would otherwise not end.
 */
export const pageWithin = <Item, View>(
  items: readonly Item[],
  view: (item: Item) => View,
  bytes: number,
  before: Page<View> = emptyPage,
): Page<View> => {
  const views = [...before.views];
  const texts = views.length === 0 ? [] : [before.json.slice(1, -1)];
  let room = bytes - rest - Buffer.byteLength(before.json);
  for (const item of items) {
    const made = view(item);
    const json = JSON.stringify(made);
    room -= Buffer.byteLength(json) + 1;
    if (room < 0 && views.length > 0) return { views, cut: true, json: `[${texts.join(',')}]` };
    views.push(made);
    texts.push(json);
  }
  return { views, cut: false, json: `[${texts.join(',')}]` };
};

/** Makes an answer with a page as one of its fields. */
export const withPage = <const Name extends string, View, More extends object>(
  name: Name,
  { views, json }: Page<View>,
  more: More,
): { readonly [Key in Name]: readonly View[] } & More => {
  const answer = { [name]: views, ...more } as { readonly [Key in Name]: readonly View[] } & More;
  const [start, end] = [`{${JSON.stringify(name)}:${json}`, JSON.stringify(more).slice(1)];
  return Object.defineProperty(answer, text, { value: end === '}' ? `${start}}` : `${start},${end}` });
};

// Answers with a kept file: its headers, and its bytes, which are sent as fast as the client reads.

/** Media types that a browser shows without running code. Files of all other types are downloaded. */
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

/** A text that is safe in a header: 1 to 200 printable ASCII characters. Node throws for a header with control characters. */
const headerText = /^[\x20-\x7e]{1,200}$/;

/**
 * Headers of every kept file. The bytes of a name never change, so browsers may cache them. Shared caches may not. The name is a secret, so a file that is
 * opened as a page sends no referrer.
 */
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

/** Returns true if the client already has the bytes of the file. */
export const isKnown = (headers: IncomingHttpHeaders, file: KeptFile): boolean =>
  (headers['if-none-match'] ?? '').split(',').some((tag) => ['*', tagOf(file)].includes(tag.trim().replace(/^W\//, '')));

/** Returns the header `Range`; undefined if the header is absent, or if `If-Range` does not name the current bytes of the file. */
export const rangeHeader = (headers: IncomingHttpHeaders, file: KeptFile): string | undefined => {
  const condition = headers['if-range'];
  return condition === undefined || condition === tagOf(file) ? headers.range : undefined;
};

/** Sends 304, because the client already has the bytes. The answer bypasses Fastify. */
export const sendUnchanged = (reply: FastifyReply, file: KeptFile): void => {
  reply.hijack();
  reply.raw.writeHead(304, headersOf(file)).end();
};

interface FileAnswer {
  readonly file: KeptFile;
  readonly range: ByteRange | null;
  /** The bytes; null for the headers alone. */
  readonly bytes: AsyncIterable<Uint8Array> | null;
}

/**
 * Sends a file. The answer bypasses Fastify. The read ends if the client disconnects. A failed read cuts the connection, because the length was sent already.
 */
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

// Reads the header `Range` (RFC 9110) with one range of bytes. For several ranges the whole file is sent, as the standard allows.

/** Returns the range; null for the whole file. `unsatisfiable`: no byte of the range exists. */
export const rangeOf = (header: string | undefined, size: number): ByteRange | null | 'unsatisfiable' => {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return null;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  // A range whose last byte is before its first byte is not valid, so the whole file is sent.
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  return start < size && start <= end ? { start, end } : 'unsatisfiable';
};
