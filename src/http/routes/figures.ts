/** The figures of the last day, for charts. */
import { done, type Route, route } from '../route.ts';
import { FiguresAnswer, FiguresQuery } from '../schemas/figures.ts';

const usualHours = 24;

export const figureRoutes: readonly Route[] = [
  route({
    on: ['GET /admin/figures'],
    operationId: 'listFigures',
    credential: 'admin',
    tag: 'admin',
    summary: 'List messages, deliveries, reconnects, memory and loop delay of each node over the last hours, at most a day, in steps',
    query: FiguresQuery,
    answer: FiguresAnswer,
    run: async ({ gateway, query: { hours = usualHours } }) => done(await gateway.figureHistory(hours)),
  }),
];
