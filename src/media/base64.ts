/** Reads bytes out of data URLs and base64, in slices: a text of 90 MB never has a second copy in memory. */
import { unescaped } from './file-name.ts';
import { MediaFailure } from './media-failure.ts';

/** Characters that are decoded at once: some milliseconds of work, then the event loop turns. */
const sliceLength = 262_144;
/** A data URL without base64 is meant for short texts. */
const longestPlain = 1_048_576;
const longestHead = 1_024;

const nonsense = (): MediaFailure => new MediaFailure('invalid', 'the file must be an http(s) URL, a data URL or base64');

/** Slices of a text; with `escapes` without its percent escapes, none of which is cut in two. */
function* slicesOf(text: string, from: number, escapes: boolean): Generator<string> {
  let cut = '';
  for (let at = from; at < text.length; at += sliceLength) {
    const slice = cut + text.slice(at, at + sliceLength);
    cut = escapes ? (/%[0-9a-f]?$/i.exec(slice)?.[0] ?? '') : '';
    const whole = slice.slice(0, slice.length - cut.length);
    yield escapes ? whole.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16))) : whole;
  }
  if (cut) yield cut;
}

/** The last two or three digits. Encoders leave the bits that no byte takes empty; in a word that is no base64 they rarely are. */
const lastBytes = (digits: string): Buffer => {
  const bytes = Buffer.from(digits, 'base64');
  if (digits.length === 1 || bytes.toString('base64url') !== digits.replaceAll('+', '-').replaceAll('/', '_')) throw nonsense();
  return bytes;
};

/** Either alphabet, with white space, with or without padding; anything else fails. */
function* base64Bytes(text: string, from: number, escapes: boolean): Generator<Buffer> {
  let [rest, padding] = ['', 0];
  for (const slice of slicesOf(text, from, escapes)) {
    const found = /^([\w+/-]*)(={0,2})$/.exec(slice.replace(/\s+/g, ''));
    const digits = found?.[1] ?? '';
    if (!found || (padding > 0 && digits !== '')) throw nonsense();
    padding += found[2]?.length ?? 0;
    const all = rest + digits;
    const whole = all.length - (all.length % 4);
    rest = all.slice(whole);
    if (whole > 0) yield Buffer.from(all.slice(0, whole), 'base64');
  }
  if (padding > 0 && rest.length + padding !== 4) throw nonsense();
  if (rest) yield lastBytes(rest);
}

function* plainBytes(text: string): Generator<Buffer> {
  if (text.length > longestPlain) throw new MediaFailure('invalid', 'a data URL as long as this must hold base64');
  const runs = text.matchAll(/(?:%[0-9a-f]{2})+|[^%]+|%/gi);
  for (const [run] of runs) yield /^%[0-9a-f]{2}/i.test(run) ? Buffer.from(run.replaceAll('%', ''), 'hex') : Buffer.from(run);
}

/** The bytes of a text, and the name that a data URL may hold (`;name=a.png`). The bytes fail with `MediaFailure` where the text makes no sense. */
export const inlineBytes = (text: string): { readonly bytes: Iterable<Buffer>; readonly filename: string } => {
  if (!/^data:/i.test(text)) return { bytes: base64Bytes(text, 0, false), filename: '' };
  const comma = text.slice(0, longestHead).indexOf(',');
  if (comma < 0) throw nonsense();
  const head = text.slice(0, comma);
  const filename = unescaped(/;\s*(?:file)?name="?([^;"]+)/i.exec(head)?.[1] ?? '');
  return { filename, bytes: /;\s*base64\s*$/i.test(head) ? base64Bytes(text, comma + 1, true) : plainBytes(text.slice(comma + 1)) };
};
