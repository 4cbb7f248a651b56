/** English words for states whose names in the charts are terms of the program. Beside such a word, views show the name that the chart has for the state. */

/** @type {import('./said.js').Phrases} */
export const stateWords = [
  ['idle', 'not in use'],
  ['admission', 'waiting its turn'],
  ['abandoning', 'closing without logout'],
  ['deleting', 'deleting credentials'],
  ['deleting later', 'deleting credentials later'],
  ['setting aside', 'keeping old credentials'],
  ['setting aside later', 'keeping old credentials later'],
  ['unlinking', 'removing the device'],
];
