/** A thousand readers of one instance's stream: how soon all of them have an event, and what one costs that hears nothing. */
import { scaled, type Bench } from './bench.ts';
import type { Memory } from './probe.ts';
import { median, type Figure } from './report.ts';
import { eventually, pause, type Child } from './workshop.ts';

const readers = 1000;
const events = 30;
const bytes = 1024;
/** Readers and events before the first measurement: what they cause is made once. */
const [firstReaders, firstEvents] = [50, 5];

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

  async grow(by: number): Promise<void> {
    await this.#peers.ask('read', { port: this.#port, readers: by, token: 'token-0' });
    this.size += by;
  }

  /** Milliseconds from the moment that the event is told until the last reader has it. */
  async reach(n: number): Promise<number> {
    const told = performance.timeOrigin + performance.now();
    await this.#gateway.ask('tell', { instances: [0], bytes, n });
    let [heard, last] = [0, 0];
    await eventually(async () => {
      const more = await this.#peers.ask<{ count: number; last: number }>('heard');
      heard += more.count;
      last = Math.max(last, more.last);
      return heard >= this.size ? true : null;
    }, `${this.size} readers to hear`);
    return last - told;
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

const figuresOf = (size: number, times: readonly number[], perReader: (field: keyof Memory) => number): readonly Figure[] => [
  {
    name: `an event to all of ${size} subscribers`,
    unit: 'ms',
    ours: median(times),
    baseline: null,
    judged: 'value',
    bound: { most: 100 },
    details: { longest: Math.max(...times) },
  },
  {
    name: 'an idle subscriber: resident memory',
    unit: 'KB',
    ours: perReader('rss'),
    baseline: null,
    judged: 'value',
    bound: { most: 20 },
    details: { heap: perReader('heap'), external: perReader('external') },
  },
];

export const streams: Bench = {
  name: 'streams',
  about: `${readers} subscribers of one instance's stream`,
  async run(setting) {
    const { workshop } = setting;
    const [gateway, peers] = await Promise.all([workshop.start('test/bench/gateway-host.ts'), workshop.start('test/bench/peers.ts')]);
    await gateway.ask('open', { instances: 1, urls: [] });
    await gateway.ask('start');
    const audience = new Audience(gateway, peers, Number(new URL(await gateway.ask<string>('listen')).port));
    const count = scaled(readers, setting);
    await audience.grow(firstReaders);
    await audience.times(firstEvents);
    const before = await gateway.ask<Memory>('memory');
    await audience.grow(count);
    const after = await gateway.ask<Memory>('memory');
    await audience.times(firstEvents);
    const times = await audience.times(events);
    await peers.ask('leave');
    return figuresOf(audience.size, times, (field) => (after[field] - before[field]) / count / 1024);
  },
};
