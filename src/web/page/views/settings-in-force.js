/** The settings in force: the value, the source, the default and the description of each setting. */
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { get } from '../core/api.js';
import { useAnswer } from '../instance/load.js';
import { count, t } from '../texts.js';
import { StateBadge } from '../ui/parts.js';
import { Page } from '../ui/shell.js';
import { Prose } from './prose.js';

/**
 * @typedef {object} Setting One of `GET /admin/settings`.
 * @property {string} name
 * @property {string} group
 * @property {string} about
 * @property {'environment' | 'file' | 'program' | 'default'} source
 * @property {string} value
 * @property {string} default
 * @property {boolean} secret
 * @property {boolean} isSet
 */

/** @type {Readonly<Record<Setting['source'], string>>} */
const tones = { environment: 'connected', file: 'connected', program: 'hibernated', default: 'disconnected' };

/** @param {Setting} setting */
const valueOf = ({ secret, isSet, value }) =>
  secret ? t(isSet ? 'settingIsSet' : 'settingNotSet') : value === '' ? t('settingEmpty') : value;

/** @param {{ setting: Setting }} props */
const Row = ({ setting }) => {
  const { name, about, source, secret, value } = setting;
  return html`
    <div class="setting">
      <dt>
        <code>${name}</code>
        <span class=${secret || value === '' ? 'value dim' : 'value'}>${valueOf(setting)}</span>
        <${StateBadge} state=${tones[source]} word=${t(`source_${source}`)} />
      </dt>
      <dd class="dim">
        ${
          source !== 'default' &&
          !secret &&
          html`<p>${t('settingDefault', { value: setting.default === '' ? t('settingEmpty') : setting.default })}</p>`
        }
        <p><${Prose} text=${about} /></p>
      </dd>
    </div>
  `;
};

/** @param {Setting} setting @param {string} text */
const fits = ({ name, about, group }, text) => [name, about, group].some((field) => field.toLowerCase().includes(text));

/** @param {{ all: readonly Setting[] }} props */
const Settings = ({ all }) => {
  const [text, setText] = useState('');
  const [changed, setChanged] = useState(false);
  const wanted = text.trim().toLowerCase();
  const shown = all.filter((one) => (!changed || one.source !== 'default') && fits(one, wanted));
  const groups = [...new Set(shown.map(({ group }) => group))];
  return html`
    <div class="page-tools">
      <input
        class="input"
        type="search"
        aria-label=${t('settingsSearch')}
        placeholder=${t('settingsSearch')}
        onInput=${(/** @type {Event} */ event) => setText(/** @type {HTMLInputElement} */ (event.target).value)}
      />
      <label class="check"
        ><input type="checkbox" checked=${changed} onChange=${() => setChanged(!changed)} /> ${t('settingsChanged')}</label
      >
      <p class="note" role="status">
        ${shown.length === 0 ? t('settingsNone') : t('settingsCount', { n: count(shown.length), all: count(all.length) })}
      </p>
    </div>
    ${groups.map(
      (group) => html`
        <section key=${group} class="panel people" aria-label=${group}>
          <h2>${group}</h2>
          <dl class="rules">${shown.filter((one) => one.group === group).map((one) => html`<${Row} key=${one.name} setting=${one} />`)}</dl>
        </section>
      `,
    )}
  `;
};

export const SettingsInForce = () => {
  const { answer, instead } = useAnswer(() => /** @type {Promise<{ settings: readonly Setting[] }>} */ (get('/admin/settings')), []);
  return html`
    <${Page} title=${t('settingsPage')} lead=${t('settingsLead')}>
      ${instead ?? html`<${Settings} all=${answer.value?.settings ?? []} />`}
    <//>
  `;
};
