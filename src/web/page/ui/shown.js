/** Shows characters that change the direction of a text as codes in everything that Preact draws, so that no view can forget a text from outside. */
import { options } from 'preact';
import { visible } from '../texts/visible.js';

/** Attributes that people see or that are read to them. */
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
 * Returns a text that is drawn as it is written. Preact draws text objects like texts.
 * @param {string} text A text whose characters the caller has checked.
 */
export const asWritten = (text) => /** @type {unknown} */ (Object(text));

/** Shows such characters in everything that is drawn from now on. Values of fields stay unchanged, because they are sent. */
export const showSigns = () => {
  const next = options.vnode;
  options.vnode = (node) => {
    show(/** @type {Node} */ (node));
    next?.(node);
  };
};
