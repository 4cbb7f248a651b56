/** Webhook configurations and server-wide settings: small tables. */
import type { Webhook } from '#actors/model.ts';
import type { SettingStore, WebhookStore } from '#actors/ports.ts';
import type { Statement, UnitDatabase } from '../postgres/database.ts';
import { SettingEntity, WebhookEntity, type WebhookRow } from '../entities/index.ts';
import { placeOf, type Sealer } from '../vault/sealing.ts';
import { storable } from '../postgres/texts.ts';

/** What is sealed of a webhook. */
type Private = Pick<Webhook, 'secret' | 'headers' | 'chatwoot'>;

const privatePlace = (id: string): string => placeOf('webhook', id, 'private');

type WrittenRow = Omit<WebhookRow, 'removed' | 'changed'>;

const rowOf = ({ instanceId, events, excludeMessages, secret, headers, chatwoot, ...webhook }: Webhook, sealer: Sealer): WrittenRow => ({
  ...webhook,
  instance: instanceId,
  events: [...events],
  excludeMessages: [...excludeMessages],
  private:
    secret === '' && Object.keys(headers).length === 0 && chatwoot === undefined
      ? null
      : sealer.seal(privatePlace(webhook.id), JSON.stringify({ secret, headers, ...(chatwoot && { chatwoot }) } satisfies Private)),
});

const webhookOf = ({ instance, private: sealed, removed: _removed, changed: _changed, ...row }: WebhookRow, sealer: Sealer): Webhook => {
  const kept: Private = sealed ? (JSON.parse(sealer.open(privatePlace(row.id), sealed)) as Private) : { secret: '', headers: {} };
  return { ...row, ...kept, instanceId: instance ?? null };
};

/** Its deliveries are removed in pieces, by the store of removals. */
const mark: Statement = { name: 'webhook-remove', text: `update webhook set removed = true, private = null where id = $1` };

export const makeWebhookStore = (database: UnitDatabase, sealer: Sealer): WebhookStore => ({
  all: () =>
    database.unit(async (em) => {
      const rows = await em.find(WebhookEntity, { removed: false }, { orderBy: { created: 'asc', id: 'asc' }, disableIdentityMap: true });
      return rows.map((row) => webhookOf(row, sealer));
    }),
  some: (ids) =>
    database.unit(async (em) => {
      const rows =
        ids.length === 0 ? [] : await em.find(WebhookEntity, { id: { $in: [...ids] }, removed: false }, { disableIdentityMap: true });
      return rows.map((row) => webhookOf(row, sealer));
    }),
  save: (webhook) =>
    database.unit(async (em) => {
      await em.upsert(WebhookEntity, rowOf(storable(webhook) as Webhook, sealer));
    }),
  async remove(id) {
    await database.rows(mark, [id]);
  },
});

/** Prepared: nodes ask for the admin token twice a second. */
const oneSetting: Statement = { name: 'setting', text: `select value from setting where name = $1` };
const firstSetting: Statement = {
  name: 'setting-first',
  text: `insert into setting (name, value) values ($1, $2) on conflict do nothing returning name`,
};
const nextSetting: Statement = {
  name: 'setting-next',
  text: `update setting set value = $2 where name = $1 and value = $3 returning name`,
};

export const makeSettingStore = (database: UnitDatabase): SettingStore => ({
  get: async (name) => (await database.rows<{ readonly value: string }>(oneSetting, [name]))[0]?.value ?? null,
  set: (name, value) =>
    database.unit(async (em) => {
      await em.upsert(SettingEntity, { name, value });
    }),
  async swap(name, before, value) {
    const taken = await (before === null ? database.rows(firstSetting, [name, value]) : database.rows(nextSetting, [name, value, before]));
    return taken.length > 0;
  },
});
