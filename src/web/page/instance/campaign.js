/** One campaign: its progress, its failures by reason, and its messages. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { get, post } from '../core/api.js';
import { go } from '../core/router.js';
import { count, moment, said, t, textOf } from '../texts.js';
import { Button, Empty, OneOf, StateBadge, Table } from '../ui/parts.js';
import { addressOf, nameOf, refreshOf, Summary } from './campaign-summary.js';
import { useAnswer, useRefresh } from './load.js';

/** @import { Live } from './live.js' */
/** @import { Folder } from './campaign-summary.js' */

/**
 * @typedef {object} Message One of `POST /sender/listmessages`.
 * @property {string} chatid
 * @property {string} status
 * @property {string} error
 * @property {string} text
 */

/** @typedef {{ messages: readonly Message[], pagination: { totalRecords: number } }} Messages */

const page = 50;
const mostShown = 1_000;
const filters = /** @type {const} */ (['', 'Scheduled', 'Sent', 'Failed', 'Skipped', 'Unknown']);

/** @type {Readonly<Record<string, string>>} */
const tones = {
  Scheduled: 'disconnected',
  Queued: 'connecting',
  Sent: 'connected',
  Delivered: 'connected',
  Read: 'connected',
  Played: 'connected',
  Skipped: 'disconnected',
  Unknown: 'connecting',
};

/** Formats a time of the API, which is a text; '' means never. @param {string} text */
const timeOf = (text) => (text === '' ? t('never') : moment(Date.parse(text)));

/** @param {{ folder: Folder }} props */
const Figures = ({ folder }) => {
  const { log_total: total, log_sucess: sent, log_failed: ended, log_skipped: skipped, log_unknown: unknown } = folder;
  /** @type {readonly (readonly [string, string])[]} */
  const rows = [
    [t('campaignTotal'), count(total)],
    [t('campaignWaiting'), count(total - sent - ended)],
    [t('campaignSent'), count(sent)],
    [t('campaignDelivered'), count(folder.log_delivered)],
    [t('campaignRead'), count(folder.log_read)],
    [t('campaignFailed'), count(ended - skipped - unknown)],
    [t('campaignSkipped'), count(skipped)],
    [t('campaignUnknown'), count(unknown)],
    [t('campaignDelay'), t('campaignDelayValue', { min: folder.delayMin, max: folder.delayMax })],
    [t('campaignCreatedAt'), timeOf(folder.created)],
    [t('campaignStartedAt'), timeOf(folder.started)],
    [t('campaignEndedAt'), timeOf(folder.finished)],
  ];
  return html`
    <section class="panel item" aria-labelledby="figures-title">
      <h2 id="figures-title">${t('campaignFigures')}</h2>
      <dl class="figures columns">
        ${rows.map(
          ([name, value]) => html`
            <div key=${name}>
              <dt>${name}</dt>
              <dd>${value}</dd>
            </div>
          `,
        )}
      </dl>
    </section>
  `;
};

/**
 * Returns the reason of a failure without numbers and ids of contacts. Equal reasons thus become equal texts, which can be counted.
 * @param {Message} message
 */
const reasonOf = ({ error, status }) => {
  if (error !== '') return error.replaceAll(/\b\d[\d:-]{4,}(?:@[\w.]+)?/g, '…');
  return t(status === 'Unknown' ? 'campaignReasonUnknown' : status === 'Skipped' ? 'campaignSkipped' : 'campaignReasonNone');
};

/** @param {{ live: Live, folder: Folder }} props */
const Reasons = ({ live, folder: { id, log_failed: failed } }) => {
  const { answer, instead } = useAnswer(
    () =>
      /** @type {Promise<Messages>} */ (
        post('/sender/listmessages', { folder_id: id, messageStatus: 'Failed', limit: mostShown }, { instance: live.id })
      ),
    [live.id, id, failed],
  );
  if (answer.value === null) return instead;
  const { messages } = answer.value;
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const message of messages) counts.set(reasonOf(message), (counts.get(reasonOf(message)) ?? 0) + 1);
  const reasons = [...counts].toSorted(([, a], [, b]) => b - a);
  return html`
    <section class="panel item" aria-labelledby="reasons-title">
      <h2 id="reasons-title">${t('campaignReasons')}</h2>
      ${messages.length < failed && html`<p class="dim">${t('campaignReasonsPart', { n: count(messages.length) })}</p>`}
      <${Table} label=${t('campaignReasons')} heads=${[t('campaignReason'), t('campaignCount')]}>
        ${reasons.map(
          ([reason, n]) => html`
            <tr key=${reason}>
              <td class="because">${said(reason)}</td>
              <td>${count(n)}</td>
            </tr>
          `,
        )}
      <//>
    </section>
  `;
};

/** @param {{ message: Message }} props */
const Row = ({ message: { chatid, status, error, text } }) => html`
  <tr>
    <th scope="row">${chatid.replace(/@(?:s\.whatsapp\.net|c\.us)$/, '')}</th>
    <td><${StateBadge} state=${tones[status] ?? 'person'} word=${textOf(`message_${status}`) || status} /></td>
    <td class="because">${error === '' ? text : said(error)}</td>
  </tr>
`;

/** @param {{ live: Live, folder: Folder }} props */
const List = ({ live, folder }) => {
  const { id } = folder;
  const state = useSignal('');
  const shown = useSignal(page);
  const wish = { folder_id: id, limit: shown.value, ...(state.value === '' ? {} : { messageStatus: state.value }) };
  const { answer, refresh, instead } = useAnswer(
    () => /** @type {Promise<Messages>} */ (post('/sender/listmessages', wish, { instance: live.id })),
    [live.id, id, shown.value, state.value, folder.log_sucess + folder.log_failed],
  );
  useRefresh(refresh, refreshOf([folder]));
  const { messages = [], pagination = { totalRecords: 0 } } = answer.value ?? {};
  const isMore = messages.length < pagination.totalRecords && shown.value < mostShown;
  return html`
    <section class="panel item messages" aria-labelledby="messages-title">
      <header>
        <h2 id="messages-title">${t('campaignMessages')}</h2>
        <${OneOf}
          label=${t('campaignFilter')}
          options=${filters.map((name) => [name, t(name === '' ? 'recipient_all' : `recipient_${name}`)])}
          chosen=${state.value}
          onChoose=${(/** @type {string} */ name) => (state.value = name)}
        />
      </header>
      ${
        instead ??
        (messages.length === 0
          ? html`<p class="dim">${t('campaignNoMessages')}</p>`
          : html`<${Table} label=${t('campaignMessages')} heads=${[t('campaignContact'), t('colState'), t('campaignText')]}>
              ${messages.map((message, at) => html`<${Row} key=${at} message=${message} />`)}
            <//>`)
      }
      ${isMore && html`<div class="actions"><${Button} onClick=${() => (shown.value = Math.min(mostShown, shown.value + 4 * page))}>${t('more')}<//></div>`}
    </section>
  `;
};

/** @param {{ live: Live, id: string }} props */
export const Campaign = ({ live, id }) => {
  const { answer, load, refresh, instead } = useAnswer(
    () => /** @type {Promise<readonly Folder[]>} */ (get('/sender/listfolders', { instance: live.id })),
    [live.id],
  );
  const folder = answer.value?.find((one) => one.id === id);
  useRefresh(refresh, refreshOf(folder === undefined ? [] : [folder]));
  useEffect(() => document.getElementById('campaign-title')?.focus(), [answer.value === null]);
  if (instead !== null) return instead;
  const back = html`<a href=${addressOf(live.id)}>${t('campaignsAll')}</a>`;
  if (folder === undefined) return html`<${Empty} title=${t('campaignGone')}>${back}<//>`;
  const heading = html`<h2 id="campaign-title" tabindex="-1">${nameOf(folder)}</h2>`;
  return html`
    <div class="daily">
      <p>${back}</p>
      <section class="panel item" aria-labelledby="campaign-title">
        <${Summary} live=${live} folder=${folder} heading=${heading} onChange=${load} onGone=${() => go(addressOf(live.id))} />
      </section>
      <${Figures} folder=${folder} />
      ${folder.log_failed > 0 && html`<${Reasons} live=${live} folder=${folder} />`}
      <${List} live=${live} folder=${folder} />
    </div>
  `;
};
