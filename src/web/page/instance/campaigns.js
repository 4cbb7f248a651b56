/** The campaigns of a session: their list, one campaign, and the form for a new one. */
import { html } from 'htm/preact';
import { get } from '../core/api.js';
import { count, moment, t } from '../texts.js';
import { Empty } from '../ui/parts.js';
import { CampaignForm } from './campaign-form.js';
import { addressOf, nameOf, refreshOf, Summary } from './campaign-summary.js';
import { Campaign } from './campaign.js';
import { useAnswer, useRefresh } from './load.js';

/** @import { Live } from './live.js' */
/** @import { Folder } from './campaign-summary.js' */

/**
 * @typedef {object} Pace
 * @property {number} sentLast24h
 * @property {number} dailyCap 0 for no limit.
 * @property {number | null} quietUntil Unix milliseconds.
 */

/** @param {{ pace: Pace }} props */
const PaceNote = ({ pace: { sentLast24h: sent, dailyCap: cap, quietUntil } }) => html`
  <p class="dim">
    ${t(cap > 0 ? 'campaignPace' : 'campaignPaceFree', { sent: count(sent), cap: count(cap) })}
    ${quietUntil !== null && ` ${t('campaignQuiet', { time: moment(quietUntil) })}`}
  </p>
`;

/** @param {{ live: Live }} props */
const All = ({ live }) => {
  const options = { instance: live.id };
  const { answer, load, refresh, instead } = useAnswer(
    () =>
      /** @type {Promise<[readonly Folder[], { pace: Pace }]>} */ (
        Promise.all([get('/sender/listfolders', options), get('/sender/stats', options)])
      ),
    [live.id],
  );
  useRefresh(refresh, refreshOf(answer.value?.[0] ?? []));
  if (instead !== null) return instead;
  const [folders, { pace }] = answer.value ?? [[], { pace: { sentLast24h: 0, dailyCap: 0, quietUntil: null } }];
  const add = html`<a class="button main" href=${addressOf(live.id, 'new')}>${t('campaignNew')}</a>`;
  return html`
    <section class="daily" aria-labelledby="campaigns-title">
      <header>
        <h2 id="campaigns-title">${t('tab_campaigns')}</h2>
        ${folders.length > 0 && add}
      </header>
      ${
        folders.length === 0
          ? html`<div class="panel"><${Empty} title=${t('campaignsNone')} text=${t('campaignsNoneText')}>${add}<//></div>`
          : html`
              <${PaceNote} pace=${pace} />
              <ul>
                ${folders.map(
                  (folder) => html`
                    <li key=${folder.id} class="panel item" aria-label=${nameOf(folder)}>
                      <${Summary}
                        live=${live}
                        folder=${folder}
                        heading=${html`<h3><a href=${addressOf(live.id, folder.id)}>${nameOf(folder)}</a></h3>`}
                        onChange=${load}
                        onGone=${load}
                      />
                    </li>
                  `,
                )}
              </ul>
            `
      }
    </section>
  `;
};

/** `item`: the id of a campaign, or `new`. @param {{ live: Live, item?: string }} props */
export const Campaigns = ({ live, item }) => {
  if (item === undefined) return html`<${All} live=${live} />`;
  return item === 'new' ? html`<${CampaignForm} live=${live} />` : html`<${Campaign} key=${item} live=${live} id=${item} />`;
};
