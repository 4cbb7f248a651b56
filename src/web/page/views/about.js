/** The versions of the gateway and its parts, and the notice of a newer release. */
import { html } from 'htm/preact';
import { get } from '../core/api.js';
import { session } from '../core/session.js';
import { useAnswer } from '../instance/load.js';
import { age, moment, t } from '../texts.js';
import { StateBadge, Table } from '../ui/parts.js';
import { Page } from '../ui/shell.js';

/** @import { ClientVersion } from '../core/session.js' */

/**
 * @typedef {object} Update Times in Unix milliseconds.
 * @property {boolean} checks
 * @property {string} latest
 * @property {boolean} isNewer
 * @property {string} page
 * @property {number} checkedAt
 * @property {string} error
 */

/**
 * @typedef {object} Versions The answer of `GET /admin/version`.
 * @property {string} version
 * @property {string} baileys
 * @property {string} node
 * @property {number} startedAt Unix milliseconds.
 * @property {ClientVersion & { checkedAt: number }} clientVersion
 * @property {Update} update
 */

/** The commands that show the newest tag of a clone. */
const lookCommands = 'git fetch --tags\ngit tag --sort=-v:refname | head -1';

/** @param {{ update: Update }} props */
const Notice = ({ update: { checks, latest, isNewer, page, checkedAt, error } }) => {
  if (!checks)
    return html`
      <p>${t('updateOff')} ${t('updateHow')}</p>
      <pre class="call" tabindex="0">${lookCommands}</pre>
      <p class="dim">${t('updateSetting')}</p>
      <p class="dim">${t('updateThen')}</p>
    `;
  return html`
    ${
      latest !== '' &&
      html`<p>
        <${StateBadge}
          state=${isNewer ? 'connecting' : 'connected'}
          word=${isNewer ? t('updateNewer', { version: latest }) : t('updateCurrent')}
        />
      </p>`
    }
    ${error !== '' && html`<p class="bad-outcome">${t('updateFailed', { why: error })}</p>`}
    ${checkedAt > 0 && html`<p class="note">${t('updateChecked', { time: moment(checkedAt) })}</p>`}
    ${page !== '' && html`<p><a href=${page} rel="noreferrer" target="_blank">${t('updatePage')}</a></p>`}
    ${isNewer && html`<p class="dim">${t('updateThen')}</p>`}
  `;
};

/** @param {{ versions: Versions }} props */
const Facts = ({ versions: { version, baileys, node, startedAt, clientVersion } }) => html`
  <dl class="panel facts">
    <div>
      <dt>${t('versionGateway')}</dt>
      <dd>${version}</dd>
    </div>
    <div>
      <dt>${t('versionBaileys')}</dt>
      <dd>${baileys}</dd>
    </div>
    <div>
      <dt>${t('versionClient')}</dt>
      <dd>
        ${clientVersion.version}
        <p class="note">
          ${
            clientVersion.source === 'lookedUp' && clientVersion.checkedAt > 0
              ? t('versionChecked', { time: moment(clientVersion.checkedAt) })
              : t(`version_${clientVersion.source}`)
          }
        </p>
        ${clientVersion.error !== '' && html`<p class="note bad-outcome">${t('versionClientError', { why: clientVersion.error })}</p>`}
      </dd>
    </div>
    <div>
      <dt>${t('versionNode')}</dt>
      <dd>${node}</dd>
    </div>
    <div>
      <dt>${t('versionUp')}</dt>
      <dd>${age(Date.now() - startedAt)}</dd>
    </div>
  </dl>
`;

/** @param {{ own: string }} props */
const OfNodes = ({ own }) => {
  const { answer, instead } = useAnswer(
    () => /** @type {Promise<readonly { name: string, version: string }[]>} */ (get('/admin/nodes')),
    [],
  );
  return html`
    <section class="panel people" aria-labelledby="node-versions-title">
      <h2 id="node-versions-title">${t('versionNodes')}</h2>
      ${
        instead ??
        html`<${Table} label=${t('versionNodes')} heads=${[t('node'), t('nodeVersion')]} plain>
          ${(answer.value ?? []).map(
            ({ name, version }) => html`
              <tr key=${name}>
                <th scope="row">${name}</th>
                <td>${version}${version !== own && html` <span class="note">(${t('versionNotOwn')})</span>`}</td>
              </tr>
            `,
          )}
        <//>`
      }
    </section>
  `;
};

export const About = () => {
  const { answer, instead } = useAnswer(() => /** @type {Promise<Versions>} */ (get('/admin/version')), []);
  const versions = answer.value;
  return html`
    <${Page} title=${t('versionPage')} lead=${t('versionLead')}>
      ${
        instead ??
        (versions !== null &&
          html`
            <${Facts} versions=${versions} />
            <section class="panel people" aria-labelledby="update-title">
              <h2 id="update-title">${t('updateTitle')}</h2>
              <${Notice} update=${versions.update} />
            </section>
            ${session.value?.cluster === true && html`<${OfNodes} own=${versions.version} />`}
          `)
      }
    <//>
  `;
};
