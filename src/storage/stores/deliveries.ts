/** Deliveries as people look at them: listed, sent again, counted, and kept within bounds. */
import type { DeliveryRecord, DeliveryState } from '#actors/model.ts';
import type { DeliveryStore, Replayed, Tally } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

const common = `webhook_id as "webhookId", instance_id as "instanceId", event_id as "eventId", type, message_type as "messageType",
  attempts, status, error, at::float8 as at, seq::float8 as seq`;
const inOutbox = `select case when not_before > 0 then 'parked' else 'waiting' end as state, not_before::float8 as "notBefore", 0::float8 as "endedAt",
  ${common} from outbox where webhook_id = mine.id`;
const inArchive = `select case when dead then 'dead' else 'delivered' end as state, 0::float8 as "notBefore", ended_at::float8 as "endedAt",
  ${common} from archive where webhook_id = mine.id`;

/** Where deliveries of a state stand. */
const places: Readonly<Record<DeliveryState, string>> = {
  waiting: `${inOutbox} and not_before = 0`,
  parked: `${inOutbox} and not_before > 0`,
  dead: `${inArchive} and dead`,
  delivered: `${inArchive} and not dead`,
};

/** Webhook by webhook: an estimate of many at once may lead to a scan of all rows. */
const mine = `from unnest($1::text[]) as mine (id) cross join lateral`;

/** $1 webhooks, $2 limit, $3 offset. Each part stops at what the page may need. */
export const listStatement = (state: DeliveryState | null): Statement => {
  const parts = state === null ? [inOutbox, places.dead, places.delivered] : [places[state]];
  const all = parts.map((part) => `(${part} order by at desc, seq desc limit $2::bigint + $3::bigint)`).join(' union all ');
  return {
    name: `deliveries-list-${state ?? 'all'}`,
    text: `select found.* ${mine} (${all}) as found order by at desc, seq desc limit $2 offset $3`,
  };
};

/** $1 webhook, $2 event ids or null, $3 types or null, $4 and $5 time of the event, $6 limit. */
const chosen = `webhook_id = $1 and ($2::text[] is null or event_id = any($2)) and ($3::text[] is null or type = any($3))
  and at between $4 and $5`;

/** From the index alone. */
const tallied = `(count(*) filter (where not_before = 0))::int as waiting, (count(*) filter (where not_before > 0))::int as parked,
  sum(size)::float8 as bytes, min(at)::float8 as oldest from outbox`;

export const deliveryStatements = {
  /** $7 which of dead and delivered. A replayed row is a new one: the last of its lane, with all attempts before it. */
  replay: {
    name: 'deliveries-replay',
    text: `with chosen as (
        select webhook_id, dead, at, seq from archive where dead = any($7::boolean[]) and ${chosen} order by at, seq limit $6),
      gone as (
        delete from archive using chosen
        where archive.webhook_id = chosen.webhook_id and archive.dead = chosen.dead and archive.at = chosen.at and archive.seq = chosen.seq
        returning archive.*),
      back as (
        insert into outbox (webhook_id, instance_id, event_id, type, message_type, lane, body, size, attempts, at, not_before)
        select webhook_id, instance_id, event_id, type, message_type, lane, body, octet_length(body), 0, at, 0 from gone order by at, seq
        returning instance_id)
      select instance_id as "instanceId", count(*)::int as count from back group by 1`,
  },
  hasten: {
    name: 'deliveries-hasten',
    text: `with back as (
        update outbox set not_before = 0, attempts = 0 where seq in (
          select seq from outbox where not_before > 0 and ${chosen} order by seq limit $6)
        returning instance_id)
      select instance_id as "instanceId", count(*)::int as count from back group by 1`,
  },
  tally: {
    name: 'deliveries-tally',
    text: `select mine.id as "webhookId", tally.* ${mine} (select ${tallied} where webhook_id = mine.id having count(*) > 0) as tally`,
  },
  tallyAll: { name: 'deliveries-tally-all', text: `select webhook_id as "webhookId", ${tallied} group by webhook_id` },
  /** $1 webhook, $2 rows, $3 bytes, $4 time; $5 types and $6 their ranks. What is worth most is counted first, and what no longer fits goes. */
  trim: {
    name: 'deliveries-trim',
    text: `with ranked as (
        select seq, at, row_number() over fits as rows, sum(size) over fits as bytes
        from outbox left join unnest($5::text[], $6::int[]) as class (type, rank) on class.type = outbox.type
        where webhook_id = $1
        window fits as (order by class.rank desc, seq desc rows unbounded preceding)),
      gone as (
        delete from outbox where seq in (select seq from ranked where at < $4 or rows > $2 or bytes > $3) returning type)
      select type, count(*)::int as count from gone group by type`,
  },
  /**
   * $1 rows, $2 and $3 the times for delivered and dead ones, $4 the most to remove at once. The rules are made once:
   * inside a join, each row would count all the others.
   */
  forget: {
    name: 'deliveries-forget',
    text: `with rules as materialized (
        select webhook.id, kind.dead, greatest(kind.before, (
          select at + 1 from archive where webhook_id = webhook.id and archive.dead = kind.dead
          order by archive.at desc, archive.seq desc offset $1 limit 1)) as before
        from webhook cross join (values (false, $2::bigint), (true, $3::bigint)) as kind (dead, before))
      delete from archive where ctid = any(array(
        select past.ctid from rules cross join lateral (
          select ctid from archive where webhook_id = rules.id and dead = rules.dead and at < rules.before order by at, seq limit $4) as past limit $4))`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** So that the statement ends in time, whatever came together; the rest goes the next time. */
const mostForgotten = 20_000;

export const makeDeliveryStore = (database: Database): DeliveryStore => ({
  async list({ webhooks, state, limit, offset }) {
    const found = await database.rows<DeliveryRecord>(listStatement(state), [webhooks, limit + 1, offset]);
    return { deliveries: found.slice(0, limit), more: found.length > limit };
  },
  async replay({ webhook, events, types, states, from, to, limit }) {
    const values = [webhook, events, types, from, to, limit];
    const kinds = [states.includes('delivered') ? [false] : [], states.includes('dead') ? [true] : []].flat();
    return database.transaction(async (runner) => [
      ...(kinds.length > 0 ? await runner.rows<Replayed>(deliveryStatements.replay, [...values, kinds]) : []),
      ...(states.includes('parked') ? await runner.rows<Replayed>(deliveryStatements.hasten, values) : []),
    ]);
  },
  tally: (webhooks) =>
    webhooks === null ? database.rows<Tally>(deliveryStatements.tallyAll, []) : database.rows<Tally>(deliveryStatements.tally, [webhooks]),
  async trim(webhookId, { rows, bytes, before }, ranks) {
    const values = [webhookId, rows, bytes, before, Object.keys(ranks), Object.values(ranks)];
    const gone = await database.rows<{ type: string; count: number }>(deliveryStatements.trim, values);
    return Object.fromEntries(gone.map(({ type, count }) => [type, count]));
  },
  async forget(rows, deliveredBefore, deadBefore) {
    await database.rows(deliveryStatements.forget, [rows, deliveredBefore, deadBefore, mostForgotten]);
  },
});
