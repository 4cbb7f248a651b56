/** Restores a backup into a data folder, and starts its server once. The server replays the write-ahead log, which makes the folder consistent. */
import { chmod, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Log } from '#actors/ports.ts';
import { openDatabase } from '../postgres/database.ts';
import { EmbeddedServer } from '../postgres/embedded.ts';
import { packagedMajor } from '../postgres/server-files.ts';
import { listName, type BackupList } from './backup.ts';
import { copyFile, type Entry, hashOf, isWithin, makeTargetFolder, type Progress, resolvedPath, walk } from './copying.ts';
import { lockFolder } from './folder-lock.ts';

interface RestoreOptions {
  readonly from: string;
  /** The data folder that the restore fills. */
  readonly dataDir: string;
  readonly log: Log;
  readonly settings?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Restored {
  readonly list: BackupList;
  readonly instances: number;
}

const readBackupList = async (from: string): Promise<BackupList> => {
  const source = await readFile(join(from, listName), 'utf8').catch(() => null);
  if (source === null)
    throw new Error(
      `${from} holds no whole backup: ${listName} is missing. Call "npm run backup" again to continue an interrupted backup.`,
    );
  let list: BackupList | null = null;
  try {
    list = JSON.parse(source) as BackupList | null;
  } catch {
    // A copy of the backup may be truncated.
  }
  if (!Array.isArray(list?.files) || !Array.isArray(list.folders))
    throw new Error(`The backup is damaged: ${listName} is not as it was written.`);
  if (list.format !== 1) throw new Error(`${from} was made by a later version of Dormouse.`);
  return list;
};

/**
 * The names of the database folder and of the key during the restore. They get their real names last. A gateway therefore cannot start with an incomplete
 * database, and an interrupted restore leaves no key that would prevent the restore of another backup.
 */
const [unfinished, unfinishedKey] = ['postgres.restoring', 'encryption.key.restoring'] as const;
const keyName = 'encryption.key';
const unfinishedPathOf = (path: string): string => (path === keyName ? unfinishedKey : path.replace(/^postgres(?=\/|$)/, unfinished));

const sizeAt = async (path: string): Promise<number | null> => (await stat(path).catch(() => null))?.size ?? null;

const put = async ({ from, dataDir, signal }: RestoreOptions, { path, size, hash }: Entry): Promise<void> => {
  const to = join(dataDir, unfinishedPathOf(path));
  if ((await sizeAt(to)) === size && (await hashOf(to)) === hash) return;
  const copied = await copyFile(join(from, 'data', path), to, signal);
  if (copied === null) throw new Error(`The backup is damaged: data/${path} is missing.`);
  if (copied.hash !== hash) throw new Error(`The backup is damaged: data/${path} has changed since it was made.`);
};

/**
 * Removes the files and folders that an interrupted restore of another backup left. PostgreSQL would read them as parts of its tables and of its write-ahead
 * log.
 */
const removeOthers = async (list: BackupList, dataDir: string): Promise<void> => {
  const expected = new Set([...list.folders, ...list.files.map(({ path }) => path)].map(unfinishedPathOf));
  const { files, folders } = await walk(dataDir, (path) => path === unfinished || path.startsWith(`${unfinished}/`));
  for (const path of [...files, ...folders]) if (!expected.has(path)) await rm(join(dataDir, path), { recursive: true, force: true });
  if (!expected.has(unfinishedKey)) await rm(join(dataDir, unfinishedKey), { force: true });
};

/** Checks the target folder. Throws an error with a text for the operator. */
const checkTarget = async (list: BackupList, { from, dataDir }: RestoreOptions): Promise<void> => {
  if (isWithin(await resolvedPath(from), await resolvedPath(dataDir)))
    throw new Error(`${dataDir} is in the backup, which a restore must not change: name another folder with --to.`);
  if ((await sizeAt(join(dataDir, 'postgres'))) !== null)
    throw new Error(`${dataDir} holds a database already: restore into another folder with --to, or move this one away.`);
  const key = list.files.find(({ path }) => path === keyName);
  const there = join(dataDir, keyName);
  if (key && (await sizeAt(there)) !== null && (await hashOf(there)) !== key.hash)
    throw new Error(`${there} is another key than that of the backup: move the file away.`);
  const major = await packagedMajor();
  if (list.major !== major)
    throw new Error(
      `The backup has data of PostgreSQL ${list.major}, and this release has ${major}: restore it with the release that made it (${list.version}).`,
    );
};

/** Gives the key its real name. An existing key has the same content and stays, because it may be a link or a mounted secret, which cannot be replaced. */
const putKey = async (list: BackupList, dataDir: string): Promise<void> => {
  if (!list.files.some(({ path }) => path === keyName)) return;
  const [copied, key] = [join(dataDir, unfinishedKey), join(dataDir, keyName)];
  await ((await sizeAt(key)) === null ? rename(copied, key) : rm(copied));
};

/** Restores a backup, or continues an interrupted restore. Rejects with a text for the operator. */
export const restore = async (given: RestoreOptions): Promise<Restored> => {
  const options = { ...given, from: resolve(given.from), dataDir: resolve(given.dataDir) };
  const { from, dataDir, log, signal, onProgress } = options;
  const list = await readBackupList(from);
  await checkTarget(list, options);
  makeTargetFolder(dataDir);
  await using _lock = await lockFolder(dataDir);
  // Another restore may have ended since the check.
  await checkTarget(list, options);
  await removeOthers(list, dataDir);
  for (const path of list.folders) await mkdir(join(dataDir, unfinishedPathOf(path)), { recursive: true, mode: 0o700 });
  const ofBytes = list.files.reduce((sum, { size }) => sum + size, 0);
  let [files, bytes] = [0, 0];
  for (const entry of list.files) {
    signal?.throwIfAborted();
    await put(options, entry);
    files += 1;
    bytes += entry.size;
    onProgress?.({ files, ofFiles: list.files.length, bytes, ofBytes });
  }
  await chmod(join(dataDir, unfinished, 'data'), 0o700);
  // A gateway may have started in the folder meanwhile, with a database and a key of its own.
  await checkTarget(list, options);
  await putKey(list, dataDir);
  await rename(join(dataDir, unfinished), join(dataDir, 'postgres'));
  const server = await EmbeddedServer.start({ dataDir, log, ...(options.settings ? { settings: options.settings } : {}) });
  try {
    const database = await openDatabase({ url: server.url, log, poolSize: 1 });
    const [row] = await database
      .rows<{ readonly count: number }>({ name: '', text: 'select count(*)::int as count from instance where not removed' }, [])
      .finally(() => database.close());
    return { list, instances: row?.count ?? 0 };
  } finally {
    await server.close(true);
  }
};
