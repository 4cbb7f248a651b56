/** The last steps as a time line, on which the reader selects an earlier step. */
import { html } from 'htm/preact';
import { toneOf } from '../chart/tones.js';
import { nameOf } from '../chart/words.js';
import { said, t } from '../texts.js';
import { Button } from '../ui/parts.js';
import { now } from './live.js';
import { spanText, timeText } from './times.js';

/** @import { Live } from './live.js' */
/** @import { Step } from '../chart/scene.js' */

/** Returns the width of each state: the square root of its duration, so that seconds stay visible beside hours. @param {readonly Step[]} steps */
const widthsOf = (steps) => steps.map(({ at }, n) => Math.sqrt(Math.max(200, (steps[n + 1]?.at ?? now.value) - at)));

/** @param {Step} step */
const stepText = ({ from, to }) =>
  [from, to]
    .filter(Boolean)
    .map((state) => said(nameOf(state)))
    .join(' → ');

/** @param {PointerEvent} event @returns {number | null} The step under the pointer. */
const stepUnder = (event) => {
  const row = /** @type {HTMLElement} */ (event.currentTarget);
  const at = [...row.children].findIndex((bar) => event.clientX < bar.getBoundingClientRect().right + 1);
  return at < 0 ? row.children.length - 1 : at;
};

/** @param {{ live: Live }} props */
const Stripe = ({ live: { steps, back } }) => {
  const all = steps.value;
  const last = all.length - 1;
  const at = back.value ?? last;
  const step = all[at];
  /** @param {number | null} to */
  const go = (to) => (back.value = to === null || to >= last ? null : Math.max(0, to));
  const widths = widthsOf(all);
  return html`
    <div class="time-stripe">
      <div
        class="bars"
        aria-hidden="true"
        onPointerDown=${(/** @type {PointerEvent} */ event) => {
          /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
          go(stepUnder(event));
        }}
        onPointerMove=${(/** @type {PointerEvent} */ event) => event.buttons === 1 && go(stepUnder(event))}
      >
        ${all.map((one, n) => html`<span key=${`${one.n}-${one.at}`} class=${`of-${toneOf(one.to)} ${n === at ? 'at' : ''}`} style=${{ flexGrow: widths[n] }}></span>`)}
      </div>
      <input
        type="range"
        min="0"
        max=${Math.max(0, last)}
        value=${at}
        aria-label=${t('timeLine')}
        aria-valuetext=${step === undefined ? '' : `${timeText(step.at)} ${stepText(step)}. ${said(step.why)}`}
        onInput=${(/** @type {InputEvent} */ { currentTarget }) => go(Number(/** @type {HTMLInputElement} */ (currentTarget).value))}
      />
    </div>
  `;
};

/** @param {{ live: Live }} props */
export const TimeLine = ({ live }) => {
  const all = live.steps.value;
  const first = all[0];
  const isBack = live.back.value !== null;
  return html`
    <header>
      <h2 id="steps-title">${t('timeLine')}</h2>
      ${first !== undefined && html`<p class="note">${t('timeLineOf', { n: all.length, span: spanText(now.value - first.at) })}</p>`}
      ${
        isBack
          ? html`<${Button} onClick=${() => (live.back.value = null)}>${t('backToLive')}<//>`
          : html`<p class=${`note pulse of-${live.isLive.value ? 'connected' : 'connecting'}`} role="status">
              ${t(live.isLive.value ? 'live_live' : 'live_lost')}
            </p>`
      }
    </header>
    ${all.length > 0 && html`<${Stripe} live=${live} />`}
  `;
};
