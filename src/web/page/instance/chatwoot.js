/** The connection of a session to an inbox of Chatwoot: its state, its settings, and a test. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import { call, get, post } from '../core/api.js';
import { sessionAddress } from '../core/router.js';
import { said, t } from '../texts.js';
import { attempt, toast } from '../ui/asking.js';
import { Check, useForm } from '../ui/forms.js';
import { Button, Field } from '../ui/parts.js';
import { useAnswer } from './load.js';
import { ChatwootCard } from './webhooks.js';

/** @import { Live } from './live.js' */
/** @import { Webhook } from './webhook-form.js' */

/**
 * @typedef {object} Settings The answer of `GET /chatwoot/config`.
 * @property {boolean} chatwoot_enabled
 * @property {string} chatwoot_url '' before the first save.
 * @property {number} chatwoot_account_id
 * @property {number} chatwoot_inbox_id
 * @property {string} chatwoot_access_token Masked; '' for none.
 * @property {boolean} chatwoot_ignore_groups
 * @property {boolean} chatwoot_sign_messages
 * @property {boolean} chatwoot_create_new_conversation
 */

/** The value that means the stored token in a request. */
const storedToken = '***';

/** @param {FormData} form @param {boolean} hasToken */
const settingsIn = (form, hasToken) => {
  const token = String(form.get('token') ?? '').trim();
  return {
    enabled: form.has('enabled'),
    url: String(form.get('url') ?? '').trim(),
    access_token: token === '' && hasToken ? storedToken : token,
    account_id: Number(form.get('account')),
    inbox_id: Number(form.get('inbox')),
    ignore_groups: form.has('ignoreGroups'),
    sign_messages: form.has('sign'),
    create_new_conversation: form.has('anew'),
  };
};

/** @param {{ settings: Settings }} props */
const Fields = ({ settings }) => {
  const hasToken = settings.chatwoot_access_token !== '';
  return html`
    <${Check} name="enabled" label=${t('chatwootEnabled')} checked=${settings.chatwoot_enabled || settings.chatwoot_url === ''} />
    <${Field}
      label=${t('chatwootUrl')}
      name="url"
      type="url"
      required
      maxlength="2048"
      placeholder="https://app.chatwoot.com"
      defaultValue=${settings.chatwoot_url}
    />
    <${Field}
      label=${t('chatwootToken')}
      hint=${t(hasToken ? 'chatwootTokenStored' : 'chatwootTokenHint')}
      name="token"
      type="password"
      required=${!hasToken}
      maxlength="500"
      autocomplete="new-password"
      spellcheck=${false}
    />
    <div class="pair">
      <${Field}
        label=${t('chatwootAccount')}
        hint=${t('chatwootAccountHint')}
        name="account"
        type="number"
        min="1"
        required
        defaultValue=${settings.chatwoot_account_id || ''}
      />
      <${Field}
        label=${t('chatwootInboxNumber')}
        hint=${t('chatwootInboxHint')}
        name="inbox"
        type="number"
        min="1"
        required
        defaultValue=${settings.chatwoot_inbox_id || ''}
      />
    </div>
    <${Check} name="ignoreGroups" label=${t('chatwootGroups')} checked=${settings.chatwoot_ignore_groups} />
    <${Check} name="sign" label=${t('chatwootSign')} checked=${settings.chatwoot_sign_messages} />
    <${Check} name="anew" label=${t('chatwootAnew')} checked=${settings.chatwoot_create_new_conversation} />
  `;
};

/** @param {{ live: Live, settings: Settings, onSaved: () => Promise<void> }} props */
const Form = ({ live, settings, onSaved }) => {
  const hasToken = settings.chatwoot_access_token !== '';
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const testing = useSignal(false);
  const tested = useSignal(/** @type {{ ok: boolean, ms: number, error?: string } | null} */ (null));
  const hook = useSignal('');
  const options = { instance: live.id };
  const { busy, error, onSubmit } = useForm(async (fields, element) => {
    tested.value = null;
    /** @type {{ chatwoot_inbox_webhook_url: string }} */
    const saved = await call('PUT', '/chatwoot/config', { ...options, body: settingsIn(fields, hasToken) });
    hook.value = saved.chatwoot_inbox_webhook_url;
    /** @type {HTMLInputElement} */ (element.elements.namedItem('token')).value = '';
    toast(t('chatwootSaved'));
    await onSaved();
  });
  const test = async () => {
    if (form.current === null || !form.current.reportValidity()) return;
    const body = settingsIn(new FormData(form.current), hasToken);
    testing.value = true;
    tested.value = (await attempt(() => post('/chatwoot/test', body, options))) ?? null;
    testing.value = false;
  };
  const result = tested.value;
  return html`
    <form ref=${form} class="panel form" aria-labelledby="chatwoot-title" onSubmit=${onSubmit}>
      <h2 id="chatwoot-title">${t('chatwootTitle')}</h2>
      <p class="dim">${t('chatwootLead')}</p>
      <${Fields} settings=${settings} />
      ${error !== '' && html`<p class="error" role="alert">${error}</p>`}
      ${
        result !== null &&
        html`<p class=${`result of-${result.ok ? 'connected' : 'person'}`} role="status">
          ${result.ok ? t('chatwootTestOk', { ms: result.ms }) : t('testFailed', { ms: result.ms, why: said(result.error ?? '') })}
        </p>`
      }
      <div class="actions">
        <${Button} busy=${testing.value} onClick=${test}>${t('chatwootTest')}<//>
        <${Button} type="submit" kind="main" busy=${busy}>${t('save')}<//>
      </div>
      ${
        hook.value !== '' &&
        html`
          <div role="status">
            <h3>${t('chatwootHookTitle')}</h3>
            <p class="dim">${t('chatwootHookText')}</p>
            <p><code class="secret">${hook.value}</code></p>
          </div>
        `
      }
    </form>
  `;
};

/** @param {{ live: Live }} props */
export const Chatwoot = ({ live }) => {
  const options = { instance: live.id };
  const { answer, load, instead } = useAnswer(
    () =>
      /** @type {Promise<[Settings, readonly Webhook[]]>} */ (Promise.all([get('/chatwoot/config', options), get('/webhook', options)])),
    [live.id],
  );
  if (answer.value === null) return instead;
  const [settings, webhooks] = answer.value;
  const saved = async () => {
    await load();
    await live.load();
  };
  return html`
    <div class="daily">
      <div class="beside">
        <${Form} live=${live} settings=${settings} onSaved=${saved} />
        <section class="item" aria-labelledby="chatwoot-state">
          <h2 id="chatwoot-state">${t('chatwootState')}</h2>
          ${
            settings.chatwoot_url === ''
              ? html`<p class="dim">${t('chatwootOff')}</p>`
              : html`
                  <${ChatwootCard} live=${live} webhooks=${webhooks} chatwoot=${settings} />
                  <p class="dim"><a href=${sessionAddress(live.id, 'webhooks')}>${t('chatwootErrors')}</a></p>
                `
          }
        </section>
      </div>
    </div>
  `;
};
