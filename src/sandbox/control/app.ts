/** The control interface of the simulated platform as one request handler: JSON over HTTP, its OpenAPI page, and the interactive page. */
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import swagger from '@fastify/swagger';
import fastify from 'fastify';
import type { FastifyError, FastifyInstance, FastifyPluginAsync } from 'fastify';
import { lazyValidators } from '../../base/lazy-validators.ts';
import { addReference } from '../../reference/page.ts';
import type { Sandbox } from '../interface.ts';
import { Camera } from './camera.ts';
import { handleErrors, sendError } from './errors.ts';
import { callerCheck } from './guard.ts';
import { business, catalogs } from './routes/business.ts';
import { channels, posts } from './routes/channels.ts';
import { contacts, messages, retries } from './routes/messages.ts';
import { communities, groups } from './routes/groups.ts';
import { account, passkeys, phones } from './routes/phones.ts';
import { settings, shown } from './routes/settings.ts';
import { restrictions, versions, world } from './routes/world.ts';
import { bodyLimit } from './contents.ts';
import type { SentStorage } from '../store/queue.ts';
import { EventStream, SentLog } from './sent-log.ts';

// Serves the page's files. The list of files is read once at the start. No request can therefore reach other files on the disk.

const folder = new URL('../page/', import.meta.url);

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const security = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

const page: FastifyPluginAsync = async (app) => {
  for (const name of await readdir(folder)) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    // The file is read for every request. The files are small, and a change is seen at once while the page is developed.
    app.get(name === 'index.html' ? '/' : `/page/${name}`, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .headers(security)
        .type(type)
        .send(await readFile(new URL(name, folder))),
    );
  }
};

export interface Control {
  /** Handles every request of a plain HTTP server, except upgrades. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Ends the live streams and the subscription to the events of the platform. The HTTP server belongs to the caller and stays open. */
  close(): Promise<void>;
}

interface ControlOptions {
  /** Called with every unexpected error. The client only gets a 500. */
  readonly onSurprise?: (error: unknown) => void;
  /** Storage of sent messages. Without this storage, a restart loses the messages. */
  readonly memory?: SentStorage;
  /** True if requests to any host name are answered, not only to loopback names. */
  readonly anyName?: boolean;
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
    { name: 'channels', description: 'Make, follow and change channels, and post in them' },
    { name: 'business', description: 'Profiles and catalogs of businesses' },
    { name: 'platform', description: 'Faults, counters, trust, live stream' },
  ],
};

/** Accepts JSON bodies only. An empty body counts as `{}`, with or without a content type. */
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

export const buildControl = async (
  sandbox: Sandbox,
  { onSurprise = () => undefined, memory, anyName = false }: ControlOptions = {},
): Promise<Control> => {
  const app = fastify({
    bodyLimit,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1000 },
    schemaController: lazyValidators(),
    ajv: { customOptions: { discriminator: true, verbose: true } },
    frameworkErrors: (error, _request, reply) => void sendError(reply, error as FastifyError, onSurprise),
  });
  // The `Sandbox` interface returns typed answers. A serialiser made from the schemas would only drop fields that the schemas lack.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  const camera = new Camera();
  const sentLog = new SentLog(sandbox, memory === undefined ? {} : { memory });
  const events = new EventStream(sentLog);
  app.addHook('onRequest', callerCheck(anyName));
  handleErrors(app, onSurprise);
  acceptJsonOnly(app);

  await app.register(swagger, { openapi });
  addReference(app, { prefix: '/docs', title: 'Simulated platform: API', document: '../openapi.json' });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  await app.register(phones, { sandbox, camera });
  await app.register(passkeys, { sandbox });
  await app.register(settings, { sandbox });
  await app.register(account, { sandbox });
  await app.register(messages, { sandbox, sentLog });
  await app.register(shown, { sandbox });
  await app.register(restrictions, { sandbox });
  await app.register(contacts, { sandbox });
  await app.register(retries, { sandbox });
  await app.register(channels, { sandbox });
  await app.register(posts, { sandbox });
  await app.register(groups, { sandbox });
  await app.register(communities, { sandbox });
  await app.register(business, { sandbox });
  await app.register(catalogs, { sandbox });
  await app.register(versions, { sandbox });
  await app.register(world, { sandbox, events });
  await app.register(page);
  await app.ready();

  return {
    handler: (request, response) => app.routing(request, response),
    async close() {
      events.close();
      sentLog.close();
      await app.close();
      await camera.close();
    },
  };
};
