/** The text of a message: plain text with links. The text is never parsed as HTML. */
import { useState } from 'preact/hooks';
import { html } from 'htm/preact';
import { t } from '../texts.js';
import { visible } from '../texts/visible.js';
import { asWritten } from '../ui/shown.js';
import { piecesOf } from './links.js';

/** The number of characters that are shown at first. A message may have 65,536. */
const shown = 3_000;

/** Overrides of direction (UAX 9) can show words that the text does not contain. Marks and isolates are not replaced, because some languages need them. */
const overrides = /[\u202D\u202E]/g;

/**
 * The text of a message. The title of a link has the host as the browser reads it, so that letters that look alike can be told apart.
 * @param {{ text: string }} props
 */
export const MessageText = ({ text }) => {
  const [isWhole, setWhole] = useState(false);
  const part = isWhole ? text : text.slice(0, shown);
  const pieces = piecesOf(part);
  /** True for the last piece of a cut text. A link that is cut off would lead to another address. */
  const isCut = (/** @type {number} */ at) => at === pieces.length - 1 && part.length < text.length;
  return html`
    <p class="text" dir="auto">
      ${pieces.map((piece, at) =>
        typeof piece === 'string' || isCut(at)
          ? asWritten((typeof piece === 'string' ? piece : piece.link).replaceAll(overrides, visible))
          : html`<bdi dir="ltr"
              ><a href=${piece.href} title=${piece.href} target="_blank" rel="noopener noreferrer nofollow">${piece.link}</a></bdi
            >`,
      )}
    </p>
    ${part.length < text.length && html`<button type="button" class="whole" onClick=${() => setWhole(true)}>${t('chatShowAll')}</button>`}
  `;
};
