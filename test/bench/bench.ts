/** Types of benches: their options and their results. */
import type { Figure } from './report.ts';
import type { Workshop } from './workshop.ts';

export interface Setting {
  readonly workshop: Workshop;
  /** A factor for all counts. It must be 1 if the figures are compared with other runs. */
  readonly scale: number;
  /** The folder for processor profiles and heap snapshots; null for none. */
  readonly profiles: string | null;
  /** Reports the progress. */
  say(text: string): void;
}

export interface Bench {
  readonly name: string;
  readonly about: string;
  run(setting: Setting): Promise<readonly Figure[]>;
}

export type Readings = Readonly<Record<string, number>>;

/** A measurement in rounds, alone or in turns with the same measurement of another checkout. */
export interface Measure {
  readonly name: string;
  readonly about: string;
  readonly rounds: number;
  /** The number of rounds that do not count. */
  readonly warmUp: number;
  /** Figures by the names of the readings of a round. Other readings are not compared. */
  readonly figures: Readonly<Record<string, { readonly name: string; readonly unit: string; readonly better: 'more' | 'less' }>>;
  /** Starts the measured program. Returns a function that runs one round. */
  open(setting: Setting): Promise<() => Promise<Readings>>;
}

export const scaled = (count: number, { scale }: Setting): number => Math.max(1, Math.round(count * scale));

/** Returns an invented phone number. Each side of a comparison has its own `series`. */
export const numberOf = (series: number, n: number): string => `55119${series}${String(n).padStart(7, '0')}`;
