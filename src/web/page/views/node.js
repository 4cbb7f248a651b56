/** One node of the cluster: its facts, its sessions, and the progress of its drain. */
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { get } from '../core/api.js';
import { sessionAddress } from '../core/router.js';
import { useAnswer, useRefresh } from '../instance/load.js';
import { groupOf } from '../sessions/words.js';
import { age, count, said, t } from '../texts.js';
import { Button, Empty, StateBadge, Table } from '../ui/parts.js';
import { Page } from '../ui/shell.js';
import { DrainButton, DrainProgress, groups } from './drain.js';

/** @import { RowPage } from '../sessions/types.ts' */
/** @import { Node } from './drain.js' */

const refreshMs = 2_000;
const pageRows = 50;
/** The largest number of rows in one page of the server. */
const mostRows = 1_000;

/** @param {{ name: string, drains: boolean }} props */
const Sessions = ({ name, drains }) => {
  const [limit, setLimit] = useState(pageRows);
  const query = new URLSearchParams({ node: name, sort: 'trouble', limit: String(limit) }).toString();
  const { answer, refresh, instead } = useAnswer(() => /** @type {Promise<RowPage>} */ (get(`/admin/actors?${query}`)), [query]);
  useRefresh(refresh, refreshMs);
  const page = answer.value;
  const heads = [t('colSession'), t('colState'), t('colWhy'), t('colSince')];
  return html`
    <section class="panel people" aria-labelledby="node-sessions-title">
      <h2 id="node-sessions-title">${t('nodeSessions', { n: page === null ? '' : count(page.total) })}</h2>
      ${
        instead ??
        (page === null || page.rows.length === 0
          ? html`<p class="dim">${t(drains ? 'drainEmpty' : 'nodeSessionsNone', { name })}</p>`
          : html`
              <${Table} label=${t('sessions')} heads=${heads} plain>
                ${page.rows.map(
                  (row) => html`
                    <tr key=${row.id}>
                      <th scope="row"><a href=${sessionAddress(row.id)}>${row.name}</a></th>
                      <td><${StateBadge} state=${groupOf(row)} word=${t(`state_${row.status}`)} /></td>
                      <td class="because">${said(row.reason)}</td>
                      <td>${row.since === 0 ? '' : age(Date.now() - row.since)}</td>
                    </tr>
                  `,
                )}
              <//>
              ${
                page.total > page.rows.length &&
                limit < mostRows &&
                html`<div class="actions"><${Button} onClick=${() => setLimit(mostRows)}>${t('more')}<//></div>`
              }
            `)
      }
    </section>
  `;
};

/** @param {{ node: Node, nodes: readonly Node[], onDrained: () => Promise<void> }} props */
const Facts = ({ node, nodes, onDrained }) => html`
  <dl class="panel facts">
    <div>
      <dt>${t('colState')}</dt>
      <dd><${StateBadge} state=${groups[node.state]} word=${t(`node_${node.state}`)} /></dd>
    </div>
    <div>
      <dt>${t('sessions')}</dt>
      <dd>${t('nodeLoad', { owned: count(node.owned), capacity: count(node.capacity) })}</dd>
    </div>
    <div>
      <dt>${t('nodeLease')}</dt>
      <dd>${node.state === 'gone' ? '' : age(node.leaseMs)}</dd>
    </div>
    <div>
      <dt>${t('nodeAge')}</dt>
      <dd>${age(node.age)}</dd>
    </div>
    <div>
      <dt>${t('nodeVersion')}</dt>
      <dd>${node.version}</dd>
    </div>
    <div>
      <dd><${DrainButton} node=${node} onDrained=${onDrained} /></dd>
    </div>
  </dl>
  <${DrainProgress} node=${node} nodes=${nodes} />
`;

/** @param {{ name: string }} props */
export const NodePage = ({ name }) => {
  const { answer, load, refresh, instead } = useAnswer(() => /** @type {Promise<readonly Node[]>} */ (get('/admin/nodes')), []);
  useRefresh(refresh, refreshMs);
  const nodes = answer.value ?? [];
  const node = nodes.find((one) => one.name === name);
  return html`
    <${Page} title=${name} heading=${t('nodeTitle', { name })} crumbs=${[{ text: t('nodes'), href: '/admin/cluster' }, { text: name }]}>
      ${
        instead ??
        (node === undefined
          ? html`<${Empty} title=${t('nodeUnknown', { name })}><a href="/admin/cluster">${t('nodes')}</a><//>`
          : html`
              <${Facts} node=${node} nodes=${nodes} onDrained=${load} />
              <${Sessions} key=${name} name=${name} drains=${node.state === 'draining'} />
            `)
      }
    <//>
  `;
};
