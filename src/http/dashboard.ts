/** Serves the dashboard at `/admin`: one document for all its views, and the files that it names. They hold nothing secret, so anybody may load them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { extensionArchive } from '#src/web/extension.ts';
import { openPageFiles, type PageFile } from '#src/web/files.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route stands for addresses at which nothing is: it says nothing of their methods. */
    isFallback?: boolean;
  }
}

/** Views that have an address of their own. The page reads the rest of the address. */
const views = ['/admin', '/admin/start', '/admin/cluster', '/admin/moving', '/admin/sessions/*'];

/** An address that nothing serves: the page says so to a browser, the API to everybody else. */
const unknown = '/admin/*';

interface Head {
  readonly policy: string;
  readonly caching: string;
}

const send = (request: FastifyRequest, reply: FastifyReply, { policy, caching }: Head, file: PageFile): FastifyReply => {
  void reply.headers({
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': caching,
    vary: 'accept-encoding',
    etag: file.etag,
  });
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  void reply.type(file.type);
  if (file.gzipped === null || !/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file.bytes);
  return reply.header('content-encoding', 'gzip').send(file.gzipped);
};

/** An address of a file holds its version: another version has another address. Opened by itself a file may do nothing. */
const fileHead: Head = { policy: "default-src 'none'", caching: 'public, max-age=31536000, immutable' };

/** Installs the routes of the dashboard's files. */
export const addDashboard = async (app: FastifyInstance): Promise<void> => {
  const files = openPageFiles();
  const config = { credential: 'none', cors: false } as const;
  const schema = { hide: true };
  // Relative, so that it also works where a proxy puts a path in front.
  app.get('/', { schema, config }, (_request, reply) => reply.redirect('admin'));
  app.get('/admin/', { schema, config }, (_request, reply) => reply.redirect('../admin'));
  for (const url of [...views, unknown]) {
    app.get(url, { schema, config: { ...config, isFallback: url === unknown } }, async (request, reply) => {
      if (url === unknown && !/\btext\/html\b/.test(request.headers.accept ?? '')) return reply.callNotFound();
      const document = await files.document();
      // Asked for each time, so that an upgrade shows at once.
      return send(request, reply, { policy: document.policy, caching: 'no-cache' }, document);
    });
  }
  app.get('/admin/extension.zip', { schema, config }, async (_request, reply) =>
    reply
      .headers({ 'content-disposition': 'attachment; filename="dormouse-passkey.zip"', 'cache-control': 'no-cache' })
      .type('application/zip')
      .send(await extensionArchive()),
  );
  app.get<{ Params: { '*': string } }>('/admin/files/:version/*', { schema, config }, async (request, reply) => {
    const file = await files.file(request.params['*']);
    return file === null ? reply.callNotFound() : send(request, reply, fileHead, file);
  });
};
