/** The colour of a state in a chart: the colour of its status in the API, or the colour of a problem that only a person can solve. */

/** @typedef {'connected' | 'connecting' | 'hibernated' | 'disconnected' | 'person'} Tone */

/** @type {Readonly<Record<string, Tone>>} */
const ofParents = {
  connected: 'connected',
  connecting: 'connecting',
  hibernated: 'hibernated',
  disconnected: 'disconnected',
  unlinking: 'disconnected',
  running: 'connected',
  recovering: 'connecting',
  deciding: 'connecting',
  restarting: 'connecting',
  stopped: 'disconnected',
  failed: 'person',
  crashed: 'person',
};

const leftToPerson = new Set(['disconnected.loggedOut', 'disconnected.refused']);

/** Returns the top-level state that a state belongs to. @param {string} state */
export const topOf = (state) => state.split('.')[0] ?? '';

/** @param {string} state @returns {Tone} */
export const toneOf = (state) => (leftToPerson.has(state) ? 'person' : (ofParents[topOf(state)] ?? 'disconnected'));
