/** The nodes of the cluster: their sessions, the time left of their leases, the causes of recent takeovers, and the progress of a drain. */
import { html } from 'htm/preact';
import { get } from '../core/api.js';
import { useAnswer, useRefresh } from '../instance/load.js';
import { age, count, t } from '../texts.js';
import { Empty, StateBadge } from '../ui/parts.js';
import { Page } from '../ui/shell.js';
import { DrainButton, DrainProgress, groups } from './drain.js';

/** @import { Node } from './drain.js' */

const refreshMs = 2_000;

/** Returns the takeovers by cause, such as `3 its node died, 1 moved`. @param {Node} node */
const takenText = ({ taken }) =>
  Object.entries(taken)
    .map(([cause, n]) => t('nodeTakenPart', { n: count(n), cause: t(/** @type {'lease_placed'} */ (`lease_${cause}`)) }))
    .join(', ');

/** @param {{ node: Node, onDrained: () => Promise<void> }} props */
const Row = ({ node, onDrained }) => {
  const { name, state, owned, capacity, astray, bus } = node;
  return html`
    <tr>
      <th scope="row"><a href=${`/admin/cluster/${encodeURIComponent(name)}`}>${name}</a></th>
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
        <${DrainButton} node=${node} onDrained=${onDrained} />
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
  const { answer, load, refresh, instead } = useAnswer(() => get('/admin/nodes'), []);
  useRefresh(refresh, refreshMs);
  /** @type {readonly Node[]} */
  const nodes = answer.value ?? [];
  return html`
    <${Page} title=${t('nodes')}>
      ${
        instead ??
        (nodes.length === 0
          ? html`<${Empty} title=${t('nodesNone')} text=${t('nodesNoneText')} />`
          : html`
              ${nodes.map((node) => html`<${DrainProgress} key=${node.name} node=${node} nodes=${nodes} />`)}
              <${Table} nodes=${nodes} onDrained=${load} />
            `)
      }
    <//>
  `;
};
