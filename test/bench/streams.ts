/** Measures a thousand readers of the stream of one instance: the time until all readers have an event, and the memory of an idle reader. */
import { scaled, type Bench, type Setting } from './bench.ts';
import { profiled } from './cost.ts';
import type { Memory } from './probe.ts';
import { median, percentile, type Figure } from './report.ts';
import { pause, type Child } from './workshop.ts';

const readers = 1000;
const events = 100;
const bytes = 1024;
/** Readers and events before the first measurement. They cause the costs that do not grow with the readers. */
const [firstReaders, firstEvents] = [50, 20];
/** The number of measured increases of the readers. Allocators reserve memory in large blocks, so a single increase is not exact. */
const growths = 3;

class Audience {
  readonly #gateway: Child;
  readonly #peers: Child;
  readonly #port: number;
  size = 0;

  constructor(gateway: Child, peers: Child, port: number) {
    this.#gateway = gateway;
    this.#peers = peers;
    this.#port = port;
  }

  /** Opens `by` readers. Returns the memory of one reader. In kilobytes. */
  async grow(by: number): Promise<Memory> {
    const before = await this.#gateway.ask<Memory>('memory');
    await this.#peers.ask('read', { port: this.#port, readers: by, token: 'token-0' });
    const after = await this.#gateway.ask<Memory>('memory');
    this.size += by;
    const each = (field: keyof Memory): number => (after[field] - before[field]) / by / 1024;
    return { rss: each('rss'), heap: each('heap'), external: each('external') };
  }

  /** Returns the time from an event until the last reader has received it. In milliseconds. */
  async reach(n: number): Promise<number> {
    await this.#peers.ask('expect');
    await this.#gateway.ask('tell', { instances: [0], bytes, n });
    const { at, last } = await this.#peers.ask<{ at: number; last: number }>('heard');
    return last - at;
  }

  async times(count: number): Promise<readonly number[]> {
    const all: number[] = [];
    for (let n = 0; n < count; n += 1) {
      all.push(await this.reach(n));
      await pause(20);
    }
    return all;
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const figuresOf = (size: number, times: readonly number[], growth: readonly Memory[]): readonly Figure[] => [
  {
    name: `an event to all of ${size} subscribers`,
    unit: 'ms',
    ours: median(times),
    baseline: null,
    judged: 'value',
    bound: { most: 100 },
    details: { p90: percentile(times, 0.9), longest: Math.max(...times) },
  },
  {
    name: 'an idle subscriber: resident memory',
    unit: 'KB',
    ours: mean(growth.map(({ rss }) => rss)),
    baseline: null,
    judged: 'value',
    bound: { most: 20 },
    details: {
      each: growth.map(({ rss }) => rss),
      heap: mean(growth.map(({ heap }) => heap)),
      external: mean(growth.map(({ external }) => external)),
    },
  },
];

export const streams: Bench = {
  name: 'streams',
  about: `${readers} subscribers of one instance's stream`,
  async run(setting: Setting) {
    const { workshop } = setting;
    const [gateway, peers] = await Promise.all([workshop.start('test/bench/gateway-host.ts'), workshop.start('test/bench/peers.ts')]);
    await gateway.ask('open', { instances: 1, urls: [] });
    await gateway.ask('start');
    const audience = new Audience(gateway, peers, Number(new URL(await gateway.ask<string>('listen')).port));
    const count = scaled(readers, setting);
    await audience.grow(firstReaders);
    await audience.times(firstEvents);
    const growth = [await audience.grow(count)];
    const size = audience.size;
    await audience.times(firstEvents);
    const times = await profiled(setting, gateway, 'streams-gateway', () => audience.times(events));
    while (growth.length < growths) growth.push(await audience.grow(count));
    await peers.ask('leave');
    return figuresOf(size, times, growth);
  },
};
