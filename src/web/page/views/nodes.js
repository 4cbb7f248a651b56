/** The nodes of the cluster: what each has, how long its lease still counts, and why sessions came to it lately. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { get, post } from '../core/api.js';
import { useAnswer } from '../instance/load.js';
import { age, count, t } from '../texts.js';
import { ask, attempt } from '../ui/asking.js';
import { Button, Empty, StateBadge } from '../ui/parts.js';
import { Shell } from '../ui/shell.js';

/**
 * @typedef {object} Node One of `GET /admin/nodes`; times in milliseconds.
 * @property {string} name
 * @property {'live' | 'draining' | 'gone'} state
 * @property {string} version
 * @property {number} owned
 * @property {number} capacity
 * @property {number} astray
 * @property {boolean} [bus] Whether it reaches NATS.
 * @property {number} age
 * @property {number} leaseMs
 * @property {number} renewedMs
 * @property {Readonly<Record<string, number>>} taken
 */

const refreshMs = 2_000;

/** @type {Readonly<Record<Node['state'], string>>} */
const groups = { live: 'connected', draining: 'connecting', gone: 'person' };

/** Such as `3 its node died, 1 moved`. @param {Node} node */
const takenText = ({ taken }) =>
  Object.entries(taken)
    .map(([cause, n]) => t('nodeTakenPart', { n: count(n), cause: t(/** @type {'lease_placed'} */ (`lease_${cause}`)) }))
    .join(', ');

/** @param {{ node: Node, onDrained: () => Promise<void> }} props */
const Row = ({ node, onDrained }) => {
  const busy = useSignal(false);
  const { name, state, owned, capacity, astray, bus } = node;
  const drain = async () => {
    if (!(await ask({ title: t('drainTitle', { name }), text: t('drainText'), yes: t('drain'), danger: true }))) return;
    busy.value = true;
    await attempt(() => post(`/admin/nodes/${encodeURIComponent(name)}/drain`), t('drainDone', { name }));
    await onDrained();
    busy.value = false;
  };
  return html`
    <tr>
      <th scope="row">${name}</th>
      <td>
        <${StateBadge}
          state=${groups[state]}
          word=${t(`node_${state}`)}
        />${bus === false && html` <span class="because">${t('nodeNoBus')}</span>`}
      </td>
      <td>
        <span class="load">
          <meter min="0" max=${Math.max(1, capacity)} value=${owned} aria-label=${t('nodeLoadOf', { name })}></meter>
          ${t('nodeLoad', { owned: count(owned), capacity: count(capacity) })}
        </span>
        ${astray > 0 && html`<span class="because">${t('nodeAstray', { n: count(astray) })}</span>`}
      </td>
      <td class="number">${state === 'gone' ? '' : age(node.leaseMs)}</td>
      <td class="number">${age(node.renewedMs)}</td>
      <td class="number">${age(node.age)}</td>
      <td class="because">${takenText(node)}</td>
      <td class="dim">${node.version}</td>
      <td>
        ${state === 'live' && html`<${Button} busy=${busy.value} onClick=${drain} aria-label=${t('drainOf', { name })}>${t('drain')}<//>`}
      </td>
    </tr>
  `;
};

/** @param {{ nodes: readonly Node[], onDrained: () => Promise<void> }} props */
const Table = ({ nodes, onDrained }) => html`
  <section class="panel nodes" aria-label=${t('nodes')}>
    <div class="scroll" tabindex="0" role="group" aria-label=${t('nodes')}>
      <table>
        <thead>
          <tr>
            <th scope="col">${t('node')}</th>
            <th scope="col">${t('colState')}</th>
            <th scope="col">${t('sessions')}</th>
            <th scope="col" class="number">${t('nodeLease')}</th>
            <th scope="col" class="number">${t('nodeRenewed')}</th>
            <th scope="col" class="number">${t('nodeAge')}</th>
            <th scope="col">${t('nodeTaken')}</th>
            <th scope="col">${t('nodeVersion')}</th>
            <th scope="col"><span class="hidden-text">${t('drain')}</span></th>
          </tr>
        </thead>
        <tbody>
          ${nodes.map((node) => html`<${Row} key=${node.name} node=${node} onDrained=${onDrained} />`)}
        </tbody>
      </table>
    </div>
    <p class="note">${t('nodesText')}</p>
  </section>
`;

export const Nodes = () => {
  const { answer, load, instead } = useAnswer(() => get('/admin/nodes'), []);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && void load(), refreshMs);
    return () => clearInterval(timer);
  }, [load]);
  /** @type {readonly Node[]} */
  const nodes = answer.value ?? [];
  return html`
    <${Shell} title=${t('nodes')}>
      <div class="session-body">
        <h1>${t('nodes')}</h1>
        ${
          instead ??
          (nodes.length === 0
            ? html`<${Empty} title=${t('nodesNone')} text=${t('nodesNoneText')} />`
            : html`<${Table} nodes=${nodes} onDrained=${load} />`)
        }
      </div>
    <//>
  `;
};
