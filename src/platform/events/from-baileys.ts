/** One switch over all events of Baileys. It lists the events that become entries and the events that are ignored on purpose. */
import type { BaileysEventMap, WAMessage } from '@whiskeysockets/baileys';
import type { Entry } from '#actors/model.ts';
import { type BaileysEvent, fromAddressPairs } from './library-values.ts';
import type { Reading } from './answers.ts';
import type { Directory } from '../wire/jid.ts';
import { fromCall } from './from-calls.ts';
import {
  fromAddressBook,
  fromAssociation,
  fromBlocklist,
  fromWholeBlocklist,
  fromChangedIdentity,
  fromChatUpdate,
  fromContact,
  fromLabelEdit,
  fromOwnDeletions,
  fromSharedAction,
  fromStars,
} from './from-chats.ts';
import { fromChannelNotification } from './from-channels.ts';
import { fromGroupNotification } from './from-groups.ts';
import { fromHistory } from './from-history.ts';
import { fromMessage } from './from-messages.ts';
import { fromChannel } from './from-posts.ts';
import { fromMemberReceipts, fromMessageUpdates, fromPresence } from './from-receipts.ts';

export type { BaileysEvent } from './library-values.ts';

/** Ignored events with the reasons. An event that is missing both in this table and in the switch is a compile error. */
const reasons = {
  'connection.update': 'the session itself listens to it',
  'creds.update': 'the session itself listens to it',
  'lid-mapping.update': 'the library stores it, which is an event of its own',
  'messages.reaction': 'the same reaction arrives as a message',
  'messages.media-update': 'answers to own requests',
  'chats.delete': 'read from the record itself, which names the last deleted message',
  'chats.lock': 'nothing in the interface shows it',
  'messaging-history.status': 'progress of the library',
  'groups.upsert': 'read from the notification itself',
  'groups.update': 'as above',
  'group-participants.update': 'as above',
  'group.join-request': 'as above',
  'group.member-tag.update': 'nothing in the interface shows it',
  'newsletter.reaction': 'read from the notification itself',
  'newsletter.view': 'as above',
  'newsletter-participants.update': 'read from the notification itself',
  'newsletter-settings.update': 'as above',
  'message-capping.update': 'nothing in the interface shows it',
  'settings.update': 'settings of the phone',
} as const satisfies Partial<Record<keyof BaileysEventMap, string>>;

const leftOut = (_name: keyof typeof reasons): Entry[] => [];

const fromRead = (source: WAMessage, directory: Directory, reading: Reading = {}): Entry[] => {
  const { vote = '', content, edit, permitted = false } = reading;
  if (edit) return fromMessage({ ...source, message: edit.message }, directory, '', { edited: edit.messageId });
  return fromMessage(source, directory, vote, content === undefined ? {} : { content }, permitted);
};

/** Converts an event. `readings`: decrypted contents and rights of senders, by message id. They are looked up before, because the conversion is synchronous. */
export const fromBaileys = (event: BaileysEvent, directory: Directory, readings: ReadonlyMap<string, Reading>): Entry[] => {
  switch (event.name) {
    case 'messages.upsert':
      return event.data.messages.flatMap((message) => fromRead(message, directory, readings.get(message.key.id ?? '')));
    case 'messages.update':
      return [...fromMessageUpdates(event.data, directory), ...fromStars(event.data, directory)];
    case 'messages.delete':
      return fromOwnDeletions(event.data, directory);
    case 'message-receipt.update':
      return fromMemberReceipts(event.data, directory);
    case 'messaging-history.set':
      return fromHistory(event.data, directory);
    case 'chats.upsert':
    case 'chats.update':
      return event.data.flatMap((update) => fromChatUpdate(update, directory));
    case 'contacts.upsert':
      return event.data.flatMap((contact) => fromAddressBook(contact, directory));
    case 'contacts.update':
      return event.data.flatMap((contact) => fromContact(contact, directory));
    case 'identity.changed':
      return fromChangedIdentity(event.data, directory);
    case 'people.paired':
      return fromAddressPairs(event.data, directory);
    case 'group.notification':
      return fromGroupNotification(event.data, directory);
    case 'channel.stanza':
      return fromChannel(event.data, directory);
    case 'channel.notification':
      return fromChannelNotification(event.data, directory);
    case 'presence.update':
      return fromPresence(event.data, directory);
    case 'call':
      return event.data.flatMap((call) => fromCall(call, directory));
    case 'blocklist.set':
      return [fromWholeBlocklist(event.data.blocklist, directory)];
    case 'blocklist.update':
      return fromBlocklist(event.data, directory);
    case 'labels.edit':
      return [fromLabelEdit(event.data)];
    case 'labels.association':
      return fromAssociation(event.data, directory);
    case 'app-state.action':
      return fromSharedAction(event.data, directory);
    default:
      return leftOut(event.name);
  }
};

/** Events that bypass the library's buffer, which merges and delays events. No reader inside the library needs these events from the buffer. */
export const keptFromBuffer: ReadonlySet<keyof BaileysEventMap> = new Set([
  'messages.upsert',
  'messages.update',
  'message-receipt.update',
  'messages.delete',
  'messages.reaction',
  'messaging-history.set',
  'chats.upsert',
  'chats.update',
  'chats.delete',
  'contacts.upsert',
  'contacts.update',
  'groups.update',
]);
