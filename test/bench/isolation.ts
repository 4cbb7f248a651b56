/** What one receiver that never answers costs the others: how late their events are, with it and without. */
import { scaled, type Bench, type Setting } from './bench.ts';
import { median, type Figure } from './report.ts';
import { eventually, pause } from './workshop.ts';

const rounds = 5;
const bytes = 1024;
const receivers = 100;
/** Every so many milliseconds a tenth of the instances have an event. */
const beats = 200;
const beatMs = 100;
const perBeat = receivers / 10;

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;

/** 99th percentile of the way of the healthy ones' events, in milliseconds; `dead` of the receivers never answer. */
const lateness = async (setting: Setting, dead: number): Promise<number> => {
  const [peers, gateway] = await Promise.all([
    setting.workshop.start('test/bench/peers.ts'),
    setting.workshop.start('test/bench/gateway-host.ts'),
  ]);
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

const isolationFigure = async (setting: Setting): Promise<Figure> => {
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

export const isolation: Bench = {
  name: 'isolation',
  about: 'lateness of events while one receiver of a hundred never answers, against the same without',
  run: async (setting) => [await isolationFigure(setting)],
};
