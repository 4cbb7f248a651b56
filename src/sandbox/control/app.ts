/** The control interface of the simulated platform: JSON over HTTP, its OpenAPI page and the page to play on, as one request handler. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import type { Sandbox } from '../face.ts';
import { createCamera } from './camera.ts';
import { handleErrors, sendError } from './errors.ts';
import { createEventStream } from './events.ts';
import { checkCaller } from './guard.ts';
import { createJournal, type SentMemory } from './journal.ts';
import { page } from './page.ts';
import { channels } from './routes/channels.ts';
import { contacts } from './routes/contacts.ts';
import { groups } from './routes/groups.ts';
import { messages } from './routes/messages.ts';
import { phones } from './routes/phones.ts';
import { settings } from './routes/settings.ts';
import { world } from './routes/world.ts';
import { bodyLimit } from './schemas.ts';

export interface Control {
  /** Answers every request of a plain HTTP server that is not an upgrade. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Ends the live streams and the subscription to the world; the server stays its owner's. */
  close(): Promise<void>;
}

/** `onSurprise` hears of every failure that nobody expected; the caller of the interface only sees a 500. */
export interface ControlOptions {
  readonly onSurprise?: (error: unknown) => void;
  /** What people sent, beyond a restart. */
  readonly memory?: SentMemory;
}

const openapi = {
  info: {
    title: 'Simulated platform',
    description: 'Simulated phones, contacts and groups, and faults on demand. Every error is `{ "error": string }`.',
    version: '1',
  },
  tags: [
    { name: 'phones', description: 'Link clients and log them out' },
    { name: 'contacts', description: 'What simulated people send, receive and confirm' },
    { name: 'groups', description: 'Make and change groups' },
    { name: 'platform', description: 'Faults, counters, trust, live stream' },
  ],
};

/** The documentation's own scripts and pictures only; its widgets set style attributes. */
const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Bodies are JSON and nothing else; an empty one is `{}`, whether it calls itself JSON or nothing at all. */
const acceptJsonOnly = (app: FastifyInstance): void => {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) =>
    body.length === 0 ? done(null, {}) : parseJson(request, body.toString(), done),
  );
  app.addHook('preValidation', async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') request.body ??= {};
  });
};

export const buildControl = async (sandbox: Sandbox, { onSurprise = () => undefined, memory }: ControlOptions = {}): Promise<Control> => {
  const app = fastify({
    bodyLimit,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1000 },
    ajv: { customOptions: { discriminator: true, verbose: true } },
    frameworkErrors: (error, _request, reply) => void sendError(reply, error as FastifyError, onSurprise),
  });
  // Answers come typed from the face; a serialiser made of the schemas would only be able to drop something.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  const camera = createCamera();
  const journal = createJournal(sandbox, memory === undefined ? {} : { memory });
  const events = createEventStream(journal);
  app.addHook('onRequest', checkCaller);
  handleErrors(app, onSurprise);
  acceptJsonOnly(app);

  await app.register(swagger, { openapi });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: docsPolicy,
    theme: { title: 'Simulated platform: API', css: [{ filename: 'theme.css', content: '.swagger-ui .topbar { display: none }' }] },
    uiConfig: { validatorUrl: null },
  });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  await app.register(phones, { sandbox, camera });
  await app.register(settings, { sandbox });
  await app.register(messages, { sandbox, journal });
  await app.register(contacts, { sandbox });
  await app.register(channels, { sandbox });
  await app.register(groups, { sandbox });
  await app.register(world, { sandbox, events });
  await app.register(page);
  await app.ready();

  return {
    handler: (request, response) => app.routing(request, response),
    async close() {
      events.close();
      journal.close();
      await app.close();
      await camera.close();
    },
  };
};
