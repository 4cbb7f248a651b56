/** The form that changes the proxy of one session. The server tests a proxy before it stores it. */
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { get, post } from '../core/api.js';
import { useAnswer } from '../instance/load.js';
import { t } from '../texts.js';
import { toast } from '../ui/asking.js';
import { Check, useForm } from '../ui/forms.js';
import { Button, Dialog, Field } from '../ui/parts.js';

/** @import { Status } from '../sessions/types.ts' */

/**
 * @typedef {object} Proxy The answer of `GET /instance/proxy`; times in Unix milliseconds.
 * @property {'custom' | 'internal' | 'none'} mode
 * @property {'custom' | 'internal' | 'direct'} effective_mode
 * @property {{ active: boolean, reason?: string, since?: number }} fallback
 * @property {string} proxy_url Without credentials.
 * @property {string} proxy_fallback
 * @property {boolean} managed
 * @property {string} proxy_managed_country
 * @property {string} proxy_managed_city
 * @property {number} [last_test_at]
 * @property {string} last_test_error
 */

/** @typedef {{ id: string, name: string, status: Status, reason: string, proxy: Proxy }} ProxyRow */

const modes = /** @type {const} */ (['custom', 'internal', 'none']);

/** @typedef {(typeof modes)[number]} Mode */

/** @param {Mode} mode @param {FormData} fields */
const bodyOf = (mode, fields) => {
  if (mode === 'none') return { mode, confirm_no_proxy: true };
  if (mode === 'custom') {
    const url = String(fields.get('url')).trim();
    return { mode, proxy_url: url, proxy_fallback: fields.has('fallback') ? 'internal' : 'none' };
  }
  const country = String(fields.get('country') ?? '');
  return { mode, rotate_now: fields.has('rotate'), ...(country === '' ? {} : { proxy_managed_country: country }) };
};

/** @param {{ row: ProxyRow, error: string }} props */
const Custom = ({ row: { proxy }, error }) => html`
  <${Field}
    label=${t('proxyUrl')}
    hint=${t('proxyUrlHint')}
    error=${error}
    name="url"
    required
    maxlength="2000"
    autocomplete="off"
    spellcheck=${false}
    defaultValue=${proxy.proxy_url}
  />
  <${Check} name="fallback" label=${t('proxyUseFallback')} checked=${proxy.proxy_fallback !== ''} />
`;

/** @param {{ row: ProxyRow }} props */
const Managed = ({ row: { proxy } }) => {
  const { answer, instead } = useAnswer(
    () => /** @type {Promise<{ countries: readonly { value: string, label: string }[] }>} */ (get('/proxy-managed/countries')),
    [],
  );
  if (instead !== null || answer.value === null) return instead;
  return html`
    <${Field} as="select" label=${t('proxyCountry')} name="country" defaultValue=${proxy.proxy_managed_country}>
      <option value="">${t('proxyAnyCountry')}</option>
      ${answer.value.countries.map(
        ({ value, label }) => html`<option key=${value} value=${value} selected=${value === proxy.proxy_managed_country}>${label}</option>`,
      )}
    <//>
    ${proxy.managed && html`<${Check} name="rotate" label=${t('proxyRotate')} checked=${false} />`}
  `;
};

/** @param {{ row: ProxyRow, catalogue: boolean, onSaved: () => Promise<void>, onClose: () => void }} props */
export const ProxyDialog = ({ row, catalogue, onSaved, onClose }) => {
  const { id, name, proxy } = row;
  const [mode, setMode] = useState(/** @type {Mode} */ (proxy.mode === 'none' ? 'custom' : proxy.mode));
  const { busy, error, onSubmit } = useForm(async (fields) => {
    const answer = /** @type {{ restart_requested: boolean }} */ (await post('/instance/proxy', bodyOf(mode, fields), { instance: id }));
    toast(t(answer.restart_requested ? 'proxySavedRestart' : 'proxySaved', { name }));
    onClose();
    await onSaved();
  });
  return html`
    <${Dialog} title=${t('proxyChangeOf', { name })} onClose=${onClose}>
      <form class="form" onSubmit=${onSubmit}>
        <${Field}
          as="select"
          label=${t('proxyMode')}
          name="mode"
          error=${mode === 'custom' ? '' : error}
          value=${mode}
          onChange=${(/** @type {Event} */ event) => setMode(/** @type {Mode} */ (/** @type {HTMLSelectElement} */ (event.target).value))}
        >
          ${modes.map((one) => html`<option key=${one} value=${one}>${t(`proxyMode_${one}`)}</option>`)}
        <//>
        ${mode === 'custom' && html`<${Custom} row=${row} error=${error} />`}
        ${mode === 'internal' && (catalogue ? html`<${Managed} row=${row} />` : html`<p class="note">${t('proxyNoCatalogue')}</p>`)}
        <p class="note">${t('proxySaveHint')}</p>
        <div class="actions">
          <${Button} onClick=${onClose}>${t('cancel')}<//>
          <${Button} kind=${mode === 'none' ? 'danger main' : 'main'} type="submit" busy=${busy}>${t('proxySave')}<//>
        </div>
      </form>
    <//>
  `;
};
