/** Lets browsers call the interface from pages of other origins, if a setting names the origins. */
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { HttpOptions } from './options.ts';

/** Headers that a page may send, including tokens. Cookies are not allowed, so no page can use the dashboard session of its visitor. */
const allowedHeaders = [
  'content-type',
  'token',
  'admintoken',
  'authorization',
  'idempotency-key',
  'last-event-id',
  'range',
  'x-request-id',
  'mcp-session-id',
  'mcp-protocol-version',
];

/** Headers of answers that a page may read, in addition to those that browsers always allow. */
const exposedHeaders = [
  'x-error-hint',
  'retry-after',
  'x-request-id',
  'x-webhook-error-capture-started-at',
  'content-disposition',
  'content-range',
  'accept-ranges',
  'etag',
  'mcp-session-id',
];

/** The time for which a browser caches the answer to a preflight request. Chromium accepts at most two hours, and Firefox 24. In seconds. */
const maxAge = 7_200;

const headNames = ['access-control-allow-origin', 'access-control-expose-headers', 'vary'];

/**
 * Lets pages of the configured origins call the interface. Routes that use the dashboard's cookie opt out by `config: { cors: false }`. Call this before all
 * hooks that refuse requests, so that a page can read refusals. Call it before `guardRoutes` too, because preflight requests have no credentials.
 */
export const allowOrigins = async (app: FastifyInstance, { corsOrigins }: HttpOptions): Promise<void> => {
  if (corsOrigins.length === 0) return;
  await app.register(cors, {
    origin: corsOrigins.includes('*') ? '*' : [...corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders,
    exposedHeaders,
    maxAge,
    strictPreflight: false,
  });
  // Answers with files bypass Fastify, so they get only the headers of the raw response.
  app.addHook('onRequest', (request, reply, next) => {
    if (request.headers.origin !== undefined)
      for (const name of headNames) {
        const value = reply.getHeader(name);
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
    next();
  });
};

// Lets browser extensions, but no pages, call the routes of a passkey code. A gateway may have any address, so without these headers an extension
// would have to request permission for every site. Without a code the routes reveal nothing.

const addresses: readonly string[] = ['/passkey', '/passkey/confirm'];

/** The largest body of a preflight request, in bytes. Browsers send none. */
const preflightLimit = 1_024;

const isExtension = (origin: string | undefined): origin is string => /^chrome-extension:\/\/[\w-]+$/.test(origin ?? '');

/**
 * Installs the hook that lets extensions call the routes. Call this before all hooks that refuse requests, and after `allowOrigins`, whose
 * headers apply to pages.
 */
export const allowExtensions = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, reply, next) => {
    const { origin } = request.headers;
    if (isExtension(origin) && addresses.includes(request.routeOptions.url ?? ''))
      void reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': 'retry-after', vary: 'origin' });
    next();
  });
  const config = { credential: 'none', cors: false } as const;
  for (const url of addresses) {
    app.options(url, { schema: { hide: true }, config, bodyLimit: preflightLimit }, (_request, reply) =>
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
