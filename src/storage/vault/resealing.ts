/** Reseals all sealed values in batches, after a change of the encryption key or of the form of sealed values. */
import { type Pause, untilStored } from '#actors/waiting.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { alertSealedId, privateSealedId, refusedSealedId, type SealedId, sealedIdOf, type Sealer, userSealedId } from './sealing.ts';

/** The columns of a row's primary key, and its sealed value. */
type Row = Readonly<Record<string, string | number | null>> & { readonly sealed: Buffer };

/** A column of sealed values. */
interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** Columns of the primary key. */
  readonly keys: readonly string[];
  /** The type of the last key column if it is not text. */
  readonly keyType?: 'bigint';
  /** A further column that `idOf` reads. */
  readonly also?: string;
  idOf(row: Row): SealedId;
}

const part = (row: Row, key: string): string => String(row[key]);
const ofInstance =
  (type: string) =>
  (row: Row): SealedId =>
    sealedIdOf('instance', part(row, 'id'), type);
const ofKey = (row: Row): SealedId => sealedIdOf('signal_key', part(row, 'instance_id'), part(row, 'type'), part(row, 'id'));
const ofCredential = (row: Row): SealedId => sealedIdOf('credential', part(row, 'instance_id'));

/** All columns of sealed values. A value in a `retired_…` table keeps the `SealedId` of the table from which it was moved. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'instance', column: 'token', keys: ['id'], idOf: ofInstance('token') },
  { table: 'instance', column: 'ai_apikey', keys: ['id'], idOf: ofInstance('ai_apikey') },
  { table: 'instance', column: 'proxy', keys: ['id'], idOf: ofInstance('proxy') },
  {
    table: 'webhook',
    column: 'private',
    keys: ['id'],
    also: 'instance_id',
    idOf: (row) => privateSealedId(part(row, 'id'), row['instance_id'] === null ? null : part(row, 'instance_id')),
  },
  { table: 'credential', column: 'sealed', keys: ['instance_id'], idOf: ofCredential },
  { table: 'signal_key', column: 'sealed', keys: ['instance_id', 'type', 'id'], idOf: ofKey },
  { table: 'retired_credential', column: 'sealed', keys: ['instance_id'], idOf: ofCredential },
  { table: 'retired_key', column: 'sealed', keys: ['instance_id', 'type', 'id'], idOf: ofKey },
  {
    table: 'chatbot_key',
    column: 'sealed',
    keys: ['instance_id', 'agent_id'],
    idOf: (row) => sealedIdOf('chatbot_key', part(row, 'instance_id'), '', part(row, 'agent_id')),
  },
  {
    table: 'refused_entry',
    column: 'sealed',
    keys: ['instance_id', 'id'],
    idOf: (row) => refusedSealedId(part(row, 'instance_id'), part(row, 'id')),
  },
  { table: 'alert', column: 'secrets', keys: ['id'], idOf: (row) => alertSealedId(part(row, 'id')) },
  { table: 'gateway_user', column: 'password', keys: ['id'], idOf: (row) => userSealedId(part(row, 'id'), 'password') },
  { table: 'gateway_user', column: 'code_secret', keys: ['id'], idOf: (row) => userSealedId(part(row, 'id'), 'code') },
  {
    table: 'inbound',
    column: 'sealed',
    keys: ['instance_id', 'seq'],
    keyType: 'bigint',
    idOf: (row) => sealedIdOf('inbound', part(row, 'instance_id'), '', part(row, 'seq')),
  },
];

const pieceRows = 200;
/** The pause between two batches, in which the database serves other work. In milliseconds. */
const restMs = 5;

const typeOfKey = ({ keys, keyType = 'text' }: Pick<SealedColumn, 'keys'> & { readonly keyType?: string }, at: number): string =>
  at === keys.length - 1 ? keyType : 'text';

/** Builds the query of a batch of rows, in the order of their primary key. `isFirst`: true for the first batch. */
const readStatement = (of: SealedColumn, isFirst: boolean): Statement => {
  const { table, column, keys, also } = of;
  const found = keys.map((key, at) => `${key}::${typeOfKey(of, at) === 'bigint' ? 'float8' : 'text'} as ${key}`);
  const behind = keys.map((_, at) => `$${at + 1}::${typeOfKey(of, at)}`).join(', ');
  return {
    name: `reseal-read-${table}-${column}${isFirst ? '-first' : ''}`,
    text: `select ${[...found, ...(also === undefined ? [] : [also])].join(', ')}, ${column} as sealed from ${table}
      where ${column} is not null${isFirst ? '' : ` and (${keys.join(', ')}) > (${behind})`} order by ${keys.map((key) => `${table}.${key}`).join(', ')} limit ${pieceRows}`,
  };
};

/**
 * Builds the update of a batch. $1: the values that were read. $2: the resealed values. The key columns follow. A value that has changed since the read is
 * skipped.
 */
const writeStatement = (of: SealedColumn): Statement => {
  const { table, column, keys } = of;
  const lists = keys.map((_, at) => `$${at + 3}::${typeOfKey(of, at)}[]`).join(', ');
  return {
    name: `reseal-write-${table}-${column}`,
    text: `update ${table} as kept set ${column} = fresh.made
      from unnest($1::bytea[], $2::bytea[], ${lists}) as fresh (was, made, ${keys.join(', ')})
      where ${keys.map((key) => `kept.${key} = fresh.${key}`).join(' and ')} and kept.${column} = fresh.was`,
  };
};

interface ResealingInput {
  readonly database: Database;
  /** Unseals under both keys and in both forms. Seals under the new key in the form that is written now. */
  readonly sealer: Sealer;
}

async function resealColumn(of: SealedColumn, { database, sealer }: ResealingInput, pause: Pause): Promise<number> {
  const [first, further, write] = [readStatement(of, true), readStatement(of, false), writeStatement(of)];
  let [last, resealed]: [Row | undefined, number] = [undefined, 0];
  while (!pause.ended) {
    const from: Row | undefined = last;
    const rows: readonly Row[] = await untilStored(pause, () =>
      from === undefined
        ? database.rows<Row>(first, [])
        : database.rows<Row>(
            further,
            of.keys.map((key) => from[key]),
          ),
    );
    const old = rows.filter((row) => sealer.isOld(of.idOf(row), row.sealed));
    if (old.length > 0) {
      const made = old.map((row) => sealer.seal(of.idOf(row), sealer.openBytes(of.idOf(row), row.sealed)));
      const keys = of.keys.map((key) => old.map((row) => row[key]));
      await untilStored(pause, () => database.rows(write, [old.map(({ sealed }) => sealed), made, ...keys]));
      resealed += old.length;
    }
    if (rows.length < pieceRows) return resealed;
    last = rows.at(-1);
    await pause.wait(restMs);
  }
  return resealed;
}

/** Reseals all old values and returns their number. Stops early if its owner ends `pause`. A value that changes meanwhile is skipped. */
export const resealAll = async (input: ResealingInput, pause: Pause): Promise<number> => {
  let rows = 0;
  for (const column of sealedColumns) rows += await resealColumn(column, input, pause);
  return rows;
};
