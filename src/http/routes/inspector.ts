/** Routes that look inside: the charts, and where every instance is in them. */
import type { ActorQuery, ActorSort } from '#actors/gateway.ts';
import { actorView } from '#src/contract/views.ts';
import { layoutsOf } from '../layouts.ts';
import { done, mapResult } from '../outcome.ts';
import { pageSize } from '../page.ts';
import { type Route, route } from '../route.ts';
import * as shape from '../schemas/inspector.ts';

const common = { credential: 'admin', tag: 'inspector' } as const;

const notFound = { notFound: { example: 'instance not found' } } as const;

const rows = { usual: 200, most: 1000 };

const wordsOf = (list: string | undefined): readonly string[] =>
  (list ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

interface Asked {
  readonly state?: string;
  readonly reason?: string;
  readonly q?: string;
  readonly sort?: string;
  readonly after?: string;
  readonly limit?: number;
}

const queryOf = ({ state, reason, q = '', sort = 'trouble', after = '', limit = 0 }: Asked): ActorQuery => ({
  states: wordsOf(state),
  causes: wordsOf(reason),
  text: q.trim(),
  sort: sort.replace(/^-/, '') as ActorSort,
  descending: sort.startsWith('-'),
  after,
  limit: pageSize(limit, rows),
});

/** Read when the server starts. */
export const inspectorRoutes = (): readonly Route[] => {
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
      refusals: notFound,
      run: ({ gateway, params: { id } }) => mapResult(gateway.actor(id), actorView),
    }),
  ];
};
