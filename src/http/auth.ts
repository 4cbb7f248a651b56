/** Who may call what: one table of credentials with the exact texts of the interface, and the hook that applies it. */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Gateway } from '#actors/gateway.ts';
import type { HttpOptions } from './options.ts';

const demoText = 'This is a public demo server. This endpoint has been disabled.';

interface Denial {
  readonly status: 401 | 403;
  readonly text: string;
}

interface Credential {
  /** Header that carries it, and query parameter where that is allowed. */
  readonly name: 'token' | 'admintoken';
  readonly where: 'header' | 'query';
  readonly missing: Denial;
  readonly wrong: Denial;
}

const unauthorized: Denial = { status: 401, text: 'Unauthorized' };
const missingToken: Denial = { status: 401, text: 'missing token' };

/** Texts: specification 7, behaviour.md. The credential of a route is a name of this table. */
export const credentials = {
  none: null,
  instance: {
    name: 'token',
    where: 'header',
    missing: { status: 401, text: 'instance info not found' },
    wrong: { status: 401, text: 'Invalid token' },
  },
  webhook: { name: 'token', where: 'header', missing: missingToken, wrong: missingToken },
  stream: { name: 'token', where: 'query', missing: unauthorized, wrong: unauthorized },
  admin: {
    name: 'admintoken',
    where: 'header',
    missing: unauthorized,
    wrong: { status: 403, text: 'Invalid AdminToken Header' },
  },
  globalWebhook: { name: 'admintoken', where: 'header', missing: unauthorized, wrong: { status: 403, text: demoText } },
} as const satisfies Readonly<Record<string, Credential | null>>;

export type CredentialName = keyof typeof credentials;

declare module 'fastify' {
  interface FastifyContextConfig {
    credential?: CredentialName;
  }
  interface FastifyRequest {
    /** The instance whose token came with the request; '' where none is asked for. */
    instanceId: string;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A header that says something wins over the query. */
const tokenOf = (request: FastifyRequest, { name, where }: Credential, queryAllowed: boolean): string => {
  const header = where === 'header' ? textOf(request.headers[name]) : '';
  if (header !== '' || (where === 'header' && !queryAllowed)) return header;
  return textOf((request.query as Readonly<Record<string, unknown>>)[name]);
};

/** Installs the check before anything of the body is read. */
export const guardRoutes = (app: FastifyInstance, gateway: Gateway, { allowQueryTokens, demoServer }: HttpOptions): void => {
  app.decorateRequest('instanceId', '');

  const deny = (reply: FastifyReply, { status, text }: Denial) => void reply.code(status).send({ error: text });

  // A route without a credential would be open to everybody: the start ends with its name.
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (options) => void routes.push(options));
  app.addHook('onReady', (ready) => {
    const open = routes.find(({ config }) => config?.credential === undefined);
    ready(open && new Error(`the route ${String(open.method)} ${open.url} names no credential`));
  });

  app.addHook('onRequest', (request, reply, next) => {
    if (request.is404) return next();
    const credential: Credential | null = credentials[request.routeOptions.config.credential as CredentialName];
    if (credential === null) return next();
    if (credential.name === 'admintoken' && demoServer) return deny(reply, { status: 403, text: demoText });
    const token = tokenOf(request, credential, allowQueryTokens);
    if (token === '') return deny(reply, credential.missing);
    if (credential.name === 'admintoken') return gateway.isAdmin(token) ? next() : deny(reply, credential.wrong);
    const id = gateway.authenticate(token);
    if (id === null) return deny(reply, credential.wrong);
    request.instanceId = id;
    return next();
  });
};
