/**
 * Deletes the keys and the logged stanzas of a session that ended. There may be hundreds of thousands of them. A row in `leaving_keys` first marks the
 * instance. The keys and stanzas are then deleted in batches: in the background, before the next pairing, and after the next start. A batch deletes nothing
 * without the mark, so no batch deletes a key of the next session.
 */
import type { Database, Statement } from '../postgres/database.ts';

/** The largest number of rows of one batch. */
const pieceRows = 2_000;

/** The tables, and the columns that order the rows of an instance. */
const tables = {
  signal_key: { columns: 'type, id', behind: '($3::text, $4::text)', from: ['', ''] },
  retired_key: { columns: 'type, id', behind: '($3::text, $4::text)', from: ['', ''] },
  inbound: { columns: 'seq, tries', behind: '($3::bigint, $4::bigint)', from: ['-1', '-1'] },
} as const;

type Table = keyof typeof tables;
const names = Object.keys(tables) as readonly Table[];

/** Builds the statement that deletes a batch. $1: instance. $2: the largest number of rows. $3 and $4: the key of the last row of the previous batch. */
const pieceOf = (table: Table): Statement => {
  const { columns, behind } = tables[table];
  const [first, second] = columns.split(', ');
  return {
    name: `leaving-piece-${table}`,
    text: `with page as materialized (
        select ctid, ${columns} from ${table} where instance_id = $1 and (${columns}) > ${behind} and exists (select from leaving_keys where instance_id = $1)
        order by ${table}.${first}, ${table}.${second} limit $2),
      gone as (delete from ${table} where ctid = any(array(select ctid from page)))
      select ${first}::text as first, ${second}::text as second from page order by page.${first} desc, page.${second} desc limit 1`,
  };
};

export const leavingStatements = {
  mark: { name: 'leaving-mark', text: 'insert into leaving_keys (instance_id) values ($1) on conflict do nothing' },
  marked: { name: 'leaving-marked', text: 'select 1 from leaving_keys where instance_id = $1' },
  unmark: {
    name: 'leaving-unmark',
    text: `delete from leaving_keys where instance_id = $1 and not exists (select from signal_key where instance_id = $1)
      and not exists (select from retired_key where instance_id = $1) and not exists (select from inbound where instance_id = $1)`,
  },
  ...(Object.fromEntries(names.map((table) => [table, pieceOf(table)])) as Record<Table, Statement>),
} as const satisfies Readonly<Record<string, Statement>>;

interface ScanPosition {
  readonly first: string;
  readonly second: string;
}

export class LeavingKeys {
  readonly #database: Database;
  /** The position of each scan, by instance and table. Without it, each batch would first read the index entries of all deleted rows. */
  readonly #positions = new Map<string, ScanPosition>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Deletes one batch. Returns false if no rows are left and the mark is removed. */
  async piece(instance: string): Promise<boolean> {
    if (!(await this.#isMarked(instance))) return false;
    for (const table of names) {
      const key = `${instance} ${table}`;
      const [first, second] = tables[table].from;
      const position = this.#positions.get(key) ?? { first, second };
      const [last] = await this.#database.rows<ScanPosition>(leavingStatements[table], [
        instance,
        pieceRows,
        position.first,
        position.second,
      ]);
      if (last === undefined) continue;
      this.#positions.set(key, last);
      return true;
    }
    for (const table of names) this.#positions.delete(`${instance} ${table}`);
    await this.#database.rows(leavingStatements.unmark, [instance]);
    return this.#isMarked(instance);
  }

  /** Deletes at most `most` batches. Returns false if no rows are left. */
  async some(instance: string, most: number): Promise<boolean> {
    for (let pieces = 0; pieces < most; pieces += 1) if (!(await this.piece(instance))) return false;
    return true;
  }

  /** Deletes all rows, if the instance is marked. */
  async all(instance: string): Promise<void> {
    while (await this.piece(instance));
  }

  async #isMarked(instance: string): Promise<boolean> {
    return (await this.#database.rows(leavingStatements.marked, [instance])).length > 0;
  }
}
