/**
 * `npm run bench:compare -- <checkout or revision> [measure…] [--times 2] [--rounds 12] [--scale 1] [--profiles folder]`: runs the
 * same measures in another checkout and in this one, in turns (A B B A …) and in separate processes. The exit code is 1 if a measure is slower by more than
 * a twentieth.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commandLine } from '#src/base/command-line.ts';
import { arrivalRounds } from './arrivals.ts';
import type { Measure, Readings, Setting } from './bench.ts';
import { checkoutOf, type Checkout } from './checkout.ts';
import { comparedTable, comparison, type Compared } from './compared.ts';
import { commitRounds } from './commits.ts';
import { deliveryRounds } from './deliveries.ts';
import { findRounds } from './finds.ts';
import { floodRounds } from './flood.ts';
import { idleRounds } from './idle.ts';
import { journalRounds } from './journal.ts';
import { outboxRounds } from './outbox.ts';
import { receiptRounds } from './receipts.ts';
import { registeredRounds } from './registered.ts';
import { restoreRounds } from './restore.ts';
import { sends } from './sends.ts';
import { wakeRounds } from './wake.ts';
import { here, Workshop } from './workshop.ts';

const measures: readonly Measure[] = [
  ...sends,
  arrivalRounds,
  receiptRounds,
  commitRounds,
  journalRounds,
  deliveryRounds,
  findRounds,
  wakeRounds,
  floodRounds,
  registeredRounds,
  outboxRounds,
  restoreRounds,
  idleRounds,
];

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const say = (text: string): void => void process.stderr.write(`${text}\n`);

const list = measures.map(({ name, about, rounds }) => `\n  ${name}: ${about} (${rounds} rounds)`).join('');
const usage = `Give a checkout or a revision of git, and measures if not all:${list}\nOptions: --times <n>, --rounds <n>, --scale <number>, --profiles <folder>`;

const config = {
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '2' },
    rounds: { type: 'string' },
    scale: { type: 'string', default: '1' },
    profiles: { type: 'string' },
  },
} as const;
const { values, positionals } = commandLine(config, usage);
const [other, ...names] = positionals;
const strangers = names.filter((name) => !measures.some((measure) => measure.name === name));
const [scale, times, rounds] = [Number(values.scale), Number(values.times), values.rounds === undefined ? null : Number(values.rounds)];
if (other === undefined || strangers.length > 0 || !(scale > 0) || !(times >= 1) || (rounds !== null && !(rounds >= 1))) {
  print(usage);
  process.exit(2);
}

interface Side {
  readonly setting: Setting;
  readonly round: () => Promise<Readings>;
  readonly readings: Readings[];
}

/** Resources that must be released at the end, also after an error or a signal. */
const open: { checkout: Checkout | null; readonly workshops: Set<Workshop>; ended: boolean } = {
  checkout: null,
  workshops: new Set(),
  ended: false,
};
const closeAll = async (): Promise<void> => {
  open.ended = true;
  await Promise.allSettled([...open.workshops].map((workshop) => workshop.close()));
  open.workshops.clear();
  open.checkout?.remove();
  open.checkout = null;
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void closeAll().finally(() => process.exit(130)));

const openSide = async (measure: Measure, label: string, folder: string): Promise<Side> => {
  if (open.ended) throw new Error('the comparison is over');
  const workshop = new Workshop(folder);
  open.workshops.add(workshop);
  const setting = { workshop, scale, profiles: null, say: (text: string) => say(`${measure.name}, ${label}: ${text}`) };
  return { setting, round: await measure.open(setting), readings: [] };
};

/** Runs one round with profiles. The round does not count. */
const profile = async (side: Side, label: string): Promise<void> => {
  if (values.profiles === undefined) return;
  const folder = resolve(values.profiles, label);
  mkdirSync(folder, { recursive: true });
  Object.assign(side.setting, { profiles: folder });
  await side.round();
  Object.assign(side.setting, { profiles: null });
};

const closeWorkshops = async (): Promise<void> => {
  for (const workshop of open.workshops) await workshop.close();
  open.workshops.clear();
};

interface Both {
  readonly theirs: readonly Readings[];
  readonly ours: readonly Readings[];
}

/** Starts both sides and runs all rounds in turns. The other checkout starts first if `time` is odd. */
const runOnce = async (measure: Measure, theirFolder: string, time: number): Promise<Both> => {
  const openTheirs = (): Promise<Side> => openSide(measure, 'other', theirFolder);
  const early = time % 2 === 1 ? await openTheirs() : null;
  const ours = await openSide(measure, 'this', here);
  const theirs = early ?? (await openTheirs());
  const total = rounds ?? measure.rounds;
  for (let n = 1 - measure.warmUp; n <= total; n += 1) {
    for (const side of n % 2 === 0 ? [ours, theirs] : [theirs, ours]) {
      const readings = await side.round();
      if (n > 0) side.readings.push(readings);
    }
    const shown = (side: Side): string =>
      JSON.stringify(side.readings.at(-1), (_, value) => (value > 1 ? Math.round(value * 100) / 100 : value));
    if (n > 0) say(`${measure.name}, ${time} of ${times}, round ${n} of ${total}: other ${shown(theirs)}\n  this ${shown(ours)}`);
  }
  await profile(theirs, 'other');
  await profile(ours, 'this');
  return { theirs: theirs.readings, ours: ours.readings };
};

/** Compares several times with new processes, because a process keeps random properties of its start, such as the plans of its statements. */
const compare = async (measure: Measure, theirFolder: string): Promise<readonly Compared[]> => {
  const all: Both[] = [];
  for (let time = 1; time <= times; time += 1) {
    all.push(await runOnce(measure, theirFolder, time));
    await closeWorkshops();
  }
  return comparison(
    measure,
    all.flatMap(({ theirs }) => theirs),
    all.flatMap(({ ours }) => ours),
  );
};

const run = async (): Promise<void> => {
  open.checkout = checkoutOf(other, here);
  const theirFolder = open.checkout.folder;
  if (!existsSync(join(theirFolder, 'src/main.ts'))) throw new Error(`${theirFolder} holds no gateway`);
  const all: Compared[] = [];
  for (const measure of names.length === 0 ? measures : measures.filter(({ name }) => names.includes(name))) {
    try {
      const compared = await compare(measure, theirFolder);
      say(comparedTable(compared));
      all.push(...compared);
    } catch (error) {
      if (open.ended) return;
      // A measure that the other checkout does not support must not end the other measures.
      say(`${measure.name} could not be compared: ${String(error)}`);
      process.exitCode = 1;
    }
    await closeWorkshops();
  }
  print(comparedTable(all));
  for (const one of all) print(JSON.stringify(one));
  if (all.some(({ verdict }) => verdict === 'slower')) process.exitCode = 1;
};

try {
  await run();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
} finally {
  await closeAll();
}
