/** A small chart of lines over time, drawn by uPlot. The chart has the colours of the page and follows its colour scheme. */
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { compactNumber, minuteOfDay } from '../texts.js';

/** @import uPlot from 'uplot' */

/** @typedef {{ readonly ink: string, readonly isMain: boolean, readonly values: readonly (number | null)[] }} PlotLine `ink`: the CSS class with the colour. */

const height = 140;

/** Loads uPlot when the first chart is drawn. */
const library = () => import('uplot').then((module) => module.default);

/** Returns the indexes of values without neighbours. No line connects them, so they are drawn as points. @param {uPlot} plot @param {number} series */
const lonely = ({ data }, series) => {
  const values = data[series] ?? [];
  const isKnown = (/** @type {number} */ at) => (values[at] ?? null) !== null;
  return [...values.keys()].filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
};

/**
 * Returns the colour of a CSS class. A canvas has no CSS variables, so the colour is read from an element with the class.
 * @param {HTMLElement} box
 * @param {string} ink
 */
const colourOf = (box, ink) => {
  const probe = box.querySelector(`.inks > .${ink.replaceAll(' ', '.')}`);
  return probe === null ? '' : getComputedStyle(probe).color;
};

/**
 * @param {HTMLElement} box
 * @param {readonly PlotLine[]} lines
 * @param {(index: number | null) => void} onPoint
 * @returns {uPlot.Options}
 */
const optionsOf = (box, lines, onPoint) => {
  const axis = {
    stroke: () => colourOf(box, 'ink-words'),
    grid: { stroke: () => colourOf(box, 'ink-grid'), width: 1 },
    ticks: { show: false },
  };
  const font = `12px ${getComputedStyle(box).fontFamily}`;
  return {
    width: Math.max(100, box.clientWidth),
    height,
    legend: { show: false },
    // The cursors of all charts of the page show the same time.
    cursor: { y: false, drag: { x: false, y: false, setScale: false }, sync: { key: 'figures', setSeries: false } },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(1, (most ?? 0) * 1.1)] } },
    axes: [
      { ...axis, font, size: 24, values: (_plot, marks) => marks.map((mark) => minuteOfDay(mark * 1_000)) },
      { ...axis, font, size: 44, values: (_plot, marks) => marks.map((mark) => compactNumber(mark)) },
    ],
    series: [
      {},
      ...lines.map(({ ink, isMain }) => ({
        stroke: () => colourOf(box, ink),
        width: isMain ? 2 : 1,
        points: { show: false, filter: lonely },
      })),
    ],
    hooks: { setCursor: [({ cursor: { idx = null } }) => onPoint(idx)] },
  };
};

/** Calls `onChange` when the colours of the page change. Returns a function that removes the listener. @param {() => void} onChange */
const watchScheme = (onChange) => {
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const attribute = new MutationObserver(onChange);
  scheme.addEventListener('change', onChange);
  attribute.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  return () => {
    scheme.removeEventListener('change', onChange);
    attribute.disconnect();
  };
};

/**
 * A chart of lines. `times`: Unix seconds. `onPoint` gets the index of the time under the pointer; null if there is none. `label`: the chart in words.
 * @param {{ label: string, times: readonly number[], lines: readonly PlotLine[], onPoint: (index: number | null) => void }} props
 */
export const Plot = ({ label, times, lines, onPoint }) => {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    const box = place.current;
    if (box === null) return undefined;
    /** @type {(() => void)[]} */
    const ends = [];
    let isGone = false;
    void library().then((UPlot) => {
      if (isGone) return;
      const data = /** @type {uPlot.AlignedData} */ (/** @type {unknown} */ ([times, ...lines.map(({ values }) => values)]));
      const plot = new UPlot(optionsOf(box, lines, onPoint), data, box);
      const sizes = new ResizeObserver(() => plot.setSize({ width: Math.max(100, box.clientWidth), height }));
      sizes.observe(box);
      ends.push(
        watchScheme(() => plot.redraw(false)),
        () => sizes.disconnect(),
        () => plot.destroy(),
      );
    });
    return () => {
      isGone = true;
      for (const end of ends) end();
    };
  }, [times, lines]);
  return html`
    <div ref=${place} class="plot" role="img" aria-label=${label}>
      <span class="inks" aria-hidden="true">
        <i class="ink-words"></i><i class="ink-grid"></i>${lines.map(({ ink }) => html`<i class=${ink}></i>`)}
      </span>
    </div>
  `;
};
