/** The table of what members of groups confirmed of own messages. */
import { defineEntity, p } from '@mikro-orm/core';
import { time } from './instance.ts';

/** Rows go with their message: a trigger of the message table removes them. */
export const ReceiptEntity = defineEntity({
  name: 'Receipt',
  tableName: 'receipt',
  properties: {
    instanceId: p.text().primary(),
    messageId: p.text().primary(),
    member: p.text().primary(),
    memberPn: p.text(),
    /** Times are 0 for what was not confirmed. */
    deliveredAt: time(),
    readAt: time(),
    playedAt: time(),
  },
});
