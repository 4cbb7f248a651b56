/** The steps as a list, the newest first. A press on a step shows the session as it was after this step. */
import { html } from 'htm/preact';
import { stepLabelOf } from '../chart/scene.js';
import { toneOf } from '../chart/tones.js';
import { nameOf } from '../chart/words.js';
import { said, t } from '../texts.js';
import { Icon } from '../ui/parts.js';
import { timeText } from './times.js';

/** @import { Live } from './live.js' */
/** @import { Step } from '../chart/scene.js' */

/** @param {{ live: Live, step: Step, at: number, isAt: boolean }} props */
const Row = ({ live, step, at, isAt }) => {
  const machine = live.charts.value.find(({ id }) => id === step.chart);
  const { word, note } = machine === undefined ? { word: step.event, note: '' } : stepLabelOf(machine, step);
  const tone = toneOf(step.to);
  return html`
    <li
      class=${`of-${tone} ${isAt ? 'at' : ''}`}
      aria-current=${isAt ? 'step' : undefined}
      onClick=${() => (live.back.value = at === live.steps.value.length - 1 ? null : at)}
    >
      <time class="dim">${timeText(step.at)}</time>
      <span class="move">
        <${Icon} name=${tone} />
        ${step.from !== '' && html`<span class="dim">${said(nameOf(step.from))}</span> <span class="dim">→</span>${' '}`}<strong
          >${said(nameOf(step.to))}</strong
        >
        ${step.chart === 'instance' && html`<span class="note">${t('bySupervisor')}</span>`}
      </span>
      <span class="event">${word} <span class="dim">${note}</span></span>
      <span class="dim because">${said(step.why)}</span>
    </li>
  `;
};

/** @param {{ live: Live }} props */
export const Log = ({ live }) => {
  const all = live.steps.value;
  if (all.length === 0) return html`<p class="dim">${t('noSteps')}</p>`;
  const at = live.back.value ?? all.length - 1;
  return html`
    <ol class="log" tabindex="0" aria-label=${t('log')}>
      ${all.map((step, n) => html`<${Row} key=${`${step.n}-${step.at}`} live=${live} step=${step} at=${n} isAt=${n === at} />`).toReversed()}
    </ol>
  `;
};
