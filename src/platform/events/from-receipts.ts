/** Converts receipts (delivered, read, played) of other people, reads on the account's other devices, and presence. */
import {
  type BaileysEventMap,
  type MessageUserReceiptUpdate,
  type PresenceData,
  proto,
  type WAMessageUpdate,
} from '@whiskeysockets/baileys';
import type { Entry, MessageStatus, PresenceChange } from '#actors/model.ts';
import { addressesOf, bare, chatOf, type Directory, isGroup, isMe, personOf, statusJid } from '../wire/jid.ts';
import { statusOf } from './from-messages.ts';
import { numberOf } from './library-values.ts';

const { Status } = proto.WebMessageInfo;

interface Confirmation {
  readonly chat: string;
  readonly sender: string;
  readonly status: MessageStatus;
  readonly messageId: string;
  readonly seconds: number;
}

/**
 * Groups the confirmations of one receipt into one entry, because a receipt may name hundreds of messages. A confirmation with another chat, sender, status or
 * time starts a new entry.
 */
const grouped = (confirmations: readonly Confirmation[], directory: Directory): Entry[] => {
  const entries: Entry[] = [];
  let ids: string[] = [];
  let last: Confirmation | null = null;
  for (const confirmation of confirmations) {
    const { chat, sender, status, seconds } = confirmation;
    if (last !== null && last.chat === chat && last.sender === sender && last.status === status && last.seconds === seconds) {
      ids.push(confirmation.messageId);
      continue;
    }
    last = confirmation;
    ids = [confirmation.messageId];
    const { pn, lid } = addressesOf(directory, sender);
    const at = seconds > 0 ? seconds * 1000 : directory.now();
    const chatId = chatOf(directory, chat).id;
    entries.push({
      kind: 'status',
      messageIds: ids,
      chatId,
      status,
      sender: bare(sender),
      senderPn: pn,
      senderLid: lid,
      fromMe: false,
      at,
    });
  }
  return entries;
};

/**
 * Converts receipts in direct chats, and reads on the account's other devices. All other updates are left out, because they are handled elsewhere. Edits and
 * deletions arrive as separate messages, `fromStars` converts stars, and the send of a message waits for its refusal itself. Receipts of own devices for own
 * messages are left out too, because they change no status.
 */
export const fromMessageUpdates = (updates: readonly WAMessageUpdate[], directory: Directory): Entry[] => {
  const confirmations: Confirmation[] = [];
  const read = new Set<string>();
  for (const { key, update } of updates) {
    const status = update.status ?? 0;
    if (status < Status.DELIVERY_ACK || !key.id || !key.remoteJid) continue;
    if (key.fromMe) {
      const seconds = numberOf(update.messageTimestamp);
      confirmations.push({
        chat: key.remoteJid,
        sender: key.participant || key.remoteJid,
        status: statusOf(status),
        messageId: key.id,
        seconds,
      });
    } else if (status >= Status.READ) read.add(chatOf(directory, key.remoteJid).id);
  }
  return [...grouped(confirmations, directory), ...[...read].map((chatId): Entry => ({ kind: 'chatRead', chatId }))];
};

/** Converts receipts in groups, one for each member, and receipts of status posts, one for each reader. Also converts reads on the account's other devices. */
export const fromMemberReceipts = (updates: readonly MessageUserReceiptUpdate[], directory: Directory): Entry[] => {
  const confirmations: Confirmation[] = [];
  const read = new Set<string>();
  for (const { key, receipt } of updates) {
    const readAt = numberOf(receipt.readTimestamp);
    const sender = receipt.userJid ?? '';
    if (!key.id || !key.remoteJid || !(isGroup(key.remoteJid) || key.remoteJid === statusJid)) continue;
    if (isMe(directory, sender)) {
      if (readAt > 0) read.add(key.remoteJid);
      continue;
    }
    const seconds = readAt || numberOf(receipt.receiptTimestamp);
    const status = numberOf(receipt.playedTimestamp) > 0 ? 'Played' : readAt > 0 ? 'Read' : 'Delivered';
    confirmations.push({ chat: key.remoteJid, sender, status, messageId: key.id, seconds });
  }
  return [...grouped(confirmations, directory), ...[...read].map((chatId): Entry => ({ kind: 'chatRead', chatId }))];
};

// Presence of people: online, typing, recording.

/**
 * Returns the state of a presence. The library reports `available` both for a person who came online and for a person who stopped typing. Only
 * the former has the field `lastSeen`.
 */
const stateOf = (presence: PresenceData): { readonly state: string; readonly recording: boolean } => {
  const { lastKnownPresence: known } = presence;
  if (known === 'recording') return { state: 'composing', recording: true };
  return { state: known === 'available' && !Object.hasOwn(presence, 'lastSeen') ? 'paused' : known, recording: false };
};

export const fromPresence = ({ id, presences }: BaileysEventMap['presence.update'], directory: Directory): Entry[] => {
  const chatId = chatOf(directory, id).id;
  return Object.entries(presences).map(([participant, presence]): Entry => {
    const change: PresenceChange = {
      chatId,
      isGroup: isGroup(chatId),
      who: personOf(directory, participant),
      fromMe: isMe(directory, participant),
      ...stateOf(presence),
      lastSeen: presence.lastSeen === undefined ? null : presence.lastSeen * 1000,
    };
    return { kind: 'news', lane: chatId, news: { type: 'presence', presence: change } };
  });
};
