/** Routes of the administrator for sessions that come from other gateways, or leave. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { mapResult, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/moving.ts';

const common = { credential: 'admin', tag: 'admin' } as const;

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
    query: shape.ImportQuery,
    requestHeaders: shape.ImportHeaders,
    body: shape.Upload,
    takesBytes: 'application/octet-stream',
    answer: shape.ImportAnswer,
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
      // The unread rest of the body would block the next request of the connection.
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
    body: shape.ExportBody,
    answer: shape.Archive,
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
