/** Texts of the page by name. Another language is one more file in `texts/` and one more line here; the page takes the first that the reader knows. */
import { visible } from './texts/visible.js';
import { en } from './texts/en.js';

/** @type {Readonly<Record<string, typeof en>>} */
const tables = { en };

const language = navigator.languages.map((name) => name.slice(0, 2)).find((name) => name in tables) ?? 'en';
document.documentElement.lang = language;

const table = tables[language] ?? en;

/**
 * A text, with `{name}` replaced by the values. Characters of a value that would reverse the text are shown as codes.
 * @param {keyof typeof en} name
 * @param {Readonly<Record<string, string | number>>} [values]
 */
export const t = (name, values = {}) => table[name].replaceAll(/\{(\w+)\}/g, (_whole, key) => visible(String(values[key] ?? '')));

/**
 * A text that may be missing; '' then.
 * @param {string} name
 */
export const textOf = (name) => (name in table ? t(/** @type {keyof typeof en} */ (name)) : '');

const digits = new Intl.NumberFormat(language);

/**
 * A whole number as people read it, such as `7,436`.
 * @param {number} value
 */
export const count = (value) => digits.format(value);

const clock = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

/**
 * Such as `23:24:07`.
 * @param {number} at Unix milliseconds.
 */
export const timeOfDay = (at) => clock.format(at);

const calendar = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

/**
 * Such as `Nov 25, 2026, 23:24:07`.
 * @param {number} at Unix milliseconds.
 */
export const moment = (at) => calendar.format(at);

/** @type {readonly (readonly [number, 'ageSeconds' | 'ageMinutes' | 'ageHours' | 'ageDays'])[]} */
const units = [
  [86_400_000, 'ageDays'],
  [3_600_000, 'ageHours'],
  [60_000, 'ageMinutes'],
];

/**
 * Formats a duration in its largest unit, such as `40 min`.
 * @param {number} ms
 */
export const age = (ms) => {
  const [unit, name] = units.find(([size]) => ms >= size) ?? /** @type {const} */ ([1_000, 'ageSeconds']);
  return t(name, { n: Math.max(0, Math.floor(ms / unit)) });
};
