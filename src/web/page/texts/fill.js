/** Fills the values of a text. `{n}` becomes the value `n`. `{n|day|days}` becomes `day` if `n` is one, and `days` for other numbers. */
import { visible } from './visible.js';

/** @typedef {Readonly<Record<string, string | number>>} Values Numbers and texts. A text that is not all digits gets the word for other numbers. */

/**
 * Returns a function that fills texts of one language. Plurals follow CLDR, where Portuguese counts 0 as one.
 * @param {string} tag The language tag of BCP 47.
 * @returns {(text: string, values: Values) => string}
 */
export const filler = (tag) => {
  const rules = new Intl.PluralRules(tag);
  /** @param {string | number | undefined} value */
  const isOne = (value) => (typeof value === 'number' || /^\d+$/.test(value ?? '')) && rules.select(Number(value)) === 'one';
  return (text, values) =>
    text.replaceAll(/\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g, (_whole, key, one, other) => {
      if (one !== undefined) return isOne(values[key]) ? one : other;
      return visible(String(values[key] ?? ''));
    });
};
