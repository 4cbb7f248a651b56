/** Routes of the administrator: instances, the server as a whole, and imports and exports of sessions. */
import { finished, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Type } from 'typebox';
import type { InstanceView, Refusal } from '#actors/gateway.ts';
import { instanceView } from '#src/contract/views.ts';
import type { AdminSessions } from '../dashboard.ts';
import type { HttpOptions } from '../options.ts';
import { done, instanceRefusals, mapResult, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/instance.ts';
import * as movingShape from '../schemas/moving.ts';
import { regionOf } from '../schemas/proxy.ts';
import {
  DrainingAnswer,
  NodeParams,
  NodesAnswer,
  NumbersAnswer,
  RefusedAnswer,
  RefusedDone,
  RefusedParams,
  RefusedQuery,
  RestartingAnswer,
} from '../schemas/server.ts';

// Routes of the administrator: instances and the server as a whole.

const common = { credential: 'admin', tag: 'admin' } as const;

const createdView = (view: InstanceView, now: number) => ({
  response: 'Instance created successfully',
  instance: instanceView(view, now),
  connected: view.connected,
  loggedIn: view.loggedIn,
  name: view.record.name,
  token: view.record.token,
  info: 'Use the token to connect the instance: POST /instance/connect.',
});

/** Makes the fields of a refused rotation: the time of the last rotation and the earliest time of the next rotation. */
const cooldown = ({ pause }: Refusal, now: number) =>
  pause === undefined ? {} : { last_rotated_at: pause.from, next_rotation_at: pause.to, retry_after_ms: Math.max(0, pause.to - now) };

const instanceRows: readonly Route[] = [
  route({
    on: ['POST /instance/create', 'POST /instance/init'],
    operationId: 'createInstance',
    ...common,
    summary: 'Create an instance; connect it afterwards to pair it',
    body: shape.CreateBody,
    answer: shape.CreateAnswer,
    run: async ({ gateway, now, body, request }) => {
      const { name, adminField01 = '', adminField02 = '', systemName = '', browser = '', system = '' } = body;
      const look = { systemName: systemName.trim(), browser: browser === 'auto' ? '' : browser, system };
      const input = { name: name.trim(), adminField01, adminField02, ...look };
      return mapResult(await gateway.create(input, regionOf(body)), (view) => {
        request.auditSubject = { instance: view.record.id };
        return createdView(view, now);
      });
    },
  }),
  route({
    on: ['GET /admin/numbers'],
    relieves: true,
    operationId: 'getNumbers',
    ...common,
    summary: 'Show operating figures of the server and of every instance: reconnects by cause, delays, ages, queues',
    answer: NumbersAnswer,
    run: async ({ gateway }) => {
      const { nodeName: node } = gateway;
      return done({ ...gateway.numbers(), ...(node === null ? {} : { node, nodes: await gateway.nodes() }) });
    },
  }),
  route({
    on: ['GET /instance/all'],
    operationId: 'listInstances',
    ...common,
    summary: 'List all instances with their tokens',
    answer: Type.Array(shape.InstanceAnswer),
    run: async ({ gateway, now }) => done((await gateway.everywhere()).map((view) => instanceView(view, now))),
  }),
  route({
    on: ['POST /instance/updateAdminFields'],
    operationId: 'updateAdminFields',
    ...common,
    summary: 'Set the free fields of an instance',
    body: shape.AdminFieldsBody,
    answer: shape.InstanceAnswer,
    refusals: instanceRefusals,
    run: async ({ gateway, now, body: { id, adminField01, adminField02 }, request }) => {
      request.auditSubject = { instance: id };
      const patch = {
        ...(adminField01 === undefined ? {} : { adminField01 }),
        ...(adminField02 === undefined ? {} : { adminField02 }),
      };
      return mapResult(await gateway.update(id, patch), (view) => instanceView(view, now));
    },
  }),
];

const rotateRow = (sessions: AdminSessions): Route =>
  route({
    on: ['POST /admin/token/rotate'],
    operationId: 'rotateAdminToken',
    ...common,
    summary: 'Replace the admin token; the old one stops working at once',
    answer: shape.AdminTokenAnswer,
    refusals: {
      limited: {
        example: 'Admin token rotation cooldown active',
        fields: shape.cooldownFields,
        details: (refusal, { now }) => cooldown(refusal, now),
      },
    },
    failure: { text: 'Failed to persist admin token' },
    run: async ({ gateway, now }) =>
      mapResult(await gateway.rotateAdminToken(), (token) => {
        // The rotation ends all dashboard sessions of the admin token.
        sessions.endOfToken();
        return {
          success: true,
          message: 'Admin token rotated successfully',
          admin_token: token,
          license_sync_triggered: false,
          license_synced: false,
          timestamp: now,
        };
      }),
  });

const underWay = 'a restart is under way';

const restartRow = ({ restart }: HttpOptions): Route =>
  route({
    on: ['POST /admin/restart'],
    relieves: true,
    whileStopping: true,
    operationId: 'restartServer',
    ...common,
    summary:
      'Restart the service inside its process, with the same settings and on the same port. The answer comes first; then requests under way are answered, ' +
      'streams end, and the sessions come back without a new pairing',
    status: 202,
    answer: RestartingAnswer,
    refusals: { conflict: { example: underWay } },
    run: ({ reply }) => {
      // Resolves even if the client has disconnected, so that the restart continues.
      const answered = new Promise<void>((resolve) => void finished(reply.raw, () => resolve()));
      const came = restart(answered);
      if (came === 'underWay') return refuse('conflict', underWay);
      if (came === 'stopping') return refuse('unavailable', 'the server is stopping');
      return done({ message: 'The service restarts' });
    },
  });

const nodeRows: readonly Route[] = [
  route({
    on: ['GET /admin/nodes'],
    relieves: true,
    operationId: 'listNodes',
    ...common,
    summary:
      'List the nodes of the cluster: their state, how many instances each owns, and why it took those that came within the last hour; empty where this gateway has its database for itself',
    answer: NodesAnswer,
    run: async ({ gateway }) => done(await gateway.nodes()),
  }),
  route({
    on: ['POST /admin/nodes/:name/drain'],
    relieves: true,
    operationId: 'drainNode',
    ...common,
    summary: 'Drain a node: it gives its sessions to other nodes, a few at a time, and takes none until it is restarted',
    params: NodeParams,
    status: 202,
    answer: DrainingAnswer,
    refusals: { notFound: { example: 'there is no live node of this name' }, unavailable: { example: 'the node does not answer' } },
    run: async ({ gateway, params: { name } }) =>
      mapResult(await gateway.drainNode(name), () => ({ message: 'The node gives its sessions away' })),
  }),
];

export const adminRoutes = (options: HttpOptions, sessions: AdminSessions): readonly Route[] => [
  ...instanceRows,
  rotateRow(sessions),
  restartRow(options),
  ...nodeRows,
];

// Routes of entries that the database refused, for administrators.

const unknown = { example: 'there is no such entry' } as const;

export const refusedRoutes: readonly Route[] = [
  route({
    on: ['GET /admin/refused'],
    operationId: 'listRefusedEntries',
    ...common,
    summary: 'List the entries of sessions that the database refused for their data. They are kept until they are stored or discarded',
    query: RefusedQuery,
    answer: RefusedAnswer,
    run: async ({ gateway, query: { instance = null, limit = 100, offset = 0 } }) =>
      done(await gateway.refusedEntries({ instance, limit, offset })),
  }),
  route({
    on: ['POST /admin/refused/:instance/:id/retry'],
    operationId: 'retryRefusedEntry',
    ...common,
    summary: 'Store a refused entry with its events. It leaves the list when the database accepts it',
    params: RefusedParams,
    answer: RefusedDone,
    refusals: { notFound: unknown, conflict: { example: 'the database refuses the entry again: 22003' } },
    run: async ({ gateway, params: { instance, id } }) =>
      mapResult(await gateway.retryRefused(instance, id), () => ({ message: 'The entry is stored' })),
  }),
  route({
    on: ['DELETE /admin/refused/:instance/:id'],
    operationId: 'discardRefusedEntry',
    ...common,
    summary: 'Delete a refused entry for good',
    params: RefusedParams,
    answer: RefusedDone,
    refusals: { notFound: unknown },
    run: async ({ gateway, params: { instance, id } }) =>
      mapResult(await gateway.discardRefused(instance, id), () => ({ message: 'The entry is deleted' })),
  }),
];

// Imports and exports of sessions.

const isBytes = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

const listOf = (text = ''): readonly string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

export const movingRoutes: readonly Route[] = [
  route({
    on: ['POST /admin/import'],
    operationId: 'importSessions',
    ...common,
    summary:
      'Import sessions of another gateway. The body is its store. The sessions stay disconnected. The answer has a row for each session, and a fault of one session does not stop the others. A source without any session is 400. Chats and messages of an archive follow their session, without events. A repeated import only adds messages that are missing',
    query: movingShape.ImportQuery,
    requestHeaders: movingShape.ImportHeaders,
    body: movingShape.Upload,
    takesBytes: 'application/octet-stream',
    answer: movingShape.ImportAnswer,
    refusals: {
      invalid: { example: 'No folder with a file creds.json is there' },
      tooLarge: { example: 'the upload is larger than 1073741824 bytes (see IMPORT_MAX_BYTES)' },
    },
    run: async ({ gateway, query, body, request, reply }) => {
      if (!isBytes(body)) return refuse('invalid', 'the body is empty: it is the store of the other gateway');
      const { from, dryRun = false, into = '', only } = query;
      const secret = String(request.headers['x-passphrase'] ?? '');
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const input = { from, secret, dryRun, into: into.trim(), only: listOf(only), signal: gone.signal };
      const imported = await gateway.importSessions(body, input);
      // Unread bytes of the body would block the next request of the connection.
      if (!request.raw.complete) void reply.header('connection', 'close');
      return mapResult(imported, (sessions) => ({ dryRun, sessions }));
    },
  }),
  route({
    on: ['POST /admin/export'],
    operationId: 'exportSessions',
    ...common,
    summary:
      'Export sessions as a sealed archive, which another gateway of this kind imports with `from=dormouse`. A session that runs is refused without `stop`. `with` adds chats and messages',
    body: movingShape.ExportBody,
    answer: movingShape.Archive,
    produces: 'application/octet-stream',
    refusals: {
      notFound: { example: 'no instance has a session' },
      conflict: { example: 'the session of the instance r183e2ef9597845 runs: `stop` closes it first' },
    },
    run: async ({ gateway, body: { instances = [], passphrase, stop = false, with: parts = [] }, reply }) => {
      const bytes = await gateway.exportSessions({ instances, passphrase, stop, with: parts });
      if (!bytes.ok) return bytes;
      reply.hijack();
      const headers = {
        'content-type': 'application/octet-stream',
        'cache-control': 'no-store',
        'content-disposition': 'attachment; filename="sessions.dormouse"',
      };
      reply.raw.writeHead(200, headers);
      // An incomplete archive lacks its last frame. The cut connection shows the failure at once.
      await pipeline(Readable.from(bytes.value, { objectMode: false }), reply.raw).catch(() => reply.raw.destroy());
      return null;
    },
  }),
];
