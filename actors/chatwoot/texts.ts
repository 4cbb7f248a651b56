/** Converts texts between WhatsApp and the Markdown of Chatwoot. Pure functions. */
import type { ToldMessage } from '../model.ts';

/** Patterns of text between single signs, on one line. The text begins and ends with a character that is no space. */
const star = /(?<![\w*\\])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g;
const wave = /(?<![\w~\\])~(?=[^\s~])([^~\n]*[^\s~])~(?![\w~])/g;
/** Patterns of text between double signs, up to the next pair. A longer match would take quadratic time. */
const doubleStar = /\*\*(?=\S)((?:(?!\*\*)[^\n])*?\S)\*\*/g;
const doubleWave = /~~(?=\S)((?:(?!~~)[^\n])*?\S)~~/g;

/** Changes the parts of a text outside of code. Parts outside and inside alternate. */
const outsideCode = (text: string, change: (part: string) => string): string =>
  text
    .split(/(```[\s\S]*?```|`[^`\n]+`)/)
    .map((part, at) => (at % 2 === 0 ? change(part) : part))
    .join('');

export const toMarkdown = (text: string): string => outsideCode(text, (part) => part.replace(star, '**$1**').replace(wave, '~~$1~~'));

/** Placeholder for a finished star. No text contains this character. */
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

/** Returns the name of the sender in a group. */
const senderOf = ({ senderName, senderPn }: ToldMessage): string => {
  const number = senderPn.replace(/@.*/, '');
  if (senderName === '') return number === '' ? 'Somebody' : `+${number}`;
  return number === '' ? senderName : `${senderName} (+${number})`;
};

const placeText = ({ name, address, latitude, longitude }: NonNullable<ToldMessage['place']>): string =>
  [name, address, `https://maps.google.com/?q=${latitude},${longitude}`].filter((line) => line !== '').join('\n');

const pollText = ({ text, convertOptions }: ToldMessage): string =>
  [text, ...convertOptions.split('|').filter((option) => option !== '')].map((line, at) => (at === 0 ? line : `- ${line}`)).join('\n');

/** Returns the text of a message before its conversion, or ''. */
const wordsOf = (message: ToldMessage): string => {
  if (message.place !== null) return placeText(message.place);
  if (message.type === 'poll' && message.vote === '') return pollText(message);
  return message.text || message.vote;
};

export const withSender = (message: ToldMessage, text: string): string =>
  message.isGroup && !message.fromMe ? `**${senderOf(message)}:**\n${text}` : text;

/** Returns the text of a message as agents read it. */
export const textOf = (message: ToldMessage): string => toMarkdown(wordsOf(message));

/** Returns the person who acted on a message, for a note under that message. */
export const whoOf = (message: ToldMessage, contact: string): string =>
  message.fromMe ? 'The account' : message.isGroup ? senderOf(message) : contact || 'The contact';
