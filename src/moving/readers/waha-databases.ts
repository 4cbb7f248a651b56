/** PostgreSQL databases of WAHA: one for each session of an engine, and one with the configurations of all sessions. */
import { readJson } from '../library-form.ts';
import { openSourceDatabase, type SourceDatabase } from '../postgres.ts';
import { SourceFault } from '../session.ts';

export interface SessionDatabase {
  readonly name: string;
  readonly url: string;
  /** The configuration of the session; null where none is stored. */
  readonly config: unknown;
}

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
};

const engines = ['waha_noweb_', 'waha_gows_'] as const;
export type DatabasePrefix = (typeof engines)[number];

const using = async <T>(url: string, work: (database: SourceDatabase) => Promise<T>): Promise<T> => {
  const database = await openSourceDatabase(url);
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

/** Reduces a name to lower case without signs, since the name of a database spells the name of its session so. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '');

/** Reads configurations by the plain names of their sessions, with the names as WAHA has them. */
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

/** Finds the given database, or all of its server when it is another one. Throws `SourceFault` when there is none. */
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
