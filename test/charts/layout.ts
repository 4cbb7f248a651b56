/** Lays out a whole chart: states inside their parents, parents in the plane, quiet arrows between parents, and the initial dot. */
import { createHash } from 'node:crypto';
import { type Layout, type Machine, merged, wordOf } from '#src/web/page/chart/words.js';
import { canFold, folded } from '#src/web/page/chart/folding.js';
import type { LayoutName } from './files.ts';
import { type Box, grid, type Point } from './geometry.ts';
import { type QuietArrow, routeAll } from './gaps.ts';
import { boxWidth, type Inside, layoutsInside, type PlacedArrow, type Shape, start as dotId } from './inside.ts';
import { arrange, type Plane, type Placed } from './slicing.ts';

export const shapes: readonly Shape[] = ['wide', 'tall'];

/** A layout of a machine: the name of its file, and what it draws. */
export interface Variant {
  readonly name: LayoutName;
  readonly drawn: Machine;
  readonly shape: Shape;
}

/** Returns the layouts of a machine: each shape unfolded, and also folded if the machine has housekeeping. */
export const variantsOf = (machine: Machine): readonly Variant[] =>
  shapes.flatMap((shape): readonly Variant[] => [
    { name: shape, drawn: machine, shape },
    ...(canFold(machine) ? [{ name: `${shape}Folded` as const, drawn: folded(machine), shape }] : []),
  ]);

const planes: Readonly<Record<Shape, Omit<Plane, 'first'>>> = {
  wide: { gap: { width: 78, height: 48 }, width: 950, ratio: 1.6 },
  tall: { gap: { width: 24, height: 42 }, width: 350, ratio: 0.3 },
};

/** Margins for arrows around parents, by shape. */
const margins: Readonly<Record<Shape, number>> = { wide: 4 * grid, tall: 2 * grid };
/** The margin around the whole drawing. */
const edge = 10;

/** Returns a fingerprint of the drawn parts of a machine. A file with another fingerprint belongs to another machine. */
export const printOf = ({ initial, states, transitions }: Machine): string => {
  const drawn = [
    initial,
    states.map(({ id, parent }) => [id, parent]),
    transitions.map(({ from, to, event, kind, guard, delay, reenter }) => [from, to, event, kind, guard, delay ?? '', reenter]),
  ];
  return createHash('sha256').update(JSON.stringify(drawn)).digest('hex').slice(0, 16);
};

/** Returns true if the state has no parent and is left at once. Such an initial state is drawn as a dot. */
const isStart = (machine: Machine, id: string): boolean =>
  id === machine.initial && machine.transitions.some(({ from, kind }) => from === id && kind === 'always');

const topOf = (id: string): string => id.split('.')[0] ?? id;

const quietArrows = ({ transitions }: Machine, tops: ReadonlySet<string>): readonly QuietArrow[] => {
  const pairs = new Map<string, { from: string; to: string; words: string[] }>();
  for (const one of transitions) {
    const [from, to] = [topOf(one.from), topOf(one.to)];
    if (from === to || !tops.has(from) || !tops.has(to)) continue;
    const pair = pairs.get(`${from}>${to}`) ?? { from, to, words: [] };
    // Platform events are drawn first, because commands are known to their callers.
    if (one.event.startsWith('platform.')) pair.words.unshift(wordOf(one));
    else pair.words.push(wordOf(one));
    pairs.set(`${from}>${to}`, pair);
  }
  return [...pairs.values()].map((pair) => ({ ...pair, words: merged(pair.words) }));
};

/** Returns the shapes of a parent. A parent without states is a box with its name. */
const shapesOf = async (machine: Machine, id: string, shape: Shape): Promise<readonly Inside[]> => {
  const isEmpty = machine.states.every(({ parent }) => parent !== id);
  if (isEmpty) return [{ width: boxWidth(id), height: 54, states: [], arrows: [] }];
  return layoutsInside(machine, id, shape);
};

type Moved = Pick<Layout, 'states' | 'arrows'>;

const moveArrow = ({ from, to, lines, points, curved, label }: PlacedArrow, dx: number, dy: number): Layout['arrows'][number] => ({
  from,
  to,
  quiet: false,
  lines,
  path: pathOf(
    points.map(({ x, y }) => ({ x: x + dx, y: y + dy })),
    curved,
  ),
  ...(label === null ? {} : { label: whole({ ...label, x: label.x + dx, y: label.y + dy }) }),
});

/** Returns the states and arrows of a parent at their places in the chart, centred in the box of the parent. */
const moved = ({ x, y, width, height, inside }: Placed<Inside>): Moved => {
  const dx = x + Math.floor((width - inside.width) / 2);
  const dy = y + Math.floor((height - inside.height) / 2);
  return {
    states: inside.states.map(({ id, ...box }) => ({ id, ...whole({ ...box, x: box.x + dx, y: box.y + dy }) })),
    arrows: inside.arrows.map((arrow) => moveArrow(arrow, dx, dy)),
  };
};

const whole = ({ x, y, width, height }: Box): Box => ({
  x: Math.round(x),
  y: Math.round(y),
  width: Math.round(width),
  height: Math.round(height),
});

const at = ({ x, y }: Point): string => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;

/** Returns the SVG path of an arrow. Straight segments get rounded corners. */
const pathOf = (points: readonly Point[], curved: boolean): string => {
  const [first, ...rest] = points;
  if (!first) return '';
  if (curved)
    return `M${at(first)}${Array.from(
      { length: rest.length / 3 },
      (_, n) =>
        `C${rest
          .slice(3 * n, 3 * n + 3)
          .map(at)
          .join(' ')}`,
    ).join('')}`;
  return `M${at(first)}${rest
    .map((point, n) => {
      const [before, after] = [points[n], rest[n + 1]];
      if (!before || !after) return `L${at(point)}`;
      const near = (other: Point): Point => {
        const length = Math.hypot(other.x - point.x, other.y - point.y);
        const radius = Math.min(6, length / 2);
        return { x: point.x + ((other.x - point.x) / length) * radius, y: point.y + ((other.y - point.y) / length) * radius };
      };
      return `L${at(near(before))}Q${at(point)} ${at(near(after))}`;
    })
    .join('')}`;
};

/** Returns the initial state of the machine. */
const firstOf = (machine: Machine): string =>
  (isStart(machine, machine.initial) ? machine.transitions.find(({ from }) => from === machine.initial)?.to : null) ?? machine.initial;

/** Returns the dot to the left of the initial state. */
const startOf = (machine: Machine, boxes: ReadonlyMap<string, Box>): Layout['start'] => {
  const box = boxes.get(firstOf(machine));
  if (!box) throw new Error(`${machine.id} starts nowhere`);
  const y = box.height > 60 ? box.y + 22 : box.y + box.height / 2;
  return { x: box.x - 20, y, path: `M${at({ x: box.x - 16, y })}L${at({ x: box.x, y })}` };
};

/** Returns the layout with a margin around it. */
const framed = (layout: Omit<Layout, 'x' | 'y' | 'width' | 'height'>): Layout => {
  const labels = layout.arrows.flatMap(({ label }) => label ?? []);
  const boxes = [...layout.parents, ...layout.states, ...labels, { x: layout.start.x - 5, y: layout.start.y - 5, width: 10, height: 10 }];
  const points = layout.arrows.flatMap(({ path }) =>
    [...path.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) })),
  );
  const left = Math.min(...boxes.map(({ x }) => x), ...points.map(({ x }) => x)) - edge;
  const top = Math.min(...boxes.map(({ y }) => y), ...points.map(({ y }) => y)) - edge;
  const right = Math.max(...boxes.map(({ x, width }) => x + width), ...points.map(({ x }) => x)) + edge;
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height), ...points.map(({ y }) => y)) + edge;
  return { ...layout, ...whole({ x: left, y: top, width: right - left, height: bottom - top }) };
};

/** Lays out a machine without parents as one picture of ELK, including the dot. */
const flat = async (machine: Machine, shape: Shape): Promise<Layout> => {
  const all = await layoutsInside(machine, '', shape);
  const [inside] = all.filter(({ width }) => width <= planes[shape].width).toSorted((a, b) => a.height - b.height);
  if (!inside) throw new Error(`${machine.id} is wider than ${planes[shape].width} px`);
  const { states, arrows } = moved({ x: 0, y: 0, width: inside.width, height: inside.height, id: machine.id, inside });
  const dot = states.find(({ id }) => id === dotId);
  const lead = arrows.find(({ from }) => from === dotId);
  if (!dot || !lead) throw new Error(`${machine.id} starts nowhere`);
  return framed({
    machine: machine.id,
    print: printOf(machine),
    start: { x: dot.x + 4, y: dot.y + 4, path: lead.path },
    parents: [],
    states: states.filter(({ id }) => id !== dotId),
    arrows: arrows.filter(({ from }) => from !== dotId),
  });
};

/** Returns the layout. Throws if the machine does not fit the width of the page. */
export const layoutOf = async (machine: Machine, shape: Shape): Promise<Layout> => {
  const tops = machine.states.filter(({ id, parent }) => parent === '' && !isStart(machine, id)).map(({ id }) => id);
  if (machine.states.every(({ parent }) => parent === '')) return flat(machine, shape);
  const links = quietArrows(machine, new Set(tops));
  const choices = await Promise.all(
    tops.map(async (id) => ({ id, shapes: (await shapesOf(machine, id, shape)).map((inside) => ({ ...inside, inside })) })),
  );
  const { boxes, ...size } = arrange(choices, links, { ...planes[shape], first: firstOf(machine) });
  const insides = boxes.map(moved);
  const between = routeAll(new Map(boxes.map((box) => [box.id, box])), size, margins[shape], links).map(
    ({ from, to, text, points, label }) => ({
      from,
      to,
      quiet: true,
      lines: [text],
      path: pathOf(points, false),
      ...(label === null ? {} : { label: whole(label) }),
    }),
  );
  return framed({
    machine: machine.id,
    print: printOf(machine),
    start: startOf(machine, new Map(boxes.map((box) => [box.id, box]))),
    parents: boxes.map(({ id, ...box }) => ({ id, ...whole(box) })),
    states: insides.flatMap(({ states }) => states),
    arrows: [...insides.flatMap(({ arrows }) => arrows), ...between],
  });
};
