/** The part above the list: the shares of the states, the five counts that act as filters, and the search. */
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { count, t } from '../texts.js';
import { Button, Icon } from '../ui/parts.js';
import { may, session } from '../core/session.js';
import { firstRun } from '../sessions/first-run.js';
import { groups } from '../sessions/words.js';

/** @import { Group } from '../sessions/types.ts' */
/** @import { Rows } from '../sessions/rows.js' */

/** @param {Group} group */
const labelOf = (group) => t(/** @type {'state_connected'} */ (`state_${group}`));

/** @param {{ rows: Rows }} props */
const Proportions = ({ rows }) => {
  const counts = rows.counts.value;
  return html`
    <div class="proportions" aria-hidden="true">
      ${groups.map((group) => counts[group] > 0 && html`<div key=${group} class=${`of-${group}`} style=${{ flexGrow: counts[group] }}></div>`)}
    </div>
  `;
};

/** @param {{ rows: Rows }} props */
const Counts = ({ rows }) => {
  const [counts, filter] = [rows.counts.value, rows.filter.value];
  /** @param {Group} group */
  const choose = (group) => {
    rows.filter.value = filter === group ? '' : group;
    rows.arrange();
  };
  return html`
    <div class="counts" role="group" aria-label=${t('filterLabel')}>
      ${groups.map(
        (group) => html`
          <button key=${group} type="button" class=${`count of-${group}`} aria-pressed=${filter === group} onClick=${() => choose(group)}>
            <${Icon} name=${group} /><strong>${count(counts[group])}</strong> <span>${labelOf(group)}</span>
          </button>
        `,
      )}
    </div>
  `;
};

/** @param {{ rows: Rows }} props */
const Search = ({ rows }) => {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = (event) => {
      const typing = event.target instanceof Element && event.target.closest('input, textarea, select, dialog') !== null;
      if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.select();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  /** @param {string} text */
  const search = (text) => {
    rows.search.value = text;
    rows.arrange();
  };
  return html`
    <div class="search">
      <${Icon} name="search" />
      <input
        ref=${input}
        type="search"
        class="input"
        aria-label=${t('searchLabel')}
        placeholder=${t('searchLabel')}
        value=${rows.search.value}
        autocomplete="off"
        spellcheck=${false}
        onInput=${(/** @type {InputEvent} */ event) => search(/** @type {HTMLInputElement} */ (event.target).value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
          if (event.key === 'Escape') search('');
        }}
      />
      ${rows.search.value === '' && html`<kbd aria-hidden="true">/</kbd>`}
    </div>
  `;
};

/** Chooses the node whose sessions are shown. Hidden if there is one node. @param {{ rows: Rows }} props */
const NodeFilter = ({ rows }) => {
  const [names, chosen] = [rows.nodes.value, rows.node.value];
  if (names.length < 2 && chosen === '') return null;
  const choose = (/** @type {Event} */ event) => {
    rows.node.value = /** @type {HTMLSelectElement} */ (event.target).value;
    rows.arrange();
  };
  const shown = chosen === '' || names.includes(chosen) ? names : [...names, chosen];
  return html`
    <select class="input node-filter" aria-label=${t('nodeFilter')} value=${chosen} onChange=${choose}>
      <option value="">${t('nodeFilterAll')}</option>
      ${shown.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select>
  `;
};

/** The version of the web client that new connections use, and the error of its look-up. */
const ClientVersion = () => {
  const shown = session.value?.clientVersion;
  if (!shown) return null;
  const source = t(/** @type {'version_lookedUp'} */ (`version_${shown.source}`));
  return html`<p class="dim client-version">
    ${t('clientVersion', { version: shown.version, source })}${shown.error && ` · ${shown.error}`}
  </p>`;
};

/**
 * @param {{ rows: Rows, onNew: () => void }} props
 */
export const Overview = ({ rows, onNew }) => html`
  <div class="overview">
    <${Proportions} rows=${rows} />
    <div class="bar">
      <${Counts} rows=${rows} />
      <div class="tools">
        ${rows.get(firstRun()) !== undefined && html`<a class="button" href="/admin/start">${t('startContinue')}</a>`}
        <${NodeFilter} rows=${rows} />
        <${Search} rows=${rows} />
        ${may('administrator') && html`<${Button} kind="main" onClick=${onNew}>${t('newSession')}<//>`}
      </div>
    </div>
    <${ClientVersion} />
  </div>
`;
