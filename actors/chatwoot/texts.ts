/** Conversions between WhatsApp and Chatwoot: texts, events that become messages of an inbox, and messages of agents. Pure functions. */
import type {
  ChatwootAddressee,
  ChatwootFile,
  ChatwootNews,
  ChatwootRefused,
  InstanceRecord,
  MediaKind,
  SendContent,
  ToldChat,
  ToldMessage,
} from '../model.ts';

// Converts texts between WhatsApp and the Markdown of Chatwoot. Pure functions.

/** Patterns of text between single stars or tildes, on one line. The enclosed text begins and ends with a character other than a space. */
const star = /(?<![\w*\\])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g;
const wave = /(?<![\w~\\])~(?=[^\s~])([^~\n]*[^\s~])~(?![\w~])/g;
/** Patterns of text between double stars or tildes, up to the next double sign. A longer match would take quadratic time. */
const doubleStar = /\*\*(?=\S)((?:(?!\*\*)[^\n])*?\S)\*\*/g;
const doubleWave = /~~(?=\S)((?:(?!~~)[^\n])*?\S)~~/g;

/** Changes the parts of a text outside of code. Parts outside and inside alternate. */
const outsideCode = (text: string, change: (part: string) => string): string =>
  text
    .split(/(```[\s\S]*?```|`[^`\n]+`)/)
    .map((part, at) => (at % 2 === 0 ? change(part) : part))
    .join('');

export const toMarkdown = (text: string): string => outsideCode(text, (part) => part.replace(star, '**$1**').replace(wave, '~~$1~~'));

/** Placeholder for a star that is already converted. The character is for private use, so texts do not contain it. */
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

const withSender = (message: ToldMessage, text: string): string =>
  message.isGroup && !message.fromMe ? `**${senderOf(message)}:**\n${text}` : text;

/** Returns the text of a message as agents read it. */
const textOf = (message: ToldMessage): string => toMarkdown(wordsOf(message));

/** Returns the person who acted on a message, for a note under that message. */
const whoOf = (message: ToldMessage, contact: string): string =>
  message.fromMe ? 'The account' : message.isGroup ? senderOf(message) : contact || 'The contact';

// Drafts the messages that events become in Chatwoot. Pure functions.

export interface Draft {
  /** The id of the message on the platform, with a suffix for a note about the message. */
  readonly key: string;
  readonly text: string;
  readonly incoming: boolean;
  /** True for a note for agents about a message that is already in Chatwoot. A note opens no conversation. */
  readonly isNote: boolean;
  /** The id of the message that this message answers or describes, or ''. */
  readonly about: string;
  readonly hasFile: boolean;
}

/** Kinds of media that have a file. */
const files: ReadonlySet<string> = new Set(['image', 'video', 'gif', 'ptt', 'audio', 'document', 'sticker', 'ptv']);

/** Returns true for chats with people or groups. */
const isConversation = (chatId: string): boolean => /@(?:s\.whatsapp\.net|lid|g\.us)$/.test(chatId);

/** Kinds of messages without content for agents. Only phones show their effects. */
const silent = /^(?:PinInChat|KeepInChat|Protocol|EncReaction|EncComment|SenderKeyDistribution|UnknownMessageType)/;

const noteOf = (message: ToldMessage, { name }: ToldChat): string => {
  const who = whoOf(message, name);
  if (message.type === 'reaction') return message.text === '' ? `${who} removed the reaction` : `${who} reacted with ${message.text}`;
  return `${who} voted: ${message.vote}`;
};

const note = (message: ToldMessage, chat: ToldChat, about: string): Draft => ({
  key: message.messageId,
  text: noteOf(message, chat),
  incoming: false,
  isNote: true,
  about,
  hasFile: false,
});

/** Returns the draft of a message; null if there is nothing to show to agents. */
export function draftOf(message: ToldMessage, chat: ToldChat): Draft | null {
  if (message.messageId === '' || !isConversation(message.chatId)) return null;
  if (message.type === 'reaction') return note(message, chat, message.reaction);
  if (message.vote !== '' && message.type === 'poll') return note(message, chat, message.quoted);
  const hasFile = files.has(message.mediaType) && message.edited === '';
  const words = textOf(message);
  if (words === '' && !hasFile && (silent.test(message.messageType) || message.messageType === '')) return null;
  const text = words === '' && !hasFile ? `[${message.messageType}]` : words;
  const body = message.edited === '' ? text : `Edited: ${text}`;
  return {
    key: message.messageId,
    text: withSender(message, body).trimEnd(),
    incoming: !message.fromMe,
    isNote: false,
    about: message.edited || message.quoted,
    hasFile,
  };
}

export const deletedDraft = (messageId: string, fromMe: boolean): Draft => ({
  key: `${messageId}:deleted`,
  text: `${fromMe ? 'The account' : 'The contact'} deleted this message`,
  incoming: false,
  isNote: true,
  about: messageId,
  hasFile: false,
});

// Splits the message of an agent into messages of the platform. Pure functions.

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

/** Returns the parts in order. Each part has alternatives. The first alternative to which its file can be converted is sent. */
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

// Finds the recipient of a conversation that an agent began in Chatwoot. Pure functions.

/** Addresses of people and groups. Agents do not write to other chats, such as channels. */
const address = /^(?:[1-9]\d{4,14}@(?:s\.whatsapp\.net|c\.us)|\d{5,20}@lid|\d[\d-]{4,40}@g\.us)$/;
const longestNumber = 15;

const digitsOf = (text: string): string => /^\d*/.exec(text)?.[0] ?? '';

/** Returns the address or the number, or '' if agents may not write to the contact. `own` is the account, which does not write to itself. */
export function addresseeOf(
  { identifier, phone }: Pick<ChatwootAddressee, 'identifier' | 'phone'>,
  own: Pick<InstanceRecord, 'owner' | 'lid'>,
): string {
  const digits = phone.replaceAll(/\D/g, '');
  const chosen = address.test(identifier) ? identifier : digits.length <= longestNumber ? digits : '';
  const isOwn = !chosen.endsWith('@g.us') && [own.owner, own.lid].some((one) => one !== '' && digitsOf(one) === digitsOf(chosen));
  return isOwn ? '' : chosen;
}
