/** The proxies of all sessions: the mode and the last test of each session, and a form that changes the proxy. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { get, post } from '../core/api.js';
import { sessionAddress } from '../core/router.js';
import { may } from '../core/session.js';
import { useAnswer, useRefresh } from '../instance/load.js';
import { count, moment, said, t } from '../texts.js';
import { attempt, toast } from '../ui/asking.js';
import { Button, Empty, OneOf, StateBadge, Table } from '../ui/parts.js';
import { Page } from '../ui/shell.js';
import { ProxyDialog } from './proxy-dialog.js';

/** @import { Proxy, ProxyRow } from './proxy-dialog.js' */

/** @typedef {'all' | 'trouble' | 'custom' | 'internal' | 'none'} Shown */

/** @typedef {{ total: number, counts: Readonly<Record<Shown, number>>, catalogue: boolean, rows: readonly ProxyRow[] }} ProxyPage */

const pageRows = 100;
const refreshMs = 5_000;

/** @param {Proxy} proxy */
const wayOf = ({ effective_mode: way, managed }) =>
  way === 'direct' ? t('proxyDirect') : way === 'custom' ? t('proxyOwn') : t(managed ? 'proxyManaged' : 'proxyInternal');

/** @param {{ proxy: Proxy }} props */
const Way = ({ proxy }) => html`
  ${wayOf(proxy)} ${proxy.fallback.active && html` <${StateBadge} state="connecting" word=${t('proxyFallback')} />`}
  ${proxy.proxy_fallback !== '' && !proxy.fallback.active && html`<p class="note">${t('proxyFallbackOn')}</p>`}
`;

/** @param {{ proxy: Proxy }} props */
const Tested = ({ proxy: { last_test_at: at, last_test_error: error, fallback, mode } }) => {
  const time = at === undefined ? '' : moment(at);
  return html`
    ${
      error !== ''
        ? html`<p class="bad-outcome">${time === '' ? said(error) : t('proxyFails', { time, why: said(error) })}</p>`
        : time !== ''
          ? html`<p>${t('proxyWorks', { time })}</p>`
          : mode === 'custom' && html`<p class="dim">${t('proxyNotTested')}</p>`
    }
    ${fallback.active && html`<p class="note">${t('proxyFallbackText', { time: moment(fallback.since ?? 0) })}</p>`}
  `;
};

/** @param {{ row: ProxyRow, catalogue: boolean, onChange: () => Promise<void> }} props */
const Row = ({ row, catalogue, onChange }) => {
  const { id, name, status, reason, proxy } = row;
  const busy = useSignal(false);
  const [changing, setChanging] = useState(false);
  const test = async () => {
    busy.value = true;
    const body = proxy.mode === 'custom' ? { mode: 'custom', proxy_url: proxy.proxy_url } : { mode: 'internal' };
    const answer = await attempt(() => post('/instance/proxy', body, { instance: id }));
    if (answer !== undefined) toast(t('proxyTestOk', { name }));
    await onChange();
    busy.value = false;
  };
  return html`
    <tr>
      <th scope="row"><a href=${sessionAddress(id)}>${name}</a></th>
      <td>
        <${StateBadge} state=${status} />
        ${reason !== '' && html`<p class="note">${said(reason)}</p>`}
      </td>
      <td class="because"><${Way} proxy=${proxy} /></td>
      <td class="because">${proxy.proxy_url || [proxy.proxy_managed_country, proxy.proxy_managed_city].filter(Boolean).join(', ')}</td>
      <td class="because"><${Tested} proxy=${proxy} /></td>
      <td>
        ${
          may('administrator') &&
          html`
            <${Button} onClick=${() => setChanging(true)} aria-label=${t('proxyChangeOf', { name })}>${t('proxyChange')}<//>
            ${' '}
            ${
              proxy.mode !== 'none' &&
              html`<${Button} busy=${busy.value} onClick=${test} aria-label=${t('proxyTestOf', { name })}>${t('test')}<//>`
            }
          `
        }
        ${changing && html`<${ProxyDialog} row=${row} catalogue=${catalogue} onSaved=${onChange} onClose=${() => setChanging(false)} />`}
      </td>
    </tr>
  `;
};

/** @type {readonly Shown[]} */
const filters = ['all', 'trouble', 'custom', 'internal', 'none'];

/** @param {{ shown: Shown, counts: ProxyPage['counts'] | undefined, onShow: (shown: Shown) => void, onSearch: (text: string) => void }} props */
const Tools = ({ shown, counts, onShow, onSearch }) => html`
  <div class="page-tools">
    <${OneOf}
      label=${t('proxyShow')}
      options=${filters.map((name) => [name, `${t(`proxyShow_${name}`)} ${counts === undefined ? '' : count(counts[name])}`])}
      chosen=${shown}
      onChoose=${onShow}
    />
    <input
      class="input"
      type="search"
      aria-label=${t('proxySearch')}
      placeholder=${t('proxySearch')}
      onChange=${(/** @type {Event} */ event) => onSearch(/** @type {HTMLInputElement} */ (event.target).value)}
    />
  </div>
`;

export const Proxies = () => {
  const [shown, setShown] = useState(/** @type {Shown} */ ('all'));
  const [search, setSearch] = useState('');
  const [limit, setLimit] = useState(pageRows);
  const query = new URLSearchParams({ show: shown, q: search, limit: String(limit) }).toString();
  const { answer, load, refresh, instead } = useAnswer(() => /** @type {Promise<ProxyPage>} */ (get(`/admin/proxies?${query}`)), [query]);
  useRefresh(refresh, refreshMs);
  const page = answer.value;
  const heads = [t('colSession'), t('colState'), t('proxyMode'), t('proxyAddress'), t('proxyTested'), t('proxyActs')];
  return html`
    <${Page} title=${t('proxies')} lead=${t('proxiesLead')}>
      <section class="panel people" aria-label=${t('proxies')}>
        <${Tools} shown=${shown} counts=${page?.counts} onShow=${setShown} onSearch=${setSearch} />
        ${
          instead ??
          (page === null || page.rows.length === 0
            ? html`<${Empty} title=${t('proxiesNone')} />`
            : html`
                <div class="stack">
                  <${Table} label=${t('proxies')} heads=${heads}>
                    ${page.rows.map((row) => html`<${Row} key=${row.id} row=${row} catalogue=${page.catalogue} onChange=${load} />`)}
                  <//>
                </div>
                ${
                  page.total > page.rows.length &&
                  limit < 500 &&
                  html`<div class="actions"><${Button} onClick=${() => setLimit(500)}>${t('more')}<//></div>`
                }
              `)
        }
      </section>
    <//>
  `;
};
