/** WAHA with its engine NOWEB. A session is a folder of the client library with its configuration, or a PostgreSQL database. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { keysInFields, readJson, sessionOfFields } from '../library-form.ts';
import { PostgresSource, type SourceDatabase } from '../postgres.ts';
import { type CarriedSettings, type Found, noSettings, type Reader, SourceFault, type SourceOptions } from '../session.ts';
import { mapEvents, proxyUrl, recordOf, secretOf, signatureNotes, textOf, textsOf, webhookOf } from '../settings.ts';
import { foldersIn, holdsCredentials, neededPath, sessionInFolder } from './folder.ts';

// The PostgreSQL databases of WAHA. Each session of an engine has one database. A further database has the configurations of all sessions.

interface SessionDatabase {
  readonly name: string;
  readonly url: string;
  /** The configuration of the session; null if none is stored. */
  readonly config: unknown;
}

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
};

const engines = ['waha_noweb_', 'waha_gows_'] as const;
type DatabasePrefix = (typeof engines)[number];

const using = async <T>(url: string, work: (database: SourceDatabase) => Promise<T>): Promise<T> => {
  const database = await PostgresSource.open(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
};

const namesOf = (url: string): Promise<readonly string[]> =>
  using(url, async (server) => {
    const text = `select datname as name from pg_database where starts_with(datname, 'waha_') and datallowconn order by datname`;
    return (await server.rows<{ name: string }>(text)).map(({ name }) => name);
  });

/** Reduces a name to letters and digits in lower case. WAHA names the database of a session in this form. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '');

/** Reads the configurations. The keys are the reduced names of the sessions, and the values have the original names. */
const configsIn = async (url: string, names: readonly string[]): Promise<ReadonlyMap<string, { name: string; config: unknown }>> => {
  const found = new Map<string, { name: string; config: unknown }>();
  for (const database of names.filter((name) => !engines.some((prefix) => name.startsWith(prefix)))) {
    const rows = await using(withDatabase(url, database), async (opened) =>
      (await opened.columns('session_config')).has('data')
        ? opened.rows<{ id: string; data: string | null }>('select id, data::text as data from session_config')
        : [],
    );
    for (const { id, data } of rows)
      found.set(plain(id), { name: id, config: data === null ? null : readJson(data, 'the configuration of a session') });
  }
  return found;
};

/** Yields the given database if it contains a session, and otherwise all session databases of its PostgreSQL server. Throws `SourceFault` if there is none. */
export async function* sessionDatabases(url: string, prefix: DatabasePrefix, signal: AbortSignal): AsyncIterable<SessionDatabase> {
  const given = decodeURIComponent(URL.parse(url)?.pathname.slice(1) ?? '');
  const names = await namesOf(url);
  const sessions = given.startsWith(prefix) ? [given] : names.filter((name) => name.startsWith(prefix));
  if (sessions.length === 0) throw new SourceFault(`The server has no database ${prefix}…`);
  const configs = await configsIn(url, names);
  for (const database of sessions) {
    signal.throwIfAborted();
    const slug = database.slice(prefix.length);
    const { name = slug, config = null } = configs.get(plain(slug)) ?? {};
    yield { name, url: withDatabase(url, database), config };
  }
}

const configFile = '.waha.session.config.json';

/** Events of WAHA that have a counterpart. */
export const wahaEvents: Readonly<Record<string, string>> = {
  '*': 'all',
  message: 'messages',
  'message.any': 'messages',
  'message.reaction': 'messages',
  'poll.vote': 'messages',
  'message.ack': 'messages_update',
  'message.ack.group': 'messages_update',
  // In this gateway an edit is a message of its own.
  'message.edited': 'messages',
  'message.revoked': 'messages_update',
  'session.status': 'connection',
  'state.change': 'connection',
  'presence.update': 'presence',
  'group.join': 'groups',
  'group.leave': 'groups',
  'group.v2.join': 'groups',
  'group.v2.leave': 'groups',
  'group.v2.update': 'groups',
  'group.v2.participants': 'groups',
  'chat.archive': 'chats',
  'label.upsert': 'labels',
  'label.deleted': 'labels',
  'label.chat.added': 'chat_labels',
  'label.chat.deleted': 'chat_labels',
  'call.received': 'call',
  'call.accepted': 'call',
  'call.rejected': 'call',
};

const hookIn = (value: unknown): { readonly webhook: ReturnType<typeof webhookOf>; readonly lost: readonly string[] } => {
  const hook = recordOf(value);
  const mapped = mapEvents(textsOf(hook['events']), wahaEvents);
  const given = Array.isArray(hook['customHeaders']) ? hook['customHeaders'].map(recordOf) : [];
  const headers = Object.fromEntries(
    given.map((header) => [textOf(header['name']), textOf(header['value'])] as const).filter(([name]) => name !== ''),
  );
  const key = textOf(recordOf(hook['hmac'])['key']);
  const secret = secretOf(key);
  const webhook = webhookOf({ url: textOf(hook['url']), events: mapped.events, headers, secret });
  const lost = [
    ...(mapped.lost.length > 0 ? [`webhook: no events are like ${mapped.lost.join(', ')}`] : []),
    ...(webhook === null ? [] : signatureNotes(key, secret)),
    ...(hook['retries'] === undefined ? [] : ['retries: they are settings of the server here (WEBHOOK_QUICK_RETRIES_MS)']),
  ];
  return { webhook, lost };
};

/** Reads the settings from the configuration of a session. */
export const wahaSettings = (config: unknown): CarriedSettings => {
  const { webhooks, proxy, metadata } = recordOf(config);
  const hooks = Array.isArray(webhooks) ? webhooks.map(hookIn) : [];
  const { server, username, password } = recordOf(proxy);
  const place = textOf(server);
  const url = place.includes('://') ? URL.parse(place) : null;
  const address =
    url === null
      ? proxyUrl('http', place, textOf(username), textOf(password))
      : proxyUrl(url.protocol.slice(0, -1), url.host, textOf(username), textOf(password));
  return {
    ...noSettings,
    proxy: address,
    webhooks: hooks.map(({ webhook }) => webhook).filter((webhook) => webhook !== null),
    lost: [
      ...hooks.flatMap(({ lost }) => lost),
      ...(Object.keys(recordOf(metadata)).length === 0
        ? []
        : [
            `metadata (${Object.keys(recordOf(metadata)).slice(0, 10).join(', ')}): it stays there, and adminField01 and adminField02 hold two texts`,
          ]),
    ],
  };
};

/** Reads the configuration of a session from its folder. Returns null if there is none. Throws `SourceFault`. */
export const configIn = async (folder: string): Promise<unknown> => {
  const text = await readFile(join(folder, configFile), 'utf8').catch(() => null);
  return text === null ? null : readJson(text, 'the configuration of the session');
};

/** Returns the name of the session in a folder. Version 2024.10 named folders `<session>-<md5 of session>`. */
export const nameOf = (folder: string): string => folder.replace(/-[0-9a-f]{32}$/, '');

const sessionIn = async (folder: string, signal: AbortSignal): Promise<Found> => {
  const name = nameOf(basename(folder));
  try {
    return await sessionInFolder(folder, { name, settings: wahaSettings(await configIn(folder)) }, signal);
  } catch (error) {
    if (error instanceof SourceFault) return { found: 'refused', name, reason: error.message };
    throw error;
  }
};

/** Reads the folder `.sessions`, `.sessions/noweb`, or the folder of one session. */
async function* readFolders(path: string, signal: AbortSignal): AsyncIterable<Found> {
  const names = await foldersIn(path);
  if (await holdsCredentials(path)) return yield await sessionIn(path, signal);
  const base = names.includes('noweb') && !(await holdsCredentials(join(path, 'noweb'))) ? join(path, 'noweb') : path;
  let found = 0;
  for (const name of await foldersIn(base)) {
    signal.throwIfAborted();
    if (!(await holdsCredentials(join(base, name)))) continue;
    found += 1;
    yield await sessionIn(join(base, name), signal);
  }
  if (found === 0) throw new SourceFault('No session of the engine NOWEB is in the folder');
}

async function* rowsOf(database: SourceDatabase): AsyncIterable<readonly [string, unknown]> {
  for await (const { id, data } of database.stream<{ id: string; data: unknown }>('select id, data::text as data from auth order by id'))
    yield [id, data];
}

async function* readDatabases(url: string, signal: AbortSignal): AsyncIterable<Found> {
  for await (const { name, url: own, config } of sessionDatabases(url, 'waha_noweb_', signal)) {
    const database = await PostgresSource.open(own);
    try {
      if ((await database.columns('auth')).has('data')) {
        const [row] = await database.rows<{ data: unknown }>(`select data::text as data from auth where id = 'creds'`);
        // WAHA never deletes rows, so the rows include used pre-keys. The platform does not ask for them again.
        yield sessionOfFields(row?.data, () => keysInFields(rowsOf(database)), { name, settings: wahaSettings(config) });
      } else yield { found: 'refused', name, reason: 'its database has no table auth' };
    } finally {
      await database.close();
    }
  }
}

const read = (options: SourceOptions): AsyncIterable<Found> =>
  options.url === null ? readFolders(neededPath(options), options.signal) : readDatabases(options.url, options.signal);

export const wahaReader: Reader = {
  title: 'WAHA with the engine NOWEB: folders or PostgreSQL',
  examples: [
    'npm run import -- --from waha --path ./.sessions',
    'npm run import -- --from waha --url postgres://user:password@host/postgres',
  ],
  upload: { kind: 'folder', takes: 'a tar archive of the folder .sessions' },
  read,
};
