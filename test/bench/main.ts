/**
 * `npm run bench [-- name…] [--scale 0.2] [--profiles folder]`: prints figures beside their baselines, as a table and as JSON lines. The exit code is 1 if a
 * figure clearly misses its bound. This program is not a test, because the figures depend on the machine and its other load.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { commandLine } from '#src/base/command-line.ts';
import type { Bench, Setting } from './bench.ts';
import { arrivals } from './arrivals.ts';
import { campaigns } from './campaigns.ts';
import { commits } from './commits.ts';
import { crowdedFinds } from './crowded-finds.ts';
import { dashboard } from './dashboard.ts';
import { deliveries } from './deliveries.ts';
import { failover } from './failover.ts';
import { finds } from './finds.ts';
import { flood } from './flood.ts';
import { groups } from './groups.ts';
import { history } from './history.ts';
import { idle, thousand } from './idle.ts';
import { importing } from './import.ts';
import { inspector } from './inspector.ts';
import { isolation } from './isolation.ts';
import { downloads } from './downloads.ts';
import { documents, pictures } from './media.ts';
import { nodeSends } from './nodes.ts';
import { leases } from './leases.ts';
import { oneNode } from './one-node.ts';
import { outbox } from './outbox.ts';
import { pages } from './pages.ts';
import { pairing } from './pairing.ts';
import { channelPosts } from './posts.ts';
import { reactions } from './reactions.ts';
import { receipts } from './receipts.ts';
import { registered } from './registered.ts';
import { jsonOf, tableOf, verdictOf, type Figure } from './report.ts';
import { restore } from './restore.ts';
import { streams } from './streams.ts';
import { texts } from './texts.ts';
import { wake } from './wake.ts';
import { Workshop } from './workshop.ts';

const benches: readonly Bench[] = [
  texts,
  reactions,
  arrivals,
  commits,
  receipts,
  pairing,
  history,
  idle,
  thousand,
  deliveries,
  isolation,
  inspector,
  streams,
  finds,
  crowdedFinds,
  registered,
  outbox,
  restore,
  wake,
  groups,
  flood,
  pictures,
  documents,
  downloads,
  dashboard,
  pages,
  campaigns,
  channelPosts,
  nodeSends,
  oneNode,
  failover,
  leases,
  importing,
];

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const usage = `Benches: ${benches.map(({ name, about }) => `\n  ${name}: ${about}`).join('')}\nOptions: --scale <number>, --profiles <folder>`;
const config = { allowPositionals: true, options: { scale: { type: 'string', default: '1' }, profiles: { type: 'string' } } } as const;
const { values, positionals } = commandLine(config, usage);

const scale = Number(values.scale);
const strangers = positionals.filter((name) => !benches.some((bench) => bench.name === name));
if (strangers.length > 0 || !(scale > 0)) {
  print(usage);
  process.exit(2);
}
const chosen = positionals.length === 0 ? benches : benches.filter(({ name }) => positionals.includes(name));
const profiles = values.profiles === undefined ? null : resolve(values.profiles);
if (profiles !== null) mkdirSync(profiles, { recursive: true });

let open: Workshop | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void open?.close().finally(() => process.exit(130)));

const runOne = async (bench: Bench): Promise<readonly Figure[]> => {
  const workshop = new Workshop();
  open = workshop;
  const setting: Setting = { workshop, scale, profiles, say: (text) => void process.stderr.write(`${bench.name}: ${text}\n`) };
  try {
    return await bench.run(setting);
  } finally {
    await workshop.close();
  }
};

const figures: Figure[] = [];
for (const bench of chosen) figures.push(...(await runOne(bench)));
print(tableOf(figures));
for (const figure of figures) print(jsonOf(figure));
process.exitCode = figures.some((figure) => verdictOf(figure) === 'missed') ? 1 : 0;
