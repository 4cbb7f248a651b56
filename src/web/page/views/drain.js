/** The drain of a node: its button, and the number of sessions that have left the node so far. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { post } from '../core/api.js';
import { may } from '../core/session.js';
import { count, t } from '../texts.js';
import { ask, attempt } from '../ui/asking.js';
import { Button } from '../ui/parts.js';

/**
 * @typedef {object} Node One of `GET /admin/nodes`; times in milliseconds.
 * @property {string} name
 * @property {'live' | 'draining' | 'gone'} state
 * @property {string} version
 * @property {number} owned
 * @property {number} capacity
 * @property {number} astray
 * @property {boolean} [bus] True if the node reaches NATS.
 * @property {number} age
 * @property {number} leaseMs
 * @property {number} renewedMs
 * @property {Readonly<Record<string, number>>} taken
 */

/** The colour of each state. @type {Readonly<Record<Node['state'], string>>} */
export const groups = { live: 'connected', draining: 'connecting', gone: 'person' };

/** @param {{ node: Node, onDrained: () => Promise<void> }} props */
export const DrainButton = ({ node: { name, state }, onDrained }) => {
  const busy = useSignal(false);
  if (state !== 'live' || !may('operator')) return null;
  const drain = async () => {
    if (!(await ask({ title: t('drainTitle', { name }), text: t('drainText'), yes: t('drain'), danger: true }))) return;
    busy.value = true;
    await attempt(() => post(`/admin/nodes/${encodeURIComponent(name)}/drain`), t('drainDone', { name }));
    await onDrained();
    busy.value = false;
  };
  return html`<${Button} busy=${busy.value} onClick=${drain} aria-label=${t('drainOf', { name })}>${t('drain')}<//>`;
};

/** The last number of sessions that this page saw on each node before its drain, by the name of the node. @type {Map<string, number>} */
const begunWith = new Map();

/** @param {readonly Node[]} nodes */
const movedOf = (nodes) => nodes.reduce((sum, { state, taken }) => sum + (state === 'draining' ? 0 : (taken['drained'] ?? 0)), 0);

/**
 * Returns the number of sessions at the beginning of the drain. A page that was opened later estimates this number. The estimate is the sum of the sessions
 * that are left and the sessions that other nodes took by a drain within the last hour. If several nodes drain, the estimate is the number of sessions that
 * are left.
 * @param {Node} node
 * @param {readonly Node[]} nodes
 */
const beginningOf = ({ name, owned }, nodes) => {
  const seen = begunWith.get(name);
  if (seen !== undefined) return Math.max(seen, owned);
  const isAlone = nodes.filter(({ state }) => state === 'draining').length === 1;
  return isAlone ? owned + movedOf(nodes) : owned;
};

/** The progress of a drain; nothing for a node that does not drain. @param {{ node: Node, nodes: readonly Node[] }} props */
export const DrainProgress = ({ node, nodes }) => {
  const { name, state, owned } = node;
  if (state !== 'draining') {
    if (state === 'live') begunWith.set(name, owned);
    return null;
  }
  const all = beginningOf(node, nodes);
  const left = all - owned;
  const hasRoom = nodes.some((one) => one.state === 'live' && one.owned < one.capacity);
  return html`
    <section class="panel people drain-progress" aria-label=${t('drainProgressOf', { name })}>
      <h2>${t('drainProgressOf', { name })}</h2>
      <progress max=${Math.max(1, all)} value=${all === 0 ? 1 : left} aria-label=${t('drainProgressOf', { name })}></progress>
      <p role="status">
        ${owned === 0 ? t('drainEmpty', { name }) : t('drainLeft', { left: count(left), all: count(all), owned: count(owned) })}
      </p>
      ${owned > 0 && !hasRoom && html`<p class="bad-outcome">${t('drainNoRoom')}</p>`}
    </section>
  `;
};
