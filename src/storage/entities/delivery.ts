/** Tables of deliveries: those that wait, and past ones. */
import { defineEntity, p } from '@mikro-orm/core';
import { time, WebhookEntity } from './instance.ts';

/** One waiting delivery a row. `notBefore` is 0 while it waits in its lane. */
export const OutboxEntity = defineEntity({
  name: 'Outbox',
  tableName: 'outbox',
  properties: {
    seq: p.bigint('number').primary(),
    webhook: () => p.manyToOne(WebhookEntity).mapToPk().deleteRule('cascade').updateRule('no action').fieldName('webhook_id'),
    instanceId: p.text(),
    eventId: p.text(),
    type: p.text(),
    messageType: p.text(),
    lane: p.text(),
    body: p.text(),
    attempts: p.integer(),
    at: time(),
    notBefore: time(),
    /** HTTP status of the last known attempt. */
    status: p.integer().default(0),
    error: p.text().default(''),
    /** Bytes of the body. */
    size: p.integer().default(0),
    /** JSON of the last attempts; '' for none. */
    tries: p.text().default(''),
  },
  indexes: [
    {
      name: 'outbox_waiting',
      expression: `create index "outbox_waiting" on "outbox" ("webhook_id", "instance_id", "seq") where not_before = 0`,
    },
    {
      name: 'outbox_parked',
      expression: `create index "outbox_parked" on "outbox" ("webhook_id", "instance_id", "not_before") where not_before > 0`,
    },
    {
      name: 'outbox_held',
      expression: `create index "outbox_held" on "outbox" ("webhook_id", "instance_id", "lane", "not_before" desc, "seq") where not_before > 0`,
    },
    { name: 'outbox_type', properties: ['webhook', 'type', 'at', 'seq'] },
  ],
});

/** Changes of the number of deliveries; the sum of a webhook's rows is its tally. */
export const OutboxTallyEntity = defineEntity({
  name: 'OutboxTally',
  tableName: 'outbox_tally',
  properties: {
    id: p.bigint('number').primary(),
    webhookId: p.text(),
    waiting: p.bigint('number').default(0),
    parked: p.bigint('number').default(0),
    bytes: p.bigint('number').default(0),
    delivered: p.bigint('number').default(0),
    dead: p.bigint('number').default(0),
  },
});

/** One past delivery a row: given up (`dead`) or delivered. Removed with its webhook and its instance by their stores. */
export const ArchiveEntity = defineEntity({
  name: 'Archive',
  tableName: 'archive',
  properties: {
    webhookId: p.text().primary(),
    dead: p.boolean().primary(),
    at: time().primary(),
    seq: p.bigint('number').primary(),
    instanceId: p.text(),
    eventId: p.text(),
    type: p.text(),
    messageType: p.text(),
    lane: p.text(),
    body: p.text(),
    attempts: p.integer(),
    status: p.integer(),
    error: p.text(),
    endedAt: time(),
    /** JSON of the last attempts; '' for none. */
    tries: p.text().default(''),
  },
});
