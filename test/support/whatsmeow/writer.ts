/**
 * Writes stores of whatsmeow out of the credentials and keys of a device that was paired by the client library: the tables are those of
 * `store/sqlstore/upgrades` (schema 15, and schema 4 before LIDs), the values those of `store/sqlstore/store.go`.
 */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type AuthenticationCreds, proto } from '@whiskeysockets/baileys';
import { Client } from 'pg';
import type { SessionRecord } from '#src/moving/whatsmeow/records.ts';
import { goSenderKeyOf, goSessionOf } from './records.ts';

/** The state of a device, with keys under `<type> <id>`. */
export interface Held {
  readonly creds: AuthenticationCreds;
  readonly values: ReadonlyMap<string, unknown>;
}

export interface Target {
  run(text: string, values?: readonly unknown[]): Promise<void>;
  close(): Promise<void>;
}

/** Opens an SQLite file. With `wal` the write-ahead log stays beside the file after `close`, as after a kill. */
export const sqliteTarget = (path: string, wal = false): Target => {
  const database = new DatabaseSync(path);
  // The test store does not have to survive a power failure.
  database.exec('pragma synchronous = off');
  if (wal) database.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0');
  // An open reader prevents the checkpoint that would move the log into the file.
  const reader = wal ? new DatabaseSync(path, { readOnly: true }) : null;
  reader?.prepare('pragma journal_mode').get();
  return {
    run: async (text, values = []) => {
      const named = Object.fromEntries(values.map((value, at) => [`$${at + 1}`, (value === undefined ? null : value) as SQLInputValue]));
      if (values.length === 0) database.exec(text);
      else database.prepare(text).run(named);
    },
    close: async () => {
      database.close();
      reader?.close();
    },
  };
};

export const postgresTarget = async (url: string): Promise<Target> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  return {
    run: async (text, values) => void (await client.query(text, values === undefined ? undefined : [...values])),
    close: () => client.end(),
  };
};

export type Schema = 4 | 15;

const owned = (name: string, columns: string): string => `create table ${name} (${columns});`;

/** Returns the statements that create the tables of a schema, without tables that are never read. */
const tablesOf = (schema: Schema): string =>
  [
    owned(
      'whatsmeow_device',
      `jid text primary key, ${schema >= 15 ? 'lid text, facebook_uuid uuid,' : ''} registration_id bigint not null,
       noise_key bytea not null check (length(noise_key) = 32), identity_key bytea not null check (length(identity_key) = 32),
       signed_pre_key bytea not null, signed_pre_key_id integer not null, signed_pre_key_sig bytea not null, adv_key bytea not null,
       adv_details bytea not null, adv_account_sig bytea not null, adv_account_sig_key bytea not null, adv_device_sig bytea not null,
       platform text not null default '', business_name text not null default '', push_name text not null default ''
       ${schema >= 15 ? `, lid_migration_ts bigint not null default 0, companion_meta_nonce text not null default ''` : ''}`,
    ),
    owned('whatsmeow_identity_keys', 'our_jid text, their_id text, identity bytea not null, primary key (our_jid, their_id)'),
    owned('whatsmeow_pre_keys', 'jid text, key_id integer, key bytea not null, uploaded boolean not null, primary key (jid, key_id)'),
    owned('whatsmeow_sessions', 'our_jid text, their_id text, session bytea, primary key (our_jid, their_id)'),
    owned(
      'whatsmeow_sender_keys',
      'our_jid text, chat_id text, sender_id text, sender_key bytea not null, primary key (our_jid, chat_id, sender_id)',
    ),
    owned(
      'whatsmeow_app_state_sync_keys',
      'jid text, key_id bytea, key_data bytea not null, timestamp bigint not null, fingerprint bytea not null, primary key (jid, key_id)',
    ),
    owned('whatsmeow_contacts', 'our_jid text, their_jid text, push_name text, primary key (our_jid, their_jid)'),
    owned(
      'whatsmeow_privacy_tokens',
      `our_jid text, their_jid text, token bytea not null, timestamp bigint not null
       ${schema >= 15 ? ', sender_timestamp bigint' : ''}, primary key (our_jid, their_jid)`,
    ),
    schema >= 15 ? owned('whatsmeow_lid_map', 'lid text primary key, pn text unique not null') : '',
  ].join('\n');

export const createTables = (target: Target, schema: Schema): Promise<void> => target.run(tablesOf(schema));

/** Returns a Signal address in the format of whatsmeow, with a colon before the device. */
const addressOf = (id: string): string => id.replace(/\.(\d+)$/, ':$1');

const insert = (target: Target, table: string, row: Readonly<Record<string, unknown>>): Promise<void> => {
  const columns = Object.keys(row);
  return target.run(
    `insert into ${table} (${columns.join()}) values (${columns.map((_, at) => `$${at + 1}`).join()}) on conflict do nothing`,
    Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value)),
  );
};

export const oldJid = (jid: string): string => jid.replace(':', '.0:');

/** Returns the row of a device. */
export const deviceRow = ({ creds }: Held, schema: Schema): Readonly<Record<string, unknown>> => {
  const { me, signedPreKey } = creds;
  // In a file these bytes are base64.
  const account = proto.ADVSignedDeviceIdentity.fromObject(creds.account ?? {});
  const id = me?.id ?? '';
  return {
    jid: schema >= 15 ? id : oldJid(id),
    ...(schema >= 15 && { lid: me?.lid ?? null }),
    registration_id: creds.registrationId,
    noise_key: creds.noiseKey.private,
    identity_key: creds.signedIdentityKey.private,
    signed_pre_key: signedPreKey.keyPair.private,
    signed_pre_key_id: signedPreKey.keyId,
    signed_pre_key_sig: signedPreKey.signature,
    adv_key: Buffer.from(creds.advSecretKey, 'base64'),
    adv_details: account.details,
    adv_account_sig: account.accountSignature,
    adv_account_sig_key: account.accountSignatureKey,
    adv_device_sig: account.deviceSignature,
    platform: creds.platform ?? '',
    push_name: me?.name ?? '',
  };
};

type Writer = (held: Held, id: string, value: unknown) => readonly [string, Readonly<Record<string, unknown>>] | null;

interface Pair {
  readonly private: Uint8Array;
}
interface Token {
  readonly token: Uint8Array;
  readonly timestamp?: string;
  readonly senderTimestamp?: number;
}

/** Functions that return the row of one key of the library, without its owner. */
const writers: Readonly<Record<string, Writer>> = {
  'pre-key': (_, id, value) => ['whatsmeow_pre_keys', { key_id: Number(id), key: (value as Pair).private, uploaded: 1 }],
  'identity-key': (_, id, value) => [
    'whatsmeow_identity_keys',
    { their_id: addressOf(id), identity: Buffer.from(value as Uint8Array).subarray(1) },
  ],
  session: ({ creds }, id, value) => {
    const session = goSessionOf(value as SessionRecord, creds);
    return session && ['whatsmeow_sessions', { their_id: addressOf(id), session }];
  },
  'sender-key': (_, id, value) => {
    const [chat = '', user, device] = id.split('::');
    return [
      'whatsmeow_sender_keys',
      { chat_id: chat, sender_id: `${user}:${device}`, sender_key: goSenderKeyOf(value as Uint8Array, true) },
    ];
  },
  'app-state-sync-key': (_, id, value) => {
    const key = proto.Message.AppStateSyncKeyData.fromObject(value as object);
    const fingerprint = proto.Message.AppStateSyncKeyFingerprint.encode(key.fingerprint ?? {}).finish();
    return [
      'whatsmeow_app_state_sync_keys',
      { key_id: Buffer.from(id, 'base64'), key_data: key.keyData, timestamp: Number(key.timestamp ?? 0), fingerprint },
    ];
  },
  tctoken: (_, id, value) => {
    const { token, timestamp, senderTimestamp } = value as Token;
    if (id === '__index') return null;
    return [
      'whatsmeow_privacy_tokens',
      { their_jid: id, token, timestamp: Number(timestamp ?? 0), sender_timestamp: senderTimestamp ?? null },
    ];
  },
  'lid-mapping': (_, id, value) => (id.endsWith('_reverse') ? null : ['whatsmeow_lid_map', { pn: id, lid: value }]),
};

const owners: Readonly<Record<string, string | undefined>> = {
  whatsmeow_pre_keys: 'jid',
  whatsmeow_app_state_sync_keys: 'jid',
  whatsmeow_lid_map: undefined,
};

export interface WriteOptions {
  readonly schema?: Schema;
  /** The database for keys, if it is a separate database. */
  readonly keys?: Target;
}

const keyTables: ReadonlySet<string> = new Set([
  'whatsmeow_pre_keys',
  'whatsmeow_identity_keys',
  'whatsmeow_sessions',
  'whatsmeow_sender_keys',
]);

/** Writes one device with all its rows. The tables must exist. */
export const writeDevice = async (target: Target, held: Held, { schema = 15, keys = target }: WriteOptions = {}): Promise<void> => {
  const device = deviceRow(held, schema);
  await insert(target, 'whatsmeow_device', device);
  for (const [name, value] of held.values) {
    const at = name.indexOf(' ');
    const written = writers[name.slice(0, at)]?.(held, name.slice(at + 1), value) ?? null;
    if (written === null) continue;
    const [table, row] = written;
    if (schema < 15 && table === 'whatsmeow_lid_map') continue;
    const { sender_timestamp: _, ...old } = row;
    const owner = table in owners ? owners[table] : 'our_jid';
    await insert(keyTables.has(table) ? keys : target, table, {
      ...(owner && { [owner]: device['jid'] }),
      ...(schema < 15 ? old : row),
    });
  }
};
