/** The audit log: the author, the time, the address and the object of each change. */
import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { get } from '../core/api.js';
import { useAnswer } from '../instance/load.js';
import { moment, t } from '../texts.js';
import { attempt } from '../ui/asking.js';
import { Button, Empty, Field, Table } from '../ui/parts.js';
import { Page } from '../ui/shell.js';

/**
 * @typedef {object} Entry One of `GET /admin/audit`.
 * @property {number} id
 * @property {number} at Unix milliseconds.
 * @property {'adminToken' | 'user' | 'instanceToken' | 'passkeyCode'} actor
 * @property {string} who
 * @property {string} address
 * @property {string} method
 * @property {string} route
 * @property {string} instance
 * @property {string} subject
 * @property {number} status 0 if the client disconnected before the answer.
 */

/** @typedef {{ entries: readonly Entry[], next: number | null }} EntryPage */

/** Returns the query of the filter without empty fields. Times are in the time zone of the browser. @param {FormData} form */
const queryOf = (form) => {
  const query = new URLSearchParams();
  for (const name of ['who', 'instance']) {
    const text = String(form.get(name)).trim();
    if (text !== '') query.set(name, text);
  }
  for (const name of ['from', 'to']) {
    const at = new Date(String(form.get(name))).getTime();
    if (!Number.isNaN(at)) query.set(name, String(at));
  }
  return query.toString();
};

/** @param {{ entry: Entry }} props */
const Row = ({ entry: { at, actor, who, address, method, route, instance, subject, status } }) => html`
  <tr>
    <th scope="row">${moment(at)}</th>
    <td>${t(`actor_${actor}`, { who })}</td>
    <td data-head=${t('auditAddress')}>${address}</td>
    <td><code>${method} ${route}</code></td>
    <td data-head=${t('auditAbout')}>${[instance, subject].filter(Boolean).join(' ')}</td>
    <td data-head=${t('auditOutcome')} class=${status >= 200 && status < 400 ? '' : 'bad-outcome'}>
      ${status === 0 ? t('auditGone') : status}
    </td>
  </tr>
`;

/** @param {{ entries: readonly Entry[] }} props */
const Entries = ({ entries }) => {
  const heads = [t('auditTime'), t('auditWho'), t('auditAddress'), t('auditWhat'), t('auditAbout'), t('auditOutcome')];
  return html`
    <${Table} label=${t('audit')} heads=${heads} stack>${entries.map((entry) => html`<${Row} key=${entry.id} entry=${entry} />`)}<//>
  `;
};

/** @param {{ onFilter: (query: string) => void }} props */
const Filter = ({ onFilter }) => {
  /** @param {SubmitEvent} event */
  const onSubmit = (event) => {
    event.preventDefault();
    onFilter(queryOf(new FormData(/** @type {HTMLFormElement} */ (event.target))));
  };
  return html`
    <form class="audit-filter" data-unguarded onSubmit=${onSubmit}>
      <${Field} label=${t('auditWho')} hint=${t('auditWhoHint')} name="who" autocomplete="off" spellcheck=${false} />
      <${Field} label=${t('auditInstance')} name="instance" autocomplete="off" spellcheck=${false} />
      <${Field} label=${t('auditFrom')} name="from" type="datetime-local" />
      <${Field} label=${t('auditTo')} name="to" type="datetime-local" />
      <${Button} kind="main" type="submit">${t('auditShow')}<//>
    </form>
  `;
};

/** Loads the entries of one query in pages, the newest first. @param {string} query */
export const useEntries = (query) => {
  const [earlier, setEarlier] = useState(/** @type {readonly EntryPage[]} */ ([]));
  const [busy, setBusy] = useState(false);
  /** @param {string} more @returns {Promise<EntryPage>} */
  const page = (more) => get(`/admin/audit?${[query, more].filter(Boolean).join('&')}`);
  /** The shown first page, after the reader has loaded earlier entries. A first page that is loaded again would leave a gap before the earlier entries. */
  const first = useRef(/** @type {EntryPage | null} */ (null));
  const { answer, instead } = useAnswer(async () => first.current ?? page(''), []);
  const pages = answer.value === null ? [] : [answer.value, ...earlier];
  const next = pages.at(-1)?.next ?? null;
  const showEarlier = async () => {
    first.current = answer.value;
    setBusy(true);
    const more = await attempt(() => page(`before=${next}`));
    if (more !== undefined) setEarlier([...earlier, more]);
    setBusy(false);
  };
  return { entries: pages.flatMap((one) => one.entries), next, busy, showEarlier, instead };
};

/** The entries of one query. Another query needs another `key`. @param {{ query: string }} props */
const Log = ({ query }) => {
  const { entries, next, busy, showEarlier, instead } = useEntries(query);
  if (instead !== null) return instead;
  if (entries.length === 0) return html`<${Empty} title=${t('auditNone')} />`;
  return html`
    <${Entries} entries=${entries} />
    <div class="actions">
      ${next !== null && html`<${Button} busy=${busy} onClick=${showEarlier}>${t('auditMore')}<//>`}
      ${
        /** @type {const} */ (['csv', 'ndjson']).map(
          (format) => html`
            <a key=${format} class="button" download href=${`/admin/audit?${[query, `format=${format}`].filter(Boolean).join('&')}`}>
              ${t(format === 'csv' ? 'auditCsv' : 'auditNdjson')}
            </a>
          `,
        )
      }
    </div>
  `;
};

export const Audit = () => {
  const [query, setQuery] = useState('');
  return html`
    <${Page} title=${t('audit')} lead=${t('auditLead')}>
      <section class="panel people" aria-label=${t('audit')}>
        <${Filter} onFilter=${setQuery} />
        <${Log} key=${query} query=${query} />
      </section>
    <//>
  `;
};
