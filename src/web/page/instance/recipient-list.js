/** Reads the recipients of a campaign from a typed list or from a CSV file. The functions are pure, so tests run them outside a browser too. */
import { ListError, rowsOf } from './csv.js';

/**
 * @typedef {object} Sheet
 * @property {readonly string[]} heads Names of the columns; empty if the first row already has a number.
 * @property {readonly (readonly string[])[]} rows The rows without the row of names.
 */

/** @typedef {'' | 'empty' | 'notNumber' | 'scientific' | 'several' | 'length' | 'twice'} Fault */

/**
 * @typedef {object} Recipient
 * @property {number} row The row of the list or of the file, from 1.
 * @property {string} written The text of the cell in the list.
 * @property {string} number Digits, or an id of the platform.
 * @property {Fault} fault '' for a valid recipient.
 * @property {readonly string[]} cells All columns of the row.
 */

/** The largest number of recipients that the server accepts (`campaignRecipients` of its settings). */
export const mostRecipients = 100_000;

/** Signs that people write between the digits of a number. */
const decoration = /[\s()+.\u00A0\u2010-\u2015-]/g;
const idForm = /^\d[\d:-]*@(?:s\.whatsapp\.net|c\.us|lid|g\.us)$/;

/** Decimal zeros, as in `5511999990001.0` from spreadsheets and data frames. More than two zeros may belong to the number. */
const zeros = /(?:(?<=\d)[.,]0|(?<=^\+?\d+)[.,]00)$/;
/** A number with decimals, which is an amount. Without the separator it would look like another number. */
const fraction = /^\+?\d+[.,]\d{1,2}$/;
/** A long number in the scientific notation of a spreadsheet, which leaves digits out. */
const scientific = /^[+-]?\d+(?:[.,]\d+)?e[+-]?\d+$/i;
/** Words and signs between two numbers, in a text with single spaces. */
const betweenNumbers = /\d (?:e|y|ou|or|and) [+(\d]|\d ?\+|\d, ?\+?\d{3,}/i;

/** Returns true if a cell has more than one number. In one number, at most one group has seven digits or more. @param {string} text */
const isSeveral = (text) =>
  text.split(/[/;|&\n]/).filter((part) => /\d/.test(part)).length > 1 ||
  betweenNumbers.test(text.replaceAll(/\s+/g, ' ')) ||
  text.split(/[\s.\u2010-\u2015-]+/).filter((group) => group.replaceAll(/\D/g, '').length >= 7).length > 1;

/** The length of the longest cell that may be a number or an id, in characters. */
export const longest = 100;

/**
 * Returns the recipient in the form that the API accepts: a number of 5 to 15 digits, or an id. A recipient with a fault keeps the text of the list.
 * @param {string} written
 * @returns {{ number: string, fault: Fault }}
 */
const readNumber = (written) => {
  const text = written.trim();
  // Most cells consist of digits. This check makes reading a long list several times faster.
  if (/^\d{5,15}$/.test(text)) return { number: text, fault: '' };
  if (text.length > longest) return { number: text, fault: 'notNumber' };
  if (text.includes('@')) return { number: text, fault: idForm.test(text) ? '' : 'notNumber' };
  if (scientific.test(text)) return { number: text, fault: 'scientific' };
  if (isSeveral(text)) return { number: text, fault: 'several' };
  const whole = text.replace(zeros, '');
  const number = whole.replaceAll(decoration, '');
  if (number === '') return { number, fault: 'empty' };
  if (fraction.test(whole) || !/^\d+$/.test(number)) return { number: text, fault: 'notNumber' };
  return { number, fault: number.length < 5 || number.length > 15 ? 'length' : '' };
};

/** Returns true for a text that is a phone number with at least eight digits, or an id. Shorter numbers are usually amounts or years. @param {string} text */
const isPhone = (text) => {
  const { number, fault } = readNumber(text);
  return fault === '' && number.length >= 8;
};

/** Returns true for a text that is meant as a number, even with faults. Names of columns have more letters. @param {string} text */
const isMeantAsNumber = (text) => {
  const [digits, letters] = [/\d/g, /\p{L}/gu].map((sign) => text.match(sign)?.length ?? 0);
  return isPhone(text) || scientific.test(text.trim()) || ((digits ?? 0) >= 5 && (letters ?? 0) <= 3);
};

/**
 * Reads a CSV file. The first row contains names if it has no number. Throws a ListError.
 * @param {string} text
 * @returns {Sheet}
 */
export const readSheet = (text) => {
  const rows = rowsOf(text);
  const [first = []] = rows;
  return first.some(isMeantAsNumber) ? { heads: [], rows } : { heads: first.map((head) => head.trim()), rows: rows.slice(1) };
};

/** The largest number of rows of a typed list. Browsers take seconds to show or to paste 100,000 lines in a field (Chromium 2025). */
export const mostTyped = 10_000;

/** Returns the rows of a typed list. @param {string} text */
const typedRows = (text) => text.split(/[\n,;]/).filter((line) => line.trim() !== '');

/** Returns true if a text has more rows than a typed list may have. @param {string} text */
export const isTypedLong = (text) => text.length > mostTyped && typedRows(text).length > mostTyped;

/**
 * Reads a typed list of numbers that are separated by line breaks, commas or semicolons. Throws a ListError if the list has too many rows.
 * @param {string} text
 * @returns {Sheet}
 */
export const readTyped = (text) => {
  const rows = typedRows(text);
  if (rows.length > mostTyped) throw new ListError('campaignTypedLong', { most: mostTyped });
  return { heads: [], rows: rows.map((row) => [row.trim()]) };
};

/** Words that name a column of phone numbers. */
const phoneWords = new Set(['phone', 'telefone', 'celular', 'whatsapp', 'fone', 'tel', 'mobile']);
/** Words that name such a column only if its name has no other words. With other words, the column may contain order numbers, for example. */
const numberWords = new Set(['number', 'numero']);

/** Returns 2 if all words of a column's name mean phone numbers, 1 if the name has one of `phoneWords`, and 0 otherwise. @param {string} head */
const rankOf = (head) => {
  const words = head
    .normalize('NFD')
    .replaceAll(/\p{M}|\d/gu, '')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    // The step before splits WhatsApp into two words.
    .replaceAll('whats app', 'whatsapp')
    .split(/[^a-z]+/)
    .filter(Boolean);
  if (words.length > 0 && words.every((word) => phoneWords.has(word) || numberWords.has(word))) return 2;
  return words.some((word) => phoneWords.has(word)) ? 1 : 0;
};

/** The number of rows that are searched for the number of columns, and for the column with the most phone numbers. */
const looked = 500;

/** Returns the largest number of columns in the first rows. @param {Sheet} sheet */
export const widthOf = ({ heads, rows }) => rows.slice(0, looked).reduce((width, row) => Math.max(width, row.length), heads.length);

/** Returns the index of the column with the recipients: by its name, then by its numbers. @param {Sheet} sheet */
export const numberColumn = (sheet) => {
  const first = sheet.rows.slice(0, looked);
  const columns = Array.from({ length: widthOf(sheet) }, (_, column) => ({
    column,
    rank: rankOf(sheet.heads[column] ?? ''),
    count: first.filter((row) => isPhone(row[column] ?? '')).length,
  }));
  return columns.toSorted((a, b) => b.rank - a.rank || b.count - a.count)[0]?.column ?? 0;
};

/**
 * Returns all rows with their faults. If several rows have the same number, all rows but the first have a fault.
 * @param {Sheet} sheet
 * @param {number} column Index of the column with the numbers.
 * @returns {readonly Recipient[]}
 */
export const recipientsOf = ({ heads, rows }, column) => {
  const seen = new Set();
  return rows.map((cells, at) => {
    const written = (cells[column] ?? '').trim();
    const { number, fault: own } = readNumber(written);
    const fault = own || (seen.has(number) ? 'twice' : '');
    seen.add(number);
    return { row: at + (heads.length > 0 ? 2 : 1), written, number, fault, cells };
  });
};

const placeholder = /\{\{([^{}]+)\}\}/g;

/** @param {readonly string[]} heads @param {string} name */
const columnOf = (heads, name) => heads.findIndex((head) => head.toLowerCase() === name.trim().toLowerCase());

/** Returns true if the text has a placeholder with the name of a column. @param {string} text @param {readonly string[]} heads */
export const usesColumns = (text, heads) => [...text.matchAll(placeholder)].some(([, name = '']) => columnOf(heads, name) >= 0);

/** The names that the gateway fills for each contact, in this spelling, beside all names that begin with `lead_`. */
export const gatewayNames = /** @type {const} */ (['name', 'first_name', 'wa_name', 'wa_contactName']);

/** Returns true for the name of a placeholder that the gateway fills. The gateway leaves other placeholders unchanged. @param {string} name */
const isOfGateway = (name) => /** @type {readonly string[]} */ (gatewayNames).includes(name) || /^lead_\w*$/.test(name);

/**
 * Returns the placeholders, once each, that neither a column nor the gateway fills. Contacts would see their braces.
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
 * Fills placeholders that are names of columns. Other placeholders stay, because the gateway fills them. Removes the braces of cells. Otherwise one or
 * two cells could form a placeholder, and the gateway would fill it with a note about the contact.
 * @param {string} text
 * @param {readonly string[]} heads
 * @param {readonly string[]} cells
 */
export const filled = (text, heads, cells) =>
  text.replaceAll(placeholder, (whole, name) => {
    const column = columnOf(heads, name);
    return column < 0 ? whole : (cells[column] ?? '').replaceAll(/[{}]/g, '').trim();
  });

/**
 * Estimates by how many whole days the daily limit lengthens a campaign; 0 if the limit has no effect.
 * @param {{ cap: number, sent: number, waiting: number }} pace `cap`: the largest number of messages within 24 hours, 0 for no limit. `sent`: messages sent in the last 24 hours. `waiting`: messages of other campaigns, which are sent in turn with those of this campaign.
 * @param {number} messages The number of messages of this campaign.
 */
export const stretchedDays = ({ cap, sent, waiting }, messages) =>
  cap === 0 || messages === 0 ? 0 : Math.floor((sent + Math.min(waiting, messages) + messages - 1) / cap);

/**
 * Decodes a file in UTF-8, in UTF-16 with a byte order mark, or in Windows-1252, which older spreadsheets write.
 * @param {ArrayBuffer} bytes
 */
export const decoded = (bytes) => {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
};
