/** Says what a file is by its content: by signatures, and for texts by careful guesses. */
import { open } from 'node:fs/promises';
import { fileTypeFromBuffer, fileTypeFromFile } from 'file-type';

export const unknownType = 'application/octet-stream';

/** One word for a type, where the library uses another than the platform and most programs. */
const usual: Readonly<Record<string, string>> = {
  'audio/x-m4a': 'audio/mp4',
  'audio/vnd.wave': 'audio/wav',
  'audio/opus': 'audio/ogg; codecs=opus',
};

const headBytes = 4_096;

/** Text that may precede the first element. Each pattern can end in one way only, so that a hostile file costs no more than a plain one. */
const prologs: readonly RegExp[] = [/\s+/y, /<\?xml[^>]*>/iy, /<!doctype\s+svg[^>]*>/iy];

/** Returns the text behind white space, comments and the declarations of a document. */
const withoutProlog = (text: string): string => {
  let at = 0;
  const skips = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  for (;;) {
    if (text.startsWith('<!--', at)) {
      const end = text.indexOf('-->', at + 4);
      if (end < 0) return '';
      at = end + 3;
    } else if (!prologs.some(skips)) return text.slice(at);
  }
};

/** Types by the text behind the prolog. A page that hides a script behind another type is still a page. */
const documents: readonly (readonly [RegExp, string])[] = [
  [/^<(?:\w{1,40}:)?svg[\s>]/i, 'image/svg+xml'],
  [/^<(?:!doctype\s+html|html|head|body|script|iframe)[\s>]/i, 'text/html'],
];

/** Types by the beginning of the text. */
const texts: readonly (readonly [RegExp, string])[] = [
  [/^\s*<\?xml\s/i, 'application/xml'],
  [/^#EXTM3U/, 'application/vnd.apple.mpegurl'],
  [/^BEGIN:VCARD\b/i, 'text/vcard'],
  [/^BEGIN:VCALENDAR\b/i, 'text/calendar'],
];

const readHead = async (path: string): Promise<Buffer> => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
};

/** null when it is no text. The last character of the head may be cut, so the decoder takes it that more may follow. */
const textOf = (head: Buffer): string | null => {
  const encoding = head[0] === 0xff && head[1] === 0xfe ? 'utf-16le' : head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true });
    // oxlint-disable-next-line no-control-regex
    return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(text) ? null : text;
  } catch {
    return null;
  }
};

/** Known by the first dozen of bytes, whatever follows. */
const plain: ReadonlySet<string> = new Set(['image/jpeg', 'image/gif', 'image/webp', 'application/pdf']);
const leastHead = 64;

/** Returns the type that `typeOf` would return for a file with this beginning; null if more bytes are needed. */
export const typeOfHead = async (bytes: Uint8Array): Promise<string | null> => {
  if (bytes.length < leastHead) return null;
  const found = await fileTypeFromBuffer(bytes.subarray(0, headBytes)).catch(() => undefined);
  return found && plain.has(found.mime) ? found.mime : null;
};

/** The media type of a file, `application/octet-stream` when its content shows none. Rejects only when the file cannot be read. */
export const typeOf = async (path: string): Promise<string> => {
  // The library throws where a file that claims a type is broken; then nothing is known of it.
  const found = await fileTypeFromFile(path).catch(() => undefined);
  if (found && found.mime !== 'application/xml') return usual[found.mime] ?? found.mime;
  const text = textOf(await readHead(path));
  if (text === null) return unknownType;
  const element = withoutProlog(text);
  const kind = documents.find(([pattern]) => pattern.test(element)) ?? texts.find(([pattern]) => pattern.test(text));
  return kind?.[1] ?? 'text/plain';
};
