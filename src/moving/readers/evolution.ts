/**
 * Reads sessions of Evolution API. Instances and credentials are in PostgreSQL, and Signal keys are in files or in a Redis hash. Credentials are a JSON text
 * inside a JSON value. Stores without a database (version 1, CACHE_REDIS_SAVE_INSTANCES) are only folders or hashes.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { entriesOf, type Hash, keysInFields, readDump, sessionOfFields } from '../library-form.ts';
import { PostgresSource, type SourceDatabase } from '../postgres.ts';
import { type CarriedSettings, type Found, type Reader, type SessionKey, SourceFault, type SourceOptions } from '../session.ts';
import { headersOf, mapEvents, proxyUrl, textOf, textsOf, webhookOf } from '../settings.ts';
import { folderReader, foldersIn, keysInFolder, neededPath } from './folder.ts';

/** Events of Evolution API that have a counterpart. Source of the names: EvolutionAPI/evolution-api, `src/api/types/wa.types.ts`. */
export const evolutionEvents: Readonly<Record<string, string>> = {
  MESSAGES_SET: 'history',
  MESSAGES_UPSERT: 'messages',
  SEND_MESSAGE: 'messages',
  // In this gateway an edit is a message of its own.
  MESSAGES_EDITED: 'messages',
  MESSAGES_UPDATE: 'messages_update',
  MESSAGES_DELETE: 'messages_update',
  SEND_MESSAGE_UPDATE: 'messages',
  CONTACTS_SET: 'contacts',
  CONTACTS_UPSERT: 'contacts',
  CONTACTS_UPDATE: 'contacts',
  PRESENCE_UPDATE: 'presence',
  CHATS_SET: 'chats',
  CHATS_UPSERT: 'chats',
  CHATS_UPDATE: 'chats',
  CHATS_DELETE: 'chats',
  GROUPS_UPSERT: 'groups',
  GROUP_UPDATE: 'groups',
  GROUP_PARTICIPANTS_UPDATE: 'groups',
  CONNECTION_UPDATE: 'connection',
  QRCODE_UPDATED: 'connection',
  LOGOUT_INSTANCE: 'connection',
  REMOVE_INSTANCE: 'connection',
  LABELS_EDIT: 'labels',
  LABELS_ASSOCIATION: 'chat_labels',
  CALL: 'call',
};

interface InstanceRow {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly integration: string | null;
  readonly token: string | null;
  readonly code: number | null;
  readonly creds: string | null;
}

type SettingsRow = Readonly<Record<string, unknown>>;

const optionalColumn = (columns: ReadonlySet<string>, name: string, as = name): string =>
  columns.has(name) ? `i."${name}" as "${as}"` : `null as "${as}"`;

const instancesOf = async (database: SourceDatabase): Promise<readonly InstanceRow[]> => {
  const columns = await database.columns('Instance');
  if (columns.size === 0 || (await database.columns('Session')).size === 0)
    throw new SourceFault(
      'The database has no tables Instance and Session of Evolution API (another schema is named with ?options=-csearch_path%3Dname)',
    );
  return database.rows<InstanceRow>(
    `select i.id, i.name, i."connectionStatus"::text as status, s.creds, ${optionalColumn(columns, 'integration')},
       ${optionalColumn(columns, 'token')}, ${optionalColumn(columns, 'disconnectionReasonCode', 'code')}
     from "Instance" i left join "Session" s on s."sessionId" = i.id order by i.name`,
  );
};

/** Returns the row of an instance in a table of settings; an empty row if this version has no such table. */
const rowOf = async (database: SourceDatabase, table: string, id: string): Promise<SettingsRow> => {
  const columns = await database.columns(table);
  if (!columns.has('instanceId')) return {};
  return (await database.rows<SettingsRow>(`select * from "${table}" where "instanceId" = $1`, [id]))[0] ?? {};
};

/** Settings in the table `Setting` that this gateway lacks, or offers in another form. */
const switches: Readonly<Record<string, string>> = {
  rejectCall: 'calls are rejected with POST /call/reject',
  alwaysOnline: 'presence is set with POST /instance/presence',
  readMessages: 'messages are marked as read with POST /message/markread',
  readStatus: 'status posts are not marked as read',
  syncFullHistory: 'the history comes with a pairing alone',
};

const webhookIn = (row: SettingsRow, ignoresGroups: boolean): Pick<CarriedSettings, 'webhooks' | 'lost'> => {
  const mapped = mapEvents(textsOf(row['events']), evolutionEvents);
  const webhook = webhookOf({
    url: textOf(row['url']),
    events: mapped.events,
    enabled: row['enabled'] !== false,
    addUrlEvents: row['webhookByEvents'] === true,
    excludeMessages: ignoresGroups ? ['isGroupYes'] : [],
    headers: headersOf(row['headers']),
  });
  const lost = [
    ...(mapped.lost.length > 0 ? [`webhook: no events are like ${mapped.lost.join(', ')}`] : []),
    ...(webhook !== null && row['webhookBase64'] === true
      ? ['webhookBase64: files come as addresses, and POST /message/download gives base64']
      : []),
    ...(webhook?.addUrlEvents === true ? ['webhookByEvents: the address ends with the names of events of this gateway'] : []),
  ];
  return { webhooks: webhook === null ? [] : [webhook], lost };
};

const others = ['Chatwoot', 'Rabbitmq', 'Sqs', 'Websocket', 'Kafka', 'Nats', 'Pusher'] as const;

const settingsOf = async (database: SourceDatabase, { id, token }: InstanceRow): Promise<CarriedSettings> => {
  const [hook, proxy, setting] = [
    await rowOf(database, 'Webhook', id),
    await rowOf(database, 'Proxy', id),
    await rowOf(database, 'Setting', id),
  ];
  const { webhooks, lost } = webhookIn(hook, setting['groupsIgnore'] === true);
  const enabled: string[] = [];
  for (const table of others) if ((await rowOf(database, table, id))['enabled'] === true) enabled.push(table);
  const host = `${textOf(proxy['host'])}:${textOf(proxy['port'])}`;
  return {
    token: token ?? '',
    proxy: proxy['enabled'] === true ? proxyUrl(textOf(proxy['protocol']), host, textOf(proxy['username']), textOf(proxy['password'])) : '',
    webhooks,
    lost: [
      ...lost,
      ...Object.entries(switches)
        .filter(([name]) => setting[name] === true)
        .map(([name, what]) => `${name}: ${what}`),
      ...enabled.map(
        (table) => `${table}: set it up anew${table === 'Chatwoot' ? ' with PUT /chatwoot/config' : ', a webhook takes its place'}`,
      ),
    ],
  };
};

/** The store of the Signal keys of all instances. */
interface Keys {
  /** Returns the credentials if the store contains them. The caller validates them. */
  creds(id: string): unknown;
  of(id: string): AsyncIterable<SessionKey> | null;
}

/** Finds the hash of an instance, with any prefix (CACHE_REDIS_PREFIX_KEY). */
const hashOf = (dump: Readonly<Record<string, Hash>>, id: string): Hash | null =>
  Object.entries(dump).find(([key]) => key.endsWith(`:instance:${id}`))?.[1] ?? null;

const openKeys = async ({ keys, signal }: SourceOptions): Promise<Keys> => {
  if (keys === null) return { creds: () => null, of: () => null };
  const found = await stat(keys).catch(() => null);
  if (found === null) throw new SourceFault('--keys names nothing: it is the folder `instances`, or a dump of Redis');
  if (found.isDirectory()) {
    const folders = new Set(await foldersIn(keys));
    return { creds: () => null, of: (id) => (folders.has(id) ? keysInFolder(join(keys, id), signal) : null) };
  }
  const dump = await readDump(keys);
  return {
    creds: (id) => hashOf(dump, id)?.['creds'],
    of: (id) => {
      const hash = hashOf(dump, id);
      return hash === null ? null : keysInFields(entriesOf(hash));
    },
  };
};

async function* none(): AsyncIterable<SessionKey> {}

const noKeys = 'no Signal keys were given (--keys), so that the first messages of contacts arrive after a repetition';

async function* readDatabase(url: string, options: SourceOptions): AsyncIterable<Found> {
  const keys = await openKeys(options);
  const database = await PostgresSource.open(url);
  try {
    for (const row of await instancesOf(database)) {
      options.signal.throwIfAborted();
      const { id, name, integration, code, status } = row;
      if (integration !== null && integration !== 'WHATSAPP-BAILEYS') {
        yield { found: 'refused', name, reason: `it is an instance of ${integration}, which has no linked device` };
        continue;
      }
      const own = keys.of(id);
      yield sessionOfFields(row.creds ?? keys.creds(id), () => own ?? none(), {
        name,
        settings: await settingsOf(database, row),
        state: code === 401 ? 'loggedOut' : status === 'open' ? 'connected' : 'stopped',
        notes: own === null ? [noKeys] : [],
      });
    }
  } finally {
    await database.close();
  }
}

/** Reads sessions that are stored only in hashes. The end of a key is the name of its session. */
async function* readHashes(path: string): AsyncIterable<Found> {
  const dump = await readDump(path);
  const keys = Object.keys(dump).filter((key) => key.includes(':instance:'));
  if (keys.length === 0) throw new SourceFault('The dump has no key `…:instance:…` of Evolution API');
  for (const key of keys) {
    const hash = dump[key] ?? {};
    const name = key.slice(key.lastIndexOf(':instance:') + ':instance:'.length);
    yield sessionOfFields(hash['creds'], () => keysInFields(entriesOf(hash)), { name });
  }
}

async function* read(options: SourceOptions): AsyncIterable<Found> {
  if (options.url !== null) return yield* readDatabase(options.url, options);
  const path = neededPath(options);
  if ((await stat(path).catch(() => null))?.isFile() === true) return yield* readHashes(path);
  yield* folderReader.read(options);
}

export const evolutionReader: Reader = {
  title: 'Evolution API: PostgreSQL with keys in files or Redis',
  examples: [
    'npm run import -- --from evolution --url postgres://user:password@host/evolution --keys ./instances',
    'npm run import -- --from evolution --url postgres://user:password@host/evolution --keys ./redis.json',
    'npm run import -- --from evolution --path ./redis.json',
  ],
  upload: { kind: 'either', takes: 'a dump of Redis, or a tar archive of the folder instances' },
  read,
};
