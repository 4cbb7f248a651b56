/** Translates sentences that the server wrote in English. The server stores reasons as sentences and logs the same words, so the sentences have no keys. */

/**
 * @typedef {readonly (readonly [string, string])[]} Phrases Pairs of an English sentence and its translation. `{1}`, `{2}` stand for values, which
 * are translated as well. A phrase also fits before a colon with details, and after a code such as `401: `.
 */

/**
 * Returns the values in a sentence that a phrase describes; null if the sentence does not fit. `parts`: the fixed texts of the phrase around its values.
 * @param {readonly string[]} parts
 * @param {string} sentence
 */
const valuesOf = (parts, sentence) => {
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (!sentence.startsWith(first) || !sentence.endsWith(last) || sentence.length < first.length + last.length) return null;
  const values = [];
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const at = sentence.indexOf(part, from + 1);
    if (at === -1 || at + part.length > sentence.length - last.length) return null;
    values.push(sentence.slice(from, at));
    from = at + part.length;
  }
  values.push(sentence.slice(from, sentence.length - last.length));
  return values.includes('') ? null : values;
};

/** The largest number of cached translations. Reasons repeat, and the list translates one for each row. */
const mostKept = 500;

/**
 * Returns a function that translates a sentence. A sentence without a translation stays unchanged.
 * @param {Phrases} phrases
 * @returns {(sentence: string) => string}
 */
export const translator = (phrases) => {
  const exact = new Map(phrases);
  const templates = phrases
    .filter(([english]) => english.includes('{1}'))
    .map(([english, own]) => ({ parts: english.split(/\{\d\}/), own }));
  /** @type {Map<string, string>} */
  const kept = new Map();

  /** @param {string} sentence @returns {string} */
  const translated = (sentence) => {
    const known = exact.get(sentence);
    if (known !== undefined) return known;
    const coded = /^(\d{3}: )(.+)$/s.exec(sentence);
    if (coded !== null) return `${coded[1]}${translated(coded[2] ?? '')}`;
    for (const { parts, own } of templates) {
      const values = valuesOf(parts, sentence);
      if (values !== null) return own.replaceAll(/\{(\d)\}/g, (_whole, at) => translated(values[Number(at) - 1] ?? ''));
    }
    for (let at = sentence.lastIndexOf(': '); at > 0; at = sentence.lastIndexOf(': ', at - 1)) {
      const start = exact.get(sentence.slice(0, at));
      if (start !== undefined) return `${start}: ${translated(sentence.slice(at + 2))}`;
    }
    return sentence;
  };

  return (sentence) => {
    const known = kept.get(sentence);
    if (known !== undefined) return known;
    const own = translated(sentence);
    if (kept.size >= mostKept) kept.clear();
    kept.set(sentence, own);
    return own;
  };
};
