/**
 * The multi-file folder of the client library: `creds.json` and one file for each key. Folders are read for an import and written for an
 * export.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { AuthenticationCreds } from '@whiskeysockets/baileys';
import { encodeCredentials, encodeKey } from '../../platform/keys/key-codec.ts';
import { idOfFile, isCarried, readCredentials, readJson, readKey, splitName } from '../library-form.ts';
import {
  type CarriedSettings,
  type Found,
  type FoundSession,
  noSettings,
  type Reader,
  type SessionKey,
  SourceFault,
  type SourceOptions,
  type SourceState,
} from '../session.ts';

// Reads such folders. One folder contains one session. A folder of such folders contains several sessions.

const credentialsFile = 'creds.json';
/** The largest size of one file of a session. In bytes. */
const largestFile = 32 << 20;

/**
 * The number of files that are read in one turn of the event loop. These reads take some two milliseconds. Asynchronous reads would be ten times as slow for
 * such small files.
 */
const filesOfTurn = 64;

const readText = (path: string, what: string): string => {
  if (statSync(path).size > largestFile) throw new SourceFault(`${what} is larger than ${largestFile >> 20} MB`);
  return readFileSync(path, 'utf8');
};

/**
 * Reads the file of a key. Returns null if the library has removed the file. `whole` is a path that exists as long as the session. If `whole` is removed too,
 * throws the error of the system.
 */
const readKeyText = (path: string, what: string, whole: string): string | null => {
  try {
    return readText(path, what);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync(whole)) throw error;
    return null;
  }
};

/** Yields the keys of a folder, one file after the other. A damaged file is an error, because the session would be unreliable without this key. */
export async function* keysInFolder(folder: string, signal: AbortSignal): AsyncIterable<SessionKey> {
  const files = await readdir(folder);
  // A logout removes the credentials with the keys. A folder of the keys alone has no credentials.
  const whole = files.includes(credentialsFile) ? join(folder, credentialsFile) : folder;
  for (const [at, file] of files.entries()) {
    signal.throwIfAborted();
    if (at % filesOfTurn === filesOfTurn - 1) await turn();
    const name = file.endsWith('.json') && file !== credentialsFile ? splitName(file.slice(0, -'.json'.length)) : null;
    if (name === null || !isCarried(name.type)) continue;
    const text = readKeyText(join(folder, file), `the file of a ${name.type}`, whole);
    // The library removes a key by removing its file. Other programs write `null`.
    const value = text === null ? null : readJson(text, `the file of a ${name.type}`);
    if (value === null) continue;
    const key = readKey(name.type, idOfFile(name.type, name.id), value);
    if (key === null) throw new SourceFault(`the file of a ${name.type} holds something else`);
    yield key;
  }
}

interface FolderFacts {
  readonly name: string;
  readonly settings?: CarriedSettings;
  readonly state?: SourceState;
  readonly notes?: readonly string[];
}

/** Returns the sentence for a session that cannot be read. A system error is described by its code, because its text quotes paths. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof SourceFault) return error.message;
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code === 'string') return code === 'ENOENT' ? 'a file is missing' : `a file cannot be read: ${code}`;
  throw error;
};

/** Reads one folder as a session. */
export const sessionInFolder = async (folder: string, facts: FolderFacts, signal: AbortSignal): Promise<Found> => {
  try {
    const creds: AuthenticationCreds = readCredentials(readJson(readText(join(folder, credentialsFile), 'creds.json'), 'creds.json'));
    return {
      found: 'session',
      name: facts.name,
      creds,
      keys: () => keysInFolder(folder, signal),
      settings: facts.settings ?? noSettings,
      state: facts.state ?? 'unknown',
      notes: facts.notes ?? [],
    };
  } catch (error) {
    return { found: 'refused', name: facts.name, reason: reasonOf(error) };
  }
};

/** Returns true if this folder has credentials. */
export const holdsCredentials = (folder: string): Promise<boolean> =>
  stat(join(folder, credentialsFile)).then(
    (found) => found.isFile(),
    () => false,
  );

const folderFaults: Readonly<Record<string, string>> = {
  ENOENT: 'The folder of the source does not exist',
  ENOTDIR: 'The source is a file, and a folder is expected',
  EACCES: 'The folder of the source may not be read by this user',
};

/** Returns the names of the folders in a folder, sorted. Throws `SourceFault` if the folder does not exist. */
export const foldersIn = async (path: string): Promise<readonly string[]> => {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    const code = (error as { readonly code?: string }).code ?? 'unknown';
    throw new SourceFault(folderFaults[code] ?? `The folder cannot be read: ${code}`);
  });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
};

export const neededPath = ({ path }: SourceOptions): string => {
  if (path === null) throw new SourceFault('--path is missing: it names the file or the folder of the source');
  return resolve(path);
};

async function* read(options: SourceOptions): AsyncIterable<Found> {
  const path = neededPath(options);
  const names = await foldersIn(path);
  if (await holdsCredentials(path)) return yield await sessionInFolder(path, { name: basename(path) }, options.signal);
  let found = 0;
  for (const name of names) {
    options.signal.throwIfAborted();
    const folder = join(path, name);
    if (!(await holdsCredentials(folder))) continue;
    found += 1;
    yield await sessionInFolder(folder, { name }, options.signal);
  }
  if (found === 0) throw new SourceFault('No folder with a file creds.json is there');
}

export const folderReader: Reader = {
  title: 'folders of the bare library (useMultiFileAuthState)',
  examples: ['npm run import -- --from folder --path ./auth_info', 'npm run import -- --from folder --path ./sessions --only shop'],
  upload: { kind: 'folder', takes: 'a tar archive of the folder with creds.json, or of a folder of such folders' },
  read,
};

// Writes a session as a multi-file folder of the client library.

/** Returns the library's file name of a key. */
const fileOf = (type: string, id: string): string => `${type}-${id.replaceAll('/', '__').replaceAll(':', '-')}.json`;

/** Returns a valid folder name for any system. */
const folderName = (name: string): string => {
  const plain = name
    .replaceAll(/[^\p{L}\p{N}._ -]/gu, '-')
    .replace(/^[. ]+/, '')
    .trim();
  return plain === '' ? 'session' : plain.slice(0, 80);
};

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Writes the folder under a temporary name and renames it at the end. An incomplete folder therefore never has the final name. Throws `SourceFault` if the path
 * exists already. `used` contains the folder names of this export. A further session with the same name gets a number. Resolves with the path.
 */
export const writeFolder = async (session: FoundSession, into: string, used: Set<string>): Promise<string> => {
  const plain = folderName(session.name);
  let name = plain;
  for (let number = 2; used.has(name); number += 1) name = `${plain}-${number}`;
  used.add(name);
  const path = join(into, name);
  const refuseFolder = async (): Promise<void> => {
    if (await exists(path)) throw new SourceFault(`${path} is there already`);
  };
  await refuseFolder();
  // Two exports to one folder must not write into the same unfinished folder.
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.unfinished`;
  try {
    await mkdir(unfinished, { recursive: true, mode: 0o700 });
    const write = (file: string, text: string): Promise<void> => writeFile(join(unfinished, file), text, { mode: 0o600, flag: 'wx' });
    for await (const { type, id, value } of session.keys()) await write(fileOf(type, id), encodeKey(value));
    await write('creds.json', encodeCredentials(session.creds));
    await refuseFolder();
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return path;
};
