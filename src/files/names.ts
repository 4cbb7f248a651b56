/** Public names of files. */

/** Endings that players and browsers go by. */
const endings: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'video/mp4': 'mp4',
  'video/3gpp': '3gp',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/mp4': 'm4a',
  'application/pdf': 'pdf',
};

/** `audio/ogg; codecs=opus` → `audio/ogg`. */
export const essence = (mimetype: string): string => (mimetype.split(';', 1)[0] ?? '').trim().toLowerCase();

/** Bytes of a name that are random: 128 bits, so that no name is ever guessed. */
const randomness = 16;

/** A name that nobody guesses, with an ending where the kind of the file is known. */
export const newName = (hex: (bytes: number) => string, { mimetype, filename }: { mimetype: string; filename: string }): string => {
  const [, given = ''] = /\.([a-z0-9]{1,8})$/i.exec(filename) ?? [];
  const ending = endings[essence(mimetype)] ?? given.toLowerCase();
  return `${hex(randomness)}${ending === '' ? '' : `.${ending}`}`;
};

/** Returns true if a text may be the name of a file. Other texts are not looked up. */
export const isName = (text: string): boolean => /^[0-9a-f]{32}(?:\.[a-z0-9]{1,8})?$/.test(text);
