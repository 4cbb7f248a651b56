/** The form that creates or changes a webhook. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { session } from '../core/session.js';
import { t } from '../texts.js';
import { useForm } from '../ui/forms.js';
import { Button, Dialog, Field } from '../ui/parts.js';

/**
 * @typedef {object} Webhook
 * @property {string} id
 * @property {boolean} enabled
 * @property {string} url
 * @property {string[]} events
 * @property {string[]} excludeMessages
 * @property {boolean} addUrlEvents
 * @property {boolean} addUrlTypesMessages
 * @property {boolean} [signed]
 * @property {string[]} [headerNames]
 * @property {string} [reason] The reason why nothing is posted: the stored secret and headers are damaged.
 * @property {string} [secret] Only in the answer to the request that created the secret.
 */

/** @param {{ legend: string, hint: string, name: string, kind: 'event' | 'filter', values: readonly string[], chosen: readonly string[] }} props */
const Choices = ({ legend, hint, name, kind, values, chosen }) => html`
  <fieldset class="choices">
    <legend>${legend}</legend>
    <p class="note hint">${hint}</p>
    ${values.map(
      (value) => html`
        <label key=${value}>
          <input type="checkbox" name=${name} value=${value} defaultChecked=${chosen.includes(value)} />
          <span>${value} <span class="note">${t(/** @type {'event_call'} */ (`${kind}_${value}`))}</span></span>
        </label>
      `,
    )}
  </fieldset>
`;

/** @param {{ name: string, label: string, checked: boolean }} props */
const Choice = ({ name, label, checked }) =>
  html`<label class="choice"><input type="checkbox" name=${name} defaultChecked=${checked} />${label}</label>`;

/** Returns the headers of a text with lines of `Name: value`. @param {string} text */
const headersOf = (text) =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]),
  );

/** @param {FormData} form @param {Partial<Webhook>} webhook */
const bodyOf = (form, { id, signed, enabled = true, reason }) => {
  const isSigned = form.has('signed');
  const headers = String(form.get('headers') ?? '').trim();
  return {
    ...(id === undefined ? { action: 'add' } : { action: 'update', id }),
    enabled,
    url: String(form.get('url') ?? '').trim(),
    events: form.getAll('events'),
    excludeMessages: form.getAll('excludeMessages'),
    addUrlEvents: form.has('addUrlEvents'),
    addUrlTypesMessages: form.has('addUrlTypesMessages'),
    // The gateway does not know whether a damaged webhook (`reason` is set) was signed. For such a webhook the form always sends the choice.
    ...(reason === undefined && isSigned === (signed ?? false) ? {} : { secret: isSigned ? true : '' }),
    ...(headers === '' ? (form.has('noHeaders') ? { headers: {} } : {}) : { headers: headersOf(headers) }),
  };
};

/** Shows a new secret, once. @param {{ secret: string, onClose: () => void }} props */
const Secret = ({ secret, onClose }) => html`
  <${Dialog} title=${t('secretTitle')} onClose=${onClose}>
    <p>${t('secretText')}</p>
    <p><code class="secret">${secret}</code></p>
    <div class="actions"><${Button} kind="main" onClick=${onClose}>${t('secretDone')}<//></div>
  <//>
`;

/** Returns the chosen events. `All` does not include posts of channels. @param {readonly string[]} events @param {readonly string[]} eventTypes */
const chosenOf = (events, eventTypes) =>
  eventTypes.filter((type) => events.includes(type) || (events.includes('All') && type !== 'newsletter_messages'));

/** @param {{ webhook: Partial<Webhook>, error: string }} props */
const Fields = ({ webhook, error }) => {
  const { url = '', events = ['messages', 'connection'], excludeMessages = [], headerNames = [] } = webhook;
  const { eventTypes = [], messageFilters = [] } = session.value ?? {};
  return html`
    <${Field}
      label=${t('webhookUrl')}
      name="url"
      type="url"
      required
      defaultValue=${url}
      placeholder="https://example.com/hook"
      error=${error}
    />
    <${Choices}
      legend=${t('webhookEvents')}
      hint=${t('webhookEventsHint')}
      kind="event"
      name="events"
      values=${eventTypes}
      chosen=${chosenOf(events, eventTypes)}
    />
    <${Choices}
      legend=${t('webhookExclude')}
      hint=${t('webhookExcludeHint')}
      kind="filter"
      name="excludeMessages"
      values=${messageFilters}
      chosen=${excludeMessages}
    />
    <fieldset class="choices wide">
      <legend>${t('webhookMore')}</legend>
      <${Choice} name="signed" label=${t('webhookSign')} checked=${webhook.signed ?? false} />
      <${Choice} name="addUrlEvents" label=${t('webhookAddEvent')} checked=${webhook.addUrlEvents ?? false} />
      <${Choice} name="addUrlTypesMessages" label=${t('webhookAddType')} checked=${webhook.addUrlTypesMessages ?? false} />
      ${headerNames.length > 0 && html`<${Choice} name="noHeaders" label=${t('webhookNoHeaders', { names: headerNames.join(', ') })} checked=${false} />`}
    </fieldset>
    <${Field}
      as="textarea"
      rows="2"
      label=${t('webhookHeadersField')}
      hint=${t('webhookHeadersHint')}
      name="headers"
      placeholder="Authorization: Bearer …"
    />
  `;
};

/**
 * Shows the form of a webhook. `save` sends the body and resolves with all webhooks of the owner.
 * @param {{ save: (body: ReturnType<typeof bodyOf>) => Promise<readonly Webhook[]>, webhook: Partial<Webhook>, onClose: () => void, onSaved: (secret?: string) => Promise<void> }} props
 */
export const WebhookForm = ({ save, webhook, onClose, onSaved }) => {
  const secret = useSignal('');
  const { id } = webhook;
  const { busy, error, onSubmit } = useForm(async (form) => {
    const body = bodyOf(form, webhook);
    if (body.events.length === 0) throw new Error(t('webhookNoEvents'));
    const all = await save(body);
    secret.value = all.find((one) => one.secret !== undefined)?.secret ?? '';
    await onSaved(secret.value || undefined);
  });
  if (secret.value !== '') return html`<${Secret} secret=${secret.value} onClose=${onClose} />`;
  return html`
    <${Dialog} title=${t(id === undefined ? 'webhookNew' : 'webhookEdit')} class="wide" onClose=${onClose}>
      <form class="form" onSubmit=${onSubmit}>
        <${Fields} webhook=${webhook} error=${error} />
        <div class="actions">
          <${Button} onClick=${onClose}>${t('cancel')}<//>
          <${Button} type="submit" kind="main" busy=${busy}>${t('save')}<//>
        </div>
      </form>
    <//>
  `;
};
