/** Webhook configurations and server-wide settings: small tables, read at start, so plain units of work. */
import type { Webhook } from '#actors/model.ts';
import type { SettingStore, WebhookStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { SettingEntity, WebhookEntity, type WebhookRow } from '../entities/index.ts';
import { placeOf, type Sealer } from '../vault/sealing.ts';
import { storable } from '../postgres/texts.ts';

/** What is sealed of a webhook. */
type Private = Pick<Webhook, 'secret' | 'headers'>;

const privatePlace = (id: string): string => placeOf('webhook', id, 'private');

const rowOf = ({ instanceId, events, excludeMessages, secret, headers, ...webhook }: Webhook, sealer: Sealer): WebhookRow => ({
  ...webhook,
  instance: instanceId,
  events: [...events],
  excludeMessages: [...excludeMessages],
  private:
    secret === '' && Object.keys(headers).length === 0
      ? null
      : sealer.seal(privatePlace(webhook.id), JSON.stringify({ secret, headers } satisfies Private)),
});

const webhookOf = ({ instance, private: sealed, ...row }: WebhookRow, sealer: Sealer): Webhook => {
  const kept: Private = sealed ? (JSON.parse(sealer.open(privatePlace(row.id), sealed)) as Private) : { secret: '', headers: {} };
  return { ...row, ...kept, instanceId: instance ?? null };
};

const removal = {
  webhook: { name: 'webhook-remove', text: `delete from webhook where id = $1` },
  past: { name: 'webhook-forget', text: `delete from archive where webhook_id = $1` },
} as const satisfies Readonly<Record<string, Statement>>;

export const makeWebhookStore = (database: Database, sealer: Sealer): WebhookStore => ({
  all: () =>
    database.unit(async (em) => {
      const rows = await em.find(WebhookEntity, {}, { orderBy: { created: 'asc', id: 'asc' }, disableIdentityMap: true });
      return rows.map((row) => webhookOf(row, sealer));
    }),
  save: (webhook) =>
    database.unit(async (em) => {
      await em.upsert(WebhookEntity, rowOf(storable(webhook) as Webhook, sealer));
    }),
  remove: (id) =>
    database.transaction(async (runner) => {
      await runner.rows(removal.webhook, [id]);
      // Afterwards: a courier that ends deliveries meanwhile has either committed by now, or finds nothing left to end.
      await runner.rows(removal.past, [id]);
    }),
});

export const makeSettingStore = (database: Database): SettingStore => ({
  get: (name) => database.unit(async (em) => (await em.findOne(SettingEntity, { name }))?.value ?? null),
  set: (name, value) =>
    database.unit(async (em) => {
      await em.upsert(SettingEntity, { name, value });
    }),
});
