/** Points, boxes and functions on them for the layout of the charts. All lengths are in pixels. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export type Box = Point & Size;

/** The grid on which boxes of parents stand, so that arrows between them can run on it. */
export const grid = 6;

export const snapped = (length: number): number => Math.ceil(length / grid) * grid;

export const centreOf = ({ x, y, width, height }: Box): Point => ({ x: x + width / 2, y: y + height / 2 });

export const meet = (a: Box, b: Box): boolean => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

export const holds = ({ x, y, width, height }: Box, point: Point): boolean =>
  point.x >= x && point.x <= x + width && point.y >= y && point.y <= y + height;

export const subsets = <T>(all: readonly T[]): readonly (readonly [readonly T[], readonly T[]])[] =>
  Array.from({ length: 2 ** all.length - 2 }, (_, at) => at + 1).map((mask) => [
    all.filter((_, bit) => (mask >> bit) & 1),
    all.filter((_, bit) => !((mask >> bit) & 1)),
  ]);
