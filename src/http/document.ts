/** Answers with the OpenAPI document, which is made once: everybody may ask for it, and to make 500 KB anew holds every other request back. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

interface Made {
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
}

const compress = promisify(gzip);

const made = async (document: object): Promise<Made> => {
  const bytes = Buffer.from(JSON.stringify(document));
  // Weak, since it names both forms.
  const etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { bytes, gzipped: await compress(bytes), etag };
};

/** `make` is called with the first request. */
export const documentAnswer = (make: () => object) => {
  let kept: Promise<Made> | undefined;
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { bytes, gzipped, etag } = await (kept ??= made(make()));
    void reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' }).type('application/json; charset=utf-8');
    if (headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    if (!/\bgzip\b/.test(headers['accept-encoding'] ?? '')) return reply.send(bytes);
    return reply.header('content-encoding', 'gzip').send(gzipped);
  };
};
