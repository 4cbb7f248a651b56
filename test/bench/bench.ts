/** What a bench gets and gives. */
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

export const scaled = (count: number, { scale }: Setting): number => Math.max(1, Math.round(count * scale));

/** Numbers that no person has; `series` keeps the sides of a comparison apart. */
export const numberOf = (series: number, n: number): string => `55119${series}${String(n).padStart(7, '0')}`;
