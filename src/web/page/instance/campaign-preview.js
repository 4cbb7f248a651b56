/** The recipients of a campaign before it is created: valid recipients, rows with errors, and the first message as it will be sent. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { count, t } from '../texts.js';
import { OneOf, Table } from '../ui/parts.js';
import { filled, gatewayNames, longest, mostRecipients, stretchedDays, unknownIn } from './recipient-list.js';

/** @import { Recipient } from './recipient-list.js' */

/**
 * @typedef {object} Stats A part of `GET /sender/stats`.
 * @property {{ sentLast24h: number, dailyCap: number }} pace
 * @property {{ scheduled: number }} messages The number of messages that wait, of all campaigns.
 */

/**
 * Returns sentences about effects of the campaign that its author may not expect. The preview shows these sentences. The question before the creation of the
 * campaign shows them again.
 * @param {{ text: string, heads: readonly string[], messages: number, stats: Stats | null }} campaign
 */
export const cautionsOf = ({ text, heads, messages, stats }) => {
  const unknown = unknownIn(text, heads);
  const { sentLast24h: sent = 0, dailyCap: cap = 0 } = stats?.pace ?? {};
  const days = stretchedDays({ cap, sent, waiting: stats?.messages.scheduled ?? 0 }, messages);
  const known = gatewayNames.map((name) => `{{${name}}}`).join(', ');
  return [
    ...(unknown.length === 0 ? [] : [t('campaignUnknownNames', { n: unknown.length, names: unknown.join(', '), known })]),
    ...(days === 0 ? [] : [t('campaignStretched', { cap: count(cap), sent: count(sent), days: count(days) })]),
  ];
};

/** Returns the sentence about a list with too many recipients. @param {number} n */
export const tooMany = (n) => t('campaignTooMany', { n: count(n), most: count(mostRecipients) });

/** The largest number of shown rows. The totals count all rows. */
const shown = 50;

/** Returns a cell, cut to a length that can be shown. A list without line breaks is one cell of any length. @param {string} written */
const shortened = (written) => (written.length > longest ? `${written.slice(0, longest)}…` : written);

/** @param {{ recipient: Recipient }} props */
const Row = ({ recipient: { row, written, number, fault } }) => html`
  <tr>
    <td>${count(row)}</td>
    <th scope="row">${fault === '' || fault === 'twice' ? number : shortened(written)}</th>
    <td class=${fault === '' ? 'dim' : 'bad'}>${t(fault === '' ? 'campaignValid' : `fault_${fault}`)}</td>
  </tr>
`;

/** @param {{ recipients: readonly Recipient[], good: readonly Recipient[], heads: readonly string[], text: string, cautions: readonly string[] }} props */
export const Preview = ({ recipients, good, heads, text, cautions }) => {
  const onlyBad = useSignal(true);
  const bad = recipients.length - good.length;
  const chosen = onlyBad.value && bad > 0 ? recipients.filter(({ fault }) => fault !== '') : recipients;
  const [first] = good;
  return html`
    <section class="panel item preview" aria-labelledby="preview-title">
      <h2 id="preview-title">${t('campaignPreview')}</h2>
      ${
        recipients.length === 0
          ? html`<p class="dim">${t('campaignPreviewNone')}</p>`
          : html`
              <div role="status">
                <p>${t('campaignPreviewGood', { n: count(good.length) })}</p>
                ${good.length > mostRecipients && html`<p class="bad">${tooMany(good.length)}</p>`}
                ${bad > 0 && html`<p class="bad">${t('campaignPreviewBad', { n: count(bad) })}</p>`}
              </div>
              ${
                bad > 0 &&
                html`
                  <${OneOf}
                    label=${t('campaignShow')}
                    options=${[
                      [true, t('campaignShowBad')],
                      [false, t('campaignShowAll')],
                    ]}
                    chosen=${onlyBad.value}
                    onChoose=${(/** @type {boolean} */ isOnly) => (onlyBad.value = isOnly)}
                  />
                `
              }
              <${Table} label=${t('campaignPreview')} heads=${[t('campaignRow'), t('campaignNumber'), t('campaignCheck')]}>
                ${chosen.slice(0, shown).map((recipient) => html`<${Row} key=${recipient.row} recipient=${recipient} />`)}
              <//>
              ${chosen.length > shown && html`<p class="dim">${t('campaignPreviewMore', { n: count(shown) })}</p>`}
            `
      }
      <div role="status">${cautions.map((caution) => html`<p key=${caution} class="caution">${caution}</p>`)}</div>
      ${
        first !== undefined &&
        text !== '' &&
        html`
          <h3>${t('campaignFirst', { number: first.number })}</h3>
          <p class="said">${filled(text, heads, first.cells)}</p>
        `
      }
    </section>
  `;
};
