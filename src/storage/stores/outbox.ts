/** Deliveries that wait, as couriers use them. The rows are made by the journal. */
import type { Delivery } from '#actors/model.ts';
import type { OutboxStore } from '#actors/ports.ts';
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
  remove: { name: 'outbox-remove', text: `delete from outbox where seq = any($1::bigint[])` },
  /** Past deliveries have no foreign keys, which would cost more than the row itself; who removes an instance or a webhook removes them too. */
  archive: {
    name: 'outbox-archive',
    text: `with gone as (
        delete from outbox where seq = any($1::bigint[])
        returning webhook_id, instance_id, seq, event_id, type, message_type, lane, body, at)
      insert into archive (webhook_id, instance_id, seq, event_id, type, message_type, lane, body, at, dead, attempts, status, error, ended_at)
      select gone.*, dead, attempts, status, error, ended_at from gone
      join unnest($1::bigint[], $2::boolean[], $3::int[], $4::int[], $5::text[], $6::bigint[])
        as ended (seq, dead, attempts, status, error, ended_at) on ended.seq = gone.seq`,
  },
  postpone: {
    name: 'outbox-postpone',
    text: `update outbox set not_before = $2, attempts = $3, status = $4, error = $5 where seq = $1`,
  },
  pending: { name: 'outbox-pending', text: `select distinct webhook_id as "webhookId", instance_id as "instanceId" from outbox` },
} as const satisfies Readonly<Record<string, Statement>>;

export const makeOutboxStore = (database: Database): OutboxStore => ({
  due: (webhookId, instanceId, after, now, limit) =>
    database.rows<Delivery>(outboxStatements.due, [webhookId, instanceId, after, now, limit]),
  async nextDue(webhookId, instanceId) {
    const [row] = await database.rows<{ notBefore: number }>(outboxStatements.nextDue, [webhookId, instanceId]);
    return row?.notBefore ?? null;
  },
  async remove(seqs) {
    if (seqs.length > 0) await database.rows(outboxStatements.remove, [seqs]);
  },
  async archive(ended) {
    if (ended.length === 0) return;
    const fields = ['seq', 'dead', 'attempts', 'status', 'error', 'endedAt'] as const;
    await database.rows(
      outboxStatements.archive,
      fields.map((field) => ended.map((one) => one[field])),
    );
  },
  async postpone(seq, notBefore, { attempts, status, error }) {
    await database.rows(outboxStatements.postpone, [seq, notBefore, attempts, status, error]);
  },
  pending: () => database.rows(outboxStatements.pending, []),
});
