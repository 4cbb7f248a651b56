/** Positions of the states and arrows of the charts, which are made in development and read once. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../web/charts/', import.meta.url);

/** Layouts by the name of the shape (`wide`, `tall`); empty if none was made for the machine. */
export type Layouts = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Files are named `<machine>.<shape>.json`. */
export const layoutsOf = (machine: string): Layouts => {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return Object.fromEntries(
    names.flatMap((name) => {
      const [of, shape, end] = name.split('.');
      if (of !== machine || shape === undefined || end !== 'json') return [];
      return [[shape, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Readonly<Record<string, unknown>>]];
    }),
  );
};
