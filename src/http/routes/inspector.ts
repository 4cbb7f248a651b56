/** Routes of the inspector: the charts, and the state of every instance in the charts. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { ActorEvent, ActorQuery, ActorSort, Result } from '#actors/gateway.ts';
import { actorView } from '#src/contract/views.ts';
import { commaList } from '../body.ts';
import { pageSize } from '../answers.ts';
import { networkOf } from '../client-address.ts';
import { done, instanceRefusals, mapResult, platformRefusals, refuse, type Route, route, unknownInstance } from '../route.ts';
import { FileBytes } from '../schemas/common.ts';
import * as shape from '../schemas/inspector.ts';
import type { InspectorHub } from '../stream/hub.ts';

// Positions of the states and arrows of the charts. `npm run charts` computes the positions in development, and the gateway reads
// them once at the start.

const folder = new URL('../../web/charts/', import.meta.url);

/** Layouts by the name of the shape (`wide`, `tall`); empty if none was made for the machine. */
type Layouts = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Reads the layouts from files named `<machine>.<shape>.json`. */
const layoutsOf = (machine: string): Layouts => {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return Object.fromEntries(
    names.flatMap((name) => {
      const [of, shape, end] = name.split('.');
      if (of !== machine || shape === undefined || end !== 'json') return [];
      return [[shape, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Readonly<Record<string, unknown>>]];
    }),
  );
};

/** The options of all rows of the inspector. The rows answer during an overload too, because operators then need them most. */
const common = { credential: 'admin', tag: 'inspector', relieves: true } as const;

const rows = { usual: 200, most: 1000 };

interface Asked {
  readonly state?: string;
  readonly reason?: string;
  readonly q?: string;
  readonly node?: string;
  readonly sort?: string;
  readonly after?: string;
  readonly limit?: number;
}

const queryOf = ({ state = '', reason = '', q = '', node = '', sort = 'trouble', after = '', limit = 0 }: Asked): ActorQuery => ({
  states: commaList(state),
  causes: commaList(reason),
  text: q.trim(),
  ...(node === '' ? {} : { node }),
  sort: sort.replace(/^-/, '') as ActorSort,
  descending: sort.startsWith('-'),
  after,
  limit: pageSize(limit, rows),
});

/** Returns the requested event; a refusal if a field is missing. */
const eventOf = ({ type, webhook, worker, level, minutes = 60 }: Static<typeof shape.EventBody>): Result<ActorEvent> => {
  if (type === 'clearCircuit') return webhook === undefined ? refuse('invalid', 'webhook is required') : done({ type, webhookId: webhook });
  if (type === 'logLevel')
    return level === undefined ? refuse('invalid', 'level is required') : done({ type, level, ms: minutes * 60_000 });
  return done(type === 'restartWorker' ? { type, worker: worker ?? null } : { type });
};

/** The Retry-After of a refused stream, in seconds. Within this time the gateway detects broken streams, which then no longer count for the limit. */
const retryAfterSeconds = 15;

/** Names the caller whose streams are counted together: all sessions of a user, or the network of an admin token. */
const nameOf = ({ caller, ip }: FastifyRequest): string =>
  caller?.actor === 'user' ? `user ${caller.user.id}` : `network ${networkOf(ip)}`;

const streamOf = (hub: InspectorHub, request: FastifyRequest, open: (caller: string) => Result<null>): ReturnType<typeof refuse> | null => {
  const caller = nameOf(request);
  const objection = hub.objection(caller);
  if (objection !== null) return refuse('capped', objection, { retryAfter: retryAfterSeconds });
  const opened = open(caller);
  return opened.ok ? null : opened;
};

const streaming = { capped: { example: 'Maximum number of open streams of the inspector reached (20)' } } as const;

const hijacked = (reply: FastifyReply) => (): ServerResponse => {
  reply.hijack();
  return reply.raw;
};

const streamRoutes = (hub: InspectorHub): readonly Route[] => [
  route({
    on: ['GET /admin/actors/stream'],
    operationId: 'streamActors',
    ...common,
    summary: 'Stream the changes of the list of instances',
    answer: shape.ChangesAnswer,
    produces: 'text/event-stream',
    refusals: streaming,
    run: ({ request, reply }) =>
      streamOf(hub, request, (caller) => {
        hub.openList(caller, hijacked(reply));
        return done(null);
      }),
  }),
  route({
    on: ['GET /admin/actors/:id/stream'],
    operationId: 'streamActor',
    ...common,
    summary: 'Stream the transitions of one instance as they happen. With Last-Event-ID the stream continues after the last received one',
    params: shape.ActorParams,
    query: shape.StepsQuery,
    answer: shape.StepsAnswer,
    produces: 'text/event-stream',
    refusals: { ...instanceRefusals, ...streaming },
    run: async ({ gateway, params: { id }, query, request, reply }) => {
      if (!(await gateway.exists(id))) return unknownInstance;
      const last = request.headers['last-event-id'];
      const after = typeof last === 'string' && /^\d{1,15}$/.test(last) ? Number(last) : (query.after ?? null);
      return streamOf(hub, request, (caller) => hub.openSteps(caller, id, after, hijacked(reply)));
    },
  }),
];

const eventRoute = route({
  on: ['POST /admin/actors/:id/events'],
  operationId: 'sendActorEvent',
  ...common,
  summary: 'Send one of a few safe events to an instance. The log has the name of the caller',
  params: shape.ActorParams,
  body: shape.EventBody,
  answer: shape.ActorAnswer,
  examples: { body: { type: 'reconnect' } },
  refusals: { ...instanceRefusals, ...platformRefusals, conflict: { example: 'no crashed worker waits for its restart' } },
  run: async ({ gateway, params: { id }, body, request }) => {
    const event = eventOf(body);
    if (!event.ok) return event;
    const by = { address: request.ip, via: request.adminSession === '' ? 'token' : 'dashboard' } as const;
    return mapResult(await gateway.act(id, event.value, by), actorView);
  },
});

/** Browsers cache the picture for a day. The page adds the `picture` of the row to the address, so a changed picture is requested anew. */
const pictureRoute = route({
  on: ['GET /admin/actors/:id/picture'],
  operationId: 'getActorPicture',
  ...common,
  summary: 'Read a small picture of the account of an instance, from memory',
  params: shape.ActorParams,
  answer: FileBytes,
  produces: 'image/jpeg',
  headers: { ETag: 'Changes with the picture' },
  refusals: { notFound: { example: 'there is no picture' } },
  run: async ({ gateway, params: { id }, request, reply }) => {
    const picture = await gateway.actorPicture(id);
    if (picture === null) return refuse('notFound', 'there is no picture');
    const etag = `"${picture.tag}"`;
    void reply.headers({ etag, 'cache-control': 'private, max-age=86400', 'x-content-type-options': 'nosniff' });
    if (request.headers['if-none-match'] === etag) void reply.code(304).send();
    else void reply.type('image/jpeg').send(Buffer.from(picture.jpeg));
    return null;
  },
});

/** Makes the rows of the inspector. The charts are read when the server starts. */
export const inspectorRoutes = (hub: InspectorHub): readonly Route[] => {
  const layouts = { lifecycle: layoutsOf('lifecycle'), instance: layoutsOf('instance') };
  return [
    route({
      on: ['GET /admin/machines'],
      operationId: 'listMachines',
      ...common,
      summary: 'Show the statecharts of instances as data: states, transitions and events with their descriptions',
      answer: shape.MachinesAnswer,
      run: ({ gateway }) => done(gateway.charts().map((chart) => ({ ...chart, layouts: layouts[chart.id] }))),
    }),
    route({
      on: ['GET /admin/actors'],
      operationId: 'listActors',
      ...common,
      summary: 'List instances with their state and why they are in it, the most troubled first',
      query: shape.ActorsQuery,
      answer: shape.ActorsAnswer,
      run: ({ gateway, query }) => gateway.actors(queryOf(query)),
    }),
    route({
      on: ['GET /admin/actors/:id'],
      operationId: 'getActor',
      ...common,
      summary: 'Show one instance from the inside: its state, its parts and its last 100 transitions with their causes',
      params: shape.ActorParams,
      answer: shape.ActorAnswer,
      refusals: instanceRefusals,
      run: async ({ gateway, params: { id } }) =>
        (await gateway.exists(id)) ? mapResult(await gateway.actor(id), actorView) : unknownInstance,
    }),
    pictureRoute,
    route({
      on: ['GET /admin/machines/:id/stately'],
      operationId: 'getMachineSource',
      ...common,
      summary: 'Show one statechart as a module that Stately’s editor opens',
      params: shape.MachineParams,
      answer: shape.SourceAnswer,
      produces: 'text/plain',
      refusals: { notFound: { example: 'there is no such machine' } },
      run: ({ gateway, params: { id }, reply }) => {
        const source = gateway.chartSource(id);
        if (source === null) return refuse('notFound', 'there is no such machine');
        void reply.type('text/plain; charset=utf-8').send(source);
        return null;
      },
    }),
    ...streamRoutes(hub),
    eventRoute,
  ];
};
