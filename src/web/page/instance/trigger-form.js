/** The form that creates or changes a trigger. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { post } from '../core/api.js';
import { t } from '../texts.js';
import { Check, useForm } from '../ui/forms.js';
import { Button, Dialog, Field } from '../ui/parts.js';

/** @import { Agent } from './agent-form.js' */
/** @import { Live } from './live.js' */

/**
 * @typedef {object} Trigger One of `GET /trigger/list`.
 * @property {string} id
 * @property {boolean} active
 * @property {'agent' | 'quickreply'} type
 * @property {string} agent_id
 * @property {string} quickReply_id
 * @property {boolean} ignoreGroups
 * @property {string} lead_field
 * @property {string} lead_operator
 * @property {string} lead_value
 * @property {number} priority
 * @property {string} wordsToStart
 * @property {number} responseDelay_seconds
 */

/** @typedef {{ id: string, shortCut: string }} QuickReply */

/** The fields of a lead that a trigger can compare, and the comparisons, as the API spells them. */
const leadFields = [
  ...['name', 'fullName', 'email', 'personalid', 'status', 'tags', 'notes', 'isTicketOpen'].map((name) => `lead_${name}`),
  ...Array.from({ length: 20 }, (_, at) => `lead_field${String(at + 1).padStart(2, '0')}`),
];
const operators = /** @type {const} */ (['equals', 'not_equals', 'contains', 'not_contains', 'greater', 'less', 'empty', 'not_empty']);

/** @param {FormData} form */
const triggerIn = (form) => {
  /** @param {string} name */
  const text = (name) => String(form.get(name) ?? '');
  const type = text('type');
  return {
    active: form.has('active'),
    type,
    ...(type === 'agent' ? { agent_id: text('agent') } : { quickReply_id: text('reply') }),
    ignoreGroups: form.has('ignoreGroups'),
    wordsToStart: text('words'),
    priority: Number(form.get('priority')),
    responseDelay_seconds: Number(form.get('delay')),
    lead_field: text('field'),
    ...(text('field') === '' ? {} : { lead_operator: text('operator'), lead_value: text('value') }),
  };
};

/** @param {{ trigger: Partial<Trigger>, agents: readonly Agent[], replies: readonly QuickReply[] }} props */
const Answer = ({ trigger, agents, replies }) => {
  const type = useSignal(trigger.type ?? (agents.length > 0 ? 'agent' : 'quickreply'));
  return html`
    <div class="pair">
      <${Field}
        as="select"
        label=${t('triggerKind')}
        name="type"
        onChange=${(/** @type {Event} */ event) => (type.value = /** @type {Trigger['type']} */ (/** @type {HTMLSelectElement} */ (event.target).value))}
      >
        <option value="agent" selected=${type.value === 'agent'}>${t('triggerAgent')}</option>
        <option value="quickreply" selected=${type.value === 'quickreply'}>${t('triggerReply')}</option>
      <//>
      ${
        type.value === 'agent'
          ? html`<${Field} key="agent" as="select" label=${t('triggerAgent')} name="agent" required>
              ${agents.map(({ id, name }) => html`<option key=${id} value=${id} selected=${id === trigger.agent_id}>${name}</option>`)}
            <//>`
          : html`<${Field} key="reply" as="select" label=${t('triggerReply')} name="reply" required>
              ${replies.map(({ id, shortCut }) => html`<option key=${id} value=${id} selected=${id === trigger.quickReply_id}>${shortCut}</option>`)}
            <//>`
      }
    </div>
  `;
};

/** @param {{ trigger: Partial<Trigger> }} props */
const Lead = ({ trigger }) => {
  const field = useSignal(trigger.lead_field ?? '');
  return html`
    <fieldset class="part">
      <legend>${t('triggerLead')}</legend>
      <${Field}
        as="select"
        label=${t('triggerField')}
        name="field"
        onChange=${(/** @type {Event} */ event) => (field.value = /** @type {HTMLSelectElement} */ (event.target).value)}
      >
        ${['', ...leadFields].map((one) => html`<option key=${one} value=${one} selected=${one === field.value}>${one === '' ? t('triggerAnyLead') : one}</option>`)}
      <//>
      ${
        field.value !== '' &&
        html`
          <div class="pair">
            <${Field} as="select" label=${t('triggerOperator')} name="operator">
              ${operators.map((one) => html`<option key=${one} value=${one} selected=${one === trigger.lead_operator}>${t(`operator_${one}`)}</option>`)}
            <//>
            <${Field} label=${t('triggerValue')} name="value" maxlength="2000" defaultValue=${trigger.lead_value ?? ''} />
          </div>
        `
      }
    </fieldset>
  `;
};

/** @param {{ live: Live, trigger: Partial<Trigger>, agents: readonly Agent[], replies: readonly QuickReply[], onClose: () => void, onSaved: () => Promise<void> }} props */
export const TriggerForm = ({ live, trigger, agents, replies, onClose, onSaved }) => {
  const { id, active = true, ignoreGroups = true, wordsToStart = '', priority = 0, responseDelay_seconds: delay = 0 } = trigger;
  const { busy, error, onSubmit } = useForm(async (form) => {
    await post('/trigger/edit', { ...(id === undefined ? {} : { id }), trigger: triggerIn(form) }, { instance: live.id });
    await onSaved();
  });
  return html`
    <${Dialog} title=${t(id === undefined ? 'triggerNew' : 'triggerEdit')} class="wide" onClose=${onClose}>
      <form class="form daily-form" onSubmit=${onSubmit}>
        <${Field} label=${t('triggerWords')} hint=${t('triggerWordsHint')} name="words" maxlength="5000" defaultValue=${wordsToStart} />
        <${Answer} trigger=${trigger} agents=${agents} replies=${replies} />
        <${Check} name="active" label=${t('triggerOn')} checked=${active} />
        <${Check} name="ignoreGroups" label=${t('triggerIgnoreGroups')} checked=${ignoreGroups} />
        <div class="pair">
          <${Field}
            label=${t('triggerPriority')}
            hint=${t('triggerPriorityHint')}
            name="priority"
            type="number"
            min="-1000000"
            max="1000000"
            required
            defaultValue=${priority}
          />
          <${Field} label=${t('triggerDelay')} name="delay" type="number" min="0" max="3600" required defaultValue=${delay} />
        </div>
        <${Lead} trigger=${trigger} />
        ${error !== '' && html`<p class="error" role="alert">${error}</p>`}
        <div class="actions">
          <${Button} onClick=${onClose}>${t('cancel')}<//>
          <${Button} type="submit" kind="main" busy=${busy}>${t('save')}<//>
        </div>
      </form>
    <//>
  `;
};
