/** Exports the charts as source text for Stately's editor. The text has the tables without the functions, but with the names of the functions. */
import { chartDescriptions } from './chart-descriptions.ts';
import { charts, guardText } from './charts.ts';
import { instance } from './instance.ts';
import { lifecycle } from './lifecycle.ts';
import type { ChartName } from '../views/inspector.ts';

type Plain = null | boolean | number | string | readonly Plain[] | { readonly [name: string]: Plain };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Converts a config to plain data. Guards become text, because the editor shows no parameters. Actions and actors keep their names. */
const plainOf = (value: unknown, key: string): Plain | undefined => {
  if (typeof value === 'function' || value === undefined) return undefined;
  if (key === 'guard') return guardText(value);
  if (Array.isArray(value)) return value.map((item) => plainOf(item, key)).filter((item) => item !== undefined);
  if (!isObject(value)) return value as Plain;
  if (key === 'actions' || key === 'entry' || key === 'exit') return String(value['type'] ?? '');
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      const plain = plainOf(item, name);
      return plain === undefined ? [] : [[name, plain]];
    }),
  );
};

const described = (chart: ChartName, states: Plain | undefined, parent = ''): Plain =>
  Object.fromEntries(
    Object.entries(isObject(states) ? states : {}).map(([name, state]) => {
      const path = parent === '' ? name : `${parent}.${name}`;
      const { states: inner, ...rest } = state as Readonly<Record<string, Plain>>;
      const description = chartDescriptions[chart].states[path] ?? '';
      return [name, { description, ...rest, ...(inner === undefined ? {} : { states: described(chart, inner, path) }) }];
    }),
  );

const machines = { lifecycle, instance } as const;

/** Returns null if there is no such machine. */
export function chartSource(id: string): string | null {
  if (!Object.hasOwn(charts, id)) return null;
  const name = id as ChartName;
  const { context: _, ...config } = machines[name].config as Readonly<Record<string, unknown>>;
  const { states, ...plain } = plainOf(config, '') as Readonly<Record<string, Plain>>;
  const whole = { description: chartDescriptions[name].chart, ...plain, states: described(name, states) };
  return `import { createMachine } from 'xstate';\n\nexport const ${name} = createMachine(${JSON.stringify(whole, null, 2)});\n`;
}
