/** The state of the session, its meaning and its reason, in words and figures. */
import { html } from 'htm/preact';
import { toneOf, topOf } from '../chart/tones.js';
import { nameOf } from '../chart/words.js';
import { age, count, said, t, textOf } from '../texts.js';
import { Icon } from '../ui/parts.js';
import { lastStepOf, leadingTo } from './live.js';
import { sinceText, timeText, untilText } from './times.js';

/** @import { Live, Detail } from './live.js' */

/** @type {Readonly<Record<string, string>>} */
const wishes = { online: t('wanted_online'), offline: t('wanted_offline'), asleep: t('wanted_asleep'), unlinked: t('wanted_unlinked') };

/** @param {Live} live @param {string} state */
const meaningOf = ({ charts }, state) => charts.value.flatMap(({ states }) => states).find(({ id }) => id === state)?.description ?? '';

/**
 * Returns the node of the session, with the time and the reason of its takeover. Returns none on a single gateway.
 * @param {Detail} detail
 * @returns {[string, string][]}
 */
const nodeFigures = ({ lease }) => {
  if (lease === undefined) return [];
  if (lease === null) return [[t('node'), t('nodeNone')]];
  return [
    [t('node'), lease.node],
    [t('nodeSince'), sinceText(lease.since)],
    [t('nodeWhy'), t(/** @type {'lease_placed'} */ (`lease_${lease.cause}`))],
  ];
};

/** @param {Detail} detail @returns {[string, string][]} */
const figuresNow = ({ since, retryAt, wanted, failures, attempts, lastFrameAge, queue, outbox }) => [
  [t('colSince'), sinceText(since)],
  ...(retryAt === null ? [] : /** @type {[string, string][]} */ ([[t('nextTry'), t('inTime', { age: untilText(retryAt) })]])),
  [t('wanted'), wishes[wanted] ?? wanted],
  [t('failuresInRow'), count(failures)],
  [t('attempts'), count(attempts)],
  [t('lastFrame'), lastFrameAge === null ? t('noConnection') : t('agoTime', { age: age(lastFrameAge) })],
  [t('waitingSends'), count(queue)],
  [t('waitingEvents'), count(outbox)],
];

/** @param {{ live: Live }} props */
export const Why = ({ live }) => {
  const detail = live.detail.value;
  if (detail === null) return null;
  const looked = live.back.value === null ? null : (live.steps.value[live.back.value] ?? null);
  const step = looked ?? lastStepOf(live, 'lifecycle');
  const state = looked === null ? detail.state : looked.to;
  const tone = looked === null && detail.needsPerson ? 'person' : toneOf(state);
  const leading = leadingTo(live, step);
  const isReceiver = looked === null && detail.cause === 'receiverFailed';
  const reason = (isReceiver ? detail.reason : '') || leading?.why || detail.reason || t('whyResting');
  const todo = looked === null && detail.needsPerson ? textOf(`todo_${detail.cause}`) : '';
  const figures =
    looked === null
      ? [...figuresNow(detail), ...nodeFigures(detail)]
      : [[t('at'), timeText(looked.at)], ...(looked.n > 0 ? [[t('step'), `${looked.n}`]] : [])];
  const [word, top] = [said(nameOf(state)), topOf(state) === state ? '' : said(topOf(state))];
  // The name of the state in the API and in the log, if the shown word differs from the name in the chart.
  const term = word === nameOf(state) ? '' : state;
  return html`
    <section class=${`panel why of-${tone}`} aria-labelledby="why-title">
      <h2 id="why-title"><${Icon} name=${tone} />${word}<span class="note">${term === '' ? top : term}</span></h2>
      <p class="dim">${said(meaningOf(live, state))}</p>
      <h3 class="note">${t('colWhy')}</h3>
      ${detail.lease?.answers === false && html`<p class="note silent-node" role="status">${t('nodeSilent', { name: detail.lease.node })}</p>`}
      <div class="because" aria-live="polite">
        <p class="reason">${said(reason)}</p>
        ${step !== null && leading !== step && html`<p class="note">${t('whyLastStep', { why: said(step.why) })}</p>`}
      </div>
      ${
        todo !== '' &&
        html`<h3 class="note">${t('todoTitle')}</h3>
          <p class="todo">${todo}.</p>`
      }
      <dl class="figures">
        ${figures.map(
          ([name, value]) =>
            html`<div key=${name}>
              <dt>${name}</dt>
              <dd>${value}</dd>
            </div>`,
        )}
      </dl>
    </section>
  `;
};
