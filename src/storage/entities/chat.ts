/** The table of chats. */
import { defineEntity, p } from '@mikro-orm/core';
import { ofInstance, time } from './instance.ts';

export const ChatEntity = defineEntity({
  name: 'Chat',
  tableName: 'chat',
  properties: {
    instance: () => ofInstance().primary(),
    chatId: p.text().primary(),
    id: p.text(),
    chatLid: p.text(),
    isGroup: p.boolean(),
    phone: p.text(),
    name: p.text(),
    contactName: p.text(),
    pushName: p.text(),
    image: p.text(),
    imagePreview: p.text(),
    archived: p.boolean(),
    blocked: p.boolean(),
    pinned: p.boolean(),
    groupAdmin: p.boolean(),
    groupAnnounce: p.boolean(),
    groupCommunity: p.boolean(),
    groupMember: p.boolean(),
    ephemeralExpiration: time(),
    muteEndTime: time(),
    labels: p.array(),
    notes: p.text(),
    unreadCount: time(),
    lastMessageText: p.text(),
    lastMessageType: p.text(),
    lastMessageSender: p.text(),
    lastMessageTimestamp: time(),
    extra: p.json<Readonly<Record<string, unknown>>>(),
  },
  indexes: [{ name: 'chat_by_time', properties: ['instance', 'lastMessageTimestamp', 'chatId'] }],
});
