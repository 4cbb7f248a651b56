/** Serves the dashboard at `/admin`: one document for all its views, and the files that it names. They hold nothing secret, so anybody may load them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { openPageFiles, type PageFile } from '#src/web/files.ts';

/** Views that have an address of their own. The page reads the rest of the address. */
const views = ['/admin', '/admin/start', '/admin/sessions/*'];

const send = (request: FastifyRequest, reply: FastifyReply, policy: string, file: PageFile): FastifyReply => {
  void reply.headers({
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    // The browser asks each time, and is told that nothing changed: an upgrade never leaves a page of two versions.
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    etag: file.etag,
  });
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  void reply.type(file.type);
  if (file.gzipped === null || !/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file.bytes);
  return reply.header('content-encoding', 'gzip').send(file.gzipped);
};

/** Installs the routes of the dashboard's files. */
export const addDashboard = async (app: FastifyInstance): Promise<void> => {
  const files = openPageFiles();
  const config = { credential: 'none' } as const;
  const schema = { hide: true };
  for (const url of views)
    app.get(url, { schema, config }, async (request, reply) => send(request, reply, files.policy, await files.document()));
  for (const url of files.addresses) {
    app.get(url, { schema, config }, async (request, reply) => {
      const file = await files.file(url);
      return file === null ? reply.callNotFound() : send(request, reply, files.policy, file);
    });
  }
};
