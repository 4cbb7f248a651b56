/** The outbox as couriers use it. The journal inserts its rows. */
import type { Delivery, Try } from '#actors/model.ts';
import type { OutboxStore } from '#actors/ports.ts';
import { tallied } from '../journal/tallies.ts';
import { checkGone, claimsOf, owned, ownedAmong } from '../ownership.ts';
import type { Database, Statement } from '../postgres/database.ts';

// The attempts of a delivery as text. Every delivered row has such a text. Attempts are arrays without field names, so one success takes 30 bytes.

/** An attempt as an array. `error` is absent for a success, and `answer` is absent without an answer. */
type Kept = readonly [at: number, ms: number, status: number, error?: string, answer?: string];

const keptOf = ({ at, ms, status, error, answer }: Try): Kept =>
  answer === undefined ? (error === '' ? [at, ms, status] : [at, ms, status, error]) : [at, ms, status, error, answer];

const triesText = (tries: readonly Try[] = []): string => (tries.length === 0 ? '' : JSON.stringify(tries.map(keptOf)));

/** Parses the attempts. Returns an object without the field `tries` for an empty text. */
export const triesOf = (text: string): { tries?: readonly Try[] } => {
  if (text === '') return {};
  const kept = JSON.parse(text) as readonly Kept[];
  return {
    tries: kept.map(([at, ms, status, error = '', answer]) => ({ at, ms, status, error, ...(answer === undefined ? {} : { answer }) })),
  };
};

const archived =
  'webhook_id, instance_id, seq, event_id, type, message_type, lane, body, at, dead, attempts, status, error, ended_at, tries';

/** Builds a query for the next $3 pairs of webhook and instance after ($1, $2) that have rows of this kind. Each pair costs one index look-up. */
const pairs = (name: string, kind: string): Statement => {
  const next = (after: string): string => `select webhook_id, instance_id from outbox
        where ${kind} and (webhook_id, instance_id) > (${after}) order by webhook_id, instance_id limit 1`;
  return {
    name,
    text: `with recursive pair as (
        (${next('$1, $2')})
        union all
        select next.* from pair cross join lateral (${next('pair.webhook_id, pair.instance_id')}) as next)
      select webhook_id as "webhookId", instance_id as "instanceId",
        exists (select from webhook where id = webhook_id and not removed) as "isWanted" from pair limit $3`,
  };
};

/** Returns SQL that reads the next lane with a parked row, and the latest `not_before` of the rows in this lane. */
const nextLane = (after: string): string => `select lane, not_before from outbox
        where webhook_id = $1 and instance_id = $2 and not_before > 0 and ${after} order by lane, not_before desc limit 1`;

/** The statements of the outbox. Sequence numbers and times are selected as floats, which the driver reads as numbers. */
export const outboxStatements = {
  /**
   * Reads a page of due rows. $1: webhook. $2: instance. $3: the current time. $4 and $5: the largest numbers of rows and of bytes. Waiting and parked rows
   * have separate indexes, so the cost depends only on the size of the page. `found` contains all parked rows that are due before `horizon`. `until` is the
   * time of an earlier row of the same lane that is parked until `horizon` or later, and that blocks the row. The test for any parked row runs once for each
   * page. Without parked rows, this test saves a look-up for each row of the page, which is a quarter of the statement's time (measured).
   */
  due: {
    name: 'outbox-due',
    text: `with again as (
        select * from outbox where webhook_id = $1 and instance_id = $2 and not_before > 0 and not_before <= $3::bigint
        order by not_before, seq limit $4::int + 1),
      found as (
        (select * from outbox where webhook_id = $1 and instance_id = $2 and not_before = 0 order by seq limit $4::int + 1)
        union all
        (select * from again)),
      horizon as (select case when count(*) > $4::int then max(not_before) else $3::bigint + 1 end as time from again),
      page as (select *, row_number() over page as position, sum(size) over page - size as before, count(*) over () as found
        from found window page as (order by seq))
      select page.seq::float8 as seq, webhook_id as "webhookId", instance_id as "instanceId", event_id as "eventId", type,
        message_type as "messageType", lane, case when first.until is null then body else '' end as body, size::float8 as size, attempts, tries, at::float8 as at,
        not_before::float8 as "notBefore", found::int as found, first.until
      from page cross join horizon left join lateral (
        select first.not_before::float8 as until from outbox as first
        where exists (select from outbox where webhook_id = $1 and instance_id = $2 and not_before > 0)
          and first.webhook_id = $1 and first.instance_id = $2 and first.lane = page.lane and first.seq < page.seq and first.not_before > 0
          and first.not_before >= greatest(horizon.time, page.not_before + 1)
        order by first.not_before desc, first.seq limit 1) as first on true
      where position <= $4::int and (position = 1 or before + size <= $5::float8) order by page.seq`,
  },
  /** $1: webhook. $2: instance. $3: the current time. $4: the largest number of lanes. Each lane costs one index look-up. */
  heldLanes: {
    name: 'outbox-held-lanes',
    text: `with recursive held as (
        (${nextLane('true')})
        union all
        select next.* from held cross join lateral (${nextLane('outbox.lane > held.lane')}) as next)
      select lane from held where not_before > $3 limit $4`,
  },
  nextDue: {
    name: 'outbox-next-due',
    text: `select not_before::float8 as "notBefore" from outbox
      where webhook_id = $1 and instance_id = $2 and not_before > 0 order by not_before limit 1`,
  },
  /** $1 and $2: claims. $3: sequence numbers of the rows. */
  remove: {
    name: 'outbox-remove',
    text: `with ${ownedAmong('$1', '$2')},
      gone as (
        delete from outbox where seq = any($3::bigint[]) and instance_id = any(array(select id from owned))
        returning webhook_id, not_before, size),
      ${tallied.removed('gone')}
      select id from owned`,
  },
  /**
   * Moves rows to the archive. $1 and $2: claims. $3: sequence numbers. The archive has no foreign keys, because their checks would cost more than the row
   * itself. The removal of an instance or a webhook deletes its rows in the archive.
   */
  archive: {
    name: 'outbox-archive',
    text: `with ${ownedAmong('$1', '$2')},
      gone as (
        delete from outbox where seq = any($3::bigint[]) and instance_id = any(array(select id from owned))
        returning webhook_id, instance_id, seq, event_id, type, message_type, lane, body, at, not_before, size),
      past as (
        select gone.*, ended.* from gone
        join unnest($3::bigint[], $4::boolean[], $5::int[], $6::int[], $7::text[], $8::bigint[], $9::text[])
          as ended (ended_seq, dead, attempts, status, error, ended_at, tries) on ended_seq = seq),
      kept as (
        insert into archive (${archived}) select ${archived} from past),
      ${tallied.archived('past')}
      select id from owned`,
  },
  postpone: {
    name: 'outbox-postpone',
    text: `with ${owned},
      before as (select seq, webhook_id, not_before from outbox where seq = $3 and instance_id = $1 and exists (select from owned) for update),
      parked as (
        update outbox set not_before = $4, attempts = $5, status = $6, error = $7, tries = $8 from before where outbox.seq = before.seq),
      ${tallied.parked('before where not_before = 0')}
      select id from owned`,
  },
  /** Parks rows ($3: their sequence numbers) until the given times ($4). */
  hold: {
    name: 'outbox-hold',
    text: `with ${owned},
      before as (
        select seq, webhook_id, not_before, until from outbox join unnest($3::bigint[], $4::bigint[]) as held (seq, until) using (seq)
        where instance_id = $1 and exists (select from owned) for update of outbox),
      parked as (update outbox set not_before = until from before where outbox.seq = before.seq),
      ${tallied.parked('before where not_before = 0')}
      select id from owned`,
  },
  waitingPairs: pairs('outbox-waiting-pairs', 'not_before = 0'),
  parkedPairs: pairs('outbox-parked-pairs', 'not_before > 0'),
} as const satisfies Readonly<Record<string, Statement>>;

interface OwnedRow {
  readonly id: string;
}

/** Checks the claimed instances that are missing in `rows`. Throws `EpochLost` unless they were removed. */
const check = (database: Database, claimed: readonly string[], rows: readonly OwnedRow[]): Promise<void> => {
  const held = new Set(rows.map(({ id }) => id));
  return checkGone(
    database,
    claimed.filter((id) => !held.has(id)),
  );
};

const pairsPerStatement = 500;

/** A row of a page, with its attempts as text. */
type DueRow = Omit<Delivery, 'tries'> & { readonly found: number; readonly until: number | null; readonly tries: string };

const deliveryOf = ({ found: _found, until: _until, tries, ...row }: DueRow): Delivery => ({ ...row, ...triesOf(tries) });

type Pair = Awaited<ReturnType<OutboxStore['pending']>>[number];

const allPairs = async (database: Database, statement: Statement): Promise<readonly Pair[]> => {
  const all: Pair[] = [];
  for (let last: Pair = { webhookId: '', instanceId: '' }; ;) {
    const found = await database.rows<Pair & { readonly isWanted: boolean }>(statement, [
      last.webhookId,
      last.instanceId,
      pairsPerStatement,
    ]);
    for (const { webhookId, instanceId, isWanted } of found) if (isWanted) all.push({ webhookId, instanceId });
    if (found.length < pairsPerStatement) return all;
    last = found.at(-1) ?? last;
  }
};

export const createOutboxStore = (database: Database): OutboxStore => ({
  async due(webhookId, instanceId, now, { rows, bytes }) {
    const page = await database.rows<DueRow>(outboxStatements.due, [webhookId, instanceId, now, rows, bytes]);
    return {
      rows: page.filter(({ until }) => until === null).map(deliveryOf),
      held: page.flatMap(({ seq, lane, until }) => (until === null ? [] : [{ seq, lane, until }])),
      more: page.length < (page[0]?.found ?? 0),
    };
  },
  async heldLanes(webhookId, instanceId, now, limit) {
    const found = await database.rows<{ lane: string }>(outboxStatements.heldLanes, [webhookId, instanceId, now, limit]);
    return found.map(({ lane }) => lane);
  },
  async hold(rows) {
    const [first] = rows;
    if (!first) return;
    const values = [first.instanceId, first.epoch, rows.map(({ seq }) => seq), rows.map(({ until }) => until)];
    await check(database, [first.instanceId], await database.rows<OwnedRow>(outboxStatements.hold, values));
  },
  async nextDue(webhookId, instanceId) {
    const [row] = await database.rows<{ notBefore: number }>(outboxStatements.nextDue, [webhookId, instanceId]);
    return row?.notBefore ?? null;
  },
  async remove(rows) {
    if (rows.length === 0) return;
    const claims = claimsOf(rows);
    await check(database, claims[0], await database.rows<OwnedRow>(outboxStatements.remove, [...claims, rows.map(({ seq }) => seq)]));
  },
  async archive(ended) {
    if (ended.length === 0) return;
    const fields = ['seq', 'dead', 'attempts', 'status', 'error', 'endedAt'] as const;
    const claims = claimsOf(ended);
    const values = [...fields.map((field) => ended.map((one) => one[field])), ended.map(({ tries }) => triesText(tries))];
    await check(database, claims[0], await database.rows<OwnedRow>(outboxStatements.archive, [...claims, ...values]));
  },
  async postpone({ seq, instanceId, epoch }, notBefore, { attempts, status, error, tries }) {
    const values = [instanceId, epoch, seq, notBefore, attempts, status, error, triesText(tries)];
    await check(database, [instanceId], await database.rows<OwnedRow>(outboxStatements.postpone, values));
  },
  async pending() {
    const found = [
      ...(await allPairs(database, outboxStatements.waitingPairs)),
      ...(await allPairs(database, outboxStatements.parkedPairs)),
    ];
    return [...new Map(found.map((pair) => [`${pair.webhookId} ${pair.instanceId}`, pair])).values()];
  },
});
