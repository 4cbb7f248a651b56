/** The columns of contacts, and the part of a commit that writes them. */
import { makeRowSet } from './columns.ts';

/** Select list whose rows are `Contact`. */
export const contactFields = 'contact_id as "contactId", lid, name, push_name as "pushName"';

export const contactRows = (first: number) => {
  const rows = makeRowSet({ contactId: 'text', lid: 'text', name: 'text', pushName: 'text' }, first);
  const sql = `insert into contact (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from}
    on conflict (instance_id, contact_id) do update set lid = excluded.lid, name = excluded.name, push_name = excluded.push_name`;
  return { ...rows, sql };
};

export const goneContactRows = (first: number) => {
  const rows = makeRowSet({ contactId: 'text' }, first);
  const sql = `delete from contact using ${rows.from}
    where instance_id = $1 and contact.contact_id = any(${rows.array('contactId')}) and contact.contact_id = fresh.contact_id`;
  return { ...rows, sql };
};
