/** Decides which parts of a chart are drawn, and where. The functions are pure, and the components only write elements. */
import { curveBetween, roomOn } from './curves.js';
import { widthOf } from './measure.js';
import { toneOf, topOf } from './tones.js';
import { nameOf, nextOf, spaced, wordOf } from './words.js';

/** @import { Box, Layout, Machine } from './words.js' */
/** @import { Tone } from './tones.js' */

/**
 * @typedef {object} Cause
 * @property {string} kind
 * @property {number | null} [code]
 * @property {string} [reaction]
 *
 * @typedef {object} Step A step of a session, as the inspector reports it.
 * @property {number} n
 * @property {number} at Unix milliseconds.
 * @property {string} chart
 * @property {string} from
 * @property {string} to
 * @property {string} event
 * @property {string} edge
 * @property {Cause} cause
 * @property {string} why
 *
 * @typedef {Box & { id: string, name: string, tone: Tone, isClosing: boolean, isParent: boolean, description: string }} Leaf
 */

/**
 * Returns the states without children. The reader can point at these states. A top-level state without children is drawn like a parent.
 * @param {Machine} machine
 * @param {Layout} layout
 * @returns {Leaf[]}
 */
export const leavesOf = ({ states }, { states: placed, parents }) => {
  const byId = new Map(states.map((state) => [state.id, state]));
  const inhabited = new Set(states.map(({ parent }) => parent));
  const alone = parents.filter(({ id }) => !inhabited.has(id));
  /** @param {Box & { id: string }} box @param {boolean} isParent @returns {Leaf} */
  const leaf = (box, isParent) => ({
    ...box,
    name: nameOf(box.id),
    tone: toneOf(box.id),
    isClosing: byId.get(box.id)?.tags.includes('closing') ?? false,
    isParent,
    description: byId.get(box.id)?.description ?? '',
  });
  return [...placed.map((box) => leaf(box, false)), ...alone.map((box) => leaf(box, true))];
};

/**
 * Returns the boxes of the names of the parents that contain states.
 * @param {Layout} layout
 * @param {readonly Leaf[]} leaves
 * @returns {(Box & { readonly id: string })[]}
 */
export const titlesOf = ({ parents }, leaves) =>
  parents
    .filter(({ id }) => !leaves.some((leaf) => leaf.id === id))
    .map(({ id, x, y }) => ({ id, x: x + 10, y: y + 8, width: widthOf(id, 13, 600) + 8, height: 18 }));

/** Returns the boxes of all texts beside the states. @param {Layout} layout @param {readonly Leaf[]} leaves @returns {Box[]} */
const wordsIn = (layout, leaves) => [...titlesOf(layout, leaves), ...layout.arrows.flatMap(({ label }) => label ?? [])];

/**
 * Returns the parents that contain states, without the parents of `from` and `to`.
 * @param {Layout} layout
 * @param {readonly Leaf[]} leaves
 * @param {Leaf} from
 * @param {Leaf} to
 * @returns {Box[]}
 */
const roomsBeside = ({ parents }, leaves, from, to) =>
  parents.filter(({ id }) => !leaves.some((leaf) => leaf.id === id) && id !== topOf(from.id) && id !== topOf(to.id));

/** Returns the word of a step, and a note in small type: the code of a close and the reaction to it. @param {Machine} machine @param {Step} step */
export const stepLabelOf = (machine, { edge, event, cause }) => {
  const transition = machine.transitions.find((one) => one.id === edge && one.event === event);
  const word = transition === undefined ? spaced(event.slice(event.lastIndexOf('.') + 1)) : wordOf(transition);
  const note = cause.kind === 'close' ? [cause.code, spaced(cause.reaction ?? '')].filter(Boolean).join(' · ') : '';
  return { word, note };
};

/**
 * Returns the path and the chip of the last transition; null if one of its states is not drawn. The path follows the arrow of the transition. Without an
 * arrow, it is a curve of its own.
 * @param {Machine} machine
 * @param {Layout} layout
 * @param {readonly Leaf[]} leaves
 * @param {Step | null} step
 */
export const takenOf = (machine, layout, leaves, step) => {
  if (step === null) return null;
  const from = leaves.find(({ id }) => id === step.from);
  const to = leaves.find(({ id }) => id === step.to);
  if (from === undefined || to === undefined) return null;
  const { word, note } = stepLabelOf(machine, step);
  const width = Math.max(widthOf(word, 10.5, 600), note === '' ? 0 : widthOf(note, 10)) + 16;
  const height = note === '' ? 18 : 30;
  const arrow = layout.arrows.find((one) => !one.quiet && one.from === step.from && one.to === step.to);
  const room = arrow?.label;
  if (arrow !== undefined && room !== undefined) {
    const chip = { x: room.x + room.width / 2, y: room.y + room.height / 2, width, height, word, note };
    return { path: arrow.path, chip, arrow };
  }
  const curve = curveBetween(from, to, leaves, wordsIn(layout, leaves), roomsBeside(layout, leaves, from, to));
  return { path: curve.path, chip: { ...roomOn(curve, width, height, leaves), width, height, word, note }, arrow: undefined };
};

/** @param {number} value @param {number} least @param {number} most */
const within = (value, least, most) => Math.min(Math.max(value, least), most);

/** @param {Box} one @param {Box} other */
const meet = (one, other) =>
  one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height;

/**
 * Returns the position of a tag above or below its state: the position that covers the fewest boxes. Among equal positions, the middle one wins.
 * @param {Box} to
 * @param {number} width
 * @param {Layout} layout
 * @param {readonly Box[]} taken
 * @returns {Box}
 */
const placeOfTag = (to, width, layout, taken) => {
  const xs = [to.x + to.width / 2 - width / 2, to.x, to.x + to.width - width];
  const ys = [to.y - 14, to.y + to.height - 2, to.y - 31, to.y + to.height + 15];
  const places = ys.flatMap((y) =>
    xs.map((x) => ({ x: within(x, layout.x + 2, layout.x + layout.width - width - 2), y, width, height: 16 })),
  );
  const covered = (/** @type {Box} */ place) => taken.filter((box) => meet(place, box)).length;
  return places.reduce((best, place) => (covered(place) < covered(best) ? place : best));
};

/**
 * Returns the next transitions of a state: a curve to each target, and its words as a tag above or below the target.
 * @param {Machine} machine
 * @param {Layout} layout
 * @param {readonly Leaf[]} leaves
 * @param {string} id
 */
export const nextFrom = (machine, layout, leaves, id) => {
  const from = leaves.find((leaf) => leaf.id === id);
  if (from === undefined) return [];
  /** @type {Box[]} */
  const tags = [];
  const titles = titlesOf(layout, leaves);
  return nextOf(machine, id).flatMap(({ leaf, words }) => {
    const to = leaves.find((one) => one.id === leaf);
    if (to === undefined) return [];
    const text = words.join(', ');
    const width = widthOf(text, 10.5) + 12;
    const tag = placeOfTag(to, width, layout, [...tags, ...titles, ...leaves.filter((one) => one !== to)]);
    tags.push(tag);
    const arrow = layout.arrows.find((one) => !one.quiet && one.from === id && one.to === leaf);
    return [{ leaf, text, tag, path: arrow?.path ?? curveBetween(from, to, leaves).path }];
  });
};

/**
 * Returns the nearest state in a direction; undefined at the edge.
 * @param {readonly Leaf[]} leaves
 * @param {Leaf} from
 * @param {{ x: number, y: number }} direction
 */
export const neighbour = (leaves, from, direction) => {
  const middle = { x: from.x + from.width / 2, y: from.y + from.height / 2 };
  const ranked = leaves
    .filter((leaf) => leaf !== from)
    .map((leaf) => {
      const [dx, dy] = [leaf.x + leaf.width / 2 - middle.x, leaf.y + leaf.height / 2 - middle.y];
      const along = dx * direction.x + dy * direction.y;
      const aside = Math.abs(dx * direction.y) + Math.abs(dy * direction.x);
      // A state that lies more to the side costs four times as much, because another arrow key leads to this state.
      return { leaf, along, cost: (along + 2 * aside) * (aside > along ? 4 : 1) };
    })
    .filter(({ along }) => along > 8);
  return ranked.toSorted((a, b) => a.cost - b.cost)[0]?.leaf;
};
