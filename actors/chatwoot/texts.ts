/** Texts between WhatsApp and Chatwoot, which shows Markdown: pure functions. */
import type { ToldMessage } from '../model.ts';

/** Text between single signs. It begins and ends at a character that is no space, on one line. */
const star = /(?<![\w*\\])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g;
const wave = /(?<![\w~\\])~(?=[^\s~])([^~\n]*[^\s~])~(?![\w~])/g;
/** Text between double signs, up to the next ones: a longer text would take quadratic time. */
const doubleStar = /\*\*(?=\S)((?:(?!\*\*)[^\n])*?\S)\*\*/g;
const doubleWave = /~~(?=\S)((?:(?!~~)[^\n])*?\S)~~/g;

/** Parts of a text in turn: outside of code, inside of it, outside, … */
const outsideCode = (text: string, change: (part: string) => string): string =>
  text
    .split(/(```[\s\S]*?```|`[^`\n]+`)/)
    .map((part, at) => (at % 2 === 0 ? change(part) : part))
    .join('');

export const toMarkdown = (text: string): string => outsideCode(text, (part) => part.replace(star, '**$1**').replace(wave, '~~$1~~'));

/** Stands for a star that is made already; no text has it. */
const made = '\u{E000}';

export const fromMarkdown = (text: string): string =>
  outsideCode(text, (part) =>
    part
      .replace(doubleStar, `${made}$1${made}`)
      .replace(star, '_$1_')
      .replace(doubleWave, '~$1~')
      .replace(/\\([\\`*_{}[\]()#+\-.!~>|])/g, '$1')
      .replaceAll(made, '*'),
  );

/** Who writes in a group. */
const senderOf = ({ senderName, senderPn }: ToldMessage): string => {
  const number = senderPn.replace(/@.*/, '');
  if (senderName === '') return number === '' ? 'Somebody' : `+${number}`;
  return number === '' ? senderName : `${senderName} (+${number})`;
};

const placeText = ({ name, address, latitude, longitude }: NonNullable<ToldMessage['place']>): string =>
  [name, address, `https://maps.google.com/?q=${latitude},${longitude}`].filter((line) => line !== '').join('\n');

const pollText = ({ text, convertOptions }: ToldMessage): string =>
  [text, ...convertOptions.split('|').filter((option) => option !== '')].map((line, at) => (at === 0 ? line : `- ${line}`)).join('\n');

/** What a message says, before it is known who reads it; '' for nothing. */
const wordsOf = (message: ToldMessage): string => {
  if (message.place !== null) return placeText(message.place);
  if (message.type === 'poll' && message.vote === '') return pollText(message);
  return message.text || message.vote;
};

export const withSender = (message: ToldMessage, text: string): string =>
  message.isGroup && !message.fromMe ? `**${senderOf(message)}:**\n${text}` : text;

/** As agents read it. */
export const textOf = (message: ToldMessage): string => toMarkdown(wordsOf(message));

/** `who` did something to a message that stands above. */
export const whoOf = (message: ToldMessage, contact: string): string =>
  message.fromMe ? 'The account' : message.isGroup ? senderOf(message) : contact || 'The contact';
