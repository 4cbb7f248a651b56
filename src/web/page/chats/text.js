/** The text of a message: plain text with links. Nothing of it is read as HTML. */
import { useState } from 'preact/hooks';
import { html } from 'htm/preact';
import { t } from '../texts.js';
import { visible } from '../texts/visible.js';

/** Characters that are shown at first. A stranger may send 65,536. */
const shown = 3_000;
const longestLink = 2_048;
const linkPattern = /https?:\/\/[^\s<>"`]+/giu;
/** Signs at the end of a link that belong to the sentence around it. */
const after = new Set('.,;:!?)]}\'*_~’”');

/** Overrides of direction (UAX 9) have no use in a conversation, and show words that are not there. Marks and isolates stay: languages need them. */
const overrides = /[\u202D\u202E]/g;

/** The place where a link ends. A loop, because an expression would take quadratic time for many signs. @param {string} link */
const endOf = (link) => {
  let end = link.length;
  while (end > 0 && after.has(link[end - 1] ?? '')) end -= 1;
  return end;
};

/** The address of a link; null for a text that is none. @param {string} link */
const addressOf = (link) => {
  if (link.length > longestLink || !URL.canParse(link)) return null;
  const { protocol, href, username, password } = new URL(link);
  // `https://bank.example@evil.example` looks like another place than it is.
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' ? href : null;
};

/**
 * The pieces of a text: texts, and links as objects.
 * @param {string} text
 * @returns {readonly (string | { readonly link: string, readonly href: string })[]}
 */
export const piecesOf = (text) => {
  const pieces = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(linkPattern)) {
    const link = found.slice(0, endOf(found));
    const href = addressOf(link);
    if (href === null) continue;
    pieces.push(text.slice(from, index), { link, href });
    from = index + link.length;
  }
  return [...pieces, text.slice(from)].filter((piece) => piece !== '');
};

/** A link names its host in the title as the browser reads it, so that letters that look alike can be told apart. @param {{ text: string }} props */
export const MessageText = ({ text }) => {
  const [isWhole, setWhole] = useState(false);
  const part = isWhole ? text : text.slice(0, shown);
  return html`
    <p class="text" dir="auto">
      ${piecesOf(part).map((piece) =>
        typeof piece === 'string'
          ? piece.replaceAll(overrides, visible)
          : html`<bdi dir="ltr"
              ><a href=${piece.href} title=${piece.href} target="_blank" rel="noopener noreferrer nofollow">${visible(piece.link)}</a></bdi
            >`,
      )}
    </p>
    ${part.length < text.length && html`<button type="button" class="whole" onClick=${() => setWhole(true)}>${t('chatShowAll')}</button>`}
  `;
};
