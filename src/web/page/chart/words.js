/**
 * Makes the words of a chart's arrows from the names in the machine, and joins transitions into arrows. The page and the layout program of the charts
 * share this file, so that the words fit the layout.
 *
 * @typedef {object} Transition A transition, as `GET /admin/machines` answers it.
 * @property {string} id `from>to`.
 * @property {string} from
 * @property {string} to The state that the transition names as its target.
 * @property {string} leaf The state without children that is entered.
 * @property {string} event
 * @property {string} kind event, after, done, failed or always.
 * @property {string} guard '' for none.
 * @property {string} [delay]
 * @property {boolean} reenter
 *
 * @typedef {object} State
 * @property {string} id
 * @property {string} parent '' at the top.
 * @property {string} kind
 * @property {readonly string[]} tags
 * @property {string} description
 *
 * @typedef {object} Machine
 * @property {string} id
 * @property {string} initial
 * @property {readonly State[]} states
 * @property {readonly Transition[]} transitions
 *
 * @typedef {object} Arrow
 * @property {string} from
 * @property {string} to
 * @property {readonly string[]} words
 * @property {readonly string[]} reasons
 *
 * @typedef {{ readonly x: number, readonly y: number, readonly width: number, readonly height: number }} Box
 *
 * @typedef {object} PlacedArrow
 * @property {string} from
 * @property {string} to
 * @property {boolean} quiet Between parents; drawn in a weaker colour.
 * @property {readonly string[]} lines
 * @property {string} path In the notation of SVG.
 * @property {Box} [label] The box of its words; absent if the layout found no free space for them.
 *
 * @typedef {Box & {
 *   readonly machine: string,
 *   readonly print: string,
 *   readonly start: { readonly x: number, readonly y: number, readonly path: string },
 *   readonly parents: readonly (Box & { readonly id: string })[],
 *   readonly states: readonly (Box & { readonly id: string })[],
 *   readonly arrows: readonly PlacedArrow[],
 * }} Layout The content of a file `<machine>.<shape>.json`, in pixels. `print`: a fingerprint of the machine that was laid out.
 */

/** Returns a name as words: `retryDelay` becomes `retry delay`. @param {string} name */
export const spaced = (name) => name.replace(/([a-z0-9])([A-Z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`);

/** Returns the last part of the id of a state, as words. @param {string} id */
export const nameOf = (id) => spaced(id.slice(id.lastIndexOf('.') + 1));

/** Returns the reactions that a guard lets pass: `means(backOff|gate)` lets two pass. @param {string} guard @returns {string[]} */
const reasonsOf = (guard) => (/^means\((.*)\)$/.exec(guard)?.[1] ?? '').split('|').filter(Boolean).map(spaced);

/** @param {Transition} transition */
export const wordOf = ({ kind, event, delay, guard }) => {
  if (kind === 'after') return `after ${spaced(delay ?? 'a while')}`;
  if (kind === 'done' || kind === 'failed') return kind;
  if (kind === 'always') return guard ? spaced(guard.replace(/^([^(]*)\((.*)\)$/, '$1 $2')) : 'otherwise';
  return spaced(event.slice(event.indexOf('.') + 1));
};

/** Removes repeated words of an arrow, and joins `done` and `failed`. @param {readonly string[]} words @returns {string[]} */
export const merged = (words) => {
  const unique = [...new Set(words)];
  if (!unique.includes('done') || !unique.includes('failed')) return unique;
  return ['done or failed', ...unique.filter((word) => word !== 'done' && word !== 'failed')];
};

/** Returns one arrow for each pair of states. A transition of a state to itself gets none. @param {readonly Transition[]} transitions @returns {Arrow[]} */
export const joined = (transitions) => {
  /** @type {Map<string, Transition[]>} */
  const pairs = new Map();
  for (const one of transitions) {
    if (one.from === one.to) continue;
    const key = `${one.from}>${one.to}`;
    pairs.set(key, [...(pairs.get(key) ?? []), one]);
  }
  return [...pairs.values()].map((all) => ({
    from: all[0]?.from ?? '',
    to: all[0]?.to ?? '',
    words: merged(all.map(wordOf)),
    reasons: [...new Set(all.flatMap(({ guard }) => reasonsOf(guard)))],
  }));
};

/**
 * Returns the transitions that lead on from a state: its own and those of its parents, grouped by target.
 * @param {Machine} machine
 * @param {string} id
 * @returns {{ leaf: string, words: string[] }[]}
 */
export const nextOf = ({ states, transitions }, id) => {
  const parents = new Map(states.map((state) => [state.id, state.parent]));
  /** @type {Map<string, string[]>} */
  const targets = new Map();
  /** @type {Set<string>} */
  const taken = new Set();
  for (let at = id; at !== ''; at = parents.get(at) ?? '') {
    const own = transitions.filter(({ from }) => from === at);
    for (const one of own) {
      if (taken.has(one.event)) continue;
      const reasons = reasonsOf(one.guard);
      const word = reasons.length > 0 ? `${wordOf(one)}: ${reasons.join(', ')}` : wordOf(one);
      targets.set(one.leaf, [...(targets.get(one.leaf) ?? []), word]);
    }
    // The state nearest to the leaf handles an event. Its parents may handle the event too if all its transitions for the event are guarded.
    for (const { event, guard } of own) if (guard === '') taken.add(event);
  }
  return [...targets].map(([leaf, words]) => ({ leaf, words: merged(words) }));
};
