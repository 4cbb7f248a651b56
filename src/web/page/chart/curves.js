/** Computes curves that the layout does not contain: the curves of the last transition and of the next transitions. */

import { routeBetween } from './route.js';

/** @import { Box } from './words.js' */
/** @import { Curve, Point } from './route.js' */

/** The directions in which a curve can leave a box. */
const sides = [
  { x: 1, y: 0 },
  { x: 0, y: 1 },
  { x: -1, y: 0 },
  { x: 0, y: -1 },
];
const bows = [0.3, 0.5, 0.8];
const samples = 20;
/** A number of samples that misses no word. The longest curves have 2,000 pixels, and words are 14 pixels high. */
const fineSamples = 400;

/** @param {Box} box @returns {Point} */
const centreOf = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

/** @param {Box} box @param {Point} side @returns {Point} */
const edgeOf = (box, side) => {
  const { x, y } = centreOf(box);
  return { x: x + (side.x * box.width) / 2, y: y + (side.y * box.height) / 2 };
};

/** @param {number} value */
const short = (value) => Math.round(value * 10) / 10;

/** @param {readonly [Point, Point, Point, Point]} points @returns {Curve} */
const curveOf = (points) => {
  const [from, a, b, to] = points.map(({ x, y }) => `${short(x)} ${short(y)}`);
  return { path: `M${from}C${a} ${b} ${to}`, at: (part) => placeOn(points, part) };
};

/** @param {readonly [Point, Point, Point, Point]} points The points of a Bézier curve. @param {number} at From 0 to 1. @returns {Point} */
const placeOn = ([p, q, r, s], at) => {
  const rest = 1 - at;
  const [a, b, c, d] = [rest ** 3, 3 * rest ** 2 * at, 3 * rest * at ** 2, at ** 3];
  return { x: a * p.x + b * q.x + c * r.x + d * s.x, y: a * p.y + b * q.y + c * r.y + d * s.y };
};

/** @param {Box} box @param {Point} point @param {number} room */
const near = ({ x, y, width, height }, point, room) =>
  point.x > x - room && point.x < x + width + room && point.y > y - room && point.y < y + height + room;

/**
 * Boxes that an arrow goes around: states, words, and parents to which neither end belongs.
 * @typedef {{ readonly others: readonly Box[], readonly words: readonly Box[], readonly rooms: readonly Box[] }} Obstacles
 */

/**
 * Returns the cost of a curve. The cost grows with the length of the curve, and with the length over boxes, words and parents.
 * @param {Curve} curve
 * @param {Obstacles} obstacles
 * @param {Box} from
 * @param {Box} to
 */
const costOf = (curve, { others, words, rooms }, from, to) => {
  let [cost, before] = [0, curve.at(0)];
  for (let n = 1; n <= samples; n += 1) {
    const point = curve.at(n / samples);
    cost += Math.hypot(point.x - before.x, point.y - before.y);
    if (others.some((box) => near(box, point, 3))) cost += 90;
    if (words.some((box) => near(box, point, 2))) cost += 60;
    if (rooms.some((box) => near(box, point, 2))) cost += 60;
    if (n < samples && (near(from, point, -1) || near(to, point, -1))) cost += 120;
    before = point;
  }
  return cost;
};

/** True if a curve runs over an obstacle. @param {Curve} curve @param {Obstacles} obstacles */
const isObstructed = (curve, { others, words, rooms }) => {
  const all = [...others, ...words, ...rooms];
  return Array.from({ length: fineSamples }, (_, n) => curve.at((n + 1) / (fineSamples + 1))).some((point) =>
    all.some((box) => near(box, point, 0)),
  );
};

/** Returns a curve that leaves a state and enters it again. @param {Box} box */
const loop = (box) => {
  const { x } = centreOf(box);
  return curveOf([
    { x: x - 14, y: box.y },
    { x: x - 26, y: box.y - 34 },
    { x: x + 26, y: box.y - 34 },
    { x: x + 14, y: box.y },
  ]);
};

/**
 * Returns the curve with the lowest cost, among curves between all pairs of sides with three bows each. If this curve runs over an obstacle, returns a route
 * around the obstacles, if there is one.
 * @param {Box} from
 * @param {Box} to
 * @param {readonly Box[]} boxes
 * @param {readonly Box[]} [words] Titles and labels, which the curve avoids too.
 * @param {readonly Box[]} [rooms] Parents of other states, which the curve avoids too.
 * @returns {Curve}
 */
export const curveBetween = (from, to, boxes, words = [], rooms = []) => {
  if (from === to) return loop(from);
  const obstacles = { others: boxes.filter((box) => box !== from && box !== to), words, rooms };
  let best = loop(from);
  let least = Infinity;
  for (const out of sides) {
    for (const into of sides) {
      const [start, end] = [edgeOf(from, out), edgeOf(to, into)];
      const distance = Math.hypot(end.x - start.x, end.y - start.y);
      for (const bow of bows) {
        const pull = Math.max(24, distance * bow);
        const curve = curveOf([
          start,
          { x: start.x + out.x * pull, y: start.y + out.y * pull },
          { x: end.x + into.x * pull, y: end.y + into.y * pull },
          end,
        ]);
        const cost = costOf(curve, obstacles, from, to);
        if (cost < least) [least, best] = [cost, curve];
      }
    }
  }
  if (!isObstructed(best, obstacles)) return best;
  return routeBetween(from, to, obstacles) ?? best;
};

/**
 * Returns the position on a curve at which words cover the fewest boxes. Among equal positions, the nearest to the middle of the curve wins.
 * @param {Curve} curve
 * @param {number} width
 * @param {number} height
 * @param {readonly Box[]} boxes
 * @returns {Point} The middle of the words.
 */
export const roomOn = (curve, width, height, boxes) => {
  let best = curve.at(0.5);
  let least = Infinity;
  for (const at of [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.2, 0.8]) {
    const { x, y } = curve.at(at);
    const covers = boxes.filter(
      (box) => box.x < x + width / 2 && x - width / 2 < box.x + box.width && box.y < y + height / 2 && y - height / 2 < box.y + box.height,
    ).length;
    const cost = covers + Math.abs(at - 0.5);
    if (cost < least) [least, best] = [cost, { x, y }];
  }
  return best;
};
