/** Reads the content of a message. The content comes from strangers, so every field may be missing or of another type. */
import { fieldsOf } from '../core/api.js';
import { kindOf } from './names.js';

/** @import { Message } from './types.ts' */

/** @param {unknown} value */
const textIn = (value) => (typeof value === 'string' ? value : '');

/** @param {unknown} value */
const numberIn = (value) => (Number.isFinite(Number(value)) && Number(value) > 0 ? Number(value) : 0);

/** @typedef {'picture' | 'sticker' | 'video' | 'sound' | 'file'} MediaKind */

/** @type {Readonly<Record<string, MediaKind>>} */
const mediaKinds = {
  ImageMessage: 'picture',
  StickerMessage: 'sticker',
  LottieStickerMessage: 'sticker',
  VideoMessage: 'video',
  PtvMessage: 'video',
  AudioMessage: 'sound',
  DocumentMessage: 'file',
};

/** @param {Message} message @returns {MediaKind | null} */
export const mediaKindOf = ({ messageType }) => (Object.hasOwn(mediaKinds, messageType) ? (mediaKinds[messageType] ?? null) : null);

/** Returns the facts about the file of a message; '' or 0 for a missing fact. @param {Message} message */
export const fileOf = ({ content }) => {
  const fields = fieldsOf(content);
  const thumbnail = textIn(fields['JPEGThumbnail']);
  return {
    name: textIn(fields['fileName']).slice(0, 200),
    bytes: numberIn(fields['fileLength']),
    seconds: numberIn(fields['seconds']),
    width: numberIn(fields['width']),
    height: numberIn(fields['height']),
    /** The small picture in the message, as a data URL; '' without one. */
    thumbnail: /^[A-Za-z0-9+/]+=*$/.test(thumbnail) ? `data:image/jpeg;base64,${thumbnail}` : '',
  };
};

/** Returns latitude and longitude, such as `52.52, 13.4`; '' if the message has none. @param {Message} message */
export const placeOf = ({ content }) => {
  const { degreesLatitude: latitude, degreesLongitude: longitude } = fieldsOf(content);
  return typeof latitude === 'number' && typeof longitude === 'number' ? `${latitude}, ${longitude}` : '';
};

/** Returns the text of the message that this message quotes, or the kind of the quoted message; '' if the quote has neither. @param {Message} message */
export const quotedTextOf = ({ content }) => {
  const quoted = fieldsOf(fieldsOf(fieldsOf(content)['contextInfo'])['quotedMessage']);
  for (const [name, value] of Object.entries(quoted)) {
    const fields = fieldsOf(value);
    const text = textIn(value) || textIn(fields['text']) || textIn(fields['caption']) || textIn(fields['name']);
    if (text !== '') return text;
    if (name.endsWith('Message')) return kindOf(name.charAt(0).toUpperCase() + name.slice(1));
  }
  return '';
};
