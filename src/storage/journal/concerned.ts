/** The keys of everything that entries are about: it is read before the ledger starts. */
import type { Call, ChatPatch, Entry, Message, Past } from '#actors/model.ts';
import { keyText } from '../postgres/texts.ts';
import { contactsIn } from './contact-ledger.ts';
import { definedIn } from './definition-ledger.ts';
import { changedGroup } from './group-ledger.ts';

interface PostNumber {
  readonly chatId: string;
  readonly serverId: number;
}

export interface Concerned {
  /** Messages that may be stored already. */
  readonly messageIds: ReadonlySet<string>;
  /** Messages that changed. Their chats are read too, under any of their ids. */
  readonly updatedIds: ReadonlySet<string>;
  readonly chatIds: ReadonlySet<string>;
  /** People whose names an entry names. */
  readonly contactIds: ReadonlySet<string>;
  /** Ids of definitions, of whatever kind. */
  readonly definitionIds: ReadonlySet<string>;
  /** Groups that changed. */
  readonly groupIds: ReadonlySet<string>;
  /** Posts of channels that are named by their number. */
  readonly posts: readonly PostNumber[];
}

export const concernedBy = (entries: readonly Entry[]): Concerned => {
  const messageIds = new Set<string>();
  const updatedIds = new Set<string>();
  const chatIds = new Set<string>();
  const groupIds = new Set<string>();
  const contactIds = new Set<string>();
  const definitionIds = new Set<string>();
  const posts: PostNumber[] = [];
  const message = ({ messageId, chatId }: Message): void => {
    messageIds.add(keyText(messageId));
    chatIds.add(keyText(chatId));
  };
  const chat = ({ chatId }: Pick<ChatPatch, 'chatId'>): void => void chatIds.add(keyText(chatId));
  const call = ({ id, chatId }: Call): void => {
    messageIds.add(keyText(id));
    chatIds.add(keyText(chatId));
  };
  const past = (part: Past): void => {
    if (part.of === 'messages') for (const item of part.items) message(item.message);
    if (part.of === 'calls') for (const item of part.items) call(item);
    if (part.of === 'chats' || part.of === 'chat_labels') for (const item of part.items) chat(item);
  };
  for (const entry of entries) {
    if ((entry.kind === 'message' || entry.kind === 'status') && entry.revises) messageIds.add(keyText(entry.revises.messageId));
    if (entry.kind === 'message' || entry.kind === 'queued' || entry.kind === 'postEdited') message(entry.message);
    if (entry.kind === 'postCounts') for (const { serverId } of entry.counts) posts.push({ chatId: keyText(entry.chatId), serverId });
    if (entry.kind === 'composed') updatedIds.add(keyText(entry.message.messageId));
    if (entry.kind === 'status' || entry.kind === 'messagesRead') for (const id of entry.messageIds) updatedIds.add(keyText(id));
    if (entry.kind === 'deleted' || entry.kind === 'downloaded' || entry.kind === 'starred') updatedIds.add(keyText(entry.messageId));
    if (entry.kind === 'chat') chat(entry.chat);
    if (entry.kind === 'retagged' || entry.kind === 'chatErased') chat(entry);
    if (entry.kind === 'chatRead' || entry.kind === 'chatUnread' || entry.kind === 'chatRemoved' || entry.kind === 'chatLabel') chat(entry);
    if (entry.kind === 'news' && entry.news.type === 'call') call(entry.news.call);
    if (entry.kind === 'history') past(entry.past);
    if (entry.kind === 'samePerson')
      for (const { chatId, chatLid } of entry.people) for (const id of [chatId, chatLid]) chatIds.add(keyText(id));
    for (const id of contactsIn(entry)) contactIds.add(id);
    for (const id of definedIn(entry)) definitionIds.add(id);
    const groupId = changedGroup(entry);
    if (groupId !== null) groupIds.add(groupId);
  }
  return { messageIds, updatedIds, chatIds, groupIds, contactIds, definitionIds, posts };
};
