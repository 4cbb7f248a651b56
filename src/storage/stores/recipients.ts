/** Known numbers: those that exchanged messages with the account, and the platform's answers to look-ups. */
import type { RecipientStore, StoredRecipient } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { checkOwned, owned, type Owned } from '../ownership.ts';
import { expireRows, expireStatement } from './expiry.ts';

type Found = StoredRecipient & { readonly number: number };

export const recipientStatements = {
  /** $2 forms, $3 which number each form is of, $4 since when a lookup counts, $5 since when one that found nobody counts. */
  find: {
    name: 'recipient-find',
    text: `with form as (select * from unnest($2::text[], $3::int[]) with ordinality as form (id, number, position)),
      met as (
        select form.number, form.id as chat_id, null::float8 as at, form.position, lookup.business_name from form
        left join number_lookup as lookup on lookup.instance_id = $1 and lookup.form = form.id
        where exists (
          select from message where instance_id = $1 and chat_id = form.id and (not from_me or status in ('Delivered', 'Read', 'Played')))),
      asked as (
        select form.number, lookup.chat_id, lookup.at::float8 as at, 100000 + form.position as position, lookup.business_name from form
        join number_lookup as lookup on lookup.instance_id = $1 and lookup.form = form.id
        where lookup.at >= case when lookup.chat_id = '' then $5::bigint else $4::bigint end)
      select distinct on (number) number, chat_id as "chatId", at, business_name as "businessName"
      from (select * from met union all select * from asked) as known order by number, position`,
  },
  /** $1 instance, $2 epoch, $3 forms, $4 accounts, $5 names of businesses, $6 time. */
  save: {
    name: 'recipient-save',
    text: `with ${owned},
      saved as (
        insert into number_lookup (instance_id, form, chat_id, business_name, at)
        select $1, fresh.form, fresh.chat_id, fresh.business_name, $6
        from unnest($3::text[], $4::text[], $5::text[]) as fresh (form, chat_id, business_name) where exists (select from owned)
        on conflict (instance_id, form) do update set chat_id = excluded.chat_id, business_name = excluded.business_name, at = excluded.at)
      select count(*)::int as owned from owned`,
  },
  expire: expireStatement('recipient-expire', 'number_lookup'),
} as const satisfies Readonly<Record<string, Statement>>;

export const makeRecipientStore = (database: Database): RecipientStore => ({
  async find(instance, numbers, { knownSince, absentSince }) {
    const forms = numbers.flat();
    const owners = numbers.flatMap((all, number) => all.map(() => number));
    const rows = await database.rows<Found>(recipientStatements.find, [instance, forms, owners, knownSince, absentSince]);
    const found = new Map(rows.map(({ number, ...recipient }) => [number, recipient]));
    return numbers.map((_forms, number) => found.get(number) ?? null);
  },
  async save({ instanceId, epoch }, forms, at) {
    const columns = [forms.map(({ form }) => form), forms.map(({ chatId }) => chatId), forms.map(({ businessName }) => businessName ?? '')];
    checkOwned(await database.rows<Owned>(recipientStatements.save, [instanceId, epoch, ...columns, at]));
  },
  expire: expireRows(database, recipientStatements.expire),
});
