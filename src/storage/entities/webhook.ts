/** The table of webhooks. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { ofInstance, time } from './instance.ts';

export const WebhookEntity = defineEntity({
  name: 'Webhook',
  tableName: 'webhook',
  properties: {
    id: p.text().primary(),
    instance: () => ofInstance().nullable().index('webhook_instance'),
    enabled: p.boolean(),
    url: p.text(),
    events: p.array(),
    excludeMessages: p.array(),
    addUrlEvents: p.boolean(),
    addUrlTypesMessages: p.boolean(),
    managed: p.boolean(),
    created: time(),
    /** Secret and headers, sealed; null when there is neither. */
    private: p.blob().nullable(),
  },
});

export type WebhookRow = InferEntity<typeof WebhookEntity>;
