/** Lists, replays and counts deliveries, and deletes the oldest deliveries beyond the limits. */
import { eventTypes, type DeliveryInFull, type DeliveryRecord, type DeliveryState } from '#actors/model.ts';
import type { DeliveryStore, OldestTimes, Replayed, Tally } from '#actors/ports.ts';
import { triesOf } from './outbox.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { tallied, TallyFold, tallyStatements } from '../journal/tallies.ts';

const common = `webhook_id as "webhookId", instance_id as "instanceId", event_id as "eventId", type, message_type as "messageType",
  attempts, status, error, at::float8 as at, seq::float8 as seq`;
const stateInOutbox = `case when not_before > 0 then 'parked' else 'waiting' end as state, not_before::float8 as "notBefore", 0::float8 as "endedAt"`;
const stateInArchive = `case when dead then 'dead' else 'delivered' end as state, 0::float8 as "notBefore", ended_at::float8 as "endedAt"`;
/** Selects rows of the outbox. Each event type is read separately, because the index begins with the webhook and the type. */
const inOutbox = (
  kind = 'true',
): string => `select of_type.* from unnest(array['${eventTypes.join(`', '`)}']) as kind (type) cross join lateral (
    select ${stateInOutbox}, ${common}
    from outbox where webhook_id = mine.id and outbox.type = kind.type and outbox.at between $4 and $5 and ${kind}
    order by outbox.at desc, outbox.seq desc limit $2::bigint + $3::bigint) as of_type`;
const inArchive = `select ${stateInArchive}, ${common} from archive where webhook_id = mine.id and archive.at between $4 and $5`;

/** The query of the deliveries in each state. */
const places: Readonly<Record<DeliveryState, string>> = {
  waiting: inOutbox('not_before = 0'),
  parked: inOutbox('not_before > 0'),
  dead: `${inArchive} and dead`,
  delivered: `${inArchive} and not dead`,
};

/**
 * Builds the query of a page. $1: webhooks. $2: limit. $3: offset. $4 and $5: bounds of the event's time. The sub-query for
 * each webhook and state stops after the rows that the page may need.
 */
export const listStatement = (state: DeliveryState | null): Statement => {
  const parts = state === null ? [inOutbox(), places.dead, places.delivered] : [places[state]];
  const all = parts.map((part) => `(${part} order by at desc, seq desc limit $2::bigint + $3::bigint)`).join(' union all ');
  return {
    name: `deliveries-list-${state ?? 'all'}`,
    text: `select found.* from unnest($1::text[]) as mine (id) cross join lateral (${all}) as found order by at desc, seq desc limit $2 offset $3`,
  };
};

/** The chosen rows. $1: webhook. $2: event ids or null for all. $3: types or null for all. $4 and $5: bounds of the event's time. $6: limit. */
const chosen = `webhook_id = $1 and ($2::text[] is null or event_id = any($2)) and ($3::text[] is null or type = any($3))
  and at between $4 and $5`;

/**
 * The largest number of rows that one statement deletes. It is sent as a parameter. With a constant, the planner would assume that all rows of a webhook
 * are wanted. It would then read and sort all rows of a large webhook, instead of reading the first rows from the index.
 */
const pieceRows = 2_000;

export const deliveryStatements = {
  /** $1: webhooks. $2: event. */
  find: {
    name: 'deliveries-find',
    text: `select found.* from unnest($1::text[]) as mine (id) cross join lateral (
        select ${stateInOutbox}, ${common}, body, tries from outbox where webhook_id = mine.id and event_id = $2
        union all
        select ${stateInArchive}, ${common}, body, tries from archive where webhook_id = mine.id and event_id = $2) as found
      order by at desc, seq desc limit 1`,
  },
  /** Reads the time of the event that has been in the outbox for the longest time, by the primary key. */
  oldest: { name: 'deliveries-oldest', text: 'select at::float8 as at from outbox order by seq limit 1' },
  /** $1: webhooks. Each time comes from the first row of an index. */
  oldestOf: {
    name: 'deliveries-oldest-of',
    text: `select mine.id as "webhookId",
        (select min(first.at) from unnest(array['${eventTypes.join(`', '`)}']) as kind (type) cross join lateral (
          select at from outbox where webhook_id = mine.id and outbox.type = kind.type order by at, seq limit 1) as first)::float8 as waiting,
        (select at from archive where webhook_id = mine.id and dead = false order by at, seq limit 1)::float8 as delivered,
        (select at from archive where webhook_id = mine.id and dead = true order by at, seq limit 1)::float8 as dead
      from unnest($1::text[]) as mine (id)`,
  },
  /** $7: the chosen values of `dead`. A replayed row is inserted at the end of its lane, and keeps its earlier attempts. */
  replay: {
    name: 'deliveries-replay',
    text: `with chosen as (
        select webhook_id, dead, at, seq from archive where dead = any($7::boolean[]) and ${chosen} order by at, seq limit $6),
      gone as (
        delete from archive using chosen
        where archive.webhook_id = chosen.webhook_id and archive.dead = chosen.dead and archive.at = chosen.at and archive.seq = chosen.seq
        returning archive.*, octet_length(body) as size),
      back as (
        insert into outbox (webhook_id, instance_id, event_id, type, message_type, lane, body, size, attempts, at, not_before, tries)
        select webhook_id, instance_id, event_id, type, message_type, lane, body, size, 0, at, 0, tries from gone order by at, seq
        returning instance_id),
      ${tallied.replayed('gone')}
      select instance_id as "instanceId", count(*)::int as count from back group by 1`,
  },
  hasten: {
    name: 'deliveries-hasten',
    text: `with back as (
        update outbox set not_before = 0, attempts = 0 where seq = any(array(
          select seq from outbox where not_before > 0 and ${chosen} order by seq limit $6)) and not_before > 0
        returning webhook_id, instance_id),
      ${tallied.hastened('back')}
      select instance_id as "instanceId", count(*)::int as count from back group by 1`,
  },
  /**
   * Deletes the oldest rows of a webhook ($1) and types ($2): at least $3 rows and $4 bytes, and all rows before the time $5. $6: the largest number of rows.
   */
  trim: {
    name: 'deliveries-trim',
    text: `with oldest as (
        select of_type.* from unnest($2::text[]) as kind (type) cross join lateral (
          select at, seq, size from outbox where webhook_id = $1 and outbox.type = kind.type order by outbox.at, outbox.seq limit $6) as of_type
        order by at, seq limit $6),
      counted as (select at, seq, row_number() over fits as rows, sum(size) over fits - size as bytes from oldest window fits as (order by at, seq)),
      gone as (
        delete from outbox where seq = any(array(select seq from counted where rows <= $3::bigint or bytes < $4::bigint or at < $5::bigint))
        returning webhook_id, type, not_before, size),
      ${tallied.removed('gone')}
      select type, count(*)::int as count from gone group by type`,
  },
  /**
   * Deletes the oldest past deliveries of a webhook ($1) and a value of `dead` ($2): $3 rows, and all rows before the time $4. $5: the largest number of rows
   * of each of these two groups.
   */
  forget: {
    name: 'deliveries-forget',
    text: `with old as (select ctid from archive where webhook_id = $1 and dead = $2 and at < $4::bigint order by at, seq limit $5),
      most as (select ctid from archive where webhook_id = $1 and dead = $2 order by at, seq limit least($3::bigint, $5::bigint)),
      gone as (
        delete from archive where ctid = any(array(select ctid from old union select ctid from most)) returning webhook_id, dead),
      ${tallied.forgotten('gone')}
      select count(*)::int as count from gone`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** The name of the share of connections that look-ups of global webhooks use. */
const globalShare = 'global';

/** Creates the store. `queries`: the pool for the look-ups of clients, which use the share of the owner. `database`: the pool for all other work. */
export const createDeliveryStore = (database: Database, queries: Database): DeliveryStore => {
  const fold = new TallyFold(database);
  return {
    async list({ webhooks, owner, state, from = 0, to = Number.MAX_SAFE_INTEGER, limit, offset }) {
      const values = [webhooks, limit + 1, offset, from, to];
      const found = await queries.rows<DeliveryRecord>({ ...listStatement(state), instance: owner ?? globalShare }, values);
      return { deliveries: found.slice(0, limit), more: found.length > limit };
    },
    async find(webhooks, eventId, owner) {
      type Row = Omit<DeliveryInFull, 'tries'> & { readonly tries: string };
      const [row] = await queries.rows<Row>({ ...deliveryStatements.find, instance: owner ?? globalShare }, [webhooks, eventId]);
      if (row === undefined) return null;
      const { tries, ...record } = row;
      return { ...record, ...triesOf(tries) };
    },
    async replay({ webhook, events, types, states, from, to, limit }) {
      const chosen = [webhook, events, types, from, to];
      const kinds = [states.includes('delivered') ? [false] : [], states.includes('dead') ? [true] : []].flat();
      return database.transaction(async (runner) => {
        const back = kinds.length > 0 ? await runner.rows<Replayed>(deliveryStatements.replay, [...chosen, limit, kinds]) : [];
        const left = limit - back.reduce((sum, { count }) => sum + count, 0);
        if (left === 0 || !states.includes('parked')) return back;
        return [...back, ...(await runner.rows<Replayed>(deliveryStatements.hasten, [...chosen, left]))];
      });
    },
    tally(webhooks, owner) {
      if (webhooks === null) return database.rows<Tally>(tallyStatements.all, []);
      const pool = owner === undefined ? database : queries;
      return pool.rows<Tally>({ ...tallyStatements.of, instance: owner ?? globalShare }, [webhooks]);
    },
    async oldest() {
      const [row] = await database.rows<{ at: number }>(deliveryStatements.oldest, []);
      return row?.at ?? null;
    },
    oldestOf: (webhooks) => database.rows<OldestTimes>(deliveryStatements.oldestOf, [webhooks]),
    foldTallies: () => fold.run(),
    async trim(webhookId, types, { rows, bytes, before }) {
      const gone = await database.rows<{ type: string; count: number }>(deliveryStatements.trim, [
        webhookId,
        types,
        rows,
        bytes,
        before,
        pieceRows,
      ]);
      return Object.fromEntries(gone.map(({ type, count }) => [type, count]));
    },
    async forget(webhookId, dead, { rows, before }) {
      const [gone] = await database.rows<{ count: number }>(deliveryStatements.forget, [webhookId, dead, rows, before, pieceRows]);
      return gone?.count ?? 0;
    },
  };
};
