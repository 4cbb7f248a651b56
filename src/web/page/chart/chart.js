/**
 * Draws a statechart: the current state, the transition that led to it, and the next transitions of a state under the pointer or in focus. Positions
 * come from a layout that `npm run charts` computes in development. The browser computes only curves between two states.
 */
import { html } from 'htm/preact';
import { useId, useMemo, useRef } from 'preact/hooks';
import { t } from '../texts.js';
import { boxOf, housekeeping, isFoldBox } from './folding.js';
import { ArrowWords, Chip, Heads, isCovered, StateBox, TransitionArrow } from './pieces.js';
import { usePointing } from './pointing.js';
import { leavesOf, nextFrom, takenOf, titlesOf } from './scene.js';
import { toneOf, topOf } from './tones.js';
import { nameOf, nextOf } from './words.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Layout, Machine } from './words.js' */
/** @import { Leaf, Step } from './scene.js' */
/** @typedef {ReturnType<typeof takenOf>} Taken */

/**
 * Draws the layer under the states: the parents, the start of the chart, and the arrows.
 * @param {{ layout: Layout, leaves: readonly Leaf[], state: string, heads: string }} props
 */
const Ground = ({ layout, leaves, state, heads }) => {
  const { parents, start, arrows } = layout;
  const current = leaves.find(({ id }) => id === state);
  return html`
    ${parents
      .filter(({ id }) => !leaves.some((leaf) => leaf.id === id))
      .map(
        ({ id, x, y, width, height }) => html`
          <g key=${id} class=${`parent of-${toneOf(id)} ${topOf(state) === id ? 'lit' : ''}`}>
            <rect x=${x} y=${y} width=${width} height=${height} rx="14" />
          </g>
        `,
      )}
    ${
      current !== undefined &&
      html`
        <rect
          class=${`halo of-${toneOf(state)}`}
          x=${current.x - 4}
          y=${current.y - 4}
          width=${current.width + 8}
          height=${current.height + 8}
          rx=${current.isParent ? 17 : 12}
        />
      `
    }
    <g class="arrow">
      <circle cx=${start.x} cy=${start.y} r="4.5" />
      <path d=${start.path} marker-end=${`url(#${heads}-rest)`} />
    </g>
    ${arrows.map((arrow) => html`<${TransitionArrow} key=${`${arrow.from}>${arrow.to}`} arrow=${arrow} heads=${heads} />`)}
  `;
};

/**
 * Draws the words on top of the lines. The words have a background, so that no line crosses them.
 * @param {{ layout: Layout, leaves: readonly Leaf[], taken: Taken }} props
 */
const Words = ({ layout, leaves, taken }) => html`
  ${titlesOf(layout, leaves).map(
    ({ id, x, y, width, height }) => html`
      <g key=${id} class=${`title of-${toneOf(id)}`}>
        <rect x=${x} y=${y} width=${width} height=${height} rx="4" />
        <text x=${x + 4} y=${y + 13}>${id}</text>
      </g>
    `,
  )}
  ${layout.arrows.map(
    (arrow) =>
      arrow !== taken?.arrow && !isCovered(arrow, taken?.chip) && html`<${ArrowWords} key=${`${arrow.from}>${arrow.to}`} arrow=${arrow} />`,
  )}
`;

/** @param {{ taken: Taken, tone: string, heads: string }} props */
const TakenLine = ({ taken, tone, heads }) =>
  taken === null
    ? null
    : html`
        <g class=${`taken of-${tone}`}>
          <path class="line" d=${taken.path} pathLength="1" />
          <path class="end" d=${taken.path} marker-end=${`url(#${heads}-taken)`} />
        </g>
      `;

/** @param {{ next: ReturnType<typeof nextFrom> }} props */
const Tags = ({ next }) =>
  next.map(
    ({ leaf, text, tag }) => html`
      <g key=${leaf} class="tag" aria-hidden="true">
        <rect x=${tag.x} y=${tag.y} width=${tag.width} height=${tag.height} rx="5" />
        <text x=${tag.x + tag.width / 2} y=${tag.y + 11.5}>${text}</text>
      </g>
    `,
  );

/**
 * Returns the meaning of a state and its next transitions in words, for screen readers.
 * @param {Machine} machine
 * @param {readonly Leaf[]} leaves
 * @param {Leaf} leaf
 * @param {boolean} isCurrent
 */
const describe = (machine, leaves, leaf, isCurrent) => {
  const words = nextOf(machine, leaf.id).map((one) => `${leaves.find(({ id }) => id === one.leaf)?.name} (${one.words.join(', ')})`);
  const leads = words.length === 0 ? t('chartEnd') : t('chartNext', { next: words.join('; ') });
  return `${isCurrent ? t('chartCurrent') : ''} ${leaf.description} ${leads}`.trim();
};

/**
 * Completes a box of a folded chart with its description and name. The housekeeping box has the name of the current state, if it contains this state.
 * @param {Leaf} leaf
 * @param {string} current
 * @returns {Leaf}
 */
const withFold = (leaf, current) => {
  if (!isFoldBox(leaf.id)) return leaf;
  const isCurrent = boxOf(current) === leaf.id;
  const own = leaf.id === housekeeping ? { name: isCurrent ? nameOf(current) : t('chartHousekeeping') } : {};
  return { ...leaf, ...own, description: `${leaf.description} ${t('chartUnfold')}`.trim() };
};

/**
 * Returns the handlers of a folded box: the given handlers, but a press unfolds the box.
 * @param {Readonly<Record<string, (event: never) => void>>} on
 * @param {() => void} unfold
 * @returns {Readonly<Record<string, (event: never) => void>>}
 */
const unfolding = (on, unfold) => ({
  ...on,
  onClick: unfold,
  onKeyDown: (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return on['onKeyDown']?.(/** @type {never} */ (event));
    event.preventDefault();
    return unfold();
  },
});

/**
 * Returns the current state, the last step and the states as the chart draws them. A folded chart shows a box instead of the states in the box.
 * @param {Machine} machine
 * @param {Layout} layout
 * @param {string} current
 * @param {Step | null} last
 * @param {boolean} isFolded
 */
const useScene = (machine, layout, current, last, isFolded) => {
  const step = useMemo(
    () => (last === null || !isFolded ? last : { ...last, from: boxOf(last.from), to: boxOf(last.to) }),
    [last, isFolded],
  );
  const leaves = useMemo(
    () => leavesOf(machine, layout).map((leaf) => (isFolded ? withFold(leaf, current) : leaf)),
    [machine, layout, isFolded, current],
  );
  return { state: isFolded ? boxOf(current) : current, step, leaves };
};

/**
 * Draws a chart. `state`: the id of the current state; '' for none. `step`: the transition that led to this state. `clock`: shown in the box of the current
 * state. `onUnfold` is called with the folded box that was pressed; null if the chart is not folded.
 * @param {{ machine: Machine, layout: Layout, state: string, step: Step | null, clock: ComponentChildren, label: string, onPoint: (leaf: Leaf | null) => void,
 *   onUnfold: ((box: string) => void) | null }} props
 */
export const Chart = ({ machine, layout, state: current, step: last, clock, label, onPoint, onUnfold }) => {
  const heads = useId();
  const isFolded = onUnfold !== null;
  const { state, step, leaves } = useScene(machine, layout, current, last, isFolded);
  const way = useMemo(() => takenOf(machine, layout, leaves, step), [machine, layout, leaves, step]);
  const { pointed, pinned, stop, on, root } = usePointing(leaves, state);
  const next = useMemo(() => nextFrom(machine, layout, leaves, pointed), [machine, layout, leaves, pointed]);
  const reported = useRef('');
  if (reported.current !== pointed) {
    reported.current = pointed;
    queueMicrotask(() => onPoint(leaves.find(({ id }) => id === pointed) ?? null));
  }
  const taken = pointed === '' ? way : null;
  const near = new Set(pointed === '' ? leaves.map(({ id }) => id) : [pointed, ...next.map(({ leaf }) => leaf)]);
  const tone = toneOf(state);
  return html`
    <svg
      ref=${root}
      class=${`chart ${pointed === '' ? '' : 'pointing'} ${layout.parents.length === 0 ? 'flat' : ''}`}
      viewBox=${`${layout.x} ${layout.y} ${layout.width} ${layout.height}`}
      style=${{ maxWidth: `${Math.round(layout.width * 1.15)}px` }}
      role="group"
      aria-label=${label}
    >
      <${Heads} id=${heads} tone=${tone} />
      <${Ground} layout=${layout} leaves=${leaves} state=${state} heads=${heads} />
      <${TakenLine} key=${`taken-${step?.n}`} taken=${taken} tone=${tone} heads=${heads} />
      ${next.map(({ leaf, path }) => html`<path key=${leaf} class="next" d=${path} marker-end=${`url(#${heads}-next)`} />`)}
      <${Words} layout=${layout} leaves=${leaves} taken=${taken} />
      ${leaves.map(
        (leaf) => html`
          <${StateBox}
            key=${leaf.id}
            own=${`${heads}-${leaf.id}`}
            leaf=${leaf}
            isLit=${leaf.id === state}
            kind=${near.has(leaf.id) ? '' : 'far'}
            clock=${leaf.id === state ? clock : null}
            isStop=${leaf.id === stop}
            isPinned=${leaf.id === pinned}
            isFold=${isFolded && isFoldBox(leaf.id)}
            on=${isFolded && isFoldBox(leaf.id) ? unfolding(on(leaf), () => onUnfold(leaf.id)) : on(leaf)}
          />
        `,
      )}
      ${taken !== null && html`<g class=${`of-${tone}`}><${Chip} chip=${taken.chip} /></g>`}
      <${Tags} next=${next} />
    </svg>
    <div hidden>
      ${leaves.map((leaf) => html`<span key=${leaf.id} id=${`${heads}-${leaf.id}-more`}>${describe(machine, leaves, leaf, leaf.id === state)}</span>`)}
    </div>
  `;
};
