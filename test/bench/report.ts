/** Judges figures, and formats them as a table and as lines of JSON. */

export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  /** The figure of the same work without the gateway, from the same run. Null for a figure without a baseline. */
  readonly baseline: number | null;
  /** The judged value. `ratio` is ours / baseline, and `difference` is ours - baseline. */
  readonly judged: 'ratio' | 'difference' | 'value' | 'nothing';
  readonly bound?: { readonly least: number } | { readonly most: number };
  /** Further facts that help to understand the figure. */
  readonly details?: Readonly<Record<string, unknown>>;
}

type Verdict = 'ok' | 'near' | 'missed' | '';

/** The tolerance of a bound, as a share. Other programs on the machine change figures by this share. */
const margin = 0.1;

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? NaN) : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
};

/** Returns the value below which the given share of the values lie. A share of 0.99 gives the 99th percentile. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;

export const ratioOf = ({ ours, baseline }: Figure): number | null => (baseline === null ? null : ours / baseline);

export const verdictOf = (figure: Figure): Verdict => {
  const { bound, judged, ours } = figure;
  const values = { ratio: ratioOf(figure), difference: ours - (figure.baseline ?? 0), value: ours, nothing: null };
  const value = values[judged];
  if (bound === undefined || value === null) return '';
  const over = 'most' in bound ? value / bound.most : bound.least / value;
  return over <= 1 ? 'ok' : over <= 1 + margin ? 'near' : 'missed';
};

const short = (value: number | null): string =>
  value === null ? '' : Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);

const boundText = ({ bound, judged }: Figure): string => {
  if (bound === undefined || judged === 'nothing') return '';
  return 'most' in bound ? `${judged} ≤ ${bound.most}` : `${judged} ≥ ${bound.least}`;
};

/** Returns the rows as a table of text. `numeric` lists the columns that are aligned to the right. */
export const tableOfRows = (headings: readonly string[], body: readonly (readonly string[])[], numeric: readonly number[]): string => {
  const rows = [headings, ...body];
  const widths = headings.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string =>
    numeric.includes(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  const lines = rows.map((row) => row.map(cell).join('  ').trimEnd());
  return [lines[0], widths.map((width) => '-'.repeat(width)).join('  '), ...lines.slice(1)].join('\n');
};

const headings = ['figure', 'unit', 'Dormouse', 'baseline', 'ratio', 'bound', ''];

export const tableOf = (figures: readonly Figure[]): string =>
  tableOfRows(
    headings,
    figures.map((figure) => [
      figure.name,
      figure.unit,
      short(figure.ours),
      short(figure.baseline),
      short(ratioOf(figure)),
      boundText(figure),
      verdictOf(figure),
    ]),
    [2, 3, 4],
  );

/** Returns the figure as one line of JSON. */
export const jsonOf = (figure: Figure): string => {
  const { name, unit, ours, baseline, bound, details } = figure;
  return JSON.stringify({ name, unit, ours, baseline, ratio: ratioOf(figure), bound, verdict: verdictOf(figure), ...details });
};
