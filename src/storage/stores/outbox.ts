/** Deliveries that wait, as couriers use them. The rows are made by the journal. */
import type { Delivery } from '#actors/model.ts';
import type { OutboxStore } from '#actors/ports.ts';
import { checkGone, claimsOf, owned, ownedAmong } from '../ownership.ts';
import type { Database, Statement } from '../postgres/database.ts';

/** Sequence numbers and times leave as floats, which the driver reads as numbers; the order is that of the column itself. */
export const outboxStatements = {
  due: {
    name: 'outbox-due',
    text: `select seq::float8 as seq, webhook_id as "webhookId", instance_id as "instanceId", event_id as "eventId", type,
        message_type as "messageType", lane, body, attempts, at::float8 as at, not_before::float8 as "notBefore"
      from outbox where webhook_id = $1 and instance_id = $2 and seq > $3 and not_before <= $4 order by outbox.seq limit $5`,
  },
  nextDue: {
    name: 'outbox-next-due',
    text: `select not_before::float8 as "notBefore" from outbox
      where webhook_id = $1 and instance_id = $2 and not_before > 0 order by not_before limit 1`,
  },
  /** $1 $2 claims, $3 rows. */
  remove: {
    name: 'outbox-remove',
    text: `with ${ownedAmong('$1', '$2')},
      gone as (delete from outbox where seq = any($3::bigint[]) and instance_id = any(array(select id from owned)))
      select id from owned`,
  },
  /**
   * $1 $2 claims, $3 rows. Past deliveries have no foreign keys, which would cost more than the row itself; who removes an instance or a webhook
   * removes them too.
   */
  archive: {
    name: 'outbox-archive',
    text: `with ${ownedAmong('$1', '$2')},
      gone as (
        delete from outbox where seq = any($3::bigint[]) and instance_id = any(array(select id from owned))
        returning webhook_id, instance_id, seq, event_id, type, message_type, lane, body, at),
      kept as (insert into archive (webhook_id, instance_id, seq, event_id, type, message_type, lane, body, at, dead, attempts, status, error, ended_at)
      select gone.*, dead, attempts, status, error, ended_at from gone
      join unnest($3::bigint[], $4::boolean[], $5::int[], $6::int[], $7::text[], $8::bigint[])
        as ended (seq, dead, attempts, status, error, ended_at) on ended.seq = gone.seq)
      select id from owned`,
  },
  postpone: {
    name: 'outbox-postpone',
    text: `with ${owned},
      parked as (
        update outbox set not_before = $4, attempts = $5, status = $6, error = $7
        where seq = $3 and instance_id = $1 and exists (select from owned))
      select id from owned`,
  },
  pending: { name: 'outbox-pending', text: `select distinct webhook_id as "webhookId", instance_id as "instanceId" from outbox` },
} as const satisfies Readonly<Record<string, Statement>>;

interface OwnedRow {
  readonly id: string;
}

/** Instances that were claimed and gave no lock have another owner, or are gone with all their rows. */
const check = (database: Database, claimed: readonly string[], rows: readonly OwnedRow[]): Promise<void> => {
  const held = new Set(rows.map(({ id }) => id));
  return checkGone(
    database,
    claimed.filter((id) => !held.has(id)),
  );
};

export const makeOutboxStore = (database: Database): OutboxStore => ({
  due: (webhookId, instanceId, after, now, limit) =>
    database.rows<Delivery>(outboxStatements.due, [webhookId, instanceId, after, now, limit]),
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
    const values = fields.map((field) => ended.map((one) => one[field]));
    await check(database, claims[0], await database.rows<OwnedRow>(outboxStatements.archive, [...claims, ...values]));
  },
  async postpone({ seq, instanceId, epoch }, notBefore, { attempts, status, error }) {
    const values = [instanceId, epoch, seq, notBefore, attempts, status, error];
    await check(database, [instanceId], await database.rows<OwnedRow>(outboxStatements.postpone, values));
  },
  pending: () => database.rows(outboxStatements.pending, []),
});
