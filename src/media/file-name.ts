/** The name that a source gives its file. */

const longest = 200;

/** The last part of a path, without what no file system takes; '' when nothing is left. */
export const plainName = (name: string): string => {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const plain = last
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"|?*]/g, '')
    .trim()
    .replace(/^\.+/, '');
  return plain.toWellFormed().slice(-longest);
};

/** Without its percent escapes, where they make sense. */
export const unescaped = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Returns the name from the header `Content-Disposition` (RFC 6266; the extended form goes first), otherwise the last part of the address. */
export const nameFrom = (disposition: string, url: string): string => {
  const extended = /filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1];
  const [, quoted, bare] = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? [];
  const named = extended === undefined ? (quoted?.replace(/\\(.)/g, '$1') ?? bare) : unescaped(extended);
  return plainName(named ?? '') || plainName(unescaped(URL.parse(url)?.pathname ?? ''));
};
