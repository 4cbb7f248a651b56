/** The description of the interface: OpenAPI as JSON and as a page, made of the table of routes. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addReference } from '../reference/page.ts';
import { withComponents } from './components.ts';
import { withFieldGroups } from './field-groups.ts';
import { type SharedSchemas, usualSecurity } from './openapi.ts';
import type { HttpOptions } from './options.ts';
import { sharedSchemas } from './schemas/index.ts';
import { webhooksSection } from './webhooks.ts';

// Answers with the OpenAPI document. The document is made once, because callers need no credential, and making the document delays all other requests.

interface Made {
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
}

const compress = promisify(gzip);

const made = async (document: object): Promise<Made> => {
  const bytes = Buffer.from(JSON.stringify(document));
  // The tag is weak, because it names both the plain and the compressed form.
  const etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { bytes, gzipped: await compress(bytes), etag };
};

/** Returns the handler of the document, which calls `make` at the first request only. */
const documentAnswer = (make: () => object) => {
  let kept: Promise<Made> | undefined;
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { bytes, gzipped, etag } = await (kept ??= made(make()));
    void reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' }).type('application/json; charset=utf-8');
    if (headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    if (!/\bgzip\b/.test(headers['accept-encoding'] ?? '')) return reply.send(bytes);
    return reply.header('content-encoding', 'gzip').send(gzipped);
  };
};

const describe = ({ serverUrl, version }: HttpOptions) => ({
  openapi: '3.1.0',
  info: {
    title: 'Dormouse',
    description:
      'Messaging sessions behind an HTTP API: version 2.4.2 of the interface. Every error is `{ "error": string }`; unknown fields are ignored; null means absent; numbers and booleans may come as texts.',
    version,
  },
  servers: [{ url: serverUrl }],
  security: usualSecurity,
  tags: [
    { name: 'instance', description: 'Sessions: connect, watch, pause, end' },
    { name: 'admin', description: 'Create and administer instances' },
    { name: 'send', description: 'Send messages' },
    { name: 'message', description: 'Find, edit, delete, react to and download messages; watch the queue' },
    { name: 'chat', description: 'Find chats and change them, as the phone would' },
    { name: 'contact', description: 'Contacts of the account' },
    { name: 'group', description: 'Make groups and run them' },
    { name: 'community', description: 'Communities and the groups in them' },
    { name: 'newsletter', description: 'Channels: make, follow and run them' },
    { name: 'label', description: 'Labels and quick replies, which the phone shares' },
    { name: 'lead', description: 'What integrators keep about a chat' },
    { name: 'business', description: 'Profile, catalog and collections of a business' },
    { name: 'sender', description: 'Campaigns: the same message to many' },
    { name: 'chatbot', description: 'Agents that answer by a language model' },
    { name: 'call', description: 'Refuse calls' },
    { name: 'webhook', description: 'Deliver events to receivers' },
    { name: 'chatwoot', description: 'Talk with people from an inbox of Chatwoot' },
    { name: 'events', description: 'Stream events' },
    { name: 'proxy', description: 'By what way an instance connects' },
    { name: 'inspector', description: 'What each session does, and why' },
    { name: 'server', description: 'Health' },
  ],
  components: {
    securitySchemes: {
      token: { type: 'apiKey', in: 'header', name: 'token' },
      admintoken: { type: 'apiKey', in: 'header', name: 'admintoken' },
      'passkey-code': { type: 'apiKey', in: 'header', name: 'passkey-code' },
      stream: { type: 'apiKey', in: 'query', name: 'token' },
    } as const,
  },
});

interface Operation {
  readonly parameters?: readonly { required?: boolean }[];
  readonly requestBody?: {
    required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema?: { readonly required?: unknown } }>>;
  };
  readonly responses: Readonly<Record<string, { description: string }>>;
}

/** Corrects additions of Swagger: the mark that every body is required, descriptions of answers, and marks of optional parameters. */
const corrected = (document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  for (const path of Object.values((document['paths'] ?? {}) as Readonly<Record<string, Readonly<Record<string, Operation>>>>)) {
    for (const { parameters = [], requestBody, responses } of Object.values(path)) {
      if (requestBody) requestBody.required = Object.values(requestBody.content).some(({ schema }) => schema?.required !== undefined);
      // Parameters and bodies are optional in OpenAPI unless they are marked as required.
      for (const one of [...parameters, ...(requestBody ? [requestBody] : [])]) if (one.required === false) delete one.required;
      for (const response of Object.values(responses)) if (response.description === 'Default Response') response.description = '';
    }
  }
  return document;
};

/** Installs the routes of the documents, and returns the shared shapes by name. Call this before the routes are registered. */
export const addDocs = async (app: FastifyInstance, options: HttpOptions): Promise<SharedSchemas> => {
  for (const schema of sharedSchemas) app.addSchema(schema);
  await app.register(swagger, {
    openapi: describe(options),
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => (typeof json['$id'] === 'string' ? json['$id'] : `shape-${index}`),
    },
    transformObject: (document) =>
      'openapiObject' in document
        ? withComponents({
            ...withFieldGroups(corrected(document.openapiObject as object as Record<string, unknown>)),
            webhooks: webhooksSection(),
          })
        : {},
  });
  await app.register(async (pages) => {
    const document = documentAnswer(() => app.swagger());
    // The documents need no credential.
    pages.addHook('onRoute', (page) => {
      page.config = { ...page.config, credential: 'none' };
    });
    addReference(pages, { prefix: '/docs', title: 'Dormouse: API', document: '../openapi.json', dashboard: '../admin' });
    pages.get('/docs/json', { schema: { hide: true } }, document);
    pages.get('/docs/yaml', { schema: { hide: true } }, (_request, reply) =>
      reply.type('application/yaml').send(app.swagger({ yaml: true })),
    );
    pages.get('/openapi.json', { schema: { hide: true } }, document);
  });
  return new Map(sharedSchemas.map((schema) => [(schema as { readonly $id?: string }).$id ?? '', schema]));
};
