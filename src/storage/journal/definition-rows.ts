/** The columns of definitions, and the part of a commit that writes them. */
import type { Definition } from '#actors/model.ts';
import { makeRowSet } from './columns.ts';

/** Select list whose rows are `Definition`. */
export const definitionFields = 'kind as "of", value';

export const rowOfDefinition = ({ of, value }: Definition, at: number) => ({ kind: of, id: value.id, value, created: at, updated: at });

/** The time at which a definition was made stays. */
export const definitionRows = (first: number) => {
  const rows = makeRowSet({ kind: 'text', id: 'text', value: 'jsonb', created: 'bigint', updated: 'bigint' }, first);
  const sql = `insert into definition (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from}
    on conflict (instance_id, kind, id) do update set value = excluded.value, updated = excluded.updated`;
  return { ...rows, sql };
};

export const goneDefinitionRows = (first: number) => {
  const rows = makeRowSet({ kind: 'text', id: 'text' }, first);
  const sql = `delete from definition using ${rows.from}
    where instance_id = $1 and definition.kind = any(${rows.array('kind')}) and definition.id = any(${rows.array('id')})
      and definition.kind = fresh.kind and definition.id = fresh.id`;
  return { ...rows, sql };
};
