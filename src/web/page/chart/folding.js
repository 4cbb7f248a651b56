/**
 * Folds the housekeeping states of a disconnected session into one box, and the states of unlinking into another box. The folded chart shows the states
 * that matter to an operator. The page and the layout program of the charts share this file.
 */

/** @import { Machine, State, Transition } from './words.js' */

/**
 * The box of the housekeeping states of a disconnected session. The layout program measures this name, so the name is as wide as the longest name of a state
 * that the box shows.
 */
export const housekeeping = 'disconnected.housekeepingSteps';

const ofDisconnected = new Set(
  ['closing', 'loggingOut', 'abandoning', 'deleting', 'deletingLater', 'settingAside', 'settingAsideLater'].map(
    (name) => `disconnected.${name}`,
  ),
);

/** Returns the box that shows a state in the folded chart: the state itself, or the box that it is folded into. @param {string} id */
export const boxOf = (id) => (ofDisconnected.has(id) ? housekeeping : id.startsWith('unlinking.') ? 'unlinking' : id);

/** True if a box of the folded chart has states folded into it. @param {string} id */
export const isFoldBox = (id) => id === housekeeping || id === 'unlinking';

/** True if the machine has states to fold. @param {Machine} machine */
export const canFold = ({ states }) => states.some(({ id }) => boxOf(id) !== id);

/**
 * Returns the machine with its housekeeping states folded. Transitions between two states of one box are left out.
 * @param {Machine} machine
 * @returns {Machine}
 */
export const folded = (machine) => {
  const inside = machine.states.filter(({ id }) => ofDisconnected.has(id));
  /** @type {State} */
  const box = {
    id: housekeeping,
    parent: 'disconnected',
    kind: inside[0]?.kind ?? '',
    tags: inside[0]?.tags.filter((tag) => inside.every(({ tags }) => tags.includes(tag))) ?? [],
    description: '',
  };
  const states = machine.states.filter(({ id }) => boxOf(id) === id);
  /** @param {Transition} one @returns {Transition[]} */
  const moved = (one) => {
    const [from, to] = [boxOf(one.from), boxOf(one.to)];
    if (from === to && one.from !== one.to) return [];
    return [{ ...one, from, to, leaf: boxOf(one.leaf) }];
  };
  return { ...machine, states: inside.length === 0 ? states : [...states, box], transitions: machine.transitions.flatMap(moved) };
};
