/** Deliveries of a session: waiting, parked, given up, delivered. They show the reason, and can be sent again. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { get, post } from '../core/api.js';
import { count, t } from '../texts.js';
import { attempt, toast } from '../ui/asking.js';
import { Button, Empty, StateBadge } from '../ui/parts.js';
import { useAnswer, useRefresh } from './load.js';
import { timeText, untilText } from './times.js';

/** @import { Webhook } from './webhook-form.js' */

/**
 * @typedef {object} Delivery
 * @property {string} id
 * @property {string} webhook
 * @property {string} [instance] Of the global webhook.
 * @property {'waiting' | 'parked' | 'dead' | 'delivered'} state
 * @property {string} event
 * @property {string} message_type
 * @property {number} attempts
 * @property {string} created
 * @property {string} [next_attempt]
 * @property {string} [ended]
 * @property {string} [reason]
 * @property {number} [status_code]
 */

const states = /** @type {const} */ (['', 'waiting', 'parked', 'dead', 'delivered']);
const tones = { waiting: 'connecting', parked: 'connecting', dead: 'person', delivered: 'connected' };
const page = 50;
const refreshMs = 3_000;

/** The owner of the webhooks: a session, or the gateway for the global webhook. @typedef {{ path: '/webhook' | '/globalwebhook', instance?: string }} Owner */

/** @param {Owner} of @returns {{ instance?: string }} */
const callerOf = ({ instance }) => (instance === undefined ? {} : { instance });

/** @param {Owner} of @param {object} filter */
const replay = async (of, filter) => {
  const answer = await attempt(() => post(`${of.path}/replay`, filter, callerOf(of)));
  if (answer !== undefined) toast(t('replayed', { n: answer.replayed }));
};

/** @param {Delivery} delivery */
const whyOf = ({ reason, state, next_attempt: next }) => {
  const again =
    next !== undefined && state !== 'delivered' && state !== 'dead' ? t('nextAttemptIn', { age: untilText(Date.parse(next)) }) : '';
  return [reason, again].filter(Boolean).join(' · ');
};

/** @param {{ of: Owner, delivery: Delivery, host: string, onReplay: () => Promise<void> }} props */
const Row = ({ of, delivery, host, onReplay }) => {
  const { id, state, event, message_type: type, attempts, created, webhook, instance } = delivery;
  const isOver = state === 'dead' || state === 'delivered' || state === 'parked';
  const again = async () => {
    await replay(of, { id, webhook });
    await onReplay();
  };
  return html`
    <tr>
      <td class="dim">${timeText(Date.parse(created))}</td>
      <td><${StateBadge} state=${tones[state]} word=${t(/** @type {'delivery_dead'} */ (`delivery_${state}`))} /></td>
      <td>${event} ${type !== '' && html`<span class="dim">${type}</span>`}</td>
      <td class="dim">${instance === undefined ? host : html`<a href=${`/admin/sessions/${instance}`}>${instance}</a>`}</td>
      <td class="number">${count(attempts)}</td>
      <td class="because">${whyOf(delivery)}</td>
      <td>${isOver && html`<${Button} onClick=${again} aria-label=${t('replayOf', { event, id })}>${t('replay')}<//>`}</td>
    </tr>
  `;
};

/** Names each receiver by its host, and also by its path if another webhook has the same host. @param {readonly Webhook[]} webhooks @returns {Map<string, string>} */
const receiversOf = (webhooks) => {
  const parsed = webhooks.map(({ id, url }) => ({ id, host: URL.parse(url)?.host ?? url, path: URL.parse(url)?.pathname ?? '' }));
  const isAlone = (/** @type {string} */ host) => parsed.filter((one) => one.host === host).length === 1;
  return new Map(parsed.map(({ id, host, path }) => [id, isAlone(host) ? host : host + path]));
};

/** @param {{ of: Owner, webhooks: readonly Webhook[], hasChatwoot: boolean }} props */
export const Deliveries = ({ of, webhooks, hasChatwoot }) => {
  const state = useSignal('');
  const shown = useSignal(page);
  const query = `limit=${shown.value}${state.value === '' ? '' : `&state=${state.value}`}`;
  const { answer, load, instead } = useAnswer(() => get(`${of.path}/deliveries?${query}`, callerOf(of)), [of.path, of.instance, query]);
  useRefresh(load, refreshMs);
  const hosts = receiversOf(webhooks);
  /** @type {readonly Delivery[]} */
  const deliveries = answer.value?.deliveries ?? [];
  const replayDead = async () => {
    await replay(of, { state: 'dead' });
    await load();
  };
  return html`
    <section class="panel deliveries" aria-labelledby="deliveries-title">
      <header>
        <h2 id="deliveries-title">${t('deliveries')}</h2>
        <div class="filters" role="group" aria-label=${t('deliveriesFilter')}>
          ${states.map(
            (name) => html`
              <button key=${name} type="button" aria-pressed=${state.value === name} onClick=${() => (state.value = name)}>
                ${t(name === '' ? 'delivery_all' : `delivery_${name}`)}
              </button>
            `,
          )}
        </div>
        <${Button} onClick=${replayDead}>${t('replayDead')}<//>
      </header>
      ${
        instead ??
        (deliveries.length === 0
          ? html`<${Empty} title=${t('deliveriesNone')} text=${t('deliveriesNoneText')} />`
          : html`
              <div class="scroll" tabindex="0" role="group" aria-label=${t('deliveriesTable')}>
                <table>
                  <thead>
                    <tr>
                      ${[t('at'), t('colState'), t('event'), t(of.instance === undefined ? 'colSession' : 'receiver')].map((name) => html`<th key=${name} scope="col">${name}</th>`)}
                      <th scope="col" class="number">${t('tries')}</th>
                      <th scope="col">${t('colWhy')}</th>
                      <th scope="col"><span class="hidden-text">${t('replay')}</span></th>
                    </tr>
                  </thead>
                  <tbody>
                    ${deliveries.map((one) => html`<${Row} key=${`${one.id}-${one.webhook}-${one.instance ?? ''}`} of=${of} delivery=${one} host=${hosts.get(one.webhook) ?? (hasChatwoot ? 'Chatwoot' : one.webhook)} onReplay=${load} />`)}
                  </tbody>
                </table>
              </div>
              ${answer.value.hasMore && shown.value < 500 && html`<div class="actions"><${Button} onClick=${() => (shown.value += page * 3)}>${t('more')}<//></div>`}
            `)
      }
    </section>
  `;
};
