/** Compares the readings of one measure from two checkouts, and gives a verdict. */
import type { Measure, Readings } from './bench.ts';
import { median, percentile, tableOfRows } from './report.ts';

/** The verdict. `unclear`: the median is slower by more than a twentieth, but fewer than three of four rounds are slower, or there are too few rounds. */
export type Verdict = 'within' | 'slower' | 'unclear';

export interface Compared {
  readonly name: string;
  readonly unit: string;
  readonly other: number;
  readonly ours: number;
  /** The median of the ratios of the rounds. A ratio above 1 means slower, for every unit. */
  readonly ratio: number;
  /** The first and the third quartile of the ratios of the rounds. */
  readonly spread: readonly [number, number];
  readonly rounds: number;
  readonly verdict: Verdict;
}

/** The largest ratio that counts as equal. */
const limit = 1.05;
const leastRounds = 3;

const verdictOf = ({ ratio, spread, rounds }: Pick<Compared, 'ratio' | 'spread' | 'rounds'>): Verdict => {
  if (ratio <= limit) return 'within';
  return rounds >= leastRounds && spread[0] > 1 ? 'slower' : 'unclear';
};

/** Compares rounds that ran one right after the other, so that other load on the machine affects both. */
export const comparison = (
  { figures }: Pick<Measure, 'figures'>,
  others: readonly Readings[],
  ours: readonly Readings[],
): readonly Compared[] =>
  Object.entries(figures).map(([field, { name, unit, better }]) => {
    const of = (all: readonly Readings[]): readonly number[] => all.map((one) => one[field] ?? NaN);
    const [theirs, own] = [of(others), of(ours)];
    const ratios = own.map((value, n) => (better === 'less' ? value / (theirs[n] ?? NaN) : (theirs[n] ?? NaN) / value));
    const ratio = median(ratios);
    const spread = [percentile(ratios, 0.25), percentile(ratios, 0.75)] as const;
    const rounds = ratios.length;
    const verdict = verdictOf({ ratio, spread, rounds });
    return { name, unit, other: median(theirs), ours: median(own), ratio, spread, rounds, verdict };
  });

const headings = ['measure', 'unit', 'other', 'this', 'ratio', 'half of the rounds', ''];
const short = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

export const comparedTable = (all: readonly Compared[]): string =>
  tableOfRows(
    headings,
    all.map(({ name, unit, other, ours, ratio, spread, verdict }) => [
      name,
      unit,
      short(other),
      short(ours),
      ratio.toFixed(3),
      spread.map((one) => one.toFixed(2)).join(' to '),
      verdict,
    ]),
    [2, 3, 4],
  );
