/** A chat as the interface spells it (specification 2.4). */
import type { Chat } from '#actors/model.ts';

import { chatFields, emptyValueOf, type ChatKey } from './chat-fields.ts';
import { fastChatId } from './chat-id.ts';

const fields = Object.entries(chatFields);
const columns: readonly (readonly [name: string, key: ChatKey])[] = fields.flatMap(([name, { key }]) =>
  key === null ? [] : [[name, key]],
);
const others: ReadonlySet<string> = new Set([...fields.flatMap(([name, { key }]) => (key === null ? [name] : [])), 'parent_community']);

/** Copied for every view: to give an object its many names one by one takes three times as long. */
const emptyView: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(fields.map(([name, field]) => [name, emptyValueOf(field)])),
  wa_fastid: '',
  owner: '',
};

/** Every field is always there, apart from `parent_community`, which only a subgroup has. */
export const chatView = (chat: Chat, owner: string): Record<string, unknown> => {
  const view = { ...emptyView };
  for (const [name, key] of columns) view[name] = chat[key];
  view['wa_fastid'] = fastChatId(owner, chat.chatId);
  view['owner'] = owner;
  for (const name in chat.extra) if (others.has(name)) view[name] = chat.extra[name];
  return view;
};

/** What a `chat_labels` event tells of a chat. */
export const chatLabelsView = ({ chatId, phone, labels }: Pick<Chat, 'chatId' | 'phone' | 'labels'>) => ({
  wa_chatid: chatId,
  phone,
  wa_label: labels,
});

/** A contact of the address book, as `contacts` events tell it. */
export const contactView = (chat: Pick<Chat, 'chatId' | 'chatLid' | 'phone' | 'contactName' | 'pushName'>) => ({
  jid: chat.chatId,
  lid: chat.chatLid,
  phone: chat.phone,
  contact_name: chat.contactName,
  wa_name: chat.pushName,
});
