/** In which colour a state of a chart is shown: that of the word which the API has for it, or of trouble that needs a person. */

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

/** The state at the top that a state belongs to. @param {string} state */
export const topOf = (state) => state.split('.')[0] ?? '';

/** @param {string} state @returns {Tone} */
export const toneOf = (state) => (leftToPerson.has(state) ? 'person' : (ofParents[topOf(state)] ?? 'disconnected'));
