/** Actions on all sessions of a filter or a search, with their progress. */
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
  if (running === null && rows.filter.value === '' && rows.search.value.trim() === '') return null;

  /** @param {ActName} name */
  const run = async (name) => {
    const stopper = new AbortController();
    await actOnAll(name, rows.shown, {
      signal: stopper.signal,
      onDone: (id) => (name === 'delete' ? rows.remove(id) : undefined),
      onProgress: (done, of) => setRunning({ done, of, stop: () => stopper.abort() }),
    });
    setRunning(null);
    void feed.load();
  };
  const clear = () => {
    rows.filter.value = '';
    rows.search.value = '';
    rows.arrange();
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
  const none = rows.fitting.value === 0;
  return html`
    <div class="bulk">
      <span role="status">${t('bulkShown', { n: count(rows.fitting.value), of: count(rows.size) })}</span>
      <div class="acts" role="group" aria-label=${t('bulkLabel')}>
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
      <${Button} kind="quiet" onClick=${clear}>${t('clearFilter')}<//>
    </div>
  `;
};
