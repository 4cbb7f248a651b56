/** Types of benches: their options and their results. */
import type { Figure } from './report.ts';
import type { Workshop } from './workshop.ts';

export interface Setting {
  readonly workshop: Workshop;
  /** Shrinks or stretches counts; 1 for figures that are compared with others. */
  readonly scale: number;
  /** Folder for processor profiles and heap snapshots; null: none. */
  readonly profiles: string | null;
  /** Tells how far it is. */
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
  /** Rounds before the first that counts. */
  readonly warmUp: number;
  /** Figures by the names of a round's readings. Other readings are not compared. */
  readonly figures: Readonly<Record<string, { readonly name: string; readonly unit: string; readonly better: 'more' | 'less' }>>;
  /** Starts what is measured, and answers with one round of it. */
  open(setting: Setting): Promise<() => Promise<Readings>>;
}

export const scaled = (count: number, { scale }: Setting): number => Math.max(1, Math.round(count * scale));

/** Numbers that no person has; `series` keeps the sides of a comparison apart. */
export const numberOf = (series: number, n: number): string => `55119${series}${String(n).padStart(7, '0')}`;
