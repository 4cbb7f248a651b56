/** Deliveries alone, beside a plain loop that posts as much over as many connections; and what a dead receiver costs the others. */
import { scaled, type Bench, type Setting } from './bench.ts';
import { median, type Figure } from './report.ts';
import { eventually, pause, type Child } from './workshop.ts';

const instances = 20;
const each = 1000;
const bytes = 1024;
const rounds = 3;
/** As many posts to one host as the gateway allows itself. */
const connections = 64;

const receivers = 100;
/** Every so many milliseconds a tenth of the instances have an event. */
const beats = 200;
const beatMs = 100;
const perBeat = receivers / 10;

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;

const perSecond = async (peers: Child, posts: number): Promise<number> => {
  const { ms } = await eventually(async () => {
    const received = await peers.ask<{ count: number; ms: number }>('received');
    return received.count >= posts ? received : null;
  }, `${posts} posts`);
  return (posts / ms) * 1000;
};

const startPeers = (setting: Setting): Promise<Child> => setting.workshop.start('test/bench/peers.ts');

/** A fresh gateway finds the events waiting: what is measured is from the first post to the last. */
const deliverAll = async (setting: Setting, peers: Child, url: string, count: number): Promise<number> => {
  const gateway = await setting.workshop.start('test/bench/gateway-host.ts');
  await gateway.ask('open', { instances, urls: Array.from({ length: instances }, (_, n) => `${url}/${n}`) });
  await gateway.ask('fill', { instances, each: count, bytes });
  await peers.ask('reset');
  await gateway.ask('start');
  const rate = await perSecond(peers, instances * count);
  await eventually(async () => ((await gateway.ask<number>('waiting')) === 0 ? true : null), 'an empty outbox');
  await gateway.end();
  return rate;
};

const postAll = async (loop: Child, peers: Child, url: string, posts: number): Promise<number> => {
  await peers.ask('reset');
  await loop.ask('post', { url, posts, bytes, connections });
  return perSecond(peers, posts);
};

const rate = async (setting: Setting): Promise<Figure> => {
  const [peers, loop] = await Promise.all([startPeers(setting), startPeers(setting)]);
  const url = await peers.ask<string>('receive');
  const count = scaled(each, setting);
  const [ours, plain]: [number[], number[]] = [[], []];
  await postAll(loop, peers, url, instances * count);
  for (let round = 1; round <= rounds; round += 1) {
    plain.push(await postAll(loop, peers, url, instances * count));
    ours.push(await deliverAll(setting, peers, url, count));
    setting.say(`round ${round} of ${rounds}: ${ours.at(-1)?.toFixed(0)}/s, plain ${plain.at(-1)?.toFixed(0)}/s`);
  }
  await Promise.all([peers.end(), loop.end()]);
  return {
    name: `deliveries, ${instances} instances, 1 KB`,
    unit: 'posts/s',
    ours: median(ours),
    baseline: median(plain),
    judged: 'ratio',
    bound: { least: 0.5 },
    details: { connections, ratios: ours.map((one, n) => one / (plain[n] ?? NaN)) },
  };
};

/** 99th percentile of the way of the healthy ones' events, in milliseconds; `dead` of the receivers never answer. */
const lateness = async (setting: Setting, dead: number): Promise<number> => {
  const [peers, gateway] = await Promise.all([startPeers(setting), setting.workshop.start('test/bench/gateway-host.ts')]);
  const url = await peers.ask<string>('receive');
  const urls = Array.from({ length: receivers }, (_, n) => (n < dead ? `${url}/dead/${n}` : `${url}/${n}`));
  await gateway.ask('open', { instances: receivers, urls });
  await gateway.ask('start');
  const count = scaled(beats, setting);
  for (let n = -20; n < count; n += 1) {
    // What is compiled and connected by the first beats is not what is measured.
    if (n === 0) await peers.ask('reset');
    const next = pause(beatMs);
    const turn = ((n + 20) % 10) * perBeat;
    await gateway.ask('tell', { instances: Array.from({ length: perBeat }, (_, k) => turn + k), bytes, n });
    await next;
  }
  await eventually(
    async () => ((await peers.ask<{ count: number }>('received')).count >= count * perBeat - Math.ceil(count / 10) * dead ? true : null),
    'the events of the healthy receivers',
  );
  const late = await peers.ask<readonly number[]>('late');
  await Promise.all([peers.end(), gateway.end()]);
  return percentile(late, 0.99);
};

const isolation = async (setting: Setting): Promise<Figure> => {
  const [well, ill]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    // Side by side, so that whatever else the machine does happens to both.
    const [without, withDead] = await Promise.all([lateness(setting, 0), lateness(setting, 1)]);
    well.push(without);
    ill.push(withDead);
    setting.say(`round ${round} of ${rounds}: ${ill.at(-1)?.toFixed(1)} ms with a dead receiver, ${well.at(-1)?.toFixed(1)} ms without`);
  }
  return {
    name: `one dead receiver of ${receivers}: p99 of the others`,
    unit: 'ms',
    ours: median(ill),
    baseline: median(well),
    judged: 'ratio',
    bound: { most: 1.1 },
    details: { perSecond: (perBeat * 1000) / beatMs, well, ill },
  };
};

export const deliveries: Bench = {
  name: 'deliveries',
  about: 'posts to receivers, against a plain loop, and with one receiver of a hundred that never answers',
  run: async (setting) => [await rate(setting), await isolation(setting)],
};
