/** Measures a million deliveries that wait for unreachable receivers: the start, the queries of the sweeper, and a trim of half of the rows. */
import { request } from 'undici';
import { scaled, type Bench, type Measure, type Setting } from './bench.ts';
import { createInstance, startGateway, type GatewayClient } from './clients.ts';
import { databaseCpu } from './cost.ts';
import { fill, withDatabase } from './fill.ts';
import { median, type Figure } from './report.ts';
import { postJson, startSandbox, type BenchSandbox } from './sandbox.ts';
import { watchVariable, type Stall } from './stalls.ts';
import { eventually, pause } from './workshop.ts';

const rows = 1_000_000;
/** The number of webhooks. Each has the largest allowed number of rows. */
const webhooks = 10;
const rounds = 3;
const sweepMs = 1_000;
/** The measured time, in which the sweeper checks all webhooks several times. In milliseconds. */
const lookMs = 10_000;
const trimMs = 300_000;
/** An address without a server. */
const away = 'http://127.0.0.1:9/hook';

const env = { ALLOW_PRIVATE_RECEIVERS: 'loopback', WEBHOOK_SWEEP_MS: String(sweepMs), [watchVariable]: '1' };

interface Stage {
  readonly sandbox: BenchSandbox;
  readonly full: string;
  readonly empty: string;
}

const prepare = async (setting: Setting): Promise<Stage> => {
  const sandbox = await startSandbox(setting.workshop);
  const [full, empty] = [await startGateway(setting.workshop, sandbox, { env }), await startGateway(setting.workshop, sandbox, { env })];
  for (let n = 0; n < webhooks; n += 1) {
    const { token } = await createInstance(full.address, `outbox ${n}`);
    await postJson(`${full.address}/webhook`, { url: away, enabled: true, events: ['messages'] }, { token });
  }
  await Promise.all([full.end(), empty.end()]);
  await withDatabase(full.folder, async (database) => {
    const hooks = await database.rows<{ id: string; instance: string }>(
      { name: '', text: 'select id, instance_id as instance from webhook' },
      [],
    );
    const oneOf = (values: readonly string[]): string =>
      `(array[${values.map((value) => `'${value}'`).join(', ')}])[1 + n % ${values.length}]`;
    await fill(database, 'outbox', scaled(rows, setting), {
      webhook_id: oneOf(hooks.map(({ id }) => id)),
      instance_id: oneOf(hooks.map(({ instance }) => instance)),
      event_id: `'event-' || n`,
      type: `'messages'`,
      lane: `'chat ' || n % 20`,
      body: `'{"text":"' || repeat('x', 200) || '"}'`,
      size: '211',
      at: String(Date.now()),
    });
    // The sweeper knows the rows by their tallies, which every statement of the gateway keeps.
    const tally = `insert into outbox_tally (webhook_id, waiting, bytes) select webhook_id, count(*), sum(size) from outbox group by webhook_id`;
    await database.rows({ name: '', text: tally }, []);
  });
  setting.say(`${scaled(rows, setting)} rows are in the outbox`);
  return { sandbox, full: full.folder, empty: empty.folder };
};

const isReady = async ({ address }: GatewayClient): Promise<true | null> => {
  const { statusCode, body } = await request(`${address}/health/ready`);
  await body.dump();
  return statusCode === 200 ? true : null;
};

interface Start {
  /** The time until the readiness check succeeds. In milliseconds. */
  readonly ready: number;
  readonly stall: number;
  /** The processor time of the database server per second, after the start. In milliseconds. */
  readonly database: number;
}

const start = async ({ workshop }: Setting, sandbox: BenchSandbox, folder: string): Promise<Start> => {
  const begun = performance.now();
  const gateway = await startGateway(workshop, sandbox, { folder, env });
  await eventually(() => isReady(gateway), 'the gateway to be ready');
  const ready = performance.now() - begun;
  await pause(lookMs / 2);
  const before = databaseCpu(gateway.database);
  await pause(lookMs);
  const database = ((databaseCpu(gateway.database) - before) / lookMs) * 1000;
  const stall = await gateway.ask<Stall>('stalls.stop');
  await gateway.end();
  return { ready, stall: stall.cpu, database };
};

/** Lowers the limit of waiting rows, and measures the time until half of the rows are deleted. In seconds. */
const trim = async (setting: Setting, { sandbox, full }: Stage): Promise<{ readonly seconds: number; readonly stall: number }> => {
  const left = scaled(rows, setting) / 2;
  const gateway = await startGateway(setting.workshop, sandbox, {
    folder: full,
    env: { ...env, WEBHOOK_QUEUE_ROWS: String(left / webhooks) },
  });
  const begun = performance.now();
  await withDatabase(full, (database) =>
    eventually(
      async () => {
        const [row] = await database.rows<{ count: number }>({ name: '', text: 'select count(*)::int as count from outbox' }, []);
        await pause(500);
        return row!.count <= left ? true : null;
      },
      'half of the outbox to be gone',
      trimMs,
    ),
  );
  const seconds = (performance.now() - begun) / 1000;
  const { cpu } = await gateway.ask<Stall>('stalls.stop');
  return { seconds, stall: cpu };
};

export const outboxRounds: Measure = {
  name: 'outbox',
  about: `the start with ${rows} deliveries that wait`,
  rounds: 4,
  warmUp: 0,
  figures: {
    ready: { name: `${rows} rows in the outbox: start until ready`, unit: 'ms', better: 'less' },
    stall: { name: `${rows} rows in the outbox: longest stall, work of the thread`, unit: 'ms', better: 'less' },
    database: { name: `${rows} rows in the outbox: database, a sweep a second`, unit: 'ms/s', better: 'less' },
  },
  async open(setting) {
    const stage = await prepare(setting);
    return async () => ({ ...(await start(setting, stage.sandbox, stage.full)) });
  },
};

export const outbox: Bench = {
  name: 'outbox',
  about: `the start and the sweeps with ${rows} deliveries that wait, against none`,
  async run(setting) {
    const stage = await prepare(setting);
    const [full, empty]: [Start[], Start[]] = [[], []];
    for (let round = 1; round <= rounds; round += 1) {
      empty.push(await start(setting, stage.sandbox, stage.empty));
      full.push(await start(setting, stage.sandbox, stage.full));
      setting.say(`round ${round} of ${rounds}: ${full.at(-1)?.ready.toFixed(0)} ms, empty ${empty.at(-1)?.ready.toFixed(0)} ms`);
    }
    const trimmed = await trim(setting, stage);
    const judged: Readonly<Record<string, Pick<Figure, 'judged' | 'bound'>>> = {
      ready: { judged: 'difference', bound: { most: 500 } },
      stall: { judged: 'value', bound: { most: 50 } },
    };
    const middle = (starts: readonly Start[], field: keyof Start): number => median(starts.map((one) => one[field]));
    return [
      ...(['ready', 'stall', 'database'] as const).map((field): Figure => {
        const { name, unit } = outboxRounds.figures[field]!;
        return { name, unit, ours: middle(full, field), baseline: middle(empty, field), judged: 'nothing', ...judged[field] };
      }),
      {
        name: `${rows} rows in the outbox: half of them dropped`,
        unit: 's',
        ours: trimmed.seconds,
        baseline: null,
        judged: 'nothing',
        details: { longestStall: trimmed.stall },
      },
    ];
  },
};
