/**
 * Seals everything anew after a change of the encryption key, in the background and in pieces. Until all is done both keys are needed: the value by
 * which a start checks its key is sealed last.
 */
import type { Log } from '#actors/ports.ts';
import { Pause, untilStored } from '#actors/waiting.ts';
import { systemTime } from '#src/system-time.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { placeOf, type Sealer } from './sealing.ts';

/** The key of a row by column, and its sealed value. */
type Row = Readonly<Record<string, string | number>> & { readonly sealed: Buffer };

/** A column of sealed values: by what its rows are found, and what a value's place is. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** Columns of the primary key. */
  readonly keys: readonly string[];
  /** Type of the last key where it is no text. */
  readonly keyType?: 'bigint';
  place(row: Row): string;
}

const part = (row: Row, key: string): string => String(row[key]);
const ofInstance =
  (type: string) =>
  (row: Row): string =>
    placeOf('instance', part(row, 'id'), type);
const ofKey = (row: Row): string => placeOf('signal_key', part(row, 'instance_id'), part(row, 'type'), part(row, 'id'));
const ofCredential = (row: Row): string => placeOf('credential', part(row, 'instance_id'));

/** Every column of sealed values. What was set aside keeps the place that it had. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'instance', column: 'token', keys: ['id'], place: ofInstance('token') },
  { table: 'instance', column: 'ai_apikey', keys: ['id'], place: ofInstance('ai_apikey') },
  { table: 'instance', column: 'proxy', keys: ['id'], place: ofInstance('proxy') },
  { table: 'webhook', column: 'private', keys: ['id'], place: (row) => placeOf('webhook', part(row, 'id'), 'private') },
  { table: 'credential', column: 'sealed', keys: ['instance_id'], place: ofCredential },
  { table: 'signal_key', column: 'sealed', keys: ['instance_id', 'type', 'id'], place: ofKey },
  { table: 'retired_credential', column: 'sealed', keys: ['instance_id'], place: ofCredential },
  { table: 'retired_key', column: 'sealed', keys: ['instance_id', 'type', 'id'], place: ofKey },
  {
    table: 'chatbot_key',
    column: 'sealed',
    keys: ['instance_id', 'agent_id'],
    place: (row) => placeOf('chatbot_key', part(row, 'instance_id'), '', part(row, 'agent_id')),
  },
  {
    table: 'inbound',
    column: 'sealed',
    keys: ['instance_id', 'seq'],
    keyType: 'bigint',
    place: (row) => placeOf('inbound', part(row, 'instance_id'), '', part(row, 'seq')),
  },
];

const pieceRows = 200;
/** Milliseconds between two pieces, which leave the database to the others. */
const restMs = 5;

const typeOfKey = ({ keys, keyType = 'text' }: Pick<SealedColumn, 'keys'> & { readonly keyType?: string }, at: number): string =>
  at === keys.length - 1 ? keyType : 'text';

/** The rows behind a key, in its order; from the first one on without a key. */
const readStatement = (of: SealedColumn, isFirst: boolean): Statement => {
  const { table, column, keys } = of;
  const behind = keys.map((_, at) => `$${at + 1}::${typeOfKey(of, at)}`).join(', ');
  return {
    name: `reseal-read-${table}-${column}${isFirst ? '-first' : ''}`,
    text: `select ${keys.map((key, at) => `${key}::${typeOfKey(of, at) === 'bigint' ? 'float8' : 'text'} as ${key}`).join(', ')}, ${column} as sealed from ${table}
      where ${column} is not null${isFirst ? '' : ` and (${keys.join(', ')}) > (${behind})`} order by ${keys.map((key) => `${table}.${key}`).join(', ')} limit ${pieceRows}`,
  };
};

/** A value that was written meanwhile stays. $1 values as they were read, $2 the same sealed anew, then the keys. */
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

export interface ResealingInput {
  readonly database: Database;
  /** Opens under both keys, seals under the new one. */
  readonly sealer: Sealer;
  readonly log: Log;
  /** Called when every value is sealed under the new key. */
  finish(): Promise<void>;
}

export interface Resealing {
  /** Resolves when everything is sealed anew, or when it was stopped; never rejects. */
  readonly ended: Promise<void>;
  /** What is left is done by the next start with both keys. */
  stop(): Promise<void>;
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
    const old = rows.filter((row) => sealer.isOld(of.place(row), row.sealed));
    if (old.length > 0) {
      const made = old.map((row) => sealer.seal(of.place(row), sealer.openBytes(of.place(row), row.sealed)));
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

export const startResealing = (input: ResealingInput): Resealing => {
  const pause = new Pause(systemTime);
  const { log } = input;
  const run = async (): Promise<void> => {
    log.info({}, 'storage.resealing');
    let rows = 0;
    for (const column of sealedColumns) rows += await resealColumn(column, input, pause);
    if (pause.ended) return;
    await untilStored(pause, () => input.finish());
    log.info({ rows }, 'storage.resealed');
  };
  const ended = run().catch((error: unknown) => {
    if (!pause.ended) log.error({ error }, 'storage.notResealed');
  });
  return {
    ended,
    stop: () => {
      pause.end();
      return ended;
    },
  };
};
