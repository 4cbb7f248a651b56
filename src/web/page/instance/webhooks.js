/** The webhooks of a session: the events that each webhook gets, its state, and its deliveries. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { get, post } from '../core/api.js';
import { may } from '../core/session.js';
import { count, said, t } from '../texts.js';
import { ask, attempt, toast } from '../ui/asking.js';
import { Button, Empty, StateBadge } from '../ui/parts.js';
import { Deliveries } from './deliveries.js';
import { useAnswer } from './load.js';
import { timeText } from './times.js';
import { WebhookForm } from './webhook-form.js';

/** @import { Courier, Live } from './live.js' */
/** @import { Webhook } from './webhook-form.js' */

/** @typedef {{ ok: boolean, ms: number, status_code?: number, error?: string }} TestResult */

/** @param {TestResult} result */
export const testText = ({ ok, ms, status_code: status, error }) =>
  ok ? t('testOk', { status: status ?? 200, ms }) : t('testFailed', { why: error === undefined ? `${status ?? ''}` : said(error), ms });

/**
 * Returns sentences about the events that a webhook gets, and about its signature and headers. `events`: the events in words.
 * @param {Webhook} webhook
 * @param {string} events
 */
export const getsText = ({ excludeMessages, signed = false, headerNames = [] }, events) =>
  [
    t('webhookGets', { events }),
    excludeMessages.length > 0 ? t('webhookWithout', { filters: excludeMessages.join(', ') }) : '',
    signed ? t('webhookSigned') : '',
    headerNames.length > 0 ? t('webhookHeaders', { names: headerNames.join(', ') }) : '',
  ]
    .filter(Boolean)
    .join(' ');

/**
 * Returns the colour and the word of a receiver's badge.
 * @param {boolean} isOn
 * @param {Courier | undefined} courier
 * @param {boolean} [isDamaged]
 * @returns {{ state: string, word: string }}
 */
const badgeOf = (isOn, courier, isDamaged = false) => {
  if (!isOn) return { state: 'disconnected', word: t('webhookOff') };
  if (isDamaged) return { state: 'person', word: t('webhookDamaged') };
  if (courier?.circuit.open === true) return { state: 'person', word: t('webhookBroken') };
  if (courier?.health?.isFailing === true) return { state: 'person', word: t('webhookFailing') };
  if ((courier?.circuit.failures ?? 0) > 0) return { state: 'connecting', word: t('webhookRetrying') };
  return { state: 'connected', word: t('webhookOn') };
};

/** Shows the outcomes of the last attempts. @param {{ courier: Courier | undefined }} props */
const Health = ({ courier }) => {
  const { delivered = 0, attempts = 0, lastError = null } = courier?.health ?? {};
  if (attempts === 0) return null;
  return html`
    <p class="dim">
      ${t('webhookRate', { percent: Math.floor((100 * delivered) / attempts), delivered: count(delivered), attempts: count(attempts) })}
    </p>
    ${lastError !== null && html`<p class="because last-error">${t('webhookLastError', { time: timeText(lastError.at), why: said(lastError.error) })}</p>`}
  `;
};

/** @param {{ live: Live, webhook: Webhook, onChange: () => Promise<void>, onEdit: (webhook: Webhook) => void }} props */
const Card = ({ live, webhook, onChange, onEdit }) => {
  const busy = useSignal(false);
  const result = useSignal(/** @type {TestResult | null} */ (null));
  const { id, url, enabled, events, reason } = webhook;
  const part = live.detail.value?.parts.find(({ courier }) => courier?.webhookId === id);
  const test = async () => {
    busy.value = true;
    const answer = await attempt(() => post('/webhook/test', { id }, { instance: live.id }));
    busy.value = false;
    if (answer !== undefined) result.value = answer;
    await onChange();
  };
  const pause = async () => {
    await attempt(
      () => post('/webhook', { action: 'update', id, url, events, enabled: !enabled }, { instance: live.id }),
      t(enabled ? 'webhookPaused' : 'webhookResumed'),
    );
    await onChange();
  };
  const remove = async () => {
    if (!(await ask({ title: t('webhookDeleteTitle'), text: t('webhookDeleteText', { url }), yes: t('act_delete'), danger: true }))) return;
    await attempt(() => post('/webhook', { action: 'delete', id }, { instance: live.id }), t('webhookDeleted'));
    await onChange();
  };
  const badge = badgeOf(enabled, part?.courier, reason !== undefined);
  return html`
    <li class="panel webhook" aria-label=${url}>
      <div class="line">
        <h3>${url}</h3>
        <${StateBadge} ...${badge} />
      </div>
      <p class="dim">${getsText(webhook, events.join(', ') || t('webhookAll'))}</p>
      ${reason !== undefined && html`<p class="because">${said(reason)}</p>`}
      ${part !== undefined && html`<p class="dim">${t('webhookNow', { note: said(part.note) })}</p>`}
      <${Health} courier=${part?.courier} />
      ${result.value !== null && html`<p class=${`result of-${result.value.ok ? 'connected' : 'person'}`} role="status">${testText(result.value)}</p>`}
      <div class="actions">
        <${Button} busy=${busy.value} onClick=${test}>${t('test')}<//>
        ${
          may('administrator') &&
          html`
            <${Button} onClick=${pause}>${t(enabled ? 'pause' : 'resume')}<//>
            <${Button} onClick=${() => onEdit(webhook)}>${t('edit')}<//>
            <${Button} kind="danger" onClick=${remove}>${t('act_delete')}<//>
          `
        }
      </div>
    </li>
  `;
};

/** @typedef {{ chatwoot_enabled: boolean, chatwoot_url: string, chatwoot_inbox_id: number }} Chatwoot */

/** Shows the state of the connector to Chatwoot. The courier of the connector belongs to no webhook. @param {{ live: Live, webhooks: readonly Webhook[], chatwoot: Chatwoot }} props */
export const ChatwootCard = ({ live, webhooks, chatwoot: { chatwoot_enabled: isOn, chatwoot_url: url, chatwoot_inbox_id: inbox } }) => {
  const host = URL.parse(url)?.host ?? url;
  const isWebhook = (/** @type {string | undefined} */ courierOf) => webhooks.some(({ id }) => id === courierOf);
  const part = live.detail.value?.parts.find(({ courier }) => courier?.host === host && !isWebhook(courier.webhookId));
  return html`
    <div class="panel webhook">
      <div class="line">
        <h3>${t('chatwootInbox', { inbox, host })}</h3>
        <${StateBadge} ...${badgeOf(isOn, part?.courier)} />
      </div>
      ${part !== undefined && html`<p class="dim">${t('webhookNow', { note: said(part.note) })}</p>`}
      <${Health} courier=${part?.courier} />
    </div>
  `;
};

/** `item`: the part of the address that names a delivery. @param {{ live: Live, item?: string }} props */
export const Webhooks = ({ live, item }) => {
  const { answer, load, instead } = useAnswer(() => get('/webhook', { instance: live.id }), [live.id]);
  const { answer: connector } = useAnswer(() => get('/chatwoot/config', { instance: live.id }), [live.id]);
  /** The webhook in the open form; `{}` for a new webhook; null if no form is open. */
  const edited = useSignal(/** @type {Partial<Webhook> | null} */ (null));
  if (instead !== null) return instead;
  /** @type {readonly Webhook[]} */
  const webhooks = answer.value;
  /** @type {Chatwoot | null} */
  const chatwoot = connector.value?.chatwoot_url ? connector.value : null;
  const add = may('administrator') && html`<${Button} kind="main" onClick=${() => (edited.value = {})}>${t('webhookNew')}<//>`;
  /** @param {object} body @returns {Promise<readonly Webhook[]>} */
  const save = (body) => post('/webhook', body, { instance: live.id });
  /** @param {string} [secret] */
  const saved = async (secret) => {
    if (secret === undefined) edited.value = null;
    toast(t('webhookSaved'));
    await load();
  };
  return html`
    <section class="webhooks" aria-labelledby="webhooks-title">
      <header>
        <h2 id="webhooks-title">${t('tab_webhooks')}</h2>
        ${webhooks.length > 0 && add}
      </header>
      ${
        webhooks.length === 0
          ? html`<div class="panel"><${Empty} title=${t('webhooksNone')} text=${t('webhooksNoneText')}>${add}<//></div>`
          : html`<ul>
              ${webhooks.map((webhook) => html`<${Card} key=${webhook.id} live=${live} webhook=${webhook} onChange=${load} onEdit=${(/** @type {Webhook} */ one) => (edited.value = one)} />`)}
            </ul>`
      }
    </section>
    ${chatwoot !== null && html`<${ChatwootCard} live=${live} webhooks=${webhooks} chatwoot=${chatwoot} />`}
    ${(webhooks.length > 0 || chatwoot !== null) && html`<${Deliveries} of=${{ path: '/webhook', instance: live.id }} webhooks=${webhooks} hasChatwoot=${chatwoot !== null} item=${item} />`}
    ${edited.value !== null && html`<${WebhookForm} save=${save} webhook=${edited.value} onClose=${() => (edited.value = null)} onSaved=${saved} />`}
  `;
};
