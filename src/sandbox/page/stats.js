/** The platform's counters. They are reloaded while they are visible. */
import { get } from './api.js';
import { byId, el } from './dom.js';
import { nameOf, watch } from './state.js';

const everyMs = 3000;

const words = (name) => name.replace(/([A-Z])/g, ' $1').toLowerCase();

/**
 * Returns a row for each counter. A nested counter has a label of the form `a: b`. The page shows unknown requests, and logins by number, in separate
 * tables.
 */
const rowsOf = (stats) =>
  Object.entries(stats)
    .filter(([name]) => name !== 'unknown')
    .flatMap(([name, value]) =>
      typeof value === 'object'
        ? Object.entries(value).filter(([, count]) => typeof count === 'number').map(([key, count]) => [`${words(name)}: ${words(key)}`, count])
        : [[words(name), value]],
    );

const table = (rows) => el('table', {}, el('tbody', {}, rows.map(([label, count]) => el('tr', {}, el('th', { scope: 'row' }, label), el('td', {}, String(count))))));

const draw = (stats) => {
  const unknown = Object.entries(stats.unknown);
  const logins = Object.entries(stats.logins.byNumber).map(([number, count]) => [nameOf(number), count]);
  byId('stats-body').replaceChildren(
    el('div', { class: unknown.length > 0 ? 'card bad' : 'card' }, el('h3', {}, 'Unknown requests'), unknown.length > 0 ? table(unknown) : el('p', { class: 'dim' }, 'none: everything that was asked is understood')),
    table(rowsOf(stats)),
    ...(logins.length > 0 ? [el('h3', {}, 'Logins by phone'), table(logins)] : []),
  );
};

export const startStats = () => {
  let last = 0;
  const refresh = async () => {
    if (document.hidden || Date.now() - last < 500 || byId('stats').offsetParent === null) return;
    last = Date.now();
    const stats = await get('/stats').catch(() => undefined);
    if (stats) draw(stats);
  };
  watch(refresh);
  setInterval(refresh, everyMs);
  refresh();
};
