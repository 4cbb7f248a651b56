/** The list of all sessions: problems first, a reason in every row, and the last hour as a stripe. */
import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { go, sessionAddress } from '../core/router.js';
import { may } from '../core/session.js';
import { Bulk } from '../list/bulk.js';
import { Grid } from '../list/grid.js';
import { Overview } from '../list/overview.js';
import { act, actLabel, actNames, acts, mayDo } from '../sessions/acts.js';
import { Feed } from '../sessions/feed.js';
import { ConnectDialog } from '../sessions/new-session.js';
import { Rows } from '../sessions/rows.js';
import { groups, needsPhone } from '../sessions/words.js';
import { said, t } from '../texts.js';
import { Menu } from '../ui/menu.js';
import { Failed, Icon, Loading } from '../ui/parts.js';
import { Shell } from '../ui/shell.js';

/** @import { Row } from '../sessions/types.ts' */
/** @import { Sort } from '../sessions/rows.js' */
/** @import { Made } from '../sessions/new-session.js' */

/** All sessions. The rows stay in memory when the reader leaves the view, so that the list is unchanged afterwards. */
const rows = new Rows();
let scrolledTo = 0;

/** @type {readonly { readonly class: string, readonly label: 'colState' | 'colSession' | 'colWhy' | 'colHour' | 'colSince' | 'colLast' | 'colQueue' | 'colOutbox', readonly sort?: Sort }[]} */
const columns = [
  { class: 'c-state', label: 'colState', sort: 'trouble' },
  { class: 'c-name', label: 'colSession', sort: 'name' },
  { class: 'c-why', label: 'colWhy' },
  { class: 'c-hour', label: 'colHour' },
  { class: 'c-since', label: 'colSince', sort: 'since' },
  { class: 'c-last', label: 'colLast', sort: 'lastEvent' },
  { class: 'c-queue', label: 'colQueue', sort: 'queue' },
  { class: 'c-outbox', label: 'colOutbox', sort: 'outbox' },
];

/** @param {Sort} by */
const sortBy = (by) => {
  const { by: before, turned } = rows.sort.value;
  rows.sort.value = { by, turned: before === by && !turned };
  rows.arrange();
};

/** Selects or deselects all sessions that are shown. */
const ChooseAll = () => {
  const box = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [chosen, of] = [rows.chosen.value, rows.fitting.value];
  const all = of > 0 && chosen.size >= of && rows.shown.every(({ id }) => chosen.has(id));
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = chosen.size > 0 && !all;
  });
  const choose = () =>
    rows.choose(
      rows.shown.map(({ id }) => id),
      !all,
    );
  return html`<input ref=${box} type="checkbox" aria-label=${t('chooseAll')} checked=${all} disabled=${of === 0} onClick=${choose} />`;
};

/** The meaning of the colours of the column "last hour". */
const HourLegend = () => html`
  <ul class="hour-legend" aria-label=${t('hourLegend')}>
    <li aria-hidden="true">${t('hourLegend')}</li>
    ${groups.map(
      (group) =>
        html`<li key=${group} class=${`of-${group}`}>
          <span class="sign"></span>${t(/** @type {'state_connected'} */ (`state_${group}`))}
        </li>`,
    )}
    <li><span class="sign"></span>${t('hourLegendUnknown')}</li>
  </ul>
`;

const Head = () => {
  const { by, turned } = rows.sort.value;
  return html`
    <div role="rowgroup" class="grid-head">
      <div role="row" aria-rowindex="1">
        <span role="columnheader" class="c-choose"><${ChooseAll} /></span>
        ${columns.map(
          ({ class: name, label, sort }) => html`
            <span
              key=${label}
              role="columnheader"
              class=${name}
              aria-sort=${sort === undefined ? undefined : sort !== by ? 'none' : turned ? 'ascending' : 'descending'}
            >
              ${
                sort === undefined
                  ? t(label)
                  : html`<button type="button" onClick=${() => sortBy(sort)}>
                      ${t(label)}${sort === by && html`<${Icon} name=${turned ? 'up' : 'down'} />`}
                    </button>`
              }
            </span>
          `,
        )}
        <span role="columnheader" class="c-more"><span class="hidden-text">${t('colActs')}</span></span>
      </div>
    </div>
  `;
};

/**
 * The table of sessions. Preact draws the table once, and the grid fills the rows without Preact.
 * @param {{ onMenu: (row: Row, near: DOMRect) => void }} props
 */
const Table = ({ onMenu }) => {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const canvas = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    if (scroller.current === null || canvas.current === null) return undefined;
    const place = scroller.current;
    const canChoose = mayDo('connect');
    const onOpen = (/** @type {Row} */ row) => go(sessionAddress(row.id));
    canvas.current.style.height = `${rows.shown.length * 44}px`;
    place.scrollTop = scrolledTo;
    const grid = new Grid({ scroller: place, canvas: canvas.current, rows, canChoose, onOpen, onMenu });
    return () => {
      scrolledTo = place.scrollTop;
      grid.stop();
    };
  }, []);
  return html`
    <div
      ref=${scroller}
      class=${`grid ${mayDo('connect') ? 'choosing' : ''}`}
      role="grid"
      tabindex="0"
      aria-multiselectable="true"
      aria-label=${t('sessions')}
      aria-description=${t('gridKeys')}
    >
      <${Head} />
      <div ref=${canvas} class="canvas" role="rowgroup"></div>
      <${Nothing} />
    </div>
  `;
};

const Nothing = () =>
  rows.fitting.value === 0 ? html`<div class="grid-blank" role="presentation"><p class="dim">${t('nothingFits')}</p></div>` : null;

/**
 * @param {Feed} feed
 * @returns {import('../ui/shell.js').LiveState}
 */
const liveOf = ({ failure, live }) => (failure.value !== null ? 'stale' : live.value ? 'live' : 'lost');

/** @typedef {{ row: Row, near: DOMRect }} Opened */

/**
 * @param {{ opened: Opened, feed: Feed, onPair: (row: Row) => void, onClose: () => void }} props
 */
const RowMenu = ({ opened: { row, near }, feed, onPair, onClose }) => {
  const items = actNames
    .filter((name) => acts[name].fits(row) && mayDo(name))
    .map((name) => ({
      label: actLabel(name, row),
      danger: name === 'delete',
      onChoose: async () => {
        if (name === 'connect' && needsPhone(row)) return onPair(row);
        if (!(await act(name, row))) return undefined;
        return name === 'delete' ? rows.remove(row.id) : feed.loadOne(row.id);
      },
    }));
  const open = { label: t('openSession'), onChoose: () => go(sessionAddress(row.id)) };
  return html`<${Menu} label=${t('actsOf', { name: row.name })} items=${[open, ...items]} near=${near} onClose=${onClose} />`;
};

/** @param {{ feed: Feed }} props */
const Silent = ({ feed }) => {
  const names = feed.silent.value;
  if (names.length === 0) return null;
  return html`<p class="silent-nodes of-person" role="status">${t('nodesSilent', { names: names.join(', ') })}</p>`;
};

/** @param {{ feed: Feed }} props */
const Warnings = ({ feed }) => {
  const texts = feed.warnings.value;
  if (texts.length === 0) return null;
  return html`<p class="silent-nodes of-person server-warnings" role="status">
    ${t('serverWarnings', { texts: texts.map(said).join('; ') })}
  </p>`;
};

/** @param {{ feed: Feed }} props */
const Content = ({ feed }) => {
  const [menu, setMenu] = useState(/** @type {Opened | null} */ (null));
  const [pairing, setPairing] = useState(/** @type {{ made?: Made } | null} */ (null));
  const close = () => {
    if (pairing?.made !== undefined) void feed.loadOne(pairing.made.id);
    setPairing(null);
  };
  return html`
    <${Overview} rows=${rows} onNew=${() => setPairing({})} />
    <${Silent} feed=${feed} />
    <${Warnings} feed=${feed} />
    <div class="panel list">
      <${Bulk} rows=${rows} feed=${feed} />
      <${Table} onMenu=${(/** @type {Row} */ row, /** @type {DOMRect} */ near) => setMenu({ row, near })} />
      <${HourLegend} />
    </div>
    ${
      menu !== null &&
      html`
        <${RowMenu}
          key=${menu.row.id}
          opened=${menu}
          feed=${feed}
          onPair=${(/** @type {Row} */ row) => setPairing({ made: row })}
          onClose=${() => setMenu(null)}
        />
      `
    }
    ${
      pairing !== null &&
      html` <${ConnectDialog} made=${pairing.made} onMade=${(/** @type {Made} */ made) => feed.loadOne(made.id)} onClose=${close} /> `
    }
  `;
};

/** @param {{ feed: Feed }} props */
const Body = ({ feed }) => {
  const empty = feed.ready.value && rows.size === 0;
  useEffect(() => {
    if (empty && may('administrator')) go('/admin/start', { replace: true });
  }, [empty]);
  if (feed.ready.value || rows.size > 0) return empty && may('administrator') ? null : html`<${Content} feed=${feed} />`;
  if (feed.failure.value !== null) return html`<${Failed} error=${feed.failure.value} onRetry=${() => feed.load()} />`;
  return html`<${Loading} />`;
};

export const List = () => {
  const feed = useMemo(() => new Feed(rows), []);
  useEffect(() => {
    feed.start();
    return () => feed.stop();
  }, []);
  return html`
    <${Shell} title=${t('sessions')} fixed live=${liveOf(feed)}>
      <h1 class="hidden-text">${t('sessions')}</h1>
      <${Body} feed=${feed} />
    <//>
  `;
};
