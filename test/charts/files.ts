/** Names the files of the layouts, and formats their text. */
import { join } from 'node:path';
import { root } from '#test/source-tree.ts';
import type { Layout } from '#src/web/page/chart/words.js';
import type { Shape } from './inside.ts';

/** A layout of the whole chart, or of the chart with its housekeeping folded. */
export type LayoutName = Shape | `${Shape}Folded`;

export const fileOf = (machine: string, name: LayoutName): string => join(root, 'src/web/charts', `${machine}.${name}.json`);

/** Returns the text of the file of a layout. Each drawn element has its own line, so a change of a machine gives a short diff. */
export const textOf = (layout: Layout): string => {
  const lines = Object.entries(layout).map(([name, value]) =>
    Array.isArray(value)
      ? `"${name}": [\n${value.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]`
      : `"${name}": ${JSON.stringify(value)}`,
  );
  return `{\n${lines.join(',\n')}\n}\n`;
};
