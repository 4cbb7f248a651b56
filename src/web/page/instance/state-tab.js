/** The tab with the state of the session: its chart, the reason, its parts, and the steps that led to the state. */
import { signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { Chart } from '../chart/chart.js';
import { folded, housekeeping } from '../chart/folding.js';
import { toneOf } from '../chart/tones.js';
import { t } from '../texts.js';
import { Button, Loading } from '../ui/parts.js';
import { lastStepOf } from './live.js';
import { Log } from './log.js';
import { Parts } from './parts.js';
import { TimeLine } from './time-line.js';
import { clockText, timeText } from './times.js';
import { Why } from './why.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { DrawnMachine, Live } from './live.js' */
/** @import { Leaf } from '../chart/scene.js' */

const narrow = matchMedia('(width < 760px)');

const useShape = () => {
  const [shape, setShape] = useState(narrow.matches ? 'tall' : 'wide');
  useEffect(() => {
    const change = () => setShape(narrow.matches ? 'tall' : 'wide');
    narrow.addEventListener('change', change);
    return () => narrow.removeEventListener('change', change);
  }, []);
  return shape;
};

/**
 * The time in the current state. This component reads the clock, so that a tick redraws one text and not the chart.
 * @param {{ live: Live, chart: string }} props
 */
const Clock = ({ live, chart }) => {
  const step = lastStepOf(live, chart);
  const detail = live.detail.value;
  if (live.back.value !== null || detail === null) return step === null ? '' : timeText(step.at);
  return chart === 'lifecycle' ? clockText(detail) : clockText({ since: step?.at ?? detail.since, retryAt: null });
};

/** @param {{ pointed: Leaf | null }} props */
const Legend = ({ pointed }) =>
  pointed === null
    ? html`
        <ul class="legend">
          <li><span class="sign now"></span>${t('legendNow')}</li>
          <li><span class="sign closing"></span>${t('legendClosing')}</li>
          <li><span class="sign taken"></span>${t('legendTaken')}</li>
          <li>${t('legendHint')}</li>
        </ul>
      `
    : html` <p class="legend"><strong>${pointed.name}</strong> ${pointed.description}</p> `;

/**
 * Returns the id of the chart to show: the chosen chart, else the chart of the selected step. Without both, returns the chart of the session if the
 * supervisor is running, resting or stopped, and the chart of the supervisor in its other states.
 * @param {Live} live
 * @param {string | null} chosen
 */
const shownChart = ({ steps, back, detail }, chosen) => {
  if (chosen !== null) return chosen;
  if (back.value !== null) return steps.value[back.value]?.chart ?? 'lifecycle';
  const root = detail.value?.root ?? 'running';
  return ['running', 'resting', 'stopped'].includes(root) ? 'lifecycle' : 'instance';
};

/** @param {Live} live @param {string} chart */
const stateIn = (live, chart) => {
  const detail = live.detail.value;
  if (live.back.value !== null) return lastStepOf(live, chart)?.to ?? '';
  return (chart === 'lifecycle' ? detail?.state : detail?.root) ?? '';
};

/** True if the reader opened the chart on a phone. The choice also applies to sessions that are shown later. */
const isOpened = signal(false);

/** The chart, which is closed on a phone so that the reason is seen first. @param {{ isFolding: boolean, children?: ComponentChildren }} props */
const Fold = ({ isFolding, children }) =>
  isFolding
    ? html`
        <details
          class="fold"
          open=${isOpened.value}
          onToggle=${(/** @type {Event} */ event) => (isOpened.value = /** @type {HTMLDetailsElement} */ (event.currentTarget).open)}
        >
          <summary>${t('chartFold')}</summary>
          ${children}
        </details>
      `
    : children;

/** True if the housekeeping states are shown one by one. The choice also applies to sessions that are shown later. */
const isWhole = signal(false);

/**
 * Returns the machine and the layout to draw: the folded machine and layout if they exist and the reader did not choose the whole chart.
 * @param {DrawnMachine | undefined} machine
 * @param {string} shape
 */
const drawingOf = (machine, shape) => {
  const short = machine?.layouts[`${shape}Folded`];
  if (machine !== undefined && short !== undefined && !isWhole.value) return { drawn: folded(machine), layout: short, canFold: true };
  return { drawn: machine, layout: machine?.layouts[shape], canFold: short !== undefined };
};

/** Shows the whole chart, and moves the focus from a box to the first state in it. @param {string} box */
const unfold = (box) => {
  isWhole.value = true;
  requestAnimationFrame(() => {
    /** @type {SVGGElement | null} */ (document.querySelector(`.chart [data-state="${firstIn[box]}"]`))?.focus();
  });
};

/** The first state of each folded box. @type {Readonly<Record<string, string>>} */
const firstIn = { [housekeeping]: 'disconnected.closing', unlinking: 'unlinking.closing' };

/**
 * The buttons that choose the chart and show its housekeeping states. The buttons are above the chart, because the height of the chart changes and
 * the buttons must stay under the pointer.
 * @param {{ live: Live, shown: string, canFold: boolean, onChoose: (id: string) => void }} props
 */
const Choices = ({ live, shown, canFold, onChoose }) => html`
  <div class="choices-of-chart">
    <div class="switch" role="group" aria-label=${t('chart')}>
      ${live.charts.value.map(
        ({ id }) => html`
          <button key=${id} type="button" aria-pressed=${id === shown} onClick=${() => onChoose(id)}>
            ${t(id === 'lifecycle' ? 'chartSession' : 'chartSupervisor')}
          </button>
        `,
      )}
    </div>
    ${canFold && html`<${Button} kind="quiet" aria-pressed=${isWhole.value} onClick=${() => (isWhole.value = !isWhole.value)}>${t('chartWhole')}<//>`}
  </div>
`;

/** @param {{ live: Live }} props */
const ChartPanel = ({ live }) => {
  const shape = useShape();
  const chosen = useSignal(/** @type {string | null} */ (null));
  const pointed = useSignal(/** @type {Leaf | null} */ (null));
  const point = useCallback((/** @type {Leaf | null} */ leaf) => (pointed.value = leaf), []);
  const looked = live.back.value;
  // The reader chose another step, so the chart of that step is shown.
  useEffect(() => void (chosen.value = null), [looked]);
  const shown = shownChart(live, chosen.value);
  const machine = live.charts.value.find(({ id }) => id === shown);
  const isUnfolded = isWhole.value;
  const { drawn, layout, canFold } = useMemo(() => drawingOf(machine, shape), [machine, shape, isUnfolded]);
  if (drawn === undefined || layout === undefined) return html`<section class="panel"><${Loading} /></section>`;
  const state = stateIn(live, shown);
  const label = t('chartLabel', {
    chart: t(shown === 'lifecycle' ? 'chartSession' : 'chartSupervisor'),
    state: state || t('chartNowhere'),
  });
  return html`
    <section class=${`panel chart-panel of-${toneOf(state)} ${looked === null ? '' : 'back'}`} aria-label=${t('chart')}>
      <${Fold} isFolding=${shape === 'tall'}>
        <${Choices} live=${live} shown=${shown} canFold=${canFold} onChoose=${(/** @type {string} */ id) => (chosen.value = id)} />
        <${Chart}
          key=${`${shown}.${shape}`}
          machine=${drawn}
          layout=${layout}
          state=${state}
          step=${lastStepOf(live, shown)}
          clock=${html`<${Clock} live=${live} chart=${shown} />`}
          label=${label}
          onPoint=${point}
          onUnfold=${canFold && !isUnfolded ? unfold : null}
        />
        <${Legend} pointed=${pointed.value} />
      <//>
    </section>
  `;
};

/** @param {{ live: Live }} props */
export const StateTab = ({ live }) => html`
  <div class="state-tab">
    <${ChartPanel} live=${live} />
    <div class="side-why"><${Why} live=${live} /></div>
    <div class="side-parts"><${Parts} live=${live} /></div>
    <section class="panel steps" aria-labelledby="steps-title">
      <${TimeLine} live=${live} />
      <${Log} live=${live} />
    </section>
  </div>
`;
