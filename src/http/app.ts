/** The HTTP server: serves the table of routes with Fastify and passes calls to the gateway. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import type { Gateway } from '#actors/gateway.ts';
import { lazyValidators } from '../base/lazy-validators.ts';
import { auditRequests } from './audit.ts';
import { addDashboard, AdminSessions } from './dashboard.ts';
import { guardRoutes, refuseOverload } from './auth.ts';
import { boundBodies } from './body-bounds.ts';
import { inputRules, readBodies, takeBytes } from './body.ts';
import { warnOfUnknownProxy } from './client-address.ts';
import { limitAuthentication, limitRequests } from './rate-limit.ts';
import { allowExtensions, allowOrigins } from './cors.ts';
import { addDocs } from './docs.ts';
import { answerParserError, frameworkErrors, handleErrors, refuseExpectation, sendRefusal } from './errors.ts';
import type { SharedSchemas } from './openapi.ts';
import { defaultStreamLimits, type HttpOptions, type RequestTracing } from './options.ts';
import { addRoute } from './add-route.ts';
import { serialise } from './answers.ts';
import type { Route } from './route.ts';
import { allRoutes } from './routes/index.ts';
import { bodyLimitOf } from './routes/send/media.ts';
import { Hub } from './stream/hub.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the route also runs while the server stops. */
    whileStopping?: boolean;
  }
}

export type { HttpLog, HttpOptions, StreamLimits } from './options.ts';

/** Returns the `x-request-id` of the client if it is valid, and otherwise a random id. The client's log and this program's log then contain the same id. */
const requestIdOf = ({ headers }: { readonly headers: IncomingHttpHeaders }): string => {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : randomUUID();
};

const answerWithId = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, reply, next) => {
    void reply.header('x-request-id', request.id);
    next();
  });
};

/** Forbids caching of JSON answers, because they contain tokens and messages. A route that sets the header itself keeps its value. */
const forbidCaching = (app: FastifyInstance): void => {
  app.addHook('onSend', (_request, reply, payload, next) => {
    const isJson = String(reply.getHeader('content-type') ?? '').startsWith('application/json');
    if (isJson && !reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
    next(null, payload);
  });
};

/** Traces requests. A trace has the route's pattern in place of the address, because addresses may contain tokens. */
const traceRequests = (app: FastifyInstance, tracing: RequestTracing): void => {
  const ends = new WeakMap<FastifyRequest, (status: number) => void>();
  app.addHook('onRequest', (request, _reply, next) => {
    const { method, routeOptions, headers } = request;
    const traceparent = typeof headers['traceparent'] === 'string' ? headers['traceparent'] : undefined;
    ends.set(request, tracing.begin({ method, route: routeOptions.url ?? 'unknown', traceparent }, next));
  });
  app.addHook('onResponse', (request, reply, next) => {
    ends.get(request)?.(reply.statusCode);
    next();
  });
};

/** Writes one log line for each request, with the route's pattern in place of the address. */
const logAnswers = (app: FastifyInstance, { log, metrics }: HttpOptions): void => {
  app.addHook('onResponse', (request, reply, next) => {
    const level = reply.statusCode >= 500 ? 'warn' : reply.statusCode >= 400 ? 'info' : 'debug';
    const { method, routeOptions, instanceId, id } = request;
    const ms = Math.round(reply.elapsedTime * 100) / 100;
    metrics?.meter.answered(method, routeOptions.url ?? '', reply.statusCode, ms);
    log[level](
      {
        request: id,
        method,
        route: routeOptions.url ?? '',
        status: reply.statusCode,
        ms,
        ...(instanceId === '' ? {} : { instance: instanceId }),
      },
      'http.answered',
    );
    next();
  });
};

/**
 * Returns a function that closes connections without any received data. Browsers and clients open such connections in advance. Node counts
 * them as busy until its time-out for request headers, which is a minute.
 */
const closeUnused = (server: Server): (() => void) => {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
};

/** Stops the server: new requests are refused, running requests end, and idle connections close at once. */
const closeGracefully = (app: FastifyInstance, gateway: Gateway, endStreams: () => void): void => {
  let closing = false;
  const endUnused = closeUnused(app.server);
  app.addHook('onRequest', (request, reply, next) => {
    const { credential = 'none', whileStopping = false } = request.routeOptions.config;
    if (whileStopping || (!closing && (gateway.accepting || credential === 'none'))) return next();
    sendRefusal(reply, { reason: 'unavailable', message: 'the server is stopping' });
  });
  app.addHook('preClose', (next) => {
    closing = true;
    endStreams();
    // A connection that was busy when closing began may be idle now. Node would leave such a connection open until its keep-alive time-out.
    const sweep = setInterval(() => {
      app.server.closeIdleConnections();
      endUnused();
    }, 50);
    app.server.once('close', () => clearInterval(sweep));
    if (!app.server.listening) clearInterval(sweep);
    next();
  });
};

/** Checks that each operationId names one operation, because clients are generated from it. */
const assertUnique = (rows: readonly Route[]): void => {
  const seen = new Set<string>();
  for (const { operationId } of rows) {
    if (seen.has(operationId)) throw new Error(`the routes have the operationId "${operationId}" twice`);
    seen.add(operationId);
  }
};

/** Converts the setting TRUSTED_PROXIES to the names of the library that reads `X-Forwarded-For`. */
const proxiesOf = ({ trustedProxies }: HttpOptions): string[] | false =>
  trustedProxies.length === 0 ? false : trustedProxies.flatMap((name) => (name === 'private' ? ['uniquelocal', 'linklocal'] : [name]));

/** Makes the rows of `/mcp`. The MCP library needs 200 ms to load. A gateway that offers no tools does not load it. */
const mcpRows = async (
  app: FastifyInstance,
  options: HttpOptions,
  rows: readonly Route[],
  shared: SharedSchemas,
): Promise<readonly Route[]> => {
  if (options.mcpTools.length === 0) return [];
  const [{ mcpRoutes }, { McpSessions }] = await Promise.all([import('./mcp/rows.ts'), import('./mcp/sessions.ts')]);
  const sessions = new McpSessions();
  app.addHook('preClose', (next) => {
    sessions.close();
    next();
  });
  return mcpRoutes(options, rows, shared, sessions);
};

/** Builds the app. The caller starts and closes it. Closing ends all streams. `more`: rows in addition to those of the interface. */
export const buildApp = async (gateway: Gateway, options: HttpOptions, more: readonly Route[] = []): Promise<FastifyInstance> => {
  const { log, bodyLimit } = options;
  const app = fastify({
    bodyLimit,
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: 300_000,
    genReqId: requestIdOf,
    trustProxy: proxiesOf(options),
    return503OnClosing: false,
    clientErrorHandler: answerParserError,
    frameworkErrors: frameworkErrors(log),
    schemaController: lazyValidators(),
    ajv: inputRules,
    http: { requireHostHeader: false },
  });
  // The routes have already selected the fields of the answers. A serialiser made from the schemas would only drop fields that a schema lacks.
  app.setSerializerCompiler(() => serialise);

  const hub = new Hub({ gateway, limits: { ...defaultStreamLimits, ...options.stream }, log, meter: options.metrics?.meter });
  await allowOrigins(app, options);
  allowExtensions(app);
  if (options.tracing) traceRequests(app, options.tracing);
  answerWithId(app);
  forbidCaching(app);
  await refuseOverload(app, options);
  closeGracefully(app, gateway, () => hub.close());
  app.server.on('checkExpectation', refuseExpectation);
  handleErrors(app, options);
  warnOfUnknownProxy(app, log);
  const sessions = new AdminSessions(options.adminSessionMs, gateway.signIns);
  auditRequests(app, gateway, options.now ?? Date.now);
  guardRoutes(app, gateway, options, await limitAuthentication(app, options), sessions);
  limitRequests(app, options);
  boundBodies(app, Math.max(bodyLimit, bodyLimitOf(options.mediaBytes).bytes));
  readBodies(app);
  logAnswers(app, options);
  const shared = await addDocs(app, options);
  await addDashboard(app);
  const api = [...allRoutes(options, hub, sessions), ...more];
  const rows = [...api, ...(await mcpRows(app, options, api, shared))];
  assertUnique(rows);
  const context = { gateway, now: options.now ?? Date.now, answerBytes: options.answerBytes, shared };
  const takesBytes = (row: Route): boolean => row.takesBytes !== undefined;
  for (const row of rows) if (!takesBytes(row)) addRoute(app, row, context);
  await app.register(async (inner) => {
    takeBytes(inner);
    for (const row of rows.filter(takesBytes)) addRoute(inner, row, context);
  });
  await app.ready();
  return app;
};
