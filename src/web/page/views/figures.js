/** The figures of the last day: small charts of messages, deliveries, failures, memory and delays, for all nodes together and for each node. */
import { html } from 'htm/preact';
import { useMemo, useState } from 'preact/hooks';
import { get } from '../core/api.js';
import { useAnswer, useRefresh } from '../instance/load.js';
import { compactNumber, minuteOfDay, t } from '../texts.js';
import { Empty, Field } from '../ui/parts.js';
import { Plot } from '../ui/plot.js';
import { Page } from '../ui/shell.js';
import { figures, linesOf, timesOf } from './figure-lines.js';

/** @import { Answer, Line, Name } from './figure-lines.js' */

const refreshMs = 60_000;

const periods = /** @type {const} */ ([1, 6, 24]);

/** The classes for the colours of the nodes, in the order of the nodes. */
const inks = ['ink-1', 'ink-2', 'ink-3', 'ink-4', 'ink-5'];

/** @param {number} index @param {boolean} isMain */
const inkOf = (index, isMain) => (isMain ? 'ink-main' : (inks[index] ?? ''));

/** Returns the value of a line at an index, or the last known value if the index is null. @param {Line} line @param {number | null} index */
const valueAt = ({ values }, index) => (index === null ? (values.findLast((value) => value !== null) ?? null) : (values[index] ?? null));

/** @param {Line} line @param {Name} figure */
const nameOf = ({ node }, figure) =>
  node === null ? t(figure === 'loopMs' ? 'figuresHighest' : 'figuresSum') : node === '' ? t('figuresGateway') : node;

/** @param {{ figure: (typeof figures)[number], answer: Answer, only: string | null }} props */
const Chart = ({ figure: { name, unit }, answer, only }) => {
  const [index, setIndex] = useState(/** @type {number | null} */ (null));
  const lines = useMemo(() => linesOf(answer, name, only), [answer, name, only]);
  const times = useMemo(() => timesOf(answer), [answer]);
  const drawn = useMemo(
    () =>
      lines.map((line, at) => {
        const isMain = lines.length === 1 || line.node === null;
        return { ink: inkOf(at, isMain), isMain, values: line.values };
      }),
    [lines],
  );
  /** @param {number | null} value */
  const said = (value) => (value === null ? '' : t(`unit_${unit}`, { value: compactNumber(value) }));
  const main = /** @type {Line | undefined} */ (lines.at(-1));
  if (main === undefined) return null;
  const title = t(`figure_${name}`);
  const most = Math.max(0, ...main.values.filter((value) => value !== null));
  const [value, time] = [said(valueAt(main, index)), minuteOfDay((times[index ?? 0] ?? 0) * 1_000)];
  const text = index === null ? t('figureLast', { value }) : value === '' ? t('figureNothing', { time }) : t('figureAt', { value, time });
  return html`
    <figure class="panel figure" data-figure=${name}>
      <figcaption><span class="figure-title">${title}</span> <span class="dim">${text}</span></figcaption>
      <${Plot}
        label=${t('figureLabel', { title, last: said(valueAt(main, null)), most: said(most) })}
        times=${times}
        lines=${drawn}
        onPoint=${setIndex}
      />
      ${
        lines.length > 1 &&
        html`
          <ul class="figure-lines">
            ${lines.map(
              (line, at) => html`
                <li key=${line.node ?? ''}>
                  <span class=${`swatch ${drawn[at]?.ink ?? ''}`} aria-hidden="true"></span>${nameOf(line, name)}
                  <span class="dim">${said(valueAt(line, index))}</span>
                </li>
              `,
            )}
          </ul>
        `
      }
    </figure>
  `;
};

/** @param {Event} event */
const valueOf = (event) => /** @type {HTMLSelectElement} */ (event.target).value;

export const Figures = () => {
  const [hours, setHours] = useState(24);
  const [node, setNode] = useState('*');
  const { answer, refresh, instead } = useAnswer(() => /** @type {Promise<Answer>} */ (get(`/admin/figures?hours=${hours}`)), [hours]);
  useRefresh(refresh, refreshMs);
  const nodes = answer.value?.nodes ?? [];
  const only = nodes.some(({ name }) => name === node) ? node : null;
  return html`
    <${Page} title=${t('figures')} lead=${t('figuresLead')}>
      <div class="figure-choice">
        <${Field}
          as="select"
          class="input"
          label=${t('figuresOver')}
          value=${hours}
          onChange=${(/** @type {Event} */ event) => setHours(Number(valueOf(event)))}
        >
          ${periods.map((period) => html`<option key=${period} value=${period}>${t(`figuresHours_${period}`)}</option>`)}
        <//>
        ${
          nodes.length > 1 &&
          html`
            <${Field}
              as="select"
              class="input"
              label=${t('figuresNode')}
              value=${node}
              onChange=${(/** @type {Event} */ event) => setNode(valueOf(event))}
            >
              <option value="*">${t('figuresAll')}</option>
              ${nodes.map(({ name }) => html`<option key=${name} value=${name}>${name === '' ? t('figuresGateway') : name}</option>`)}
            <//>
          `
        }
      </div>
      ${
        instead ??
        (nodes.length === 0
          ? html`<${Empty} title=${t('figuresNone')} text=${t('figuresNoneText')} />`
          : html`<div class="figure-charts">
              ${figures.map((figure) => html`<${Chart} key=${figure.name} figure=${figure} answer=${answer.value} only=${only} />`)}
            </div>`)
      }
    <//>
  `;
};
