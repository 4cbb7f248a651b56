/** The form for a new campaign: recipients, a message and a pace. A preview checks the recipients before anything is created. */
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { call, dataUrlOf, get, newKey, textOfFailure } from '../core/api.js';
import { go } from '../core/router.js';
import { count, moment, t } from '../texts.js';
import { ask, toast } from '../ui/asking.js';
import { useForm } from '../ui/forms.js';
import { Button, Field, OneOf } from '../ui/parts.js';
import { cautionsOf, Preview, tooMany } from './campaign-preview.js';
import { addressOf } from './campaign-summary.js';
import { useAnswer } from './load.js';
import { ListError } from './csv.js';
import {
  decoded,
  filled,
  isTypedLong,
  mostRecipients,
  mostTyped,
  numberColumn,
  readSheet,
  readTyped,
  recipientsOf,
  usesColumns,
  widthOf,
} from './recipient-list.js';

/** @import { Signal } from '@preact/signals' */
/** @import { Live } from './live.js' */
/** @import { Stats } from './campaign-preview.js' */
/** @import { Recipient, Sheet } from './recipient-list.js' */

/** The kinds of messages, as the API spells them. All kinds but the first have a file. */
const kinds = /** @type {const} */ (['text', 'image', 'video', 'videoplay', 'audio', 'ptt', 'document', 'sticker']);

/** @typedef {(typeof kinds)[number]} Kind */

/** @type {Sheet} */
const noSheet = { heads: [], rows: [] };

/** @param {FormData} form @param {string} name */
const textOf = (form, name) => String(form.get(name) ?? '').trim();

/**
 * Returns the fields of the message without its text. Throws an error with a sentence for the form.
 * @param {FormData} form
 * @param {Kind} kind
 * @param {boolean} isOwn
 */
const fileOf = async (form, kind, isOwn) => {
  if (kind === 'text') return {};
  const address = textOf(form, 'address');
  const upload = form.get('upload');
  const isUploaded = address === '' && upload instanceof File && upload.size > 0;
  if (address === '' && !isUploaded) throw new Error(t('campaignNoFile'));
  if (isOwn && isUploaded) throw new Error(t('campaignFileInRows'));
  const docName = textOf(form, 'docName') || (isUploaded ? upload.name : '');
  return { file: isUploaded ? await dataUrlOf(upload) : address, ...(kind === 'document' && docName !== '' ? { docName } : {}) };
};

/**
 * Returns the request for a campaign. If the text has placeholders for columns, each recipient needs a message of its own.
 * @param {FormData} form
 * @param {{ kind: Kind, heads: readonly string[], recipients: readonly Recipient[] }} parts Valid recipients.
 */
const requestOf = async (form, { kind, heads, recipients }) => {
  const text = String(form.get('text') ?? '');
  const isOwn = usesColumns(text, heads);
  const file = await fileOf(form, kind, isOwn);
  const at = textOf(form, 'at');
  const pace = {
    delayMin: Number(form.get('least')),
    delayMax: Number(form.get('most')),
    scheduled_for: at === '' ? 0 : new Date(at).getTime(),
  };
  const info = textOf(form, 'name');
  /** @param {string} words */
  const messageOf = (words) => ({ type: kind, ...file, ...(kind === 'sticker' || words === '' ? {} : { text: words }) });
  return isOwn
    ? {
        path: '/sender/advanced',
        body: {
          ...pace,
          info,
          messages: recipients.map(({ number, cells }) => ({ number, ...messageOf(filled(text, heads, cells)) })),
        },
      }
    : { path: '/sender/simple', body: { ...pace, folder: info, numbers: recipients.map(({ number }) => number), ...messageOf(text) } };
};

/** @param {{ sheet: Signal<Sheet>, column: Signal<number> }} props */
const ColumnField = ({ sheet, column }) => {
  const { heads } = sheet.value;
  const width = widthOf(sheet.value);
  /** @param {Event} event */
  const onChange = (event) => (column.value = Number(/** @type {HTMLSelectElement} */ (event.target).value));
  if (width < 2) return null;
  return html`
    <${Field} as="select" label=${t('campaignColumn')} hint=${t('campaignColumnHint')} onChange=${onChange}>
      ${Array.from(
        { length: width },
        (_, at) =>
          html`<option key=${at} value=${at} selected=${at === column.value}>${heads[at] || t('campaignColumnOf', { n: at + 1 })}</option>`,
      )}
    <//>
  `;
};

/** The options for the source of the recipients. True means a typed list, and false means a file. */
const sources = /** @type {const} */ ([
  [true, t('campaignTyped')],
  [false, t('campaignFile')],
]);

/** The largest size of a file in bytes, and of a typed list in characters: 100,000 rows of 200 bytes. */
const largestList = 20_000_000;

/** Returns the sentence for the page about a list that cannot be read. @param {unknown} problem */
const faultOf = (problem) => {
  if (!(problem instanceof ListError)) return t('campaignListUnreadable', { why: textOfFailure(problem) });
  const values = Object.fromEntries(Object.entries(problem.values).map(([name, value]) => [name, count(value)]));
  return t(problem.reason, { ...values, limit: count(mostRecipients) });
};

/** Reads the recipients of a file. Returns a sentence for the page if the file cannot be read. @param {File} file @returns {Promise<Sheet | string>} */
const sheetOf = async (file) => {
  if (file.size > largestList) return t('campaignListLarge');
  try {
    const sheet = readSheet(decoded(await file.arrayBuffer()));
    return sheet.rows.length === 0 ? t('campaignListEmpty') : sheet;
  } catch (problem) {
    return faultOf(problem);
  }
};

/** Reads a typed list. Returns a sentence for the page if the list is too long. @param {string} text @returns {Sheet | string} */
const typedSheetOf = (text) => {
  if (text.length > largestList) return t('campaignListLarge');
  try {
    return readTyped(text);
  } catch (problem) {
    return faultOf(problem);
  }
};

/** The largest length of a typed list that is read at each keystroke, in characters. */
const quickList = 20_000;
/** The debounce of a longer list, in milliseconds. */
const restMs = 300;

/**
 * The field of a typed list. `onList` gets the list, or a sentence that says why the list cannot be read.
 * @param {{ error: string, onList: (read: Sheet | string) => void }} props
 */
const TypedField = ({ error, onList }) => {
  const resting = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  useEffect(() => () => clearTimeout(resting.current), []);
  /** @param {Event} event */
  const onType = ({ target }) => {
    const field = /** @type {HTMLTextAreaElement} */ (target);
    const read = () => onList(typedSheetOf(field.value));
    clearTimeout(resting.current);
    if (field.textLength <= quickList) read();
    else resting.current = setTimeout(read, restMs);
  };
  const refused = useSignal('');
  /** Refuses a long text before the browser inserts it, because the insertion would block the page for seconds. @param {InputEvent} event */
  const onPaste = (event) => {
    const isLong = isTypedLong(event.data ?? '');
    if (isLong) event.preventDefault();
    refused.value = isLong ? t('campaignTypedLong', { most: count(mostTyped) }) : '';
  };
  return html`<${Field}
    as="textarea"
    rows="5"
    label=${t('campaignNumbers')}
    hint=${t('campaignNumbersHint', { most: count(mostTyped) })}
    error=${refused.value || error}
    name="numbers"
    inputmode="tel"
    spellcheck=${false}
    onBeforeInput=${onPaste}
    onInput=${onType}
  />`;
};

/** @param {{ typed: Signal<boolean>, sheet: Signal<Sheet>, column: Signal<number> }} props */
const Recipients = ({ typed, sheet, column }) => {
  const failure = useSignal('');
  /** The number of the last choice. The result of an earlier choice is ignored. */
  const reading = useRef(0);
  /** Takes a list, or a sentence that says why the list cannot be read. @param {Sheet | string} read */
  const take = (read) => {
    failure.value = typeof read === 'string' ? read : '';
    sheet.value = typeof read === 'string' ? noSheet : read;
    column.value = numberColumn(sheet.value);
  };
  /** @param {boolean} isTyped */
  const turn = (isTyped) => {
    reading.current += 1;
    typed.value = isTyped;
    take(noSheet);
  };
  /** @param {Event} event */
  const onFile = async (event) => {
    const [file] = /** @type {HTMLInputElement} */ (event.target).files ?? [];
    const own = (reading.current += 1);
    const read = file === undefined ? noSheet : await sheetOf(file);
    // Another file may have been chosen, or the list may be typed now.
    if (own === reading.current) take(read);
  };
  return html`
    <fieldset class="part">
      <legend>${t('campaignTo')}</legend>
      <${OneOf} label=${t('campaignSource')} options=${sources} chosen=${typed.value} onChoose=${turn} />
      ${
        typed.value
          ? html`<${TypedField} key="typed" error=${failure.value} onList=${take} />`
          : html`<${Field}
              key="file"
              label=${t('campaignCsv')}
              hint=${t('campaignCsvHint')}
              error=${failure.value}
              type="file"
              accept=".csv,.tsv,.txt,text/csv"
              onChange=${onFile}
            />`
      }
      ${!typed.value && html`<${ColumnField} sheet=${sheet} column=${column} />`}
    </fieldset>
  `;
};

/** @param {{ kind: Signal<Kind>, text: Signal<string>, heads: readonly string[] }} props */
const Message = ({ kind, text, heads }) => {
  const named = heads.filter((head) => head !== '');
  const hint =
    named.length > 0
      ? t('campaignTextColumns', { columns: named.map((head) => `{{${head}}}`).join(', ') })
      : t('campaignTextHint', { example: '{{name}}' });
  return html`
    <fieldset class="part">
      <legend>${t('campaignMessage')}</legend>
      <${Field}
        as="select"
        label=${t('campaignKind')}
        onChange=${(/** @type {Event} */ event) => (kind.value = /** @type {Kind} */ (/** @type {HTMLSelectElement} */ (event.target).value))}
      >
        ${kinds.map((one) => html`<option key=${one} value=${one} selected=${one === kind.value}>${t(`kind_${one}`)}</option>`)}
      <//>
      ${
        kind.value !== 'text' &&
        html`
          <${Field}
            label=${t('campaignAddress')}
            hint=${t('campaignAddressHint')}
            name="address"
            type="url"
            placeholder="https://example.com/picture.jpg"
          />
          <${Field} label=${t('campaignUpload')} name="upload" type="file" />
        `
      }
      ${kind.value === 'document' && html`<${Field} label=${t('campaignDocName')} name="docName" maxlength="255" />`}
      ${
        kind.value !== 'sticker' &&
        html`<${Field}
          as="textarea"
          rows="4"
          label=${t(kind.value === 'text' ? 'campaignText' : 'campaignCaption')}
          hint=${hint}
          name="text"
          maxlength="65536"
          required=${kind.value === 'text'}
          onInput=${(/** @type {InputEvent} */ event) => (text.value = /** @type {HTMLTextAreaElement} */ (event.target).value)}
        />`
      }
    </fieldset>
  `;
};

const Pace = () => html`
  <fieldset class="part">
    <legend>${t('campaignWhen')}</legend>
    <div class="pair">
      <${Field} label=${t('campaignLeast')} name="least" type="number" min="1" max="86400" required defaultValue="10" />
      <${Field} label=${t('campaignMost')} name="most" type="number" min="1" max="86400" required defaultValue="30" />
    </div>
    <${Field} label=${t('campaignAt')} hint=${t('campaignAtHint')} name="at" type="datetime-local" />
  </fieldset>
`;

/** @param {readonly Recipient[]} recipients */
const validOf = (recipients) => recipients.filter(({ fault }) => fault === '');

/**
 * Reads the typed list again, because the preview may lack the last keystrokes. Returns the valid recipients. Throws an error with a sentence for the form.
 * @param {FormData} form
 */
const typedIn = (form) => {
  const sheet = typedSheetOf(textOf(form, 'numbers'));
  if (typeof sheet === 'string') throw new Error(sheet);
  return validOf(recipientsOf(sheet, 0));
};

/** @param {{ live: Live }} props */
export const CampaignForm = ({ live }) => {
  const typed = useSignal(true);
  const sheet = useSignal(noSheet);
  const column = useSignal(0);
  const kind = useSignal(/** @type {Kind} */ ('text'));
  const text = useSignal('');
  const { heads } = sheet.value;
  const recipients = useMemo(() => recipientsOf(sheet.value, column.value), [sheet.value, column.value]);
  const chosen = useMemo(() => validOf(recipients), [recipients]);
  const words = kind.value === 'sticker' ? '' : text.value;
  const stats = useAnswer(() => /** @type {Promise<Stats>} */ (get('/sender/stats', { instance: live.id })), [live.id]).answer.value;
  const cautions = cautionsOf({ text: words, heads, messages: chosen.length, stats });
  /** The last request and its idempotency key. An equal request gets the same key, so that a retry after a lost answer creates no second campaign. */
  const once = useRef({ request: '', key: '' });
  const { busy, error, onSubmit } = useForm(async (form) => {
    const good = typed.value ? typedIn(form) : chosen;
    if (good.length === 0) throw new Error(t('campaignNobody'));
    if (good.length > mostRecipients) throw new Error(tooMany(good.length));
    const { path, body } = await requestOf(form, { kind: kind.value, heads, recipients: good });
    const request = JSON.stringify({ path, body });
    if (once.current.request !== request) once.current = { request, key: newKey() };
    const facts = { n: count(good.length), min: body.delayMin, max: body.delayMax, time: moment(body.scheduled_for) };
    const question = {
      title: t('campaignCreateTitle'),
      text: t(body.scheduled_for > Date.now() ? 'campaignCreateLater' : 'campaignCreateNow', facts),
      cautions,
      yes: t('campaignCreateYes'),
    };
    if (!(await ask(question))) return false;
    /** @type {{ folder_id: string, count: number }} */
    const made = await call('POST', path, { instance: live.id, body, headers: { 'idempotency-key': once.current.key } });
    toast(t('campaignCreated', { n: count(made.count) }));
    go(addressOf(live.id, made.folder_id), { replace: true });
    return undefined;
  });
  return html`
    <div class="daily">
      <p><a href=${addressOf(live.id)}>${t('campaignsAll')}</a></p>
      <div class="beside">
        <form class="panel form" aria-labelledby="campaign-title" onSubmit=${onSubmit}>
          <h2 id="campaign-title">${t('campaignNew')}</h2>
          <${Field} label=${t('campaignName')} hint=${t('campaignNameHint')} name="name" maxlength="200" />
          <${Recipients} typed=${typed} sheet=${sheet} column=${column} />
          <${Message} kind=${kind} text=${text} heads=${heads} />
          <${Pace} />
          ${error !== '' && html`<p class="error" role="alert">${error}</p>`}
          <div class="actions"><${Button} type="submit" kind="main" busy=${busy}>${t('campaignCreate')}<//></div>
        </form>
        <${Preview} recipients=${recipients} good=${chosen} heads=${heads} text=${words} cautions=${cautions} />
      </div>
    </div>
  `;
};
