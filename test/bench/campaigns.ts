/** Measures a new campaign of 50,000 recipients: the time, the longest stall of the event loop, and the memory while the campaign waits. */
import { numberOf, scaled, type Bench, type Setting } from './bench.ts';
import { pairMany, startGateway } from './clients.ts';
import type { Memory } from './probe.ts';
import { median, type Figure } from './report.ts';
import { postJson, startSandbox } from './sandbox.ts';
import type { Stall } from './stalls.ts';

const recipients = 50_000;
const rounds = 3;
/** The delay of the start. No message is sent during the bench. In minutes. */
const later = 1_000;

export const campaigns: Bench = {
  name: 'campaigns',
  about: `making campaigns of ${recipients} recipients`,
  async run(setting: Setting): Promise<readonly Figure[]> {
    const count = scaled(recipients, setting);
    const gateway = await startGateway(setting.workshop, await startSandbox(setting.workshop));
    const [token = ''] = await pairMany(gateway, 1, 0, 1);
    const numbers = Array.from({ length: count }, (_, n) => numberOf(6, n));
    const simple = { type: 'text', text: 'Hello {{name}}', delayMin: 10, delayMax: 30, scheduled_for: later, numbers };
    const advanced = {
      scheduled_for: later,
      messages: numbers.map((number) => ({ number, type: 'text', text: `Hello {{name}}, your code is ${number}` })),
    };
    const make = async (path: string, body: object): Promise<number> => {
      const begun = performance.now();
      const made = await postJson<{ readonly count: number }>(`${gateway.address}${path}`, body, { token });
      if (made.count !== count) throw new Error(`${made.count} of ${count} recipients were stored`);
      return performance.now() - begun;
    };
    await make('/sender/simple', simple);
    const before = await gateway.ask<Memory>('memory');
    await gateway.ask('stalls.start');
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push(await make('/sender/simple', simple));
    const stall = await gateway.ask<Stall>('stalls.stop');
    const own = await make('/sender/advanced', advanced);
    const after = await gateway.ask<Memory>('memory');
    const common = { baseline: null, judged: 'value' } as const;
    return [
      {
        ...common,
        name: `one message for ${count} recipients: until they are stored`,
        unit: 'ms',
        ours: median(times),
        bound: { most: 2_000 },
      },
      {
        ...common,
        name: `the same: longest stall, by the thread's own time`,
        unit: 'ms',
        ours: stall.cpu,
        judged: 'nothing',
        details: { wall: stall.wall },
      },
      { ...common, name: `a message of its own for each of ${count}: until they are stored`, unit: 'ms', ours: own, judged: 'nothing' },
      {
        ...common,
        name: `${(rounds + 1) * count} recipients that wait: heap`,
        unit: 'MB',
        ours: (after.heap - before.heap) / 1e6,
        bound: { most: 5 },
        details: { before, after },
      },
    ];
  },
};
