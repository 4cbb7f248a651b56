/** The space that messages and files use, the sessions that use the most, and the rules that remove messages and files. */
import { html } from 'htm/preact';
import { get } from '../core/api.js';
import { sessionAddress } from '../core/router.js';
import { useAnswer } from '../instance/load.js';
import { count, size, t } from '../texts.js';
import { Table } from '../ui/parts.js';
import { Page } from '../ui/shell.js';
import { Prose } from './prose.js';

/** @typedef {{ name: string, bytes: number, rows?: number }} TableUse */

/** @typedef {{ id: string, name: string, rows: number, bytes: number }} SessionUse */

/** @typedef {{ isExact: boolean, bytes: number, instances: readonly SessionUse[] }} Largest */

/**
 * @typedef {object} Use The answer of `GET /admin/storage`.
 * @property {{ bytes: number, version: string, tables: readonly TableUse[] }} database
 * @property {Largest} messages
 * @property {Largest} files
 * @property {number} [fileBytes]
 * @property {{ free: number, size: number }} disk
 * @property {readonly { name: string, value: string, about: string }[]} rules
 */

/** The tables of each part. Tables that are not listed belong to `server`. */
const parts = /** @type {const} */ ({
  messages: ['message', 'receipt', 'receipt_count', 'receipt_mark', 'send_key', 'refused_entry'],
  people: ['chat', 'contact', 'chat_group', 'group_list', 'picture', 'number_lookup', 'definition', 'opt_out'],
  deliveries: ['outbox', 'archive', 'outbox_tally', 'webhook', 'chatwoot_chat', 'chatwoot_message', 'chatwoot_reply'],
  keys: ['instance', 'credential', 'signal_key', 'retired_credential', 'retired_key', 'inbound', 'leaving_keys', 'step_log'],
  campaigns: ['campaign', 'campaign_recipient'],
  files: ['file'],
});

/** @typedef {keyof typeof parts | 'server'} Part */

/** @param {string} table @returns {Part} */
const partOf = (table) =>
  /** @type {[keyof typeof parts, readonly string[]][]} */ (Object.entries(parts)).find(([, tables]) => tables.includes(table))?.[0] ??
  'server';

/** Returns the parts with their bytes, the largest first. @param {readonly TableUse[]} tables @returns {readonly (readonly [Part, number])[]} */
const sumsOf = (tables) => {
  /** @type {Map<Part, number>} */
  const sums = new Map();
  for (const { name, bytes } of tables) sums.set(partOf(name), (sums.get(partOf(name)) ?? 0) + bytes);
  return [...sums].toSorted((a, b) => b[1] - a[1]);
};

/** @param {{ use: Use }} props */
const Totals = ({ use: { database, fileBytes, disk } }) => html`
  <dl class="panel facts">
    <div>
      <dt>${t('storageDatabase')}</dt>
      <dd>${size(database.bytes)} <span class="note">${t('storageServer', { version: database.version })}</span></dd>
    </div>
    <div>
      <dt>${t('storageFiles')}</dt>
      <dd>${fileBytes === undefined ? t('storageFilesUnknown') : size(fileBytes)}</dd>
    </div>
    <div>
      <dt>${t('storageDisk')}</dt>
      <dd>
        ${t('storageDiskOf', { free: size(disk.free), all: size(disk.size) })} ${' '}<meter
          min="0"
          max=${Math.max(1, disk.size)}
          low=${disk.size / 10}
          value=${disk.free}
          aria-label=${t('storageDisk')}
        ></meter>
      </dd>
    </div>
  </dl>
`;

/** @param {{ use: Use }} props */
const Parts = ({ use: { database } }) => {
  const heads = [t('storagePart'), t('storageSize'), t('storageShare')];
  const all = database.tables.reduce((sum, { bytes }) => sum + bytes, 0);
  return html`
    <section class="panel people" aria-labelledby="parts-title">
      <h2 id="parts-title">${t('storageParts')}</h2>
      <${Table} label=${t('storageParts')} heads=${heads} plain>
        ${sumsOf(database.tables).map(
          ([part, bytes]) => html`
            <tr key=${part}>
              <th scope="row">${t(`use_${part}`)}</th>
              <td>${size(bytes)}</td>
              <td><meter min="0" max=${Math.max(1, all)} value=${bytes} aria-label=${t(`use_${part}`)}></meter></td>
            </tr>
          `,
        )}
      <//>
      <details>
        <summary>${t('storageTables')}</summary>
        <${Table} label=${t('storageTables')} heads=${[t('storageTable'), t('storageSize'), t('storageRows')]} plain>
          ${database.tables.map(
            ({ name, bytes, rows }) => html`
              <tr key=${name}>
                <th scope="row"><code>${name}</code></th>
                <td>${size(bytes)}</td>
                <td>${rows === undefined ? '' : count(rows)}</td>
              </tr>
            `,
          )}
        <//>
      </details>
    </section>
  `;
};

/** @param {{ title: string, rowsHead: string, note?: string, largest: Largest }} props */
const Sessions = ({ title, rowsHead, note, largest: { isExact, instances } }) => html`
  <section class="panel people" aria-label=${title}>
    <h2>${title}</h2>
    ${
      instances.length === 0
        ? html`<p class="dim">${t('storageNothing')}</p>`
        : html`
            <${Table} label=${title} heads=${[t('storageSession'), t('storageSize'), rowsHead]} plain>
              ${instances.map(
                ({ id, name, rows, bytes }) => html`
                  <tr key=${id}>
                    <th scope="row">${name === '' ? t('storageGone') : html`<a href=${sessionAddress(id)}>${name}</a>`}</th>
                    <td>${size(bytes)}</td>
                    <td>${count(rows)}</td>
                  </tr>
                `,
              )}
            <//>
            ${!isExact && html`<p class="note">${t('storageSampled')}</p>`} ${note !== undefined && html`<p class="note">${note}</p>`}
          `
    }
  </section>
`;

/** Returns the value of a rule with its unit. The end of the rule's name shows the unit. @param {{ name: string, value: string }} rule */
const ruleText = ({ name, value }) => {
  if (value === '0') return t('storageNever');
  if (name.endsWith('_DAYS')) return t('storageDays', { n: count(Number(value)) });
  if (name.endsWith('_MS')) return t('storageDays', { n: count(Number(value) / 86_400_000) });
  return name.endsWith('_BYTES') ? size(Number(value)) : count(Number(value));
};

/** @param {{ rules: Use['rules'] }} props */
const Rules = ({ rules }) => html`
  <section class="panel people" aria-labelledby="rules-title">
    <h2 id="rules-title">${t('storageRules')}</h2>
    <p class="dim">${t('storageRulesLead')}</p>
    <dl class="rules">
      ${rules.map(
        (rule) => html`
          <div key=${rule.name}>
            <dt><code>${rule.name}</code> <strong>${ruleText(rule)}</strong></dt>
            <dd class="dim"><${Prose} text=${rule.about} /></dd>
          </div>
        `,
      )}
    </dl>
  </section>
`;

export const Storage = () => {
  const { answer, instead } = useAnswer(() => /** @type {Promise<Use>} */ (get('/admin/storage')), []);
  const use = answer.value;
  return html`
    <${Page} title=${t('storage')} lead=${t('storageLead')}>
      ${
        instead ??
        (use !== null &&
          html`
            <${Totals} use=${use} />
            <${Parts} use=${use} />
            <div class="halves">
              <${Sessions} title=${t('storageByMessages')} rowsHead=${t('storageMessages')} largest=${use.messages} />
              <${Sessions} title=${t('storageByFiles')} rowsHead=${t('storageFileCount')} note=${t('storageShared')} largest=${use.files} />
            </div>
            <${Rules} rules=${use.rules} />
          `)
      }
    <//>
  `;
};
