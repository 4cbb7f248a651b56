/** The words of an alert. */
import type { AlertKind, AlertMessage, Trouble } from '../model.ts';

const words: Readonly<Record<AlertKind, readonly [one: string, many: string]>> = {
  session: ['session needs a person', 'sessions need a person'],
  receiver: ['receiver does not answer', 'receivers do not answer'],
  disk: ['disk is nearly full', 'disks are nearly full'],
  node: ['node is lost', 'nodes are lost'],
};

const kinds = Object.keys(words) as readonly AlertKind[];

/**
 * A name comes from users. A line break, a sign that turns the text around, or a long text must not change the message. An address in it is parted, so
 * that no client makes a link of it.
 */
const line = (text: string, most: number): string => {
  const flat = text
    .replaceAll(/[\s\p{Cc}\p{Bidi_Control}\u200B\u2060]+/gu, ' ')
    .replaceAll('://', ': //')
    .trim();
  return [...flat].length > most ? `${[...flat].slice(0, most).join('')}…` : flat;
};

const counted = (troubles: readonly Trouble[]): readonly string[] =>
  kinds.flatMap((kind) => {
    const count = troubles.filter((one) => one.kind === kind).length;
    return count === 0 ? [] : [`${count} ${words[kind][count === 1 ? 0 : 1]}`];
  });

const moment = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const nameOf = ({ kind, name, key }: Trouble): string => line(name, 80) || (kind === 'disk' || kind === 'node' ? 'this gateway' : key);

const lineOf = (trouble: Trouble, baseUrl: string): string => {
  const { kind, key, reason, since } = trouble;
  const link = kind === 'session' ? ` ${baseUrl}/admin/sessions/${encodeURIComponent(key)}` : '';
  const why = line(reason, 200);
  return `- ${nameOf(trouble)}${why === '' ? '' : `: ${why}`} (since ${moment(since)})${link}`;
};

const more = (shown: number, all: number): readonly string[] => (all > shown ? [`- and ${all - shown} more`] : []);

/** Returns one line, such as `Dormouse: 3 sessions need a person`. */
export const subjectOf = ({ troubles, well, counts }: AlertMessage): string => {
  const parts = counted(troubles);
  const cut = counts.troubles > troubles.length ? ` and ${counts.troubles - troubles.length} more` : '';
  const over = counts.well === 0 ? [] : [`${counts.well} well again`];
  return `Dormouse: ${[...(parts.length === 0 ? [] : [parts.join(', ') + cut]), ...over].join('; ') || (well.length === 0 ? 'a test' : '')}`;
};

/** Returns the whole text. A message without troubles is a test. */
export const textOf = (message: AlertMessage, baseUrl: string): string => {
  const { troubles, well, counts } = message;
  if (counts.troubles + counts.well === 0) return `This is a test of the alerts of ${baseUrl}. Nothing is wrong.`;
  const sections = [
    ...kinds.flatMap((kind) => {
      const own = troubles.filter((one) => one.kind === kind);
      if (own.length === 0) return [];
      const repeated = own.every((one) => one.repeated) ? ' (still)' : '';
      return [[`${counted(own).join('')}${repeated}:`, ...own.map((one) => lineOf(one, baseUrl))]];
    }),
    ...more(troubles.length, counts.troubles).map((text) => [text]),
    ...(well.length === 0 ? [] : [['Well again:', ...well.map((one) => `- ${nameOf(one)}`), ...more(well.length, counts.well)]]),
  ];
  return [...sections.map((lines) => lines.join('\n')), `${baseUrl}/admin`].join('\n\n');
};
