/** A campaign in a few lines, with its actions. The list of campaigns and the page of a campaign show this summary. */
import { html } from 'htm/preact';
import { post } from '../core/api.js';
import { sessionAddress } from '../core/router.js';
import { age, count, moment, said, t } from '../texts.js';
import { ask, attempt } from '../ui/asking.js';
import { Button, StateBadge } from '../ui/parts.js';

/** @import { Live } from './live.js' */

/**
 * @typedef {object} Folder A campaign of `GET /sender/listfolders`.
 * @property {string} id
 * @property {string} info
 * @property {string} status
 * @property {string} reason The reason of an automatic stop or of a pause; '' for none.
 * @property {number | null} remaining_seconds
 * @property {number} scheduled_for Unix milliseconds.
 * @property {number} delayMin Seconds.
 * @property {number} delayMax Seconds.
 * @property {number} log_total
 * @property {number} log_sucess
 * @property {number} log_failed Includes the skipped and the unknown messages.
 * @property {number} log_skipped
 * @property {number} log_unknown
 * @property {number} log_delivered
 * @property {number} log_read
 * @property {string} created
 * @property {string} started
 * @property {string} finished
 */

/** @param {Folder} folder */
export const nameOf = ({ info }) => info || t('campaignUnnamed');

/** @param {string} session @param {string} [item] Id of a campaign, or `new`. */
export const addressOf = (session, item) => sessionAddress(session, 'campaigns', item);

/** The refresh intervals, in milliseconds. `busyMs`: while a campaign sends. `restingMs`: at other times, when only receipts change a campaign. */
const [busyMs, restingMs] = [2_000, 10_000];

/** Returns the refresh interval, in milliseconds. @param {readonly Folder[]} folders */
export const refreshOf = (folders) => (folders.some(({ status }) => status === 'sending' || status === 'queued') ? busyMs : restingMs);

/** @type {Readonly<Record<string, string>>} */
const tones = { scheduled: 'hibernated', queued: 'connecting', sending: 'connecting', paused: 'disconnected', done: 'connected' };

/** The state of a campaign. A campaign that stopped by itself needs a person. @param {{ folder: Folder }} props */
const Badge = ({ folder: { status, reason } }) => html`
  <${StateBadge}
    state=${status === 'paused' && reason !== '' ? 'person' : tones[status]}
    word=${t(/** @type {'campaign_done'} */ (`campaign_${status}`))}
  />
`;

/** @param {{ folder: Folder }} props */
const Progress = ({ folder }) => {
  const { log_total: total, log_sucess: sent, log_failed: failed, status, scheduled_for: at, remaining_seconds: left } = folder;
  const notes = [
    t('campaignProgress', { done: count(sent + failed), total: count(total) }),
    failed > 0 ? t('campaignFailures', { n: count(failed) }) : '',
    status === 'scheduled' ? t('campaignStarts', { time: moment(at) }) : '',
    left !== null && status !== 'done' ? t('campaignLeft', { time: age(left * 1_000) }) : '',
  ];
  return html`
    <progress max=${Math.max(1, total)} value=${sent + failed} aria-label=${t('campaignProgressOf', { name: nameOf(folder) })}></progress>
    <p class="dim">${notes.filter(Boolean).join(' · ')}</p>
  `;
};

/**
 * Returns true if a campaign has failed messages that can be retried. Skipped messages and messages with an unknown outcome are not retried.
 * @param {Folder} folder
 */
const canRetry = ({ log_failed: failed, log_skipped: skipped, log_unknown: unknown }) => failed > skipped + unknown;

/** @param {{ live: Live, folder: Folder, onChange: () => Promise<void>, onGone: () => void }} props */
const Acts = ({ live, folder, onChange, onGone }) => {
  const { id, status } = folder;
  const name = nameOf(folder);
  /** @param {string} action @param {string} done */
  const steer = (action, done) => attempt(() => post('/sender/edit', { folder_id: id, action }, { instance: live.id }), done);
  const stop = async () => {
    await steer('stop', t('campaignStopped'));
    await onChange();
  };
  const go = async () => {
    await steer('continue', t('campaignContinued'));
    await onChange();
  };
  const remove = async () => {
    const question = { title: t('campaignDeleteTitle', { name }), text: t('campaignDeleteText'), yes: t('act_delete'), danger: true };
    if (!(await ask(question))) return;
    if ((await steer('delete', t('campaignDeleted'))) !== undefined) onGone();
  };
  return html`
    <div class="actions">
      ${status === 'paused' && html`<${Button} onClick=${go}>${t('campaignContinue')}<//>`}
      ${status === 'done' && canRetry(folder) && html`<${Button} onClick=${go}>${t('campaignAgain')}<//>`}
      ${status !== 'paused' && status !== 'done' && html`<${Button} onClick=${stop}>${t('campaignStop')}<//>`}
      <${Button} kind="danger" onClick=${remove}>${t('act_delete')}<//>
    </div>
  `;
};

/**
 * One campaign in a few lines. `heading`: its heading. In the list, the heading is a link to the page of the campaign.
 * @param {{ live: Live, folder: Folder, heading: unknown, onChange: () => Promise<void>, onGone: () => void }} props
 */
export const Summary = ({ live, folder, heading, onChange, onGone }) => html`
  <div class="line">
    ${heading}
    <${Badge} folder=${folder} />
  </div>
  ${folder.reason !== '' && html`<p class="because">${said(folder.reason)}</p>`}
  <${Progress} folder=${folder} />
  <${Acts} live=${live} folder=${folder} onChange=${onChange} onGone=${onGone} />
`;
