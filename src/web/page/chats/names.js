/** Names, times and short texts of chats. */
import { sessionAddress } from '../core/router.js';
import { initialsOf } from '../sessions/words.js';
import { minuteOfDay, t, textOf } from '../texts.js';

/** @import { Chat, Message } from './types.ts' */

/** @param {Chat} chat */
export const nameOf = ({ lead_name: lead, name, wa_contactName: contact, wa_name: own, phone, wa_chatid: id }) =>
  lead || name || contact || own || phone || id.split('@', 1)[0] || '';

/** @param {Chat} chat */
export const lettersOf = (chat) => initialsOf(nameOf(chat).replaceAll(/[^\p{L}\p{N} ]/gu, '')) || '#';

/** Returns the name of the sender of a message in a group. @param {Message} message */
export const senderOf = ({ senderName, sender_pn: number, sender }) => senderName || `+${(number || sender).split('@', 1)[0] ?? ''}`;

/** Returns the address of a chat in the dashboard. @param {string} instance @param {string} chat */
export const addressOf = (instance, chat) => sessionAddress(instance, 'chats', chat);

/** Returns a kind of message in words, such as `Picture`. @param {string} messageType */
export const kindOf = (messageType) => textOf(`chatKind_${messageType}`) || t('chatKind', { kind: messageType.replace(/Message$/, '') });

const texts = new Set(['Conversation', 'ExtendedTextMessage', '']);

/** Returns the last message of a chat in one line. @param {Chat} chat */
export const lastOf = ({ wa_lastMessageTextVote: text, wa_lastMessageType: kind }) =>
  text === '' ? (texts.has(kind) ? '' : kindOf(kind)) : text.slice(0, 200);

const language = document.documentElement.lang;
const shortDay = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' });
const longDay = new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });

/** @param {number} at */
export const dayOf = (at) => longDay.format(at);

/** Formats the time of a chat's last message: the time of day for a message of today, and the date for an earlier message. @param {number} at */
export const shortTimeOf = (at) => {
  if (at === 0) return '';
  return new Date(at).toDateString() === new Date().toDateString() ? minuteOfDay(at) : shortDay.format(at);
};
