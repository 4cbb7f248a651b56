/** The table of webhooks. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { ofInstance, time } from './instance.ts';
import { TextList } from './text-list.ts';

export const WebhookEntity = defineEntity({
  name: 'Webhook',
  tableName: 'webhook',
  properties: {
    id: p.text().primary(),
    instance: () => ofInstance().nullable().index('webhook_instance'),
    enabled: p.boolean(),
    url: p.text(),
    events: p.type(TextList).$type<string[]>(),
    excludeMessages: p.type(TextList).$type<string[]>(),
    addUrlEvents: p.boolean(),
    addUrlTypesMessages: p.boolean(),
    managed: p.boolean(),
    created: time(),
    /** Secret and headers, sealed; null when there is neither. */
    private: p.blob().nullable(),
    /** Version of the last change; a trigger sets it. */
    changed: p.bigint('number').default(0).index('webhook_changed'),
    /** Marked: gone for everybody, while its deliveries are removed in pieces. */
    removed: p.boolean().default(false),
  },
  indexes: [{ name: 'webhook_removed', expression: `create index "webhook_removed" on "webhook" ("id") where removed` }],
});

export type WebhookRow = InferEntity<typeof WebhookEntity>;
