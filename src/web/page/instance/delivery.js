/** One delivery in a dialog: its request, and the answers and times of its attempts. */
import { html } from 'htm/preact';
import { get, post } from '../core/api.js';
import { leaveFor, sessionAddress } from '../core/router.js';
import { count, said, t } from '../texts.js';
import { attempt, toast } from '../ui/asking.js';
import { Button, Dialog, StateBadge } from '../ui/parts.js';
import { useAnswer, useRefresh } from './load.js';
import { timeText, untilText } from './times.js';

/**
 * @typedef {object} Delivery
 * @property {string} id
 * @property {string} webhook
 * @property {string} [instance] The session of the event, for deliveries of the global webhook.
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

/** @typedef {{ started: string, ms: number, status_code?: number, error?: string, answer?: string }} Try */

/** @typedef {Delivery & { url: string, headers: Record<string, string>, payload: unknown, tries: readonly Try[] }} Details */

/** The owner of the webhooks: a session, or the gateway for the global webhook. @typedef {{ path: '/webhook' | '/globalwebhook', instance?: string }} Owner */

const tones = { waiting: 'connecting', parked: 'connecting', dead: 'person', delivered: 'connected' };
const refreshMs = 3_000;

/** @param {Owner} of @returns {{ instance?: string }} */
export const callerOf = ({ instance }) => (instance === undefined ? {} : { instance });

/**
 * Returns the address of one delivery in the dashboard; without a delivery, the address of all deliveries.
 * @param {Owner} of
 * @param {Pick<Delivery, 'id' | 'webhook'>} [delivery]
 */
export const deliveryAddress = ({ instance }, delivery) => {
  const item = delivery === undefined ? undefined : `${delivery.webhook}~${delivery.id}`;
  if (instance !== undefined) return sessionAddress(instance, 'webhooks', item);
  return ['/admin/global-webhook', ...(item === undefined ? [] : [encodeURIComponent(item)])].join('/');
};

/** Reads the part of the address that names a delivery. @param {string} item @returns {Pick<Delivery, 'id' | 'webhook'>} */
const namedBy = (item) => {
  const at = item.indexOf('~');
  return { webhook: item.slice(0, Math.max(0, at)), id: item.slice(at + 1) };
};

/** Returns false for a delivery that waits in its lane, because the gateway will send it anyway. @param {Delivery} delivery */
export const canReplay = ({ state }) => state !== 'waiting';

/** Sends deliveries again, with one request for each webhook. @param {Owner} of @param {readonly Pick<Delivery, 'id' | 'webhook'>[]} deliveries */
export const replayAll = async (of, deliveries) => {
  let n = 0;
  for (const webhook of new Set(deliveries.map((one) => one.webhook))) {
    const id = deliveries.filter((one) => one.webhook === webhook).map((one) => one.id);
    const answer = await attempt(() => post(`${of.path}/replay`, { webhook, id }, callerOf(of)));
    if (answer === undefined) return;
    n += answer.replayed;
  }
  toast(t('replayed', { n }));
};

/** @param {{ state: Delivery['state'] }} props */
export const DeliveryBadge = ({ state }) =>
  html`<${StateBadge} state=${tones[state]} word=${t(/** @type {'delivery_dead'} */ (`delivery_${state}`))} />`;

/** @param {{ name: string, children?: unknown }} props */
const Fact = ({ name, children }) => html`
  <div>
    <dt>${name}</dt>
    <dd>${children}</dd>
  </div>
`;

/** @param {{ title: string, text: string }} props */
const Block = ({ title, text }) => html`
  <h3>${title}</h3>
  <pre tabindex="0" role="group" aria-label=${title}>${text}</pre>
`;

/** @param {{ tries: readonly Try[] }} props */
const Tries = ({ tries }) => html`
  <h3>${t('tries')}</h3>
  ${tries.length === 0 && html`<p class="dim">${t('triesNone')}</p>`}
  <ol class="tries">
    ${tries.map(
      ({ started, ms, status_code: status, error, answer }) => html`
        <li key=${started}>
          <span class="dim">${timeText(Date.parse(started))}</span>
          <span class="number">${t('milliseconds', { ms: count(ms) })}</span>
          <span class=${error === undefined ? '' : 'bad-outcome'}>${error === undefined ? status : said(error)}</span>
          ${answer !== undefined && html`<${Block} title=${t('deliveryAnswer')} text=${answer} />`}
        </li>
      `,
    )}
  </ol>
`;

/** @param {{ details: Details }} props */
const Content = ({ details: { id, state, created, next_attempt: next, url, headers, payload, tries } }) => html`
  <dl>
    <${Fact} name=${t('colState')}><${DeliveryBadge} state=${state} /><//>
    <${Fact} name=${t('deliveryCreated')}>${timeText(Date.parse(created))}<//>
    ${next !== undefined && html`<${Fact} name=${t('deliveryNext')}>${t('nextAttemptIn', { age: untilText(Date.parse(next)) })}<//>`}
    <${Fact} name=${t('receiver')}>${url}<//>
    <${Fact} name="webhook-id"><code>${id}</code><//>
  </dl>
  <${Tries} tries=${tries} />
  <${Block}
    title=${t('deliveryHeaders')}
    text=${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n')}
  />
  <${Block} title=${t('deliveryPayload')} text=${JSON.stringify(payload, null, 2)} />
`;

/**
 * The dialog of a delivery. The dialog has an address of its own, so the browser's Back closes it. `item`: the part of the address that names the delivery.
 * @param {{ of: Owner, item: string }} props
 */
export const DeliveryDialog = ({ of, item }) => {
  const named = namedBy(item);
  const { id, webhook } = named;
  const path = `${of.path}/deliveries/${encodeURIComponent(id)}?webhook=${encodeURIComponent(webhook)}`;
  /** @type {() => Promise<Details>} */
  const ask = () => get(path, callerOf(of));
  const { answer, load, refresh, instead } = useAnswer(ask, [path, of.instance]);
  useRefresh(refresh, refreshMs);
  const details = answer.value;
  const again = async () => {
    await replayAll(of, [named]);
    await load();
  };
  /** Leaves the address of the dialog. After Back, the address has changed already. */
  const onClose = () => location.pathname === deliveryAddress(of, named) && leaveFor(deliveryAddress(of));
  const title = details === null ? t('delivery') : t('deliveryTitle', { event: details.event });
  return html`
    <${Dialog} title=${title} class="delivery" onClose=${onClose}>
      ${instead ?? (details !== null && html`<${Content} details=${details} />`)}
      <div class="actions">
        ${details !== null && canReplay(details) && html`<${Button} onClick=${again}>${t('replay')}<//>`}
        <${Button} kind="main" onClick=${onClose}>${t('close')}<//>
      </div>
    <//>
  `;
};
