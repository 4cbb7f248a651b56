/** The lines of the figures: one for each node, and one for all nodes together. Pure, so that a test can check the values. */

/** @typedef {'received' | 'sent' | 'delivered' | 'failed' | 'reconnects' | 'memoryBytes' | 'loopMs'} Name */

/** @typedef {readonly (number | null)[]} Values */

/** @typedef {Readonly<Record<Name | 'seconds', Values>> & { readonly name: string }} Node The figures of one node. */

/** @typedef {{ from: number, step: number, steps: number, nodes: readonly Node[] }} Answer The answer of `GET /admin/figures`. */

/** @typedef {{ readonly node: string | null, readonly values: Values }} Line `node`: null for all nodes together. */

/** @type {readonly { name: Name, unit: 'perMinute' | 'megabytes' | 'milliseconds' }[]} */
export const figures = [
  { name: 'received', unit: 'perMinute' },
  { name: 'sent', unit: 'perMinute' },
  { name: 'delivered', unit: 'perMinute' },
  { name: 'failed', unit: 'perMinute' },
  { name: 'reconnects', unit: 'perMinute' },
  { name: 'memoryBytes', unit: 'megabytes' },
  { name: 'loopMs', unit: 'milliseconds' },
];

/** The largest number of nodes with a line of their own. More lines cannot be told apart. */
export const mostLines = 5;

/**
 * Returns the values of a node in the unit of the figure. Converts counts into counts per minute, with the number of seconds that each step covers.
 * @param {Node} node
 * @param {Name} name
 * @returns {Values}
 */
const valuesOf = (node, name) =>
  node[name].map((value, index) => {
    if (value === null) return null;
    if (name === 'memoryBytes') return value / 1e6;
    if (name === 'loopMs') return value;
    return (value * 60) / Math.max(1, node.seconds[index] ?? 60);
  });

/**
 * Joins the values of all nodes. A step without any value stays empty.
 * @param {readonly Values[]} all
 * @param {number} steps
 * @param {(values: readonly number[]) => number} join
 * @returns {Values}
 */
const joined = (all, steps, join) =>
  Array.from({ length: steps }, (_, index) => {
    const known = all.map((values) => values[index] ?? null).filter((value) => value !== null);
    return known.length === 0 ? null : join(known);
  });

/**
 * Returns the lines of one figure. The line of all nodes comes last, so that it is drawn on top. For the delay of the event loop, this line has the largest
 * value of the nodes. For other figures, this line has the sum of the nodes.
 * @param {Answer} answer
 * @param {Name} name
 * @param {string | null} only The name of the only node that is shown; null for all nodes.
 * @returns {readonly Line[]}
 */
export const linesOf = ({ nodes, steps }, name, only) => {
  const lines = nodes
    .filter((node) => only === null || node.name === only)
    .map((node) => ({ node: node.name, values: valuesOf(node, name) }));
  if (lines.length < 2) return lines;
  const join = name === 'loopMs' ? (/** @type {readonly number[]} */ values) => Math.max(...values) : sumOf;
  const all = {
    node: null,
    values: joined(
      lines.map(({ values }) => values),
      steps,
      join,
    ),
  };
  return [...lines.slice(0, mostLines), all];
};

/** @param {readonly number[]} values */
const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);

/** Returns the start time of each step, in Unix seconds. @param {Answer} answer */
export const timesOf = ({ from, step, steps }) => Array.from({ length: steps }, (_, index) => from / 1_000 + index * step * 60);
