/** Routes of entries that the database refused, for administrators. */
import { done, mapResult, type Route, route } from '../route.ts';
import { RefusedAnswer, RefusedDone, RefusedParams, RefusedQuery } from '../schemas/server.ts';

const common = { credential: 'admin', tag: 'admin' } as const;
const unknown = { example: 'there is no such entry' } as const;

export const refusedRoutes: readonly Route[] = [
  route({
    on: ['GET /admin/refused'],
    operationId: 'listRefusedEntries',
    ...common,
    summary: 'List what sessions reported and the database refused for its data; it is kept until it is tried again or discarded',
    query: RefusedQuery,
    answer: RefusedAnswer,
    run: async ({ gateway, query: { instance = null, limit = 100, offset = 0 } }) =>
      done(await gateway.refusedEntries({ instance, limit, offset })),
  }),
  route({
    on: ['POST /admin/refused/:instance/:id/retry'],
    operationId: 'retryRefusedEntry',
    ...common,
    summary: 'Store a refused entry now, with its events; it goes from the list when the database takes it',
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
