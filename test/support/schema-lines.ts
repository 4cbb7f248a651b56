/** Describes the schema of a database in lines of text, so that two schemas can be compared name by name. */
import type { Runner } from '#src/storage/postgres/database.ts';

/** Selects of lines. Each of them begins with the kind and the name of an object. */
const selects = [
  `select concat_ws(' ', 'relation', relname, relkind, relpersistence, reloptions::text) from pg_class where relnamespace = 'public'::regnamespace`,
  `select concat_ws(' ', 'column', relname, attnum, attname, format_type(atttypid, atttypmod), case when attnotnull then 'not null' end,
      pg_get_expr(adbin, adrelid), attidentity, attgenerated, 'storage', attstorage, 'compression', attcompression, attoptions::text)
    from pg_attribute join pg_class on pg_class.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0`,
  `select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)
    from pg_constraint where connamespace = 'public'::regnamespace`,
  `select concat_ws(' ', 'index', pg_get_indexdef(indexrelid), indisvalid) from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = 'public'::regnamespace`,
  `select concat_ws(' ', 'trigger', pg_get_triggerdef(pg_trigger.oid), tgenabled) from pg_trigger join pg_class on pg_class.oid = tgrelid
    where relnamespace = 'public'::regnamespace and not tgisinternal`,
  `select concat_ws(' ', 'function', pg_get_functiondef(oid)) from pg_proc where pronamespace = 'public'::regnamespace`,
  `select concat_ws(' ', 'sequence', seqrelid::regclass, seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle, refobjid::regclass, refobjsubid)
    from pg_sequence join pg_class on pg_class.oid = seqrelid left join pg_depend on objid = seqrelid and deptype = 'a'
    where relnamespace = 'public'::regnamespace`,
];

/** Returns tables, columns, defaults, storage parameters, constraints, indexes, triggers, functions and sequences, sorted. */
export const schemaLines = async (database: Runner): Promise<readonly string[]> => {
  const text = `select line from (${selects.map((select) => `(${select})`).join(' union all ')}) as all_lines (line) order by line collate "C"`;
  return (await database.rows<{ line: string }>({ name: '', text }, [])).map(({ line }) => line);
};
