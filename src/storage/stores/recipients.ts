/** What is known of numbers: who has exchanged messages with the account, and what the platform answered when it was asked. */
import type { RecipientStore, StoredRecipient } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { checkOwned, owned, type Owned } from '../ownership.ts';
import { expireRows, expireStatement } from './expiry.ts';

export const recipientStatements = {
  /** $2 forms, $3 since when a lookup counts, $4 since when one that found nobody counts. */
  find: {
    name: 'recipient-find',
    text: `with form as (select * from unnest($2::text[]) with ordinality as form (id, position)),
      met as (
        select form.id, null::float8 as at, form.position from form where exists (
          select from message where instance_id = $1 and chat_id = form.id and (not from_me or status in ('Delivered', 'Read', 'Played')))),
      asked as (
        select lookup.chat_id as id, lookup.at::float8 as at, 10 + form.position as position from form
        join number_lookup as lookup on lookup.instance_id = $1 and lookup.form = form.id
        where lookup.at >= case when lookup.chat_id = '' then $4::bigint else $3::bigint end)
      select id as "chatId", at from (select * from met union all select * from asked) as known order by position limit 1`,
  },
  /** $1 instance, $2 epoch, $3 forms, $4 accounts, $5 time. */
  save: {
    name: 'recipient-save',
    text: `with ${owned},
      saved as (
        insert into number_lookup (instance_id, form, chat_id, at)
        select $1, fresh.form, fresh.chat_id, $5 from unnest($3::text[], $4::text[]) as fresh (form, chat_id) where exists (select from owned)
        on conflict (instance_id, form) do update set chat_id = excluded.chat_id, at = excluded.at)
      select count(*)::int as owned from owned`,
  },
  expire: expireStatement('recipient-expire', 'number_lookup'),
} as const satisfies Readonly<Record<string, Statement>>;

export const makeRecipientStore = (database: Database): RecipientStore => ({
  async find(instance, forms, { knownSince, absentSince }) {
    const rows = await database.rows<StoredRecipient>(recipientStatements.find, [instance, forms, knownSince, absentSince]);
    return rows[0] ?? null;
  },
  async save({ instanceId, epoch }, forms, at) {
    const values = [instanceId, epoch, forms.map(({ form }) => form), forms.map(({ chatId }) => chatId), at];
    checkOwned(await database.rows<Owned>(recipientStatements.save, values));
  },
  expire: expireRows(database, recipientStatements.expire),
});
