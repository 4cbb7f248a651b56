/** The pieces of a drawn chart: arrows with their words, boxes of states, and the chip of the last transition. */
import { html } from 'htm/preact';
import { toneOf, topOf } from './tones.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { PlacedArrow } from './words.js' */
/** @import { Leaf } from './scene.js' */

const lineHeight = 13;

/** The heads of arrows. @param {{ id: string, tone: string }} props `tone`: the tone of the last transition. */
export const Heads = ({ id, tone }) => html`
  <defs class=${`of-${tone}`}>
    ${['rest', 'quiet', 'next', 'taken'].map(
      (kind) => html`
        <marker
          key=${kind}
          id=${`${id}-${kind}`}
          class=${`head ${kind}`}
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="8"
          markerHeight="8"
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path d="M0 0.5L8 4L0 7.5z" />
        </marker>
      `,
    )}
  </defs>
`;

/**
 * Returns true if the chip of the last transition covers the words of an arrow.
 * @param {PlacedArrow} arrow
 * @param {{ x: number, y: number, width: number, height: number } | undefined} chip `x` and `y` are its middle.
 */
export const isCovered = ({ label }, chip) =>
  label !== undefined &&
  chip !== undefined &&
  Math.abs(label.x + label.width / 2 - chip.x) < (label.width + chip.width) / 2 &&
  Math.abs(label.y + label.height / 2 - chip.y) < (label.height + chip.height) / 2;

/** @param {PlacedArrow} arrow */
const kindOf = ({ quiet, from }) => `arrow ${quiet ? 'quiet' : `of-${toneOf(topOf(from))}`}`;

/** @param {{ arrow: PlacedArrow, heads: string }} props */
export const TransitionArrow = ({ arrow, heads }) => html`
  <g class=${kindOf(arrow)}><path d=${arrow.path} marker-end=${`url(#${heads}-${arrow.quiet ? 'quiet' : 'rest'})`} /></g>
`;

/** @param {{ arrow: PlacedArrow }} props */
export const ArrowWords = ({ arrow }) => {
  const { label, lines } = arrow;
  if (label === undefined) return null;
  const middle = label.x + label.width / 2;
  return html`
    <g class=${kindOf(arrow)}>
      <rect x=${label.x + 1} y=${label.y} width=${label.width - 2} height=${label.height} rx="3" />
      <text x=${middle} y=${label.y + 11}>
        ${lines.map((line, n) => html`<tspan key=${n} x=${middle} dy=${n === 0 ? 0 : lineHeight}>${line}</tspan>`)}
      </text>
    </g>
  `;
};

/** @param {{ chip: { x: number, y: number, width: number, height: number, word: string, note: string } }} props */
export const Chip = ({ chip: { x, y, width, height, word, note } }) => html`
  <g class="chip" aria-hidden="true">
    <rect x=${x - width / 2} y=${y - height / 2} width=${width} height=${height} rx="6" />
    <text x=${x} y=${note === '' ? y + 4 : y - 2}>${word}</text>
    ${note !== '' && html`<text class="small" x=${x} y=${y + 10}>${note}</text>`}
  </g>
`;

/**
 * @param {{ own: string, leaf: Leaf, isLit: boolean, kind: string, clock: ComponentChildren, isStop: boolean, isPinned: boolean, isFold: boolean,
 *   on: Readonly<Record<string, (event: never) => void>> }} props
 */
export const StateBox = ({ own, leaf, isLit, kind, clock, isStop, isPinned, isFold, on }) => {
  const { id, x, y, width, height, name, tone, isClosing, isParent } = leaf;
  const hasClock = isLit && clock !== null;
  const middle = isParent ? 14 : width / 2;
  const baseline = isParent ? 21 : height / 2 + (hasClock ? -2 : 4.5);
  return html`
    <g
      class=${`state of-${tone} ${isLit ? 'lit' : ''} ${isClosing ? 'closing' : ''} ${isParent ? 'alone' : ''} ${kind}`}
      data-state=${id}
      transform=${`translate(${x} ${y})`}
      role="button"
      tabindex=${isStop ? 0 : -1}
      aria-labelledby=${hasClock ? `${own}-name ${own}-clock` : `${own}-name`}
      aria-describedby=${`${own}-more`}
      aria-pressed=${isFold ? undefined : isPinned}
      aria-expanded=${isFold ? false : undefined}
      ...${on}
    >
      ${isFold && html`<rect class="box under" x="4" y="4" width=${width} height=${height} rx=${isParent ? 14 : 9} />`}
      <rect class="box" width=${width} height=${height} rx=${isParent ? 14 : 9} />
      <text id=${`${own}-name`} class="name" x=${middle} y=${baseline}>${name}</text>${' '}
      ${hasClock && html`<text id=${`${own}-clock`} class="clock" x=${middle} y=${isParent ? 38 : height / 2 + 11}>${clock}</text>`}
    </g>
  `;
};
