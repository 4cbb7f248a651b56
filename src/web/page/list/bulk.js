/** Actions on the selected sessions, or on all sessions that match the filter or the search, and the progress of the actions. */
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { actLabel, actNames, actOnAll, mayDo } from '../sessions/acts.js';
import { count, t } from '../texts.js';
import { Button } from '../ui/parts.js';

/** @import { ActName } from '../sessions/acts.js' */
/** @import { Feed } from '../sessions/feed.js' */
/** @import { Rows } from '../sessions/rows.js' */

/**
 * @param {{ rows: Rows, feed: Feed }} props
 */
export const Bulk = ({ rows, feed }) => {
  const [running, setRunning] = useState(/** @type {{ done: number, of: number, stop: () => void } | null} */ (null));
  if (running === null && !rows.isFiltered && rows.chosen.value.size === 0) return null;

  /** @param {ActName} name */
  const run = async (name) => {
    const stopper = new AbortController();
    await actOnAll(name, rows.targets, {
      signal: stopper.signal,
      onDone: (id) => (name === 'delete' ? rows.remove(id) : undefined),
      onProgress: (done, of) => setRunning({ done, of, stop: () => stopper.abort() }),
    });
    setRunning(null);
    void feed.load();
  };
  if (running !== null) {
    return html`
      <div class="bulk" role="status">
        <span>${t('bulkRunning', { done: count(running.done), of: count(running.of) })}</span>
        <progress value=${running.done} max=${running.of} aria-label=${t('bulkProgress')}></progress>
        <${Button} onClick=${running.stop}>${t('bulkStop')}<//>
      </div>
    `;
  }
  const [chosen, fitting] = [rows.chosen.value, rows.fitting.value];
  const isChosen = chosen.size > 0;
  const hidden = isChosen ? chosen.size - rows.shown.filter(({ id }) => chosen.has(id)).length : 0;
  const none = !isChosen && fitting === 0;
  return html`
    <div class="bulk">
      <span role="status">
        ${isChosen ? t('bulkChosen', { n: count(chosen.size) }) : t('bulkShown', { n: count(fitting), of: count(rows.size) })}${
          hidden > 0 && ` ${t('bulkHidden', { n: count(hidden) })}`
        }
      </span>
      <div class="acts" role="group" aria-label=${t(isChosen ? 'bulkLabelChosen' : 'bulkLabel')}>
        ${actNames
          .filter(mayDo)
          .map(
            (name) => html`
              <${Button} key=${name} kind=${name === 'delete' ? 'danger' : ''} disabled=${none} onClick=${() => run(name)}
                >${actLabel(name)}<//
              >
            `,
          )}
      </div>
      <${Button} kind="quiet" onClick=${() => rows.clear()}>${t(rows.isFiltered ? 'clearFilter' : 'chooseNone')}<//>
    </div>
  `;
};
