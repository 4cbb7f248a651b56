/** Writes a session of the bare library in the formats of other gateways (schemas of Evolution API 2.3.6, WAHA, baileys-api). */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BufferJSON } from '@whiskeysockets/baileys';
import type { Database } from '#src/storage/postgres/database.ts';
import type { BareSession } from './bare-library.ts';

type Session = Pick<BareSession, 'creds' | 'values' | 'folder'>;

const json = (value: unknown): string => JSON.stringify(value, BufferJSON.replacer);
const twice = (value: unknown): string => JSON.stringify(json(value));

/** Returns the stored values as fields with names such as `<type>-<id>`. */
const fieldsOf = ({ values }: Session, encode: (value: unknown) => string): Record<string, string> =>
  Object.fromEntries([...values].map(([name, value]) => [name.replace(' ', '-'), encode(value)]));

const run = async (database: Database, text: string, values: readonly unknown[] = []): Promise<void> => {
  await database.rows({ name: '', text }, values);
};

/** The tables that the import reads, with the columns of the schema. */
const evolutionTables = [
  `create type "InstanceConnectionStatus" as enum ('open', 'close', 'connecting')`,
  `create table "Instance" (id text primary key, name varchar(255) unique not null, "connectionStatus" "InstanceConnectionStatus" not null default 'open',
     "ownerJid" varchar(100), integration varchar(100), number varchar(100), token varchar(255), "clientName" varchar(100), "disconnectionReasonCode" int)`,
  `create table "Session" (id text primary key, "sessionId" text unique not null references "Instance" (id), creds text, "createdAt" timestamp default now())`,
  `create table "Webhook" (id text primary key, url varchar(500) not null, headers jsonb, enabled boolean default true, events jsonb,
     "webhookByEvents" boolean default false, "webhookBase64" boolean default false, "instanceId" text unique not null)`,
  `create table "Proxy" (id text primary key, enabled boolean not null default false, host varchar(100) not null, port varchar(100) not null,
     protocol varchar(100) not null, username varchar(100) not null, password varchar(100) not null, "instanceId" text unique not null)`,
  `create table "Setting" (id text primary key, "rejectCall" boolean not null default false, "msgCall" varchar(100), "groupsIgnore" boolean not null default false,
     "alwaysOnline" boolean not null default false, "readMessages" boolean not null default false, "readStatus" boolean not null default false,
     "syncFullHistory" boolean not null default false, "instanceId" text unique not null)`,
];

export const makeEvolution = async (database: Database): Promise<void> => {
  for (const text of evolutionTables) await run(database, text);
};

export interface EvolutionInstance {
  readonly id: string;
  readonly name: string;
  readonly token?: string;
  readonly status?: 'open' | 'close';
  readonly integration?: string;
  readonly code?: number;
  readonly webhook?: { readonly url: string; readonly events: readonly string[]; readonly headers?: object; readonly base64?: boolean };
  readonly proxy?: {
    readonly host: string;
    readonly port: string;
    readonly protocol: string;
    readonly username: string;
    readonly password: string;
  };
  readonly setting?: Readonly<Record<string, boolean>>;
}

/** Adds an instance. `session` is written to the table `Session`. Null adds an instance without credentials. */
export const addEvolution = async (database: Database, given: EvolutionInstance, session: Session | null): Promise<void> => {
  const { id, name, token = null, status = 'close', integration = 'WHATSAPP-BAILEYS', code = null, webhook, proxy, setting } = given;
  await run(
    database,
    `insert into "Instance" (id, name, token, "connectionStatus", integration, "disconnectionReasonCode") values ($1, $2, $3, $4::"InstanceConnectionStatus", $5, $6)`,
    [id, name, token, status, integration, code],
  );
  if (session !== null)
    await run(database, `insert into "Session" (id, "sessionId", creds) values ($1, $1, $2)`, [id, twice(session.creds)]);
  if (webhook)
    await run(database, `insert into "Webhook" (id, url, headers, events, "webhookBase64", "instanceId") values ($1, $2, $3, $4, $5, $1)`, [
      id,
      webhook.url,
      JSON.stringify(webhook.headers ?? null),
      JSON.stringify(webhook.events),
      webhook.base64 ?? false,
    ]);
  if (proxy)
    await run(
      database,
      `insert into "Proxy" (id, enabled, host, port, protocol, username, password, "instanceId") values ($1, true, $2, $3, $4, $5, $6, $1)`,
      [id, proxy.host, proxy.port, proxy.protocol, proxy.username, proxy.password],
    );
  if (setting) {
    const names = Object.keys(setting);
    const columns = names.map((one) => `"${one}"`).join(', ');
    const places = names.map((_, at) => `$${at + 2}`).join(', ');
    await run(database, `insert into "Setting" (id, "instanceId", ${columns}) values ($1, $1, ${places})`, [id, ...Object.values(setting)]);
  }
};

/** Writes the keys of an instance in the folder `instances`. */
export const writeEvolutionFiles = async (folder: string, id: string, session: Session): Promise<void> => {
  const own = join(folder, id);
  await mkdir(own, { recursive: true });
  for (const [field, text] of Object.entries(fieldsOf(session, twice)))
    await writeFile(join(own, `${field.replaceAll('/', '__').replaceAll(':', '-')}.json`), text);
};

/** Returns the Redis hash of an instance. `withCreds` is the form with CACHE_REDIS_SAVE_INSTANCES. */
export const evolutionHash = (session: Session, withCreds: boolean): Readonly<Record<string, string>> => ({
  ...fieldsOf(session, twice),
  ...(withCreds ? { creds: twice(session.creds) } : {}),
});

/** Returns the Redis hash of fazer-ai/baileys-api. */
export const fazerHash = (session: Session, metadata: object): Readonly<Record<string, string>> => ({
  ...fieldsOf(session, json),
  creds: json(session.creds),
  metadata: JSON.stringify(metadata),
});

/** Writes a folder of the NOWEB engine of WAHA. */
export const writeWaha = async (sessions: string, name: string, session: Session, config: object | null): Promise<void> => {
  const folder = join(sessions, 'noweb', name);
  await cp(session.folder, folder, { recursive: true });
  if (config !== null) await writeFile(join(folder, '.waha.session.config.json'), JSON.stringify(config));
};

/** Writes the table of the NOWEB engine of WAHA in PostgreSQL. */
export const writeWahaTable = async (database: Database, session: Session): Promise<void> => {
  await run(database, 'create table auth (id text primary key, data text)');
  for (const [id, data] of [['creds', json(session.creds)], ...Object.entries(fieldsOf(session, json))])
    await run(database, 'insert into auth (id, data) values ($1, $2)', [id, data]);
};
