/** Finds the route of an arrow around boxes and words: the cheapest path over a grid, straightened where no obstacle is in between, and with rounded bends. */

/** @import { Box } from './words.js' */
/** @typedef {{ readonly x: number, readonly y: number }} Point */
/** `at` returns the point at a fraction of the length, from 0 to 1. @typedef {{ readonly path: string, readonly at: (part: number) => Point }} Curve */

/** The distance between two cells of the grid, in pixels. */
const step = 8;
/** The distances of an arrow from boxes and from words, in pixels. */
const roomOfBox = 5;
const roomOfWords = 4;
/**
 * The extra costs of a step over a box, over words, and through a parent of other states. Each cost is the length of an equally expensive detour, in pixels.
 */
const overBox = 300;
const overWords = 150;
const throughRoom = 120;
const bend = 14;

const moves = [-1, 0, 1].flatMap((x) => [-1, 0, 1].map((y) => ({ x, y }))).filter(({ x, y }) => x !== 0 || y !== 0);

/** @param {Box} box @param {Point} point @param {number} room */
const isIn = ({ x, y, width, height }, point, room) =>
  point.x > x - room && point.x < x + width + room && point.y > y - room && point.y < y + height + room;

/** Returns the points outside a box where an arrow may begin or end, each with its point on the edge. @param {Box} box */
const portsOf = ({ x, y, width, height }) =>
  [0.25, 0.5, 0.75].flatMap((part) => [
    { edge: { x: x + width * part, y }, out: { x: x + width * part, y: y - 2 * step } },
    { edge: { x: x + width * part, y: y + height }, out: { x: x + width * part, y: y + height + 2 * step } },
    { edge: { x, y: y + height * part }, out: { x: x - 2 * step, y: y + height * part } },
    { edge: { x: x + width, y: y + height * part }, out: { x: x + width + 2 * step, y: y + height * part } },
  ]);

/** A grid that finds the cheapest path from any start to any end, and computes the cost of each cell once. */
class Grid {
  /** @param {{ x: number, y: number, width: number, height: number }} bounds @param {(point: Point) => number} costAt */
  constructor({ x, y, width, height }, costAt) {
    this.origin = { x, y };
    this.columns = Math.ceil(width / step) + 1;
    this.rows = Math.ceil(height / step) + 1;
    this.costs = Float64Array.from({ length: this.columns * this.rows }, (_, index) => costAt(this.pointAt(index)));
  }

  /** @param {number} index @returns {Point} */
  pointAt(index) {
    return { x: this.origin.x + (index % this.columns) * step, y: this.origin.y + Math.floor(index / this.columns) * step };
  }

  /** @param {Point} point */
  indexOf({ x, y }) {
    const column = Math.min(this.columns - 1, Math.max(0, Math.round((x - this.origin.x) / step)));
    const row = Math.min(this.rows - 1, Math.max(0, Math.round((y - this.origin.y) / step)));
    return row * this.columns + column;
  }

  /**
   * Returns the cells of the cheapest path; none if no end can be reached. Uses Dijkstra's algorithm with buckets of one pixel.
   * @param {readonly number[]} starts
   * @param {ReadonlySet<number>} ends
   * @returns {number[]}
   */
  way(starts, ends) {
    const least = new Float64Array(this.costs.length).fill(Infinity);
    const before = new Int32Array(this.costs.length).fill(-1);
    /** @type {number[][]} */
    const buckets = [];
    /** @param {number} index @param {number} cost @param {number} from */
    const reach = (index, cost, from) => {
      if (cost >= (least[index] ?? 0)) return;
      least[index] = cost;
      before[index] = from;
      (buckets[Math.floor(cost)] ??= []).push(index);
    };
    for (const start of starts) reach(start, this.costs[start] ?? 0, -1);
    for (let cost = 0; cost < buckets.length; cost += 1) {
      for (const index of buckets[cost] ?? []) {
        if (Math.floor(least[index] ?? 0) !== cost) continue;
        if (ends.has(index)) return this.#back(index, before);
        this.#spread(index, least[index] ?? 0, reach);
      }
    }
    return [];
  }

  /** @param {number} index @param {number} cost @param {(index: number, cost: number, from: number) => void} reach */
  #spread(index, cost, reach) {
    const [column, row] = [index % this.columns, Math.floor(index / this.columns)];
    for (const { x, y } of moves) {
      if (column + x < 0 || column + x >= this.columns || row + y < 0 || row + y >= this.rows) continue;
      const next = index + y * this.columns + x;
      // A diagonal step must not cut the corner of a box.
      const corners = x === 0 || y === 0 ? 0 : Math.max(this.costs[index + x] ?? 0, this.costs[index + y * this.columns] ?? 0);
      reach(next, cost + step * Math.hypot(x, y) + Math.max(corners, this.costs[next] ?? 0), index);
    }
  }

  /** @param {number} index @param {Int32Array} before */
  #back(index, before) {
    const way = [index];
    for (let at = before[index] ?? -1; at >= 0; at = before[at] ?? -1) way.push(at);
    return way.toReversed();
  }
}

/** Removes points that a straight line without obstacles can skip. @param {readonly Point[]} points @param {(from: Point, to: Point) => boolean} isFree */
const straightened = (points, isFree) => {
  /** @type {Point[]} */
  const kept = [];
  for (let at = 0; at < points.length;) {
    const here = /** @type {Point} */ (points[at]);
    kept.push(here);
    let next = points.length - 1;
    while (next > at + 1 && !isFree(here, /** @type {Point} */ (points[next]))) next -= 1;
    at = Math.max(next, at + 1);
  }
  return kept;
};

/** @param {Point} from @param {Point} to @param {number} away @returns {Point} */
const towards = (from, to, away) => {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: from.x + ((to.x - from.x) * away) / length, y: from.y + ((to.y - from.y) * away) / length };
};

/** @param {Point} point */
const text = ({ x, y }) => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;

/** @param {readonly Point[]} points @returns {Curve} */
const roundedAlong = (points) => {
  const lengths = points.slice(1).map((point, n) => Math.hypot(point.x - (points[n]?.x ?? 0), point.y - (points[n]?.y ?? 0)));
  const whole = lengths.reduce((sum, one) => sum + one, 0);
  const parts = points.slice(1, -1).map((corner, n) => {
    const [before, after] = [/** @type {Point} */ (points[n]), /** @type {Point} */ (points[n + 2])];
    const radius = Math.min(bend, (lengths[n] ?? 0) / 2, (lengths[n + 1] ?? 0) / 2);
    return `L${text(towards(corner, before, radius))}Q${text(corner)} ${text(towards(corner, after, radius))}`;
  });
  const [first, last] = [/** @type {Point} */ (points[0]), /** @type {Point} */ (points.at(-1))];
  return {
    path: `M${text(first)}${parts.join('')}L${text(last)}`,
    at(part) {
      let left = whole * part;
      for (const [n, length] of lengths.entries()) {
        if (left <= length) return towards(/** @type {Point} */ (points[n]), /** @type {Point} */ (points[n + 1]), left);
        left -= length;
      }
      return last;
    },
  };
};

/**
 * Returns the route from box to box around all other boxes; null if there is none. The route crosses a box only if every detour costs more.
 * @param {Box} from
 * @param {Box} to
 * @param {{ readonly others: readonly Box[], readonly words: readonly Box[], readonly rooms: readonly Box[] }} obstacles
 * @returns {Curve | null}
 */
export const routeBetween = (from, to, { others, words, rooms }) => {
  const all = [from, to, ...others, ...words, ...rooms];
  const [x, y] = [Math.min(...all.map((box) => box.x)) - 16, Math.min(...all.map((box) => box.y)) - 16];
  const width = Math.max(...all.map((box) => box.x + box.width)) + 16 - x;
  const height = Math.max(...all.map((box) => box.y + box.height)) + 16 - y;
  /** @param {Point} point */
  const costAt = (point) => {
    if ([from, to].some((box) => isIn(box, point, 4)) || others.some((box) => isIn(box, point, roomOfBox))) return overBox;
    if (words.some((box) => isIn(box, point, roomOfWords))) return overWords;
    return rooms.some((box) => isIn(box, point, 2)) ? throughRoom : 0;
  };
  const grid = new Grid({ x, y, width, height }, costAt);
  const [outs, ins] = [portsOf(from), portsOf(to)].map((ports) => new Map(ports.map((port) => [grid.indexOf(port.out), port])));
  if (outs === undefined || ins === undefined) return null;
  const way = grid.way([...outs.keys()], new Set(ins.keys()));
  const [start, end] = [outs.get(way[0] ?? -1), ins.get(way.at(-1) ?? -1)];
  if (start === undefined || end === undefined) return null;
  /** @param {Point} a @param {Point} b */
  const isFree = (a, b) => {
    const count = Math.ceil(Math.hypot(b.x - a.x, b.y - a.y) / 4);
    return Array.from({ length: count + 1 }, (_, n) => n / Math.max(1, count)).every(
      (part) => costAt({ x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part }) === 0,
    );
  };
  const middle = straightened([start.out, ...way.slice(1, -1).map((index) => grid.pointAt(index)), end.out], isFree);
  return roundedAlong([start.edge, ...middle, end.edge]);
};
