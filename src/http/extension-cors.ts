/**
 * Lets browser extensions call the routes of a passkey code, and no page. An extension that had to ask for the right to call any gateway would need a
 * permission for every site. Here it needs none, because the gateway answers to origins of extensions. Without a code there is nothing to read.
 */
import type { FastifyInstance } from 'fastify';

const addresses: readonly string[] = ['/passkey', '/passkey/confirm'];

const isExtension = (origin: string | undefined): origin is string => /^chrome-extension:\/\/[\w-]+$/.test(origin ?? '');

/** Must be called before whatever refuses requests, and after `allowOrigins`, whose answer counts for pages. */
export const allowExtensions = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, reply, next) => {
    const { origin } = request.headers;
    if (isExtension(origin) && addresses.includes(request.routeOptions.url ?? ''))
      void reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': 'retry-after', vary: 'origin' });
    next();
  });
  const config = { credential: 'none', cors: false } as const;
  for (const url of addresses) {
    app.options(url, { schema: { hide: true }, config }, (_request, reply) =>
      reply
        .code(204)
        .headers({
          'access-control-allow-methods': 'GET, POST',
          'access-control-allow-headers': 'content-type, passkey-code',
          'access-control-max-age': '600',
        })
        .send(),
    );
  }
};
