/** A device of a whatsmeow store as a session that can be imported. */
import {
  type CarriedSettings,
  type Found,
  noSettings,
  type Reader,
  type SessionKey,
  type SourceOptions,
  type SourceState,
} from '../session.ts';
import {
  credentialsOf,
  identityOf,
  libraryAddress,
  mappingKeys,
  preKeyOf,
  senderKeyIn,
  sessionOf,
  sharedKeyOf,
  tokenKeys,
  tokenOf,
} from './device.ts';
import { UnreadableRecord } from './records.ts';
import { bareUser, BrokenRow, type Row, textIn } from './rows.ts';
import { mainSource, tables, WhatsmeowStore, withDatabases } from './store.ts';

interface Around {
  readonly name: string;
  readonly settings?: CarriedSettings;
  readonly state?: SourceState;
  readonly notes?: readonly string[];
}

/** Counts rows that are left out, by the reason. */
class LeftOut {
  readonly #notes: string[];
  readonly #counts = new Map<string, number>();

  /** Begins the counts at zero. `tell` adds one sentence for each reason to `notes`. */
  constructor(notes: string[]) {
    this.#notes = notes;
  }

  /** Returns the result of `read`, or null if the row cannot be used. `table` is the name of the table in the sentence of `tell`. */
  try<T>(table: string, read: () => T | null): T | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof BrokenRow || error instanceof UnreadableRecord)) throw error;
      this.#count(`${table}, because ${error.message}`);
      return null;
    }
  }

  tell(): void {
    for (const [what, count] of this.#counts) {
      const rows = count === 1 ? '1 row is' : `${count} rows are`;
      this.#notes.push(`${rows} left out of ${what}; contacts whose messages need them send them again`);
    }
    this.#counts.clear();
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}

const signalKeys = async function* (store: WhatsmeowStore, device: Row, now: number, leftOut: LeftOut): AsyncGenerator<SessionKey | null> {
  const [sessionIds, identityIds, senders, tokenIds, contacts] = [
    await store.names(device, tables.sessions, 'their_id'),
    await store.names(device, tables.identities, 'their_id'),
    await store.names(device, tables.senderKeys, 'sender_id'),
    await store.names(device, tables.tokens, 'their_jid'),
    await store.names(device, tables.contacts, 'their_jid'),
  ];
  const map = await store.lidMap(device, [...sessionIds, ...identityIds, ...senders, ...tokenIds, ...contacts]);
  yield* mappingKeys(map);
  const addressAmong = (ids: readonly string[]) => {
    const known = new Set(ids);
    return (row: Row) => libraryAddress(textIn(row, 'their_id'), map, (id) => known.has(id));
  };
  const addressOf = { session: addressAmong(sessionIds), identity: addressAmong(identityIds) };
  for await (const row of store.each(device, tables.identities, ['their_id', 'identity']))
    yield leftOut.try(tables.identities.name, () => {
      const id = addressOf.identity(row);
      return id === null ? null : identityOf(row, id);
    });
  for await (const row of store.each(device, tables.sessions, ['their_id', 'session']))
    yield leftOut.try(tables.sessions.name, () => {
      const id = row['session'] === null ? null : addressOf.session(row);
      return id === null ? null : sessionOf(row, id, now);
    });
  for await (const row of store.each(device, tables.senderKeys, ['chat_id', 'sender_id', 'sender_key']))
    yield leftOut.try(tables.senderKeys.name, () => senderKeyIn(row));
  const tokens = await store.all(device, tables.tokens, ['their_jid', 'token', 'timestamp', 'sender_timestamp']);
  yield* tokenKeys(tokens.map((row) => leftOut.try(tables.tokens.name, () => tokenOf(row, map))).filter((token) => token !== null));
};

const keysOf = async function* (store: WhatsmeowStore, device: Row, now: number, leftOut: LeftOut): AsyncGenerator<SessionKey> {
  const read = async function* (): AsyncGenerator<SessionKey | null> {
    for await (const row of store.each(device, tables.preKeys, ['key_id', 'key']))
      yield leftOut.try(tables.preKeys.name, () => preKeyOf(row));
    for await (const row of store.each(device, tables.sharedKeys, ['key_id', 'key_data', 'timestamp', 'fingerprint']))
      yield leftOut.try(tables.sharedKeys.name, () => sharedKeyOf(row));
    yield* signalKeys(store, device, now, leftOut);
  };
  for await (const key of read()) if (key !== null) yield key;
  leftOut.tell();
};

/** Returns the number of a device, for names and sentences. */
export const numberOf = (device: Row): string => bareUser(textIn(device, 'jid'));

/** Describes a device. Its `notes` grow while the keys are read. Rows that cannot be carried are left out, and one sentence for each reason counts them. */
export const foundDevice = async (store: WhatsmeowStore, device: Row, around: Around, now = Date.now()): Promise<Found> => {
  const { name, settings = noSettings, state = 'unknown', notes: given = [] } = around;
  try {
    const creds = credentialsOf(device, await store.facts(device));
    const notes = [...given];
    const leftOut = new LeftOut(notes);
    return { found: 'session', name, creds, keys: () => keysOf(store, device, now, leftOut), settings, state, notes };
  } catch (error) {
    if (!(error instanceof BrokenRow)) throw error;
    return { found: 'refused', name, reason: `its row of whatsmeow_device cannot be used: ${error.message}` };
  }
};

// A whatsmeow store of an unknown program, whose own tables are ignored.

const read = (options: SourceOptions): AsyncIterable<Found> =>
  withDatabases(options.signal, async function* (open) {
    const main = await open(await mainSource(options, ['whatsapp.db', 'main.db', 'gows.db', 'store.db']));
    const keys = options.keys === null ? undefined : await open(options.keys);
    const store = new WhatsmeowStore(main, keys);
    for (const device of await store.devices()) yield await foundDevice(store, device, { name: numberOf(device) });
  });

export const whatsmeowReader: Reader = {
  title: 'a database of whatsmeow (SQLite file or PostgreSQL)',
  examples: [
    'npm run import -- --from whatsmeow --path ./store.db',
    'npm run import -- --from whatsmeow --url postgres://user:password@localhost/bot',
  ],
  upload: { kind: 'file', takes: 'an SQLite database of whatsmeow' },
  read,
};
