/** Finds the links in a text of a stranger. Pure. */

const longestLink = 2_048;
const linkPattern = /https?:\/\/[^\s<>"`]+/giu;
/** Signs at the end of a link that belong to the sentence around it. */
const after = new Set(".,;:!?)]}'*_~’”");

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
