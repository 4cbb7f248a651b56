/**
 * Texts of the page by name, in the language that the reader chose, or otherwise in the language of the browser. A new language needs files in `texts/` and a
 * line in `languages`.
 */
import { filler } from './texts/fill.js';
import { en } from './texts/en.js';
import { stateWords } from './texts/en-said.js';
import { pt } from './texts/pt.js';
import { refusals } from './texts/pt-refusals.js';
import { phrases } from './texts/pt-said.js';
import { translator } from './texts/said.js';

/** @typedef {'en' | 'pt'} Language */

/**
 * `tag`: the language tag of BCP 47, for dates and for screen readers. `said`: translations of the server's sentences.
 * @type {Readonly<Record<Language, { name: string, tag: string, table: typeof en, said: import('./texts/said.js').Phrases }>>}
 */
export const languages = {
  en: { name: 'English', tag: 'en', table: en, said: stateWords },
  pt: { name: 'Português', tag: 'pt-BR', table: pt, said: [...phrases, ...refusals] },
};

const known = /** @type {readonly Language[]} */ (Object.keys(languages));

/** Returns the language that the reader chose in this browser; null if there is none. */
const chosen = () => {
  try {
    return localStorage.getItem('language');
  } catch {
    // Some private windows forbid storage. The page then uses the language of the browser.
    return null;
  }
};

const wishes = [chosen(), ...navigator.languages].map((name) => known.find((one) => one === name?.slice(0, 2)));
const language = wishes.find((one) => one !== undefined) ?? 'en';
const { tag, table, said: sentences } = languages[language];
document.documentElement.lang = tag;

export const nextLanguage = () => known[(known.indexOf(language) + 1) % known.length] ?? 'en';

/**
 * Chooses a language for this browser. Modules read texts while they load, so the page is reloaded.
 * @param {Language} id
 */
export const chooseLanguage = (id) => {
  try {
    localStorage.setItem('language', id);
  } catch {
    return;
  }
  location.reload();
};

/** Translates a sentence of the server, such as the reason of a session. @type {(sentence: string) => string} */
export const said = translator(sentences);

const fill = filler(tag);

/**
 * Returns a text with its values, and with the plural forms that fit the numbers. Characters of a value that change the direction of the text are shown as
 * codes.
 * @param {keyof typeof en} name
 * @param {Readonly<Record<string, string | number>>} [values]
 */
export const t = (name, values = {}) => fill(table[name], values);

/**
 * Returns a text; '' if no text has this name.
 * @param {string} name
 */
export const textOf = (name) => (name in table ? t(/** @type {keyof typeof en} */ (name)) : '');

const digits = new Intl.NumberFormat(tag);

/**
 * Formats a whole number with separators, such as `7,436`.
 * @param {number} value
 */
export const count = (value) => digits.format(value);

const compact = new Intl.NumberFormat(tag, { notation: 'compact', maximumFractionDigits: 1 });

/**
 * Formats a number in few characters, such as `1.2K`.
 * @param {number} value
 */
export const compactNumber = (value) => compact.format(value);

const clock = new Intl.DateTimeFormat(tag, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/**
 * Formats a time such as `23:24:07`.
 * @param {number} at Unix milliseconds.
 */
export const timeOfDay = (at) => clock.format(at);

const minutes = new Intl.DateTimeFormat(tag, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/**
 * Formats a time such as `23:24`.
 * @param {number} at Unix milliseconds.
 */
export const minuteOfDay = (at) => minutes.format(at);

const days = new Intl.DateTimeFormat(tag, { dateStyle: 'medium' });

/**
 * Formats a time of the last 20 hours as `23:24`, and an earlier time as `Nov 25, 2026`.
 * @param {number} at Unix milliseconds.
 */
export const dayOrMinute = (at) => (Date.now() - at < 20 * 3_600_000 ? minutes : days).format(at);

const calendar = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

/**
 * Formats a day and a time such as `Nov 25, 2026, 23:24:07`.
 * @param {number} at Unix milliseconds.
 */
export const moment = (at) => calendar.format(at);

const short = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });

/** @type {readonly (readonly [number, 'sizeGB' | 'sizeMB' | 'sizeKB'])[]} */
const sizes = [
  [1e9, 'sizeGB'],
  [1e6, 'sizeMB'],
  [1e3, 'sizeKB'],
];

/**
 * Formats bytes in their largest unit, such as `1.2 GB`.
 * @param {number} bytes
 */
export const size = (bytes) => {
  const [unit, name] = sizes.find(([least]) => bytes >= least) ?? /** @type {const} */ ([1, 'sizeB']);
  return t(name, { n: short.format(bytes / unit) });
};

/** @type {readonly (readonly [number, 'ageSeconds' | 'ageMinutes' | 'ageHours' | 'ageDays'])[]} */
const units = [
  [86_400_000, 'ageDays'],
  [3_600_000, 'ageHours'],
  [60_000, 'ageMinutes'],
];

/**
 * Formats a duration in its largest whole unit, such as `40 min`.
 * @param {number} ms
 */
export const age = (ms) => {
  const [unit, name] = units.find(([size]) => ms >= size) ?? /** @type {const} */ ([1_000, 'ageSeconds']);
  return t(name, { n: Math.max(0, Math.floor(ms / unit)) });
};
