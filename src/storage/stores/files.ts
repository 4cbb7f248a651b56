/** The rows of stored files. The bytes are in a blob store, once for each hash. */
import type { Blob, FileKey, FileRow, FileRows } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/parameters.ts';

const fields = `name, instance_id as "instanceId", hash, size::float8 as size, mimetype, filename, message_id as "messageId",
  made_of as "madeOf", created::float8 as created, used::float8 as used`;

const found = (name: string, condition: string): Statement => ({
  name: `file-${name}`,
  text: `select ${fields} from file where ${condition} order by created desc limit 1`,
});

/** `still`: a condition that a row must meet when it is deleted, because another transaction may have changed the row since it was chosen. */
const gone = (name: string, chosen: string, still = ''): Statement => ({
  name: `file-${name}`,
  text: `with gone as (delete from file where name = any(array(${chosen})) ${still} returning hash, size)
    select hash, max(size)::float8 as size from gone group by hash`,
});

/** Returns SQL that keeps the value of a column if the file is stored again with '' in this column. */
const unlessSaid = (column: string): string =>
  `${column} = case when excluded.${column} = '' then file.${column} else excluded.${column} end`;

/** Locks a hash on all nodes until the end of the transaction, so that the rows and the bytes of a hash do not change at the same time. */
const lockOf = (hash: string): string => `pg_advisory_xact_lock(hashtextextended(${hash}, 0))`;

/**
 * The largest idle time of a transaction that waits for work outside of the database. The usual limit is shorter than the wait for a slow bucket. In
 * milliseconds.
 */
const idleMs = 60_000;

export const fileStatements = {
  /**
   * The idle limit is set first, for this transaction only. If PostgreSQL ended the transaction during the work, another node could add a row for bytes that
   * are being removed.
   */
  lock: {
    name: 'file-lock',
    text: `with patience as materialized (select set_config('idle_in_transaction_session_timeout', '${idleMs}', true))
      select ${lockOf('$1')} from patience`,
  },
  add: {
    name: 'file-add',
    text: `with turn as materialized (select ${lockOf('$3')})
      insert into file (name, instance_id, hash, size, mimetype, filename, message_id, made_of, created, used)
      select $1, id, $3, $4, $5, $6, $7, $8, $9, $9 from turn, instance where id = $2 and not removed
      on conflict (instance_id, hash) do update set used = excluded.used, ${['filename', 'message_id', 'made_of'].map(unlessSaid).join(', ')}
      returning ${fields}`,
  },
  byHash: found('by-hash', 'instance_id = $1 and hash = $2'),
  byMessage: found('by-message', `instance_id = $1 and message_id = $2 and message_id <> ''`),
  byOrigin: found('by-origin', `instance_id = $1 and made_of = $2 and made_of <> '' and mimetype = $3`),
  byName: found('by-name', 'name = $1'),
  touch: { name: 'file-touch', text: `update file set used = greatest(used, $2) where name = $1` },
  isKept: { name: 'file-is-kept', text: `select exists (select from file where hash = $1) as "isKept"` },
  /** $1: the lower bound of the hashes, inclusive. $2: the upper bound, exclusive. */
  between: {
    name: 'file-between',
    text: `select hash, max(size)::float8 as size from file where hash >= $1 and hash < $2 group by hash order by hash`,
  },
  removeHash: { name: 'file-remove-hash', text: `delete from file where hash = $1` },
  removeUnused: gone('remove-unused', 'select name from file where used < $1 order by used, name limit $2', 'and used < $1'),
  /** $1: the time since which a file was not used. $2 and $3: time and name of the last row of the previous page. $4: the largest number of rows. */
  unused: {
    name: 'file-unused',
    text: `select ${fields} from file where used < $1 and (used, name) > ($2, $3) order by file.used, file.name limit $4`,
  },
  removeNamed: {
    name: 'file-remove-named',
    text: `with gone as (delete from file where name = any($1::text[]) and used < $2 returning hash, size)
      select hash, max(size)::float8 as size from gone group by hash`,
  },
  removeOf: gone('remove-of', 'select name from file where instance_id = $1 order by hash limit $2'),
} as const satisfies Readonly<Record<string, Statement>>;

const lookUp = (key: FileKey): readonly [Statement, ...string[]] => {
  if ('hash' in key) return [fileStatements.byHash, key.hash];
  return 'messageId' in key ? [fileStatements.byMessage, key.messageId] : [fileStatements.byOrigin, key.madeOf, key.mimetype];
};

/** A character that sorts after all hex digits. */
const beyond = 'g';

/** Creates the store. `sweeps`: the pool for sweeps, such as the removal of unused files. */
export const createFileRows = (database: Database, sweeps: Database): FileRows => {
  const one = async (statement: Statement, values: readonly unknown[]): Promise<FileRow | null> =>
    (await database.rows<FileRow>(statement, values))[0] ?? null;
  return {
    add: ({ name, instanceId, hash, size, mimetype, filename, messageId, madeOf, created }) =>
      one(fileStatements.add, [name, instanceId, hash, size, keyText(mimetype), keyText(filename), keyText(messageId), madeOf, created]),
    find(instance, key) {
      const [statement, ...values] = lookUp(key);
      return one(statement, [instance, ...values.map(keyText)]);
    },
    named: (name) => one(fileStatements.byName, [keyText(name)]),
    async touch(name, used) {
      await database.rows(fileStatements.touch, [name, used]);
    },
    whileUnkept: (hash, work) =>
      sweeps.transaction(async (runner) => {
        await runner.rows(fileStatements.lock, [hash]);
        const [row] = await runner.rows<{ isKept: boolean }>(fileStatements.isKept, [hash]);
        if (row?.isKept !== false) return false;
        await work();
        return true;
      }),
    startingWith: (prefix) => sweeps.rows<Blob>(fileStatements.between, [prefix, `${prefix}${beyond}`]),
    async removeHash(hash) {
      await database.rows(fileStatements.removeHash, [hash]);
    },
    removeUnused: (before, limit) => sweeps.rows<Blob>(fileStatements.removeUnused, [before, limit]),
    unused: (before, { used, name }, limit) => sweeps.rows<FileRow>(fileStatements.unused, [before, used, name, limit]),
    removeNamed: (names, before) => sweeps.rows<Blob>(fileStatements.removeNamed, [names, before]),
    removeOf: (instance, limit) => sweeps.rows<Blob>(fileStatements.removeOf, [instance, limit]),
  };
};
