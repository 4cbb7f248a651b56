/** Removes old messages: instance after instance, by the index in which each has its messages in the order of time. */
import type { MessageExpiry } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

export const expiryStatements = {
  instances: { name: 'expiry-instances', text: `select id from instance where id > $1 order by id limit $2` },
  /** $1 instance, $2 time, $3 rows. What waits to be sent stays. */
  messages: {
    name: 'expiry-messages',
    text: `with gone as (
        delete from message where ctid = any(array(
          select ctid from message where instance_id = $1 and timestamp < $2 and status <> 'Queued' order by timestamp, seq limit $3))
        returning 1)
      select count(*)::int as count from gone`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** Instances that are looked up at once. */
const page = 500;

export const makeMessageExpiry = (database: Database): MessageExpiry => {
  /** The last instance that has no old messages; a piece may end in the middle of the next one. */
  let done = '';
  const remove = async (instance: string, before: number, limit: number): Promise<number> => {
    const [gone] = await database.rows<{ count: number }>(expiryStatements.messages, [instance, before, limit]);
    return gone?.count ?? 0;
  };
  return {
    async expire(before, limit) {
      let removed = 0;
      for (;;) {
        const ids = await database.rows<{ id: string }>(expiryStatements.instances, [done, page]);
        for (const { id } of ids) {
          removed += await remove(id, before, limit - removed);
          if (removed === limit) return removed;
          done = id;
        }
        if (ids.length < page) break;
      }
      done = '';
      return removed;
    },
  };
};
