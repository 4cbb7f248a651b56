/** Metrics as Prometheus reads them. */
import type { HttpOptions } from '../options.ts';
import { type Route, route } from '../route.ts';
import { MetricsAnswer } from '../schemas/server.ts';

export const metricsRoutes = ({ metrics }: HttpOptions): readonly Route[] =>
  metrics === undefined
    ? []
    : [
        route({
          on: ['GET /metrics'],
          operationId: 'getMetrics',
          credential: 'metrics',
          tag: 'server',
          relieves: true,
          summary: 'Show metrics in the text format of Prometheus; the admin token may also come as `Authorization: Bearer`',
          answer: MetricsAnswer,
          produces: 'text/plain',
          run: async ({ reply }) => {
            void reply.type(metrics.contentType).send(await metrics.text());
            return null;
          },
        }),
      ];
