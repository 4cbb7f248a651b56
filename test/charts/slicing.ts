/** Arranges the parents of a chart. Tries every division of a rectangle into their boxes, and takes the best. */
import { type Box, centreOf, grid, type Size, subsets } from './geometry.ts';

export interface Choice<T> {
  readonly id: string;
  /** The possible shapes of a parent. */
  readonly shapes: readonly (Size & { readonly inside: T })[];
}

export interface Link {
  readonly from: string;
  readonly to: string;
}

export interface Plane {
  /** The gap between the boxes. */
  readonly gap: Size;
  /** The largest width of a layout. */
  readonly width: number;
  /** The parent with the initial state. Its place is at the upper left. */
  readonly first: string;
  /** The preferred ratio of width to height. */
  readonly ratio: number;
}

type Sized<T> = Size & { readonly id: string; readonly inside: T };
type Cut<T> = (Size & { readonly leaf: Sized<T> }) | (Size & { readonly isRow: boolean; readonly first: Cut<T>; readonly second: Cut<T> });

const join = <T>(isRow: boolean, first: Cut<T>, second: Cut<T>, gap: Size): Cut<T> => ({
  isRow,
  first,
  second,
  width: isRow ? first.width + gap.width + second.width : Math.max(first.width, second.width),
  height: isRow ? Math.max(first.height, second.height) : first.height + gap.height + second.height,
});

/** Returns every cut of these boxes that is not too wide. Subsets recur, so the results are cached. */
const cutsOf = <T>(boxes: readonly Choice<T>[], plane: Plane, known: Map<string, readonly Cut<T>[]>): readonly Cut<T>[] => {
  const [only] = boxes;
  if (only === undefined) return [];
  if (boxes.length === 1)
    return only.shapes.map((shape) => ({ leaf: { ...shape, id: only.id }, width: shape.width, height: shape.height }));
  const key = boxes.map(({ id }) => id).join();
  const found = known.get(key);
  if (found) return found;
  const cuts = subsets(boxes)
    .flatMap(([left, right]) =>
      cutsOf(left, plane, known).flatMap((first) =>
        cutsOf(right, plane, known).flatMap((second) => [join(true, first, second, plane.gap), join(false, first, second, plane.gap)]),
      ),
    )
    .filter(({ width }) => width <= plane.width);
  known.set(key, cuts);
  return cuts;
};

export type Placed<T> = Box & { readonly id: string; readonly inside: T };
export type Arranged<T> = Size & { readonly boxes: readonly Placed<T>[] };

/** Gives every box the place of its cut, and shares the remaining space in proportion. */
const place = <T>(cut: Cut<T>, { x, y, width, height }: Box, gap: Size, into: Placed<T>[]): void => {
  if ('leaf' in cut) {
    into.push({ id: cut.leaf.id, inside: cut.leaf.inside, x, y, width, height });
    return;
  }
  const { first, second, isRow } = cut;
  const [all, between, a, b] = isRow ? [width, gap.width, first.width, second.width] : [height, gap.height, first.height, second.height];
  const share = Math.round(((all - between) * a) / (a + b) / grid) * grid;
  const length = Math.min(Math.max(share, a), all - between - b);
  const [one, other] = isRow
    ? [
        { x, y, width: length, height },
        { x: x + length + between, y, width: width - length - between, height },
      ]
    : [
        { x, y, width, height: length },
        { x, y: y + length + between, width, height: height - length - between },
      ];
  place(first, one, gap, into);
  place(second, other, gap, into);
};

const distance = (boxes: ReadonlyMap<string, Box>, { from, to }: Link): number => {
  const [a, b] = [boxes.get(from), boxes.get(to)];
  if (!a || !b) return 0;
  const apart = {
    x: Math.max(0, Math.max(a.x, b.x) - Math.min(a.x + a.width, b.x + b.width)),
    y: Math.max(0, Math.max(a.y, b.y) - Math.min(a.y + a.height, b.y + b.height)),
  };
  const [from_, to_] = [centreOf(a), centreOf(b)];
  // An arrow across a gap costs almost nothing. Boxes that do not face each other cost a detour.
  return (apart.x > 0 && apart.y > 0 ? 300 : 0) + 2 * (apart.x + apart.y) + (Math.abs(from_.x - to_.x) + Math.abs(from_.y - to_.y)) / 8;
};

/** Returns the cost of an arrangement. Size counts as the square root of the area, which is comparable with lengths of arrows. */
const costOf = <T extends Size>(boxes: readonly Placed<T>[], total: Size, links: readonly Link[], { ratio, first }: Plane): number => {
  const places = new Map(boxes.map((box) => [box.id, box]));
  const ways = links.reduce((sum, link) => sum + distance(places, link), 0);
  const area = total.width * total.height;
  const needed = boxes.reduce((sum, { inside }) => sum + inside.width * inside.height, 0);
  const start = places.get(first) ?? { x: 0, y: 0 };
  const shape = Math.abs(Math.log(total.width / total.height / ratio));
  return 4 * Math.sqrt(area) + ways + (area - needed) / 150 + 250 * shape + start.x + 2 * start.y;
};

/** Returns the best arrangement. Throws if none is narrow enough. */
export const arrange = <T extends Size>(parents: readonly Choice<T>[], links: readonly Link[], plane: Plane): Arranged<T> => {
  let best: Arranged<T> | null = null;
  let least = Infinity;
  for (const cut of cutsOf(parents, plane, new Map())) {
    const boxes: Placed<T>[] = [];
    place(cut, { x: 0, y: 0, width: cut.width, height: cut.height }, plane.gap, boxes);
    const cost = costOf(boxes, cut, links, plane);
    if (cost < least) [least, best] = [cost, { width: cut.width, height: cut.height, boxes }];
  }
  if (best === null) throw new Error(`no arrangement is at most ${plane.width} px wide`);
  return best;
};
