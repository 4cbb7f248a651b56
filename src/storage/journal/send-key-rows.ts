/** The rows of keys under which sends and campaigns are repeated: written with the messages of a commit, or with a campaign. */
import { makeRowSet } from './columns.ts';

/** Keys as they stand now. The row of a key that was set free is replaced. */
export const sendKeyRows = (first: number) => {
  const rows = makeRowSet({ hash: 'text', request: 'text', messageId: 'text', at: 'bigint', answer: 'jsonb' }, first);
  const sql = `insert into send_key (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from}
    on conflict (instance_id, hash) do update
    set request = excluded.request, message_id = excluded.message_id, at = excluded.at, answer = excluded.answer`;
  return { ...rows, sql };
};
