/** Stores webhooks and server-wide settings. Both tables are small. */
import { damagedParts, type Webhook } from '#actors/model.ts';
import type { SettingStore, WebhookStore } from '#actors/ports.ts';
import type { Database, Runner, Statement, UnitDatabase } from '../postgres/database.ts';
import { WebhookEntity, type WebhookRow } from '../entities/index.ts';
import { checkOwned, owned, type Owned } from '../ownership.ts';
import { type Opener, privateSealedId, sealedIdOf } from '../vault/sealing.ts';
import { storable } from '../postgres/parameters.ts';

/** The sealed part of a webhook. */
type Private = Pick<Webhook, 'secret' | 'headers' | 'chatwoot'>;

type WrittenRow = Omit<WebhookRow, 'removed' | 'changed'>;

const rowOf = (
  { instanceId, events, excludeMessages, secret, headers, chatwoot, unreadable: _unreadable, ...webhook }: Webhook,
  opener: Pick<Opener, 'seal'>,
): WrittenRow => ({
  ...webhook,
  instance: instanceId,
  events: [...events],
  excludeMessages: [...excludeMessages],
  private:
    secret === '' && Object.keys(headers).length === 0 && chatwoot === undefined
      ? null
      : opener.seal(
          privateSealedId(webhook.id, instanceId),
          JSON.stringify({ secret, headers, ...(chatwoot && { chatwoot }) } satisfies Private),
        ),
});

const nothingSealed: Private = { secret: '', headers: {} };

const isTexts = (list: readonly unknown[]): list is readonly string[] => list.every((entry) => typeof entry === 'string');

/** Returns the texts of the list in a column, and null if the list contains another value, such as NULL. */
const listOf = (id: string, column: string, list: readonly unknown[], opener: Opener): readonly string[] | null => {
  if (isTexts(list)) return list;
  opener.report(sealedIdOf('webhook', id, column), { id, field: column });
  return null;
};

/** Converts a row. A private part that cannot be unsealed, or a list with other values than texts, is empty. `unreadable` names such fields. */
const webhookOf = ({ instance, private: sealed, removed: _removed, changed: _changed, ...row }: WebhookRow, opener: Opener): Webhook => {
  const { id } = row;
  const sealedId = privateSealedId(id, instance ?? null);
  const kept = sealed ? opener.open(sealedId, sealed, (text) => JSON.parse(text) as Private, { id, field: 'private' }) : nothingSealed;
  const events = listOf(id, 'events', row.events, opener);
  const excludeMessages = listOf(id, 'exclude_messages', row.excludeMessages, opener);
  const unreadable = damagedParts({ private: kept === null, events: events === null, exclude_messages: excludeMessages === null });
  return {
    ...row,
    events: events ?? [],
    excludeMessages: excludeMessages ?? [],
    ...(kept ?? nothingSealed),
    ...(unreadable === '' ? {} : { unreadable }),
    instanceId: instance ?? null,
  };
};

const written = [
  'enabled',
  'url',
  'events',
  'exclude_messages',
  'add_url_events',
  'add_url_types_messages',
  'managed',
  'created',
  'private',
];
/** True if the webhook is global, or its instance has the epoch. */
const mayWrite = `($1::text is null or exists (select from owned))`;

/** The statements of webhooks. $1: the instance, null for a global webhook. $2: its epoch. $3: the webhook. */
const webhookStatements = {
  save: {
    name: 'webhook-save',
    text: `with ${owned},
      saved as (
        insert into webhook (instance_id, id, ${written.join(', ')})
        select $1, $3, $4::boolean, $5::text, $6::text[], $7::text[], $8::boolean, $9::boolean, $10::boolean, $11::bigint, $12::bytea where ${mayWrite}
        on conflict (id) do update set ${written.map((name) => `${name} = excluded.${name}`).join(', ')}
          where webhook.instance_id is not distinct from excluded.instance_id)
      select count(*)::int as owned from owned`,
  },
  /** $4: the address that the webhook must have. */
  disable: {
    name: 'webhook-disable',
    text: `with ${owned},
      disabled as (
        update webhook set enabled = false where id = $3 and instance_id is not distinct from $1 and url = $4 and not removed and ${mayWrite})
      select count(*)::int as owned from owned`,
  },
  /** Marks a webhook as removed. The store of removals deletes its deliveries in batches. */
  remove: {
    name: 'webhook-remove',
    text: `with ${owned},
      gone as (
        update webhook set removed = true, private = null where id = $3 and instance_id is not distinct from $1 and ${mayWrite})
      select count(*)::int as owned from owned`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

const valuesOf = (row: WrittenRow): readonly unknown[] => [
  row.enabled,
  row.url,
  row.events,
  row.excludeMessages,
  row.addUrlEvents,
  row.addUrlTypesMessages,
  row.managed,
  row.created,
  row.private,
];

/** Adds or replaces the webhook, alone or in a transaction. */
export const saveWebhook = async (runner: Runner, webhook: Webhook, epoch: number, opener: Pick<Opener, 'seal'>): Promise<void> => {
  const { id, instanceId } = webhook;
  const values = valuesOf(rowOf(storable(webhook) as Webhook, opener));
  const rows = await runner.rows<Owned>(webhookStatements.save, [instanceId, epoch, id, ...values]);
  if (instanceId !== null) checkOwned(rows);
};

export const createWebhookStore = (database: UnitDatabase, opener: Opener): WebhookStore => ({
  all: () =>
    database.unit(async (em) => {
      const rows = await em.find(WebhookEntity, { removed: false }, { orderBy: { created: 'asc', id: 'asc' }, disableIdentityMap: true });
      return rows.map((row) => webhookOf(row, opener));
    }),
  some: (ids) =>
    database.unit(async (em) => {
      const rows =
        ids.length === 0 ? [] : await em.find(WebhookEntity, { id: { $in: [...ids] }, removed: false }, { disableIdentityMap: true });
      return rows.map((row) => webhookOf(row, opener));
    }),
  save: (webhook, epoch) => saveWebhook(database, webhook, epoch, opener),
  async disable({ id, instanceId, url }, epoch) {
    const rows = await database.rows<Owned>(webhookStatements.disable, [instanceId, epoch, id, url]);
    if (instanceId !== null) checkOwned(rows);
  },
  async remove({ id, instanceId }, epoch) {
    const rows = await database.rows<Owned>(webhookStatements.remove, [instanceId, epoch, id]);
    if (instanceId !== null) checkOwned(rows);
  },
});

/** Reads a setting. The statement is prepared, because each node reads the admin token twice a second. */
const oneSetting: Statement = { name: 'setting', text: `select value from setting where name = $1` };
const firstSetting: Statement = {
  name: 'setting-first',
  text: `insert into setting (name, value) values ($1, $2) on conflict do nothing returning name`,
};
const keptSetting: Statement = {
  name: 'setting-set',
  text: `insert into setting (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
  instance: null,
};
const nextSetting: Statement = {
  name: 'setting-next',
  text: `update setting set value = $2 where name = $1 and value = $3 returning name`,
};

export const createSettingStore = (database: Database): SettingStore => ({
  get: async (name) => (await database.rows<{ readonly value: string }>(oneSetting, [name]))[0]?.value ?? null,
  set: async (name, value) => void (await database.rows(keptSetting, [name, value])),
  async swap(name, before, value) {
    const taken = await (before === null ? database.rows(firstSetting, [name, value]) : database.rows(nextSetting, [name, value, before]));
    return taken.length > 0;
  },
});
