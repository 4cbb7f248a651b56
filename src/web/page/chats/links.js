/** Finds the links in a text that a stranger wrote. Pure. */

const longestLink = 2_048;
const linkPattern = /https?:\/\/[^\s<>"`]+/giu;
/** Signs at the end of a link that belong to the sentence around it. */
const after = new Set(".,;:!?)]}'*_~’”");

/** Returns the index at which a link ends. A regular expression would take quadratic time for many signs. @param {string} link */
const endOf = (link) => {
  let end = link.length;
  while (end > 0 && after.has(link[end - 1] ?? '')) end -= 1;
  return end;
};

/** Returns the address of a link; null if the text is not a link. @param {string} link */
const addressOf = (link) => {
  if (link.length > longestLink || !URL.canParse(link)) return null;
  const { protocol, href, username, password } = new URL(link);
  // `https://bank.example@evil.example` looks like the address of another host.
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' ? href : null;
};

/**
 * Splits a text into plain texts and links. A link is an object.
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
