/** The table of what members of groups confirmed of own messages. */
import { defineEntity, p } from '@mikro-orm/core';
import { time } from './instance.ts';

/** Receipts of old messages, as counts. They go with their message too. */
export const ReceiptCountEntity = defineEntity({
  name: 'ReceiptCount',
  tableName: 'receipt_count',
  properties: {
    instanceId: p.text().primary(),
    messageId: p.text().primary(),
    delivered: p.integer(),
    read: p.integer(),
    played: p.integer(),
  },
});

/** Up to which message the receipts of an instance are counts. */
export const ReceiptMarkEntity = defineEntity({
  name: 'ReceiptMark',
  tableName: 'receipt_mark',
  properties: { instanceId: p.text().primary(), at: time(), seq: time() },
});

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
