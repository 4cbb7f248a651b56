/** Databases of a source on whatsmeow: a file, or the address of a PostgreSQL database. All of them are closed when the reading ends. */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openSourceDatabase, type SourceDatabase } from '../postgres.ts';
import { type Found, SourceFault, type SourceOptions } from '../session.ts';
import { openSqlite } from '../sqlite.ts';

const isAddress = (place: string): boolean => /^postgres(?:ql)?:\/\//.test(place);

export const openPlace = (place: string, signal?: AbortSignal): Promise<SourceDatabase> =>
  isAddress(place) ? openSourceDatabase(place) : openSqlite(resolve(place), signal);

const kindOf = async (path: string): Promise<'file' | 'folder' | 'nothing'> =>
  stat(path).then(
    (found) => (found.isDirectory() ? 'folder' : 'file'),
    () => 'nothing',
  );

export const exists = async (path: string): Promise<boolean> => (await kindOf(path)) !== 'nothing';

/** Returns the first of these files that exists in the folder, or the path itself when it is a file. Throws `SourceFault`. */
export const fileIn = async (path: string, names: readonly string[]): Promise<string> => {
  const kind = await kindOf(path);
  if (kind === 'file') return path;
  if (kind === 'nothing') throw new SourceFault('--path names nothing that exists');
  for (const name of names) if (await exists(join(path, name))) return join(path, name);
  throw new SourceFault(`The folder holds none of the files ${names.join(', ')}`);
};

/** Returns the place of the tables of whatsmeow. Throws `SourceFault` when neither an address nor a path is given. */
export const mainPlace = async ({ url, path }: SourceOptions, names: readonly string[]): Promise<string> => {
  if (url !== null) {
    if (!isAddress(url)) throw new SourceFault('--url is not the address of a PostgreSQL database');
    return url;
  }
  if (path === null) throw new SourceFault('--path or --url is missing: one of them names the database of the source');
  return fileIn(resolve(path), names);
};

/** Opens databases for `read`, and closes them when it has ended in whatever way. */
export async function* withDatabases(
  signal: AbortSignal,
  read: (open: (place: string) => Promise<SourceDatabase>) => AsyncIterable<Found>,
): AsyncIterable<Found> {
  const opened: SourceDatabase[] = [];
  const open = async (place: string): Promise<SourceDatabase> => {
    signal.throwIfAborted();
    const database = await openPlace(place, signal);
    opened.push(database);
    return database;
  };
  try {
    for await (const found of read(open)) {
      yield found;
      signal.throwIfAborted();
    }
  } finally {
    for (const database of opened.toReversed()) await database.close();
  }
}
