/** Lays out the states of one parent with ELK, in several shapes. The layout of all parents chooses one of them. */
import ElkModule, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js';
import { type Arrow, joined, type Machine, nameOf, type State, wordOf } from '#src/web/page/chart/words.js';
import { type Box, type Point, type Size, snapped } from './geometry.ts';
import { widthOf } from './measure.ts';

/** The class of ELK. The bundle is CommonJS, so the default import has the type of `module.exports`. */
const Elk = ElkModule as unknown as typeof ElkModule.default;

export interface PlacedArrow {
  readonly from: string;
  readonly to: string;
  /** The lines of the label: the events, and the reasons below them. */
  readonly lines: readonly string[];
  readonly points: readonly Point[];
  /** True if the points after the first are those of Bézier curves, three per curve. */
  readonly curved: boolean;
  /** The place of the label, or null without a free place. */
  readonly label: Box | null;
}

export interface Inside extends Size {
  readonly states: readonly (Box & { readonly id: string })[];
  readonly arrows: readonly PlacedArrow[];
}

const nodeHeight = 36;
/** Widths of nodes. `timed` is the width of a node with a clock. */
const nodeWidths = { wide: { least: 76, timed: 104, beside: 28 }, tall: { least: 64, timed: 96, beside: 20 } } as const;
/** The id of the initial dot. */
export const start = '';
/** Options of ELK. Every combination is tried, because each gives a different width and height. */
const ways = {
  wide: {
    'elk.direction': ['RIGHT', 'DOWN'],
    'elk.layered.layering.strategy': ['NETWORK_SIMPLEX', 'STRETCH_WIDTH'],
    'elk.aspectRatio': ['0.5', '1.2', '3'],
  },
  tall: {
    'elk.direction': ['DOWN'],
    'elk.layered.layering.strategy': ['NETWORK_SIMPLEX', 'STRETCH_WIDTH', 'COFFMAN_GRAHAM'],
    'elk.layered.nodePlacement.strategy': ['NETWORK_SIMPLEX', 'LINEAR_SEGMENTS'],
    'elk.layered.edgeLabels.centerLabelPlacementStrategy': ['MEDIAN_LAYER', 'SPACE_EFFICIENT_LAYER', 'TAIL_LAYER'],
    'elk.layered.cycleBreaking.strategy': ['GREEDY', 'DEPTH_FIRST'],
    'elk.aspectRatio': ['0.5'],
  },
} as const;
/** The number of letters in a line of a label. */
const lineLength = { wide: 18, tall: 11 } as const;
export type Shape = keyof typeof ways;

/** @example combinations({ a: ['1'], b: ['2', '3'] }) // [{ a: '1', b: '2' }, { a: '1', b: '3' }] */
const combinations = (all: Readonly<Record<string, readonly string[]>>): readonly Readonly<Record<string, string>>[] =>
  Object.entries(all).reduce<readonly Readonly<Record<string, string>>[]>(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  );

/** The number of states from which an event must lead to the same state to count as a rule. Rules are drawn only on demand. */
const ruleFrom = 3;
export const titleRoom = 34;
const pad = 14;

const options = (hasTitle: boolean): Record<string, string> => ({
  'elk.algorithm': 'layered',
  'elk.edgeRouting': 'SPLINES',
  'elk.layered.edgeRouting.splines.mode': 'CONSERVATIVE_SOFT',
  'elk.layered.cycleBreaking.strategy': 'GREEDY',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.layering.coffmanGraham.layerBound': '2',
  'elk.spacing.nodeNode': '14',
  'elk.layered.spacing.nodeNodeBetweenLayers': '16',
  'elk.spacing.edgeNode': '8',
  'elk.layered.spacing.edgeNodeBetweenLayers': '8',
  'elk.padding': `[top=${hasTitle ? titleRoom : pad},left=${pad},bottom=${pad},right=${pad}]`,
});

/** Returns the arrows of one parent that are drawn by default, without rules. */
const arrowsOf = (machine: Machine, ids: ReadonlySet<string>): readonly Arrow[] => {
  const all = joined(machine.transitions.filter(({ from, to }) => ids.has(from) && ids.has(to)));
  const again = machine.transitions.filter(({ from, to, reenter }) => reenter && from === to);
  const sources = (word: string, to: string): number =>
    all.filter((arrow) => arrow.to === to && arrow.words.includes(word)).length +
    (again.some((one) => one.to === to && wordOf(one) === word) ? 1 : 0);
  return all
    .map((arrow) => ({ ...arrow, words: arrow.words.filter((word) => sources(word, arrow.to) < ruleFrom) }))
    .filter(({ words }) => words.length > 0);
};

/** Returns a label with at most two events. The page shows all events when the pointer is on a state. */
export const shortened = (words: readonly string[]): string => (words.length > 2 ? `${words.slice(0, 2).join(', ')} …` : words.join(', '));

const wrapped = (text: string, length: number): readonly string[] =>
  text.split(' ').reduce<readonly string[]>((lines, word) => {
    const last = lines.at(-1);
    return last !== undefined && last.length + 1 + word.length <= length ? [...lines.slice(0, -1), `${last} ${word}`] : [...lines, word];
  }, []);

const linesOf = ({ words, reasons }: Arrow, shape: Shape): readonly string[] => {
  const lines = wrapped(shortened(words), lineLength[shape]);
  return reasons.length > 0 && words.length === 1 ? [...lines, ...wrapped(reasons.join(', '), 24)] : lines;
};

const labelOf = (lines: readonly string[]): { text: string } & Size & { layoutOptions: Record<string, string> } => ({
  text: lines.join('\n'),
  width: Math.max(...lines.map((line) => widthOf(line, 11.5, 400))) + 6,
  height: lines.length * 13 + 3,
  layoutOptions: { 'elk.edgeLabels.inline': 'true' },
});

/** Returns the node of a state. A state with a timer has space for its clock. */
const nodeOf = (machine: Machine, { id }: State, shape: Shape): ElkNode => {
  const isTimed = machine.transitions.some(({ from, kind }) => from === id && kind === 'after');
  const { least, timed, beside } = nodeWidths[shape];
  return { id, width: Math.max(isTimed ? timed : least, widthOf(nameOf(id), 13, 500) + beside), height: nodeHeight };
};

/** Returns the initial dot of a machine without parents, and the arrow from the dot to the first state. */
const startOf = (machine: Machine): { readonly node: ElkNode; readonly edge: ElkExtendedEdge } => ({
  node: { id: start, width: 8, height: 8 },
  edge: { id: start, sources: [start], targets: [machine.initial] },
});

const round = (value: number): number => Math.round(value * 10) / 10;

const placed = (edge: ElkExtendedEdge, from: string, to: string): PlacedArrow => {
  const [section] = edge.sections ?? [];
  const [label] = edge.labels ?? [];
  const points = section === undefined ? [] : [section.startPoint, ...(section.bendPoints ?? []), section.endPoint];
  return {
    from,
    to,
    lines: label?.text?.split('\n') ?? [],
    points: points.map(({ x, y }) => ({ x: round(x), y: round(y) })),
    curved: points.length > 2 && points.length % 3 === 1,
    label:
      label === undefined ? null : { x: round(label.x ?? 0), y: round(label.y ?? 0), width: label.width ?? 0, height: label.height ?? 0 },
  };
};

/** Returns the least width of a box, which fits its name. In pixels. */
export const boxWidth = (id: string): number => snapped(widthOf(nameOf(id), 13, 600) + 2 * pad);

/** Lays out the states under `parent`; '' for the top level. Layouts of the same size are kept once. */
export const layoutsInside = async (machine: Machine, parent: string, shape: Shape): Promise<readonly Inside[]> => {
  const states = machine.states.filter((state) => state.parent === parent);
  const arrows = arrowsOf(machine, new Set(states.map(({ id }) => id)));
  const titleWidth = parent === '' ? 0 : boxWidth(parent);
  const sizes = new Map<string, Inside>();
  const dot = parent === '' ? [startOf(machine)] : [];
  for (const way of combinations(ways[shape])) {
    const graph: ElkNode = await new Elk().layout({
      id: parent || machine.id,
      layoutOptions: { ...options(parent !== ''), ...way },
      children: [...dot.map(({ node }) => node), ...states.map((state) => nodeOf(machine, state, shape))],
      edges: [
        ...dot.map(({ edge }) => edge),
        ...arrows.map((arrow, at) => ({
          id: `${at}`,
          sources: [arrow.from],
          targets: [arrow.to],
          labels: [labelOf(linesOf(arrow, shape))],
        })),
      ],
    });
    const inside: Inside = {
      width: Math.max(snapped(graph.width ?? 0), titleWidth),
      height: snapped(graph.height ?? 0),
      states: (graph.children ?? []).map(({ id, x = 0, y = 0, width = 0, height = 0 }) => ({
        id,
        x: round(x),
        y: round(y),
        width,
        height,
      })),
      arrows: (graph.edges ?? []).map((edge) => placed(edge, edge.sources[0] ?? '', edge.targets[0] ?? '')),
    };
    const key = `${inside.width}x${inside.height}`;
    if (!sizes.has(key)) sizes.set(key, inside);
  }
  const all = [...sizes.values()];
  // A layout that is wider and higher than another layout is never better.
  return all.filter((one) => !all.some((other) => other !== one && other.width <= one.width && other.height <= one.height));
};
