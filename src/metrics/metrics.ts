/** The answer of `/metrics`. The figures are written in slices, so that a scrape does not block the event loop. */
import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { type Metric, Registry } from 'prom-client';
import type { Figures } from '#actors/gateway.ts';
import type { ProcessMeter } from './meter.ts';
import { allSeries, type PoolFigures, type Series, type Sources } from './series.ts';

interface MetricsInput {
  readonly meter: ProcessMeter;
  figures(): Promise<Figures>;
  pools(): readonly PoolFigures[];
}

/** The number of values that are written in one turn of the event loop; 1,000 lines take some 3 ms. */
const valuesPerTurn = 500;

/** Cuts a series into slices. The slices are plain objects, because prom-client formats any object with the method `get`. */
const slices = (series: Series, values: ReturnType<Series['values']>): readonly Metric[] =>
  Array.from({ length: Math.max(1, Math.ceil(values.length / valuesPerTurn)) }, (_, index) => {
    const { name, help, type } = series;
    const some = values.slice(index * valuesPerTurn, (index + 1) * valuesPerTurn);
    return { name, get: async () => ({ name, help, type, aggregator: 'sum', values: some }) } as unknown as Metric;
  });

export class Metrics {
  readonly contentType: string;
  readonly meter: ProcessMeter;
  readonly #input: MetricsInput;
  readonly #registry = new Registry();
  #underWay: Promise<string> | null = null;

  constructor(input: MetricsInput) {
    this.#input = input;
    this.meter = input.meter;
    this.contentType = this.#registry.contentType;
  }

  /** Scrapes at the same time share one answer. */
  text(): Promise<string> {
    return (this.#underWay ??= this.#gather().finally(() => {
      this.#underWay = null;
    }));
  }

  async #gather(): Promise<string> {
    const sources: Sources = { meter: this.meter, figures: await this.#input.figures(), pools: this.#input.pools() };
    const texts: string[] = [];
    const offered = allSeries.filter(({ ofNodes }) => ofNodes !== true || sources.figures.node !== null);
    for (const series of offered) texts.push(await this.#write(series, sources));
    return `${texts.join('\n\n')}\n`;
  }

  async #write(series: Series, from: Sources): Promise<string> {
    const texts: string[] = [];
    for (const slice of slices(series, series.values(from))) {
      this.#registry.clear();
      this.#registry.registerMetric(slice);
      const text = await this.#registry.getSingleMetricAsString(series.name);
      // Only the first slice keeps the lines HELP and TYPE.
      texts.push(texts.length === 0 ? text : text.split('\n').slice(2).join('\n'));
      await turn();
    }
    return texts.filter((text) => text !== '').join('\n');
  }
}

// `/metrics` at a separate address, without a token. Only the collector should reach the network of this address.

/** Opens the listener. Rejects if the address is in use. */
export const listenForMetrics = async (
  metrics: Metrics,
  host: string,
  port: number,
): Promise<{ readonly port: number; close(): Promise<void> }> => {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"only GET /metrics is here"}');
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"Internal server error"}'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
