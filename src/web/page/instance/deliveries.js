/** The deliveries of a session or of the global webhook, with their states and reasons. The reader can open a delivery, and send one or several again. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { get, post } from '../core/api.js';
import { go, sessionAddress } from '../core/router.js';
import { count, said, t } from '../texts.js';
import { attempt, toast } from '../ui/asking.js';
import { Button, Empty, Field, OneOf } from '../ui/parts.js';
import { callerOf, canReplay, deliveryAddress, DeliveryBadge, DeliveryDialog, replayAll } from './delivery.js';
import { useAnswer, useRefresh } from './load.js';
import { timeText, untilText } from './times.js';

/** @import { Signal } from '@preact/signals' */
/** @import { Delivery, Owner } from './delivery.js' */
/** @import { Webhook } from './webhook-form.js' */

/** @typedef {{ state: string, webhook: string, from: string, to: string }} Filter An empty text matches any value. Times have the format of `datetime-local` fields. */

const states = /** @type {const} */ (['', 'waiting', 'parked', 'dead', 'delivered']);
const page = 50;
const refreshMs = 3_000;

/** @param {Delivery} delivery */
const keyOf = ({ id, webhook, instance = '' }) => `${id}-${webhook}-${instance}`;

/** @param {Delivery} delivery */
const whyOf = ({ reason, state, next_attempt: next }) => {
  const again =
    next !== undefined && state !== 'delivered' && state !== 'dead' ? t('nextAttemptIn', { age: untilText(Date.parse(next)) }) : '';
  return [said(reason ?? ''), again].filter(Boolean).join(' · ');
};

/** Returns the query of the filter. Times are in the time zone of the browser. @param {Filter} filter @param {number} limit */
const queryOf = ({ state, webhook, from, to }, limit) => {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries({ state, webhook })) if (value !== '') query.set(name, value);
  for (const [name, value] of Object.entries({ from, to })) {
    const at = new Date(value).getTime();
    if (!Number.isNaN(at)) query.set(name, String(at));
  }
  return query.toString();
};

/**
 * @typedef {object} RowProps
 * @property {Owner} of
 * @property {Delivery} delivery
 * @property {string} host
 * @property {boolean} isPicked
 * @property {() => void} onPick
 * @property {() => void} onOpen
 * @property {() => Promise<void>} onReplay
 */

/** @param {RowProps} props */
const Row = ({ of, delivery, host, isPicked, onPick, onOpen, onReplay }) => {
  const { id, state, event, message_type: type, attempts, created, instance } = delivery;
  const again = async () => {
    await replayAll(of, [delivery]);
    await onReplay();
  };
  return html`
    <tr>
      <td>
        ${canReplay(delivery) && html`<input type="checkbox" aria-label=${t('deliverySelect', { event, id })} checked=${isPicked} onChange=${onPick} />`}
      </td>
      <td class="dim">${timeText(Date.parse(created))}</td>
      <td><${DeliveryBadge} state=${state} /></td>
      <td>
        <button type="button" class="open" aria-haspopup="dialog" aria-label=${t('deliveryOpen', { event, id })} onClick=${onOpen}>
          ${event}
        </button>
        ${' '}${type !== '' && html`<span class="dim">${type}</span>`}
      </td>
      <td class="dim">${instance === undefined ? host : html`<a href=${sessionAddress(instance)}>${instance}</a>`}</td>
      <td class="number">${count(attempts)}</td>
      <td class="because">${whyOf(delivery)}</td>
      <td>${canReplay(delivery) && html`<${Button} onClick=${again} aria-label=${t('replayOf', { event, id })}>${t('replay')}<//>`}</td>
    </tr>
  `;
};

/**
 * Names each receiver by its host, and also by its path if another webhook has the same host.
 * @param {readonly Webhook[]} webhooks
 * @returns {Map<string, string>}
 */
const receiversOf = (webhooks) => {
  const parsed = webhooks.map(({ id, url }) => ({ id, host: URL.parse(url)?.host ?? url, path: URL.parse(url)?.pathname ?? '' }));
  const isAlone = (/** @type {string} */ host) => parsed.filter((one) => one.host === host).length === 1;
  return new Map(parsed.map(({ id, host, path }) => [id, isAlone(host) ? host : host + path]));
};

/** @param {{ filter: Signal<Filter>, hosts: Map<string, string> }} props */
const Filters = ({ filter, hosts }) => {
  /** @param {keyof Filter} name */
  const change =
    (name) =>
    (/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) =>
      (filter.value = { ...filter.value, [name]: currentTarget.value });
  const { webhook, from, to } = filter.value;
  return html`
    <div class="audit-filter">
      ${
        hosts.size > 1 &&
        html`
          <${Field} label=${t('receiver')} as="select" value=${webhook} onChange=${change('webhook')}>
            <option value="">${t('delivery_all')}</option>
            ${[...hosts].map(([id, host]) => html`<option key=${id} value=${id}>${host}</option>`)}
          <//>
        `
      }
      <${Field} label=${t('deliveriesFrom')} type="datetime-local" value=${from} onChange=${change('from')} />
      <${Field} label=${t('deliveriesTo')} type="datetime-local" value=${to} onChange=${change('to')} />
    </div>
  `;
};

/**
 * The controls that select all shown deliveries and send the selected deliveries again.
 * @param {{ of: Owner, deliveries: readonly Delivery[], picked: Signal<ReadonlySet<string>>, onReplay: () => Promise<void> }} props
 */
const Selection = ({ of, deliveries, picked, onReplay }) => {
  const able = deliveries.filter(canReplay);
  const chosen = able.filter((one) => picked.value.has(keyOf(one)));
  const isAll = able.length > 0 && chosen.length === able.length;
  const replayChosen = async () => {
    await replayAll(of, chosen);
    picked.value = new Set();
    await onReplay();
  };
  return html`
    <div class="selection">
      <label class="check">
        <input
          type="checkbox"
          checked=${isAll}
          indeterminate=${chosen.length > 0 && !isAll}
          disabled=${able.length === 0}
          onChange=${() => (picked.value = new Set(isAll ? [] : able.map(keyOf)))}
        />
        ${t('deliveriesSelectAll')}
      </label>
      <${Button} disabled=${chosen.length === 0} onClick=${replayChosen}>${t('replaySelected', { n: chosen.length })}<//>
    </div>
  `;
};

/** @param {{ of: Owner, deliveries: readonly Delivery[], nameOf: (webhook: string) => string, picked: Signal<ReadonlySet<string>>, onOpen: (delivery: Delivery) => void, onReplay: () => Promise<void> }} props */
const Rows = ({ of, deliveries, nameOf, picked, onOpen, onReplay }) => {
  /** @param {string} key */
  const pick = (key) => {
    const next = new Set(picked.value);
    if (!next.delete(key)) next.add(key);
    picked.value = next;
  };
  const heads = [t('at'), t('colState'), t('event'), t(of.instance === undefined ? 'colSession' : 'receiver')];
  return html`
    <div class="scroll" tabindex="0" role="group" aria-label=${t('deliveriesTable')}>
      <table>
        <thead>
          <tr>
            <th scope="col"><span class="hidden-text">${t('deliveriesSelected')}</span></th>
            ${heads.map((name) => html`<th key=${name} scope="col">${name}</th>`)}
            <th scope="col" class="number">${t('tries')}</th>
            <th scope="col">${t('colWhy')}</th>
            <th scope="col"><span class="hidden-text">${t('replay')}</span></th>
          </tr>
        </thead>
        <tbody>
          ${deliveries.map((one) => {
            const key = keyOf(one);
            return html`<${Row}
              key=${key}
              of=${of}
              delivery=${one}
              host=${nameOf(one.webhook)}
              isPicked=${picked.value.has(key)}
              onPick=${() => pick(key)}
              onOpen=${() => onOpen(one)}
              onReplay=${onReplay}
            />`;
          })}
        </tbody>
      </table>
    </div>
  `;
};

/**
 * `item`: the part of the address that names the open delivery. `onAnswer` gets each answer of the server, which also contains the length of the queue.
 * @param {{ of: Owner, webhooks: readonly Webhook[], hasChatwoot: boolean, item?: string, onAnswer?: (answer: never) => void }} props
 */
export const Deliveries = ({ of, webhooks, hasChatwoot, item, onAnswer }) => {
  const filter = useSignal(/** @type {Filter} */ ({ state: '', webhook: '', from: '', to: '' }));
  const shown = useSignal(page);
  const picked = useSignal(/** @type {ReadonlySet<string>} */ (new Set()));
  const query = queryOf(filter.value, shown.value);
  const { answer, load, refresh, instead } = useAnswer(
    () => get(`${of.path}/deliveries?${query}`, callerOf(of)),
    [of.path, of.instance, query],
  );
  useRefresh(refresh, refreshMs);
  useEffect(() => void (answer.value !== null && onAnswer?.(/** @type {never} */ (answer.value))), [answer.value]);
  const hosts = receiversOf(webhooks);
  /** @type {readonly Delivery[]} */
  const deliveries = answer.value?.deliveries ?? [];
  const replayDead = async () => {
    const done = await attempt(() => post(`${of.path}/replay`, { state: 'dead' }, callerOf(of)));
    if (done !== undefined) toast(t('replayed', { n: done.replayed }));
    await load();
  };
  return html`
    <section class="panel deliveries" aria-labelledby="deliveries-title">
      <header>
        <h2 id="deliveries-title">${t('deliveries')}</h2>
        <${OneOf}
          label=${t('deliveriesFilter')}
          options=${states.map((name) => [name, t(name === '' ? 'delivery_all' : `delivery_${name}`)])}
          chosen=${filter.value.state}
          onChoose=${(/** @type {string} */ state) => (filter.value = { ...filter.value, state })}
        />
        <${Button} onClick=${replayDead}>${t('replayDead')}<//>
      </header>
      <${Filters} filter=${filter} hosts=${hosts} />
      ${
        instead ??
        (deliveries.length === 0
          ? html`<${Empty} title=${t('deliveriesNone')} text=${t('deliveriesNoneText')} />`
          : html`
              <${Selection} of=${of} deliveries=${deliveries} picked=${picked} onReplay=${load} />
              <${Rows}
                of=${of}
                deliveries=${deliveries}
                nameOf=${(/** @type {string} */ id) => hosts.get(id) ?? (hasChatwoot ? 'Chatwoot' : id)}
                picked=${picked}
                onOpen=${(/** @type {Delivery} */ one) => go(deliveryAddress(of, one))}
                onReplay=${load}
              />
              ${answer.value.hasMore && shown.value < 500 && html`<div class="actions"><${Button} onClick=${() => (shown.value += page * 3)}>${t('more')}<//></div>`}
            `)
      }
      ${item !== undefined && html`<${DeliveryDialog} key=${item} of=${of} item=${item} />`}
    </section>
  `;
};
