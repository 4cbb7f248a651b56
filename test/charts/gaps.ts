/** Routes quiet arrows between parents across or along the gaps, on a grid, and places their labels in free places. */
import { type Box, grid, holds, meet, type Point, type Size } from './geometry.ts';
import { shortened } from './inside.ts';
import { widthOf } from './measure.ts';

export interface QuietArrow {
  readonly from: string;
  readonly to: string;
  readonly words: readonly string[];
}

export interface Routed {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly points: readonly Point[];
  readonly label: Box | null;
}

const cost = { step: 1, bend: 9, along: 60, beside: 9, cross: 8, word: 14, near: 1.5 };
/** The number of attempts to find another route for an arrow whose label has no free place. */
const tries = 12;
const corner = 3 * grid;

type Step = readonly [dx: number, dy: number];
const steps: readonly Step[] = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
];

const keyOf = ({ x, y }: Point): string => `${x},${y}`;

/** The content of the grid: arrows by orientation, and the places of labels. */
interface Ground {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly size: Size;
  /** The margin around the boxes that arrows may use. */
  readonly margin: number;
  readonly lines: Map<string, 'h' | 'v' | 'x'>;
  readonly words: Box[];
}

const price = ({ boxes, lines, words }: Ground, point: Point, isLevel: boolean): number => {
  const own = isLevel ? 'h' : 'v';
  const here = lines.get(keyOf(point));
  let sum = cost.step;
  if (here !== undefined) sum += here === own || here === 'x' ? cost.along : cost.cross;
  for (const side of [-1, 1]) {
    const beside = isLevel ? { x: point.x, y: point.y + side * grid } : { x: point.x + side * grid, y: point.y };
    if (lines.get(keyOf(beside)) === own) sum += cost.beside;
    if ([...boxes.values()].some((box) => holds(box, beside))) sum += cost.near;
  }
  if (words.some((word) => holds({ x: word.x - 3, y: word.y - 3, width: word.width + 6, height: word.height + 6 }, point)))
    sum += cost.word;
  return sum;
};

/** Returns the start and end points of arrows on a box, each with its direction. */
const ports = ({ x, y, width, height }: Box): readonly { readonly at: Point; readonly step: number; readonly off: number }[] => {
  const across = Array.from({ length: Math.max(0, (width - 2 * corner) / grid + 1) }, (_, n) => x + corner + n * grid);
  const down = Array.from({ length: Math.max(0, (height - 2 * corner) / grid + 1) }, (_, n) => y + corner + n * grid);
  return [
    ...down.map((at) => ({ at: { x: x + width, y: at }, step: 0, off: Math.abs(at - y - height / 2) / height })),
    ...across.map((at) => ({ at: { x: at, y: y + height }, step: 1, off: Math.abs(at - x - width / 2) / width })),
    ...down.map((at) => ({ at: { x, y: at }, step: 2, off: Math.abs(at - y - height / 2) / height })),
    ...across.map((at) => ({ at: { x: at, y }, step: 3, off: Math.abs(at - x - width / 2) / width })),
  ];
};

interface Reached {
  readonly at: Point;
  readonly step: number;
  readonly cost: number;
  readonly before: Reached | null;
}

/** Adds an entry to a heap that is ordered by cost. */
const push = (heap: Reached[], one: Reached): void => {
  let at = heap.push(one) - 1;
  while (at > 0) {
    const up = (at - 1) >> 1;
    if ((heap[up]?.cost ?? 0) <= one.cost) break;
    heap[at] = heap[up] as Reached;
    at = up;
  }
  heap[at] = one;
};
const pop = (heap: Reached[]): Reached | undefined => {
  const [first] = heap;
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let down = 2 * at + 1;
    if (down >= heap.length) break;
    if (down + 1 < heap.length && (heap[down + 1]?.cost ?? 0) < (heap[down]?.cost ?? 0)) down += 1;
    if ((heap[down]?.cost ?? 0) >= last.cost) break;
    heap[at] = heap[down] as Reached;
    at = down;
  }
  heap[at] = last;
  return first;
};

const trail = (end: Reached): readonly Point[] => {
  const points: Point[] = [];
  for (let one: Reached | null = end; one !== null; one = one.before) points.unshift(one.at);
  return points;
};

/** Finds a route by Dijkstra on the grid. `avoided` has the start points of arrows whose labels found no free place. */
const route = (ground: Ground, source: Box, target: Box, avoided: ReadonlyMap<string, number>): readonly Point[] => {
  const { boxes, size, margin } = ground;
  const heap: Reached[] = [];
  const done = new Set<string>();
  const ends = new Map(ports(target).map(({ at, step, off }) => [`${keyOf(at)}/${(step + 2) % 4}`, off]));
  for (const { at, step, off } of ports(source)) {
    const taken = ground.lines.has(keyOf(at)) ? 200 : 0;
    push(heap, { at, step, cost: off * 6 + taken + (avoided.get(keyOf(at)) ?? 0), before: null });
  }
  for (let one = pop(heap); one !== undefined; one = pop(heap)) {
    const key = `${keyOf(one.at)}/${one.step}`;
    if (done.has(key)) continue;
    done.add(key);
    if (one.before !== null && ends.has(key)) return trail(one);
    if (one.before !== null && [...boxes.values()].some((box) => holds(box, one.at))) continue;
    steps.forEach(([dx, dy], step) => {
      if ((step + 2) % 4 === one.step || (one.before === null && step !== one.step)) return;
      const at = { x: one.at.x + dx * grid, y: one.at.y + dy * grid };
      if (at.x < -margin || at.y < -margin || at.x > size.width + margin || at.y > size.height + margin) return;
      const end = ends.get(`${keyOf(at)}/${step}`);
      if (end === undefined && [...boxes.values()].some((box) => holds(box, at))) return;
      const more = price(ground, at, dx !== 0) + (step === one.step ? 0 : cost.bend) + (end === undefined ? 0 : end * 6);
      push(heap, { at, step, cost: one.cost + more, before: one });
    });
  }
  return [];
};

/** Returns the place of the label beside the arrow, near its middle. `covers` grows with the elements that the label covers. */
const roomFor = (ground: Ground, text: string, points: readonly Point[]): { readonly box: Box; readonly covers: number } => {
  const width = widthOf(text, 10.5, 400) + 4;
  const height = 14;
  let best = { box: { x: 0, y: 0, width, height }, covers: Infinity };
  const own = new Set(points.map(keyOf));
  points.forEach((point, at) => {
    if (at === 0 || at === points.length - 1) return;
    const next = points[at + 1] ?? point;
    const isLevel = next.y === point.y;
    const places = isLevel
      ? [
          { x: point.x - width / 2, y: point.y - height - 3 },
          { x: point.x - width / 2, y: point.y + 3 },
        ]
      : [
          { x: point.x + 5, y: point.y - height / 2 },
          { x: point.x - width - 5, y: point.y - height / 2 },
        ];
    for (const place of places) {
      const box = { ...place, width, height };
      const wide = { x: box.x - 2, y: box.y - 1, width: width + 4, height: height + 2 };
      let covers = Math.abs(at - points.length / 2) / points.length / 2;
      if ([...ground.boxes.values(), ...ground.words].some((other) => meet(wide, other))) covers += 100;
      for (const [key] of ground.lines) {
        const [x = 0, y = 0] = key.split(',').map(Number);
        if (holds(wide, { x, y })) covers += 3;
      }
      for (const key of own) {
        const [x = 0, y = 0] = key.split(',').map(Number);
        if (holds(wide, { x, y })) covers += 3;
      }
      if (box.x < -ground.margin || box.x + width > ground.size.width + ground.margin) covers += 100;
      if (covers < best.covers) best = { box, covers };
    }
  });
  return best;
};

const corners = (points: readonly Point[]): readonly Point[] =>
  points.filter((point, at) => {
    const [before, after] = [points[at - 1], points[at + 1]];
    return !before || !after || (before.x === after.x ? point.x !== after.x : before.y !== after.y || point.y !== after.y);
  });

const lay = (ground: Ground, { from, to, words }: QuietArrow): Routed => {
  const [source, target] = [ground.boxes.get(from), ground.boxes.get(to)];
  if (!source || !target) throw new Error(`there is no way from ${from} to ${to}`);
  const text = shortened(words);
  const avoided = new Map<string, number>();
  let best: { points: readonly Point[]; box: Box; covers: number; sum: number } | null = null;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const points = route(ground, source, target, avoided);
    if (points.length === 0) break;
    const { box, covers } = roomFor(ground, text, points);
    const sum = covers * 4 + points.length;
    if (best === null || sum < best.sum) best = { points, box, covers, sum };
    if (covers < 1) break;
    const [first] = points;
    for (let off = -5; off <= 5; off += 1)
      for (const [x, y] of [
        [off * grid, 0],
        [0, off * grid],
      ] as const)
        if (first) avoided.set(keyOf({ x: first.x + x, y: first.y + y }), 12);
  }
  if (best === null) throw new Error(`there is no way from ${from} to ${to}`);
  best.points.forEach((point, at) => {
    const next = best.points[at + 1] ?? best.points[at - 1] ?? point;
    const now = next.y === point.y ? 'h' : 'v';
    const was = ground.lines.get(keyOf(point));
    ground.lines.set(keyOf(point), was === undefined || was === now ? now : 'x');
  });
  const hasRoom = best.covers < 20;
  if (hasRoom) ground.words.push(best.box);
  return { from, to, text, points: corners(best.points), label: hasRoom ? best.box : null };
};

/** Routes the shortest arrows first, because they have the fewest alternatives. */
export const routeAll = (boxes: ReadonlyMap<string, Box>, size: Size, margin: number, arrows: readonly QuietArrow[]): readonly Routed[] => {
  const ground: Ground = { boxes, size, margin, lines: new Map(), words: [] };
  const length = ({ from, to }: QuietArrow): number => {
    const [a, b] = [boxes.get(from), boxes.get(to)];
    return a && b ? route(ground, a, b, new Map()).length : 0;
  };
  return arrows
    .map((arrow) => [length(arrow), arrow] as const)
    .toSorted(([a, one], [b, other]) => a - b || (one.from + one.to < other.from + other.to ? -1 : 1))
    .map(([, arrow]) => lay(ground, arrow));
};
