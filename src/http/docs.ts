/** The interface describes itself: OpenAPI as JSON and as a page, made of the same table as the routes. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { HttpOptions } from './options.ts';
import { sharedSchemas } from './schemas/index.ts';

const describe = ({ baseUrl, version }: HttpOptions) => ({
  openapi: '3.1.0',
  info: {
    title: 'Dormouse',
    description:
      'Messaging sessions behind an HTTP API. Every error is `{ "error": string }`; unknown fields are ignored; null means absent.',
    version,
  },
  servers: [{ url: baseUrl }],
  tags: [
    { name: 'instance', description: 'Sessions: connect, watch, pause, end' },
    { name: 'admin', description: 'Create and administer instances' },
    { name: 'send', description: 'Send messages' },
    { name: 'message', description: 'Find messages, watch the queue' },
    { name: 'chat', description: 'Find chats' },
    { name: 'webhook', description: 'Deliver events to receivers' },
    { name: 'events', description: 'Stream events' },
    { name: 'server', description: 'Health' },
  ],
  components: {
    securitySchemes: {
      token: { type: 'apiKey', in: 'header', name: 'token' },
      admintoken: { type: 'apiKey', in: 'header', name: 'admintoken' },
      stream: { type: 'apiKey', in: 'query', name: 'token' },
    } as const,
  },
});

/** The page is ours, not the library's. */
const noLogo = {
  type: 'image/svg+xml',
  content: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
} as const;

/** Must be called before the routes are registered. */
export const addDocs = async (app: FastifyInstance, options: HttpOptions): Promise<void> => {
  for (const schema of sharedSchemas) app.addSchema(schema);
  await app.register(swagger, {
    openapi: describe(options),
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => (typeof json['$id'] === 'string' ? json['$id'] : `shape-${index}`),
    },
  });
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true, logo: noLogo, theme: { title: 'Dormouse' } });
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs'));
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
};
