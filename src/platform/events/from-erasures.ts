/** Messages and chats that the owner deleted, cleared or starred on the phone. */
import type { BaileysEventMap, proto } from '@whiskeysockets/baileys';
import type { Entry } from '#actors/model.ts';
import type { SharedAction } from '../wire/unread-action.ts';
import { numberOf } from './content-json.ts';
import { chatOf, type Directory } from '../wire/directory.ts';

/** The account itself, as the author of a change. */
const byMe = ({ me, now }: Directory) => ({ sender: me.pn, senderPn: me.pn, senderLid: me.lid, at: now() });

/** Messages that the owner deleted for the account alone. */
export const fromOwnDeletions = (deletion: BaileysEventMap['messages.delete'], directory: Directory): Entry[] => {
  if (!('keys' in deletion)) return [];
  return deletion.keys.flatMap(({ id, remoteJid }) => {
    const { id: chatId } = chatOf(directory, remoteJid);
    return id && chatId ? [{ kind: 'deleted', messageId: id, chatId, fromMe: true, forMe: true, ...byMe(directory) }] : [];
  });
};

/** Stars among changes of messages. */
export const fromStars = (updates: BaileysEventMap['messages.update'], directory: Directory): Entry[] =>
  updates.flatMap(({ key: { id, remoteJid }, update: { starred } }) => {
    if (typeof starred !== 'boolean' || !id) return [];
    return [{ kind: 'starred', messageId: id, chatId: chatOf(directory, remoteJid).id, starred, ...byMe(directory) }];
  });

type Range = proto.SyncActionValue.ISyncActionMessageRange | null | undefined;

/** Returns the end of a range. Without a range the time of the action counts. */
const endOf = (range: Range, { timestamp }: proto.ISyncActionValue) => {
  const messages = range?.messages ?? [];
  const seconds = Math.max(numberOf(range?.lastMessageTimestamp), ...messages.map((one) => numberOf(one.timestamp)));
  const until = seconds > 0 ? seconds * 1000 + 999 : numberOf(timestamp);
  return { until, last: messages.flatMap(({ key }) => key?.id ?? []) };
};

const erased = (gone: boolean, { index: [, jid, starred], value }: SharedAction, directory: Directory): Entry[] => {
  const { id: chatId } = chatOf(directory, jid);
  const { until, last } = endOf((gone ? value.deleteChatAction : value.clearChatAction)?.messageRange, value);
  if (chatId === '' || until === 0) return [];
  return [{ kind: 'chatErased', chatId, gone, keepStarred: !gone && starred === '0', until, last }];
};

export const fromCleared = (action: SharedAction, directory: Directory): Entry[] => erased(false, action, directory);
export const fromDeleted = (action: SharedAction, directory: Directory): Entry[] => erased(true, action, directory);

/** True if an entry takes something of a conversation away that the owner deleted on the phone. */
export const isOwnDeletion = (entry: Entry): boolean => entry.kind === 'chatErased' || (entry.kind === 'deleted' && entry.forMe === true);
