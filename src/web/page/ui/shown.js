/** Shows characters that change the direction of a text as codes in everything that Preact draws. Views need no code for this. */
import { options } from 'preact';
import { visible } from '../texts/visible.js';

/** Attributes that people see or that screen readers read aloud. */
const readable = ['title', 'aria-label', 'alt', 'placeholder', 'label'];

/** @typedef {{ type: unknown, props: unknown }} Node For a text, `type` is null and `props` is the text. */

/** @param {Node} node */
const show = (node) => {
  const { type, props } = node;
  if (type === null && typeof props === 'string') node.props = visible(props);
  if (typeof type !== 'string') return;
  const attributes = /** @type {Record<string, unknown>} */ (props);
  for (const name of readable) {
    const value = attributes[name];
    if (typeof value === 'string') attributes[name] = visible(value);
  }
};

/**
 * Returns a text that is drawn unchanged. Preact draws a `String` object like a text, but `show` does not replace its characters.
 * @param {string} text A text whose characters the caller has checked.
 */
export const asWritten = (text) => /** @type {unknown} */ (Object(text));

/** Installs the replacement for everything that is drawn from now on. Values of fields stay unchanged, because they are sent to the server. */
export const showSigns = () => {
  const next = options.vnode;
  options.vnode = (node) => {
    show(/** @type {Node} */ (node));
    next?.(node);
  };
};
