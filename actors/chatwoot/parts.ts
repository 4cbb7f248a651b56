/** Splits the message of an agent into messages of the platform. Pure functions. */
import type { ChatwootFile, ChatwootNews, ChatwootRefused, MediaKind, SendContent } from '../model.ts';
import { fromMarkdown } from './texts.ts';

type Written = Extract<ChatwootNews, { kind: 'message' }>;

/** Kinds in which a file may be sent, best first. If conversion to a kind fails, the next kind is tried. */
const waysOf: Readonly<Record<string, readonly MediaKind[]>> = {
  image: ['image', 'document'],
  video: ['video', 'document'],
  audio: ['ptt', 'audio', 'document'],
};

const waysFor = (kind: string): readonly MediaKind[] => (Object.hasOwn(waysOf, kind) ? waysOf[kind] : undefined) ?? ['document'];

const captioned = (kind: string): boolean => kind !== 'audio';

const signed = ({ agent, text }: Written, sign: boolean): string => {
  const plain = fromMarkdown(text);
  return sign && agent !== '' && plain !== '' ? `*${agent}:*\n${plain}` : plain;
};

const textContent = (text: string): SendContent => ({ kind: 'text', text, preview: null });

const mediaContent = ({ url }: ChatwootFile, as: MediaKind, caption: string): SendContent => ({
  kind: 'media',
  as,
  file: { source: url, as, thumbnail: '', mimetype: '', filename: '' },
  caption,
  viewOnce: false,
});

/** Returns the number of parts, without converting the text. */
export function countParts({ text, files }: Written): number {
  const [first] = files;
  const isCaption = first !== undefined && captioned(first.kind);
  return files.length + (text === '' || isCaption ? 0 : 1);
}

/** Returns the parts in order. Each part has alternatives, of which the first that the platform accepts is sent. */
export function partsOf(written: Written, sign: boolean): readonly (readonly SendContent[])[] {
  const text = signed(written, sign);
  const [first] = written.files;
  const isCaption = first !== undefined && captioned(first.kind);
  const alone = text === '' || isCaption ? [] : [[textContent(text)]];
  const files = written.files.map((file, at) => waysFor(file.kind).map((as) => mediaContent(file, as, isCaption && at === 0 ? text : '')));
  return [...alone, ...files];
}

/** Returns the reason of a failure, with the reason of each part that was not sent. If all parts failed for one reason, returns that reason alone. */
export function failureOf(written: Written, refused: readonly ChatwootRefused[]): string {
  const count = countParts(written);
  const texts = count - written.files.length;
  const reasons = [...new Set(refused.map(({ reason }) => reason))];
  if (refused.length === count && reasons.length === 1) return reasons.join('');
  const nameOf = (part: number): string => (part < texts ? 'text' : `file ${part - texts + 1} of ${written.files.length}`);
  return refused.map(({ part, reason }) => `${nameOf(part)}: ${reason}`).join('; ');
}
