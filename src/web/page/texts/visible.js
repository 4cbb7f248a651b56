/**
 * Makes characters visible that change the direction of a text. With such characters, a name could show a word that it does not contain, or reverse the
 * sentence around it.
 */

/** Embeddings, overrides, isolates and marks of the Unicode Bidirectional Algorithm (UAX 9). */
const controls = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/**
 * Returns the text with each of these characters as its code, such as `[U+202E]`.
 * @param {string} text
 */
export const visible = (text) =>
  text.replaceAll(controls, (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);
