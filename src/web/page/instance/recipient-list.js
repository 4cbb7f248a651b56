/** Reads the recipients of a campaign, which somebody typed or which are in a CSV file. Pure functions, which tests also run outside of a browser. */

/**
 * @typedef {object} Sheet
 * @property {readonly string[]} heads Names of the columns; empty if the first row holds a number already.
 * @property {readonly (readonly string[])[]} rows Without the row of names.
 */

/** @typedef {'' | 'empty' | 'notNumber' | 'length' | 'twice'} Fault */

/**
 * @typedef {object} Recipient
 * @property {number} row The row of the list or of the file, from 1.
 * @property {string} written As it stands in the list.
 * @property {string} number Digits, or an id of the platform.
 * @property {Fault} fault '' for a valid recipient.
 * @property {readonly string[]} cells All columns of the row.
 */

/** Signs with which people write numbers. */
const decoration = /[\s()+./\u00A0\u2010-\u2015-]/g;
const idForm = /^\d[\d:-]*@(?:s\.whatsapp\.net|c\.us|lid|g\.us)$/;

/** Returns the recipient as the interface takes it. @param {string} written */
const plain = (written) => (written.includes('@') ? written.trim() : written.replaceAll(decoration, ''));

/** Returns the fault of a recipient. Numbers have 5 to 15 digits, as in the interface. @param {string} number @returns {Fault} */
const faultOf = (number) => {
  if (number === '') return 'empty';
  if (idForm.test(number)) return '';
  if (!/^\d+$/.test(number)) return 'notNumber';
  return number.length < 5 || number.length > 15 ? 'length' : '';
};

/** True for a text that is a number of a person. Shorter numbers are usually amounts or years. @param {string} text */
const isPhone = (text) => /^\d{8,15}$/.test(plain(text)) || idForm.test(text.trim());

const separators = [',', ';', '\t'];

/** Returns the separator that is most frequent in the first line, outside of quotes. @param {string} text */
const separatorOf = (text) => {
  const line = (text.split(/\r?\n/, 1)[0] ?? '').replaceAll(/"[^"]*"/g, '');
  const counts = separators.map((sign) => line.split(sign).length);
  return separators[counts.indexOf(Math.max(...counts))] ?? ',';
};

/**
 * Reads CSV (RFC 4180), with the separator of the first line. Empty lines are left out.
 * @param {string} text
 * @returns {string[][]}
 */
const rowsOf = (text) => {
  const separator = separatorOf(text);
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  let cell = '';
  let quoted = false;
  const endRow = () => {
    row.push(cell);
    if (row.some((one) => one.trim() !== '')) rows.push(row);
    [row, cell] = [[], ''];
  };
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += sign;
        at += 1;
      } else quoted = false;
    } else if (sign === '"' && cell.trim() === '') [quoted, cell] = [true, ''];
    else if (sign === separator) {
      row.push(cell);
      cell = '';
    } else if (sign === '\n') endRow();
    else if (sign !== '\r') cell += sign;
  }
  endRow();
  return rows;
};

/**
 * Reads a CSV file. The first row holds names if it has no number.
 * @param {string} text
 * @returns {Sheet}
 */
export const readSheet = (text) => {
  const rows = rowsOf(text.replace(/^\uFEFF/, ''));
  const [first = [], ...rest] = rows;
  return first.some(isPhone) ? { heads: [], rows } : { heads: first.map((head) => head.trim()), rows: rest };
};

/**
 * Reads a typed list: numbers, one a line, or between commas or semicolons.
 * @param {string} text
 * @returns {Sheet}
 */
export const readTyped = (text) => ({
  heads: [],
  rows: text
    .split(/[\n,;]/)
    .filter((line) => line.trim() !== '')
    .map((line) => [line.trim()]),
});

/** Number of rows that decide which column holds the numbers. */
const looked = 50;

/** Returns the index of the column with the most numbers. @param {Sheet} sheet */
export const numberColumn = ({ heads, rows }) => {
  const first = rows.slice(0, looked);
  const width = Math.max(1, heads.length, ...first.map((row) => row.length));
  const counts = Array.from({ length: width }, (_, column) => first.filter((row) => isPhone(row[column] ?? '')).length);
  return counts.indexOf(Math.max(...counts));
};

/**
 * Returns all rows with their faults. The second of two equal numbers is at fault.
 * @param {Sheet} sheet
 * @param {number} column Index of the column with the numbers.
 * @returns {readonly Recipient[]}
 */
export const recipientsOf = ({ heads, rows }, column) => {
  const seen = new Set();
  return rows.map((cells, at) => {
    const written = (cells[column] ?? '').trim();
    const number = plain(written);
    const fault = faultOf(number) || (seen.has(number) ? 'twice' : '');
    seen.add(number);
    return { row: at + (heads.length > 0 ? 2 : 1), written, number, fault, cells };
  });
};

const placeholder = /\{\{([^{}]+)\}\}/g;

/** @param {readonly string[]} heads @param {string} name */
const columnOf = (heads, name) => heads.findIndex((head) => head.toLowerCase() === name.trim().toLowerCase());

/** Returns true if the text has a placeholder with the name of a column. @param {string} text @param {readonly string[]} heads */
export const usesColumns = (text, heads) => [...text.matchAll(placeholder)].some(([, name = '']) => columnOf(heads, name) >= 0);

/** Names that the gateway fills for each contact, next to all names that begin with `lead_`. They are spelled exactly so. */
export const gatewayNames = /** @type {const} */ (['name', 'first_name', 'wa_name', 'wa_contactName']);

/** Returns true for a placeholder that the gateway fills. It takes blanks around the name, and leaves other placeholders as they are. @param {string} name */
const isOfGateway = (name) => /** @type {readonly string[]} */ (gatewayNames).includes(name) || /^lead_\w*$/.test(name);

/**
 * Returns the placeholders, once each, that neither a column nor the gateway fills. Contacts would read them as they are written.
 * @param {string} text
 * @param {readonly string[]} heads
 */
export const unknownIn = (text, heads) => [
  ...new Set(
    [...text.matchAll(placeholder)]
      .filter(([, name = '']) => columnOf(heads, name) < 0 && !isOfGateway(name.trim()))
      .map(([whole]) => whole),
  ),
];

/**
 * Fills placeholders that are names of columns. Others stay, because the gateway fills them.
 * @param {string} text
 * @param {readonly string[]} heads
 * @param {readonly string[]} cells
 */
export const filled = (text, heads, cells) =>
  text.replaceAll(placeholder, (whole, name) => {
    const column = columnOf(heads, name);
    return column < 0 ? whole : (cells[column] ?? '').trim();
  });

/**
 * Estimates how long the daily limit keeps a campaign, in whole days; 0 if the limit does not stretch it.
 * @param {{ cap: number, sent: number, waiting: number }} pace `cap`: the most messages within 24 hours, 0 for no limit. `waiting`: messages of other campaigns, which take turns with this one.
 * @param {number} messages Of this campaign.
 */
export const stretchedDays = ({ cap, sent, waiting }, messages) =>
  cap === 0 || messages === 0 ? 0 : Math.floor((sent + Math.min(waiting, messages) + messages - 1) / cap);

/**
 * Decodes a file: UTF-8, UTF-16 with its mark, or the code page of older spreadsheets.
 * @param {ArrayBuffer} bytes
 */
export const decoded = (bytes) => {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
};
