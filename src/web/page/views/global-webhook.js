/** The webhook that gets the events of all sessions: its form, its errors, and its deliveries. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError, get, post } from '../core/api.js';
import { may } from '../core/session.js';
import { Deliveries } from '../instance/deliveries.js';
import { now } from '../instance/live.js';
import { useAnswer, useRefresh } from '../instance/load.js';
import { WebhookForm } from '../instance/webhook-form.js';
import { getsText, testText } from '../instance/webhooks.js';
import { count, moment, said, size, t } from '../texts.js';
import { attempt, toast } from '../ui/asking.js';
import { Button, Empty, StateBadge, Table } from '../ui/parts.js';
import { Page } from '../ui/shell.js';

/** @import { Webhook } from '../instance/webhook-form.js' */
/** @import { TestResult } from '../instance/webhooks.js' */

/** @typedef {{ webhook: string, waiting: number, parked: number, bytes: number, dropped: Readonly<Record<string, number>> }} Queue */

/**
 * @typedef {object} Failure One of `GET /globalwebhook/errors`.
 * @property {string} created
 * @property {string} event
 * @property {string} error
 * @property {number} [status_code]
 * @property {number} attempts
 */

const refreshMs = 5_000;

/** Loads the global webhook; null if there is none. @returns {Promise<Webhook | null>} */
const loadWebhook = () =>
  get('/globalwebhook').catch((error) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });

/** Saves the webhook. `webhook` is an answer of the server or the body of the form. @param {Partial<Webhook>} webhook */
const savedOf = async ({ url, events, excludeMessages, addUrlEvents, addUrlTypesMessages, enabled, ...rest }) => {
  const { secret, headers } = /** @type {{ secret?: string | true, headers?: Record<string, string> }} */ (rest);
  const body = { url, events, excludeMessages, addUrlEvents, addUrlTypesMessages, enabled };
  const privacy = { ...(secret === undefined ? {} : { secret }), ...(headers === undefined ? {} : { headers }) };
  return /** @type {Webhook} */ (await post('/globalwebhook', { ...body, ...privacy }));
};

/** @param {{ queue: Queue | undefined }} props */
const Waiting = ({ queue }) => {
  if (queue === undefined) return null;
  const dropped = Object.entries(queue.dropped).map(([event, n]) => `${event} ${count(n)}`);
  return html`
    <p>${t('globalWaiting', { n: count(queue.waiting), size: size(queue.bytes), parked: count(queue.parked) })}</p>
    ${dropped.length > 0 && html`<p class="because last-error">${t('globalDropped', { events: dropped.join(', ') })}</p>`}
  `;
};

/** @param {Webhook} webhook */
const badgeOf = ({ enabled, reason }) => {
  if (!enabled) return { state: 'disconnected', word: t('webhookOff') };
  return reason === undefined ? { state: 'connected', word: t('webhookOn') } : { state: 'person', word: t('webhookDamaged') };
};

/** @param {{ webhook: Webhook, queue: Queue | undefined, onEdit: () => void, onChange: () => Promise<void> }} props */
const Card = ({ webhook, queue, onEdit, onChange }) => {
  const busy = useSignal(false);
  const result = useSignal(/** @type {TestResult | null} */ (null));
  const { url, events, enabled, reason } = webhook;
  const test = async () => {
    busy.value = true;
    result.value = (await attempt(() => /** @type {Promise<TestResult>} */ (post('/globalwebhook/test')))) ?? null;
    busy.value = false;
  };
  const pause = async () => {
    await attempt(() => savedOf({ ...webhook, enabled: !enabled }), t(enabled ? 'webhookPaused' : 'webhookResumed'));
    await onChange();
  };
  return html`
    <section class="panel webhook" aria-label=${t('globalHook')}>
      <div class="line">
        <h2>${url}</h2>
        <${StateBadge} ...${badgeOf(webhook)} />
      </div>
      <p class="dim">${getsText(webhook, events.includes('All') ? t('webhookAll') : events.join(', '))}</p>
      ${reason !== undefined && html`<p class="because last-error">${said(reason)}</p>`}
      <${Waiting} queue=${queue} />
      ${result.value !== null && html`<p class="because" role="status">${testText(result.value)}</p>`}
      <div class="actions">
        <${Button} busy=${busy.value} onClick=${test}>${t('test')}<//>
        ${
          may('administrator') &&
          html`
            <${Button} onClick=${pause}>${t(enabled ? 'pause' : 'resume')}<//>
            <${Button} kind="main" onClick=${onEdit}>${t('globalEdit')}<//>
          `
        }
      </div>
    </section>
  `;
};

const Failures = () => {
  const { answer, refresh, instead } = useAnswer(() => /** @type {Promise<readonly Failure[]>} */ (get('/globalwebhook/errors')), []);
  useRefresh(refresh, refreshMs);
  const failures = answer.value ?? [];
  const heads = [t('at'), t('event'), t('tries'), t('globalError')];
  return html`
    <section class="panel people" aria-labelledby="failures-title">
      <h2 id="failures-title">${t('globalErrors')}</h2>
      <p class="dim">${t(failures.length === 0 && instead === null ? 'globalErrorsNone' : 'globalErrorsLead')}</p>
      ${
        instead ??
        (failures.length > 0 &&
          html`<div class="stack failures">
            <${Table} label=${t('globalErrors')} heads=${heads} plain>
              ${failures.map(
                ({ created, event, attempts, error }, at) => html`
                  <tr key=${at}>
                    <td>${moment(Date.parse(created))}</td>
                    <td>${event}</td>
                    <td>${count(attempts)}</td>
                    <td class="because bad-outcome">${said(error)}</td>
                  </tr>
                `,
              )}
            <//>
          </div>`)
      }
    </section>
  `;
};

/** `item`: the part of the address that names a delivery. @param {{ item?: string }} props */
export const GlobalWebhook = ({ item }) => {
  const { answer, load, instead } = useAnswer(async () => ({ webhook: await loadWebhook() }), []);
  const [edited, setEdited] = useState(/** @type {Partial<Webhook> | null} */ (null));
  // The table of deliveries shows the time until the next attempt, so the time of the page is updated every second.
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const webhook = answer.value?.webhook ?? null;
  /** The queue of the webhook, which is part of the answer with the deliveries. */
  const queue = useSignal(/** @type {Queue | undefined} */ (undefined));
  const onAnswer = useCallback((/** @type {{ queues: readonly Queue[] }} */ { queues }) => (queue.value = queues[0]), []);
  /** @param {string} [secret] */
  const saved = async (secret) => {
    if (secret === undefined) setEdited(null);
    toast(t('webhookSaved'));
    await load();
  };
  const form = html`<${WebhookForm}
    save=${async (/** @type {Partial<Webhook>} */ body) => [await savedOf(body)]}
    webhook=${edited}
    onClose=${() => setEdited(null)}
    onSaved=${saved}
  />`;
  const set = may('administrator') && html`<${Button} kind="main" onClick=${() => setEdited({})}>${t('globalSet')}<//>`;
  return html`
    <${Page} title=${t('globalHook')} lead=${t('globalLead')}>
      ${
        instead ??
        (webhook === null
          ? html`<div class="panel"><${Empty} title=${t('globalNone')} text=${t('globalNoneText')}>${set}<//></div>`
          : html`
              <${Card} webhook=${webhook} queue=${queue.value} onEdit=${() => setEdited(webhook)} onChange=${load} />
              <${Failures} />
              <${Deliveries}
                of=${{ path: '/globalwebhook' }}
                webhooks=${[webhook]}
                hasChatwoot=${false}
                item=${item}
                onAnswer=${onAnswer}
              />
            `)
      }
      ${edited !== null && form}
    <//>
  `;
};
