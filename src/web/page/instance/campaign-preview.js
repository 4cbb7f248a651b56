/** The recipients of a campaign before it is created: valid ones, rows with errors, and the first message as it will be sent. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { count, t } from '../texts.js';
import { visible } from '../texts/visible.js';
import { OneOf, Table } from '../ui/parts.js';
import { filled } from './recipient-list.js';

/** @import { Recipient } from './recipient-list.js' */

/** Rows that are shown. The figures count all rows. */
const shown = 50;

/** @param {{ recipient: Recipient }} props */
const Row = ({ recipient: { row, written, number, fault } }) => html`
  <tr>
    <td>${count(row)}</td>
    <th scope="row">${visible(fault === '' || fault === 'twice' ? number : written)}</th>
    <td class=${fault === '' ? 'dim' : 'bad'}>${t(fault === '' ? 'campaignValid' : `fault_${fault}`)}</td>
  </tr>
`;

/** @param {{ recipients: readonly Recipient[], good: readonly Recipient[], heads: readonly string[], text: string }} props */
export const Preview = ({ recipients, good, heads, text }) => {
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
      ${
        first !== undefined &&
        text !== '' &&
        html`
          <h3>${t('campaignFirst', { number: first.number })}</h3>
          <p class="said">${visible(filled(text, heads, first.cells))}</p>
        `
      }
    </section>
  `;
};
