/**
 * The ports of the actors that the contract implements: the envelope of a webhook, placeholders in texts, and the parser of stored event
 * bodies.
 */
import type { EventSender, NamedChat, ToldChat, ToldEvent, ToldMessage } from '#actors/model.ts';
import { chatbotFields } from './chatbot.ts';

/** Makes the fields that surround the keys of an event in the body of a webhook (docs/events.md). */
export const envelopeView = ({ owner, token, name, baseUrl }: EventSender, type: string) => ({
  BaseUrl: baseUrl,
  EventType: type,
  owner,
  token,
  instanceName: name,
});

// Placeholders in the texts of sends: `{{name}}`, `{{wa_name}}`, `{{lead_email}}`.

/**
 * Returns the name of a person or a group; '' if a person has no name. A stored chat then has the phone number as its name, which must not appear in a
 * greeting.
 */
const nameOf = (chat: NamedChat | null): string => (chat === null || (!chat.isGroup && chat.name === chat.phone) ? '' : chat.name);

const fields: Readonly<Record<string, (chat: NamedChat | null) => string>> = {
  name: nameOf,
  first_name: (chat) => nameOf(chat).trim().split(/\s+/)[0] ?? '',
  wa_name: (chat) => chat?.pushName ?? '',
  wa_contactName: (chat) => chat?.contactName ?? '',
};

/** Returns the text of a placeholder; null for a name that is no placeholder. */
export const placeholderText = (name: string, chat: NamedChat | null): string | null => {
  if (Object.hasOwn(fields, name)) return fields[name]?.(chat) ?? '';
  if (!name.startsWith('lead_')) return null;
  const value = chat?.extra[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};

// Parses the stored body of an event. A missing field is empty.

type Bag = Readonly<Record<string, unknown>>;

const bagOf = (value: unknown): Bag => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Bag) : {});
const text = (bag: Bag, name: string): string => (typeof bag[name] === 'string' ? bag[name] : '');
const number = (bag: Bag, name: string): number => (typeof bag[name] === 'number' ? bag[name] : NaN);

const placeOf = (content: Bag): ToldMessage['place'] => {
  const [latitude, longitude] = [number(content, 'degreesLatitude'), number(content, 'degreesLongitude')];
  return Number.isNaN(latitude + longitude)
    ? null
    : { name: text(content, 'name'), address: text(content, 'address'), latitude, longitude };
};

const messageOf = (message: Bag): ToldMessage => ({
  messageId: text(message, 'messageid'),
  chatId: text(message, 'chatid'),
  fromMe: message['fromMe'] === true,
  isGroup: message['isGroup'] === true,
  senderName: text(message, 'senderName'),
  senderPn: text(message, 'sender_pn'),
  messageType: text(message, 'messageType'),
  type: text(message, 'type'),
  mediaType: text(message, 'mediaType'),
  text: text(message, 'text'),
  quoted: text(message, 'quoted'),
  edited: text(message, 'edited'),
  reaction: text(message, 'reaction'),
  vote: text(message, 'vote'),
  convertOptions: text(message, 'convertOptions'),
  trackSource: text(message, 'track_source'),
  trackId: text(message, 'track_id'),
  place: placeOf(bagOf(message['content'])),
});

const chatOf = (chat: Bag): ToldChat => ({
  chatId: text(chat, 'wa_chatid'),
  name: text(chat, 'wa_contactName') || text(chat, 'name') || text(chat, 'wa_name'),
  image: text(chat, 'image') || text(chat, 'imagePreview'),
});

const statusOf = (state: string, event: Bag): ToldEvent => ({
  kind: 'status',
  chatId: text(event, 'chatid'),
  messageIds: Array.isArray(event['MessageIDs']) ? event['MessageIDs'].filter((id) => typeof id === 'string') : [],
  state,
  fromMe: event['IsFromMe'] === true,
  error: text(event, 'Error'),
});

/** Parses a stored event. Returns null for events of other types. Throws if the body is not JSON. */
const toldEvent = (type: string, body: string): ToldEvent | null => {
  const read = bagOf(JSON.parse(body) as unknown);
  if (type === 'messages') return { kind: 'message', message: messageOf(bagOf(read['message'])), chat: chatOf(bagOf(read['chat'])) };
  return type === 'messages_update' ? statusOf(text(read, 'state'), bagOf(read['event'])) : null;
};

/** The ports of the actors that the contract implements. */
export const contractPorts = { envelope: envelopeView, placeholder: placeholderText, readEvent: toldEvent, chatbotFields };
