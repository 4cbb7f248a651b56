/**
 * A copy of the data folder while the embedded server works: the low-level backup of PostgreSQL. What changes during the copy is in the write-ahead
 * log (WAL), which a temporary replication slot holds until the copy has it. The slot and the backup end with their connection.
 */
import { readFile, realpath, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { join, resolve } from 'node:path';
import type { Log } from '#actors/ports.ts';
import { isInUse, openDatabase, type Runner } from '../postgres/database.ts';
import { startEmbedded } from '../postgres/embedded.ts';
import { type Entry, FolderCopy, isWithin, makePlace, type Progress, sizeOf, walk } from './copying.ts';
import { checkPages, type PageCheck } from './pages.ts';

/** The list of a whole backup. While it is missing, the backup is unfinished. */
export interface BackupList {
  readonly format: 1;
  /** Version of the program that made the backup. */
  readonly version: string;
  /** Major version of PostgreSQL, such as `18`. */
  readonly major: string;
  readonly began: string;
  readonly ended: string;
  readonly folders: readonly string[];
  readonly files: readonly Entry[];
}

export interface BackupOptions {
  readonly dataDir: string;
  readonly to: string;
  readonly version: string;
  readonly log: Log;
  /** Settings of a server that this call has to start, for tests. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (stage: 'database' | 'log' | 'files', progress: Progress) => void;
}

export const listName = 'backup.json';
const unfinishedName = 'unfinished.jsonl';
const slot = 'dormouse_backup';
/** In milliseconds. The one transaction of a backup lasts as long as its copy: days, for a slow disk. */
const longestCopyMs = 7 * 86_400_000;

const databasePrefix = 'postgres/data';
const control = `${databasePrefix}/global/pg_control`;

/** Folders whose content belongs to the running server; see "Making a Base Backup Using the Low Level API" in the documentation of PostgreSQL. */
const emptied = ['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans'];
const ownNames =
  /^(?:postmaster\.(?:pid|opts)|\.s\.PGSQL\..*|backup_label(?:\.old)?|tablespace_map(?:\.old)?|pg_internal\.init.*|pgsql_tmp.*)$/;

const isOfDatabase = (path: string): boolean => {
  if (ownNames.test(path.split('/').at(-1) ?? '') || path === 'global/pg_control') return false;
  const [top = '', ...below] = path.split('/');
  return below.length === 0 || !emptied.includes(top);
};

/** The data folder of the sandbox, below that of the gateway. The sandbox has a database of its own, whose files change during a copy. */
export const sandboxFolder = 'sandbox';

const isOfSandbox = (path: string): boolean => path === sandboxFolder || path.startsWith(`${sandboxFolder}/`);

/** True for files of the data folder beside the database: the key, stored files, and in the folder of a sandbox the simulated platform. */
const isOfFolder = (path: string): boolean =>
  !isOfSandbox(path) && !/^(?:postgres|temporary|gateway\.pid|encryption\.key\.\d+)(?:\/|$)/.test(path);

const under = (prefix: string, paths: readonly string[]): readonly string[] => paths.map((path) => `${prefix}/${path}`);

const text = async (runner: Runner, statement: string, values: readonly unknown[] = []): Promise<string> => {
  const [row] = await runner.rows<{ readonly value: string }>({ name: '', text: statement }, values);
  return row?.value ?? '';
};

interface Begin {
  /** The first segment of the log that the copy needs. */
  readonly segment: string;
  /** Its position in the log, in bytes. */
  readonly position: bigint;
}

const begin = async (runner: Runner): Promise<Begin> => {
  // A name that all backups of a server share. A second backup at the same time is refused.
  const taken = await text(runner, `select count(*)::text as value from pg_replication_slots where slot_name = $1`, [slot]);
  if (taken !== '0') throw new Error('Another backup of this data folder is being made.');
  await text(runner, 'select slot_name::text as value from pg_create_physical_replication_slot($1, true, true)', [slot]);
  const begun = await text(runner, `select pg_backup_start('dormouse', true)::text as value`);
  const segment = await text(runner, 'select pg_walfile_name($1::pg_lsn) as value', [begun]);
  return { segment, position: BigInt(await text(runner, `select ($1::pg_lsn - '0/0')::text as value`, [begun])) };
};

/** Reads the main files of all tables and indexes, by their paths in the server's folder. */
const relationsOf = async (runner: Runner): Promise<ReadonlySet<string>> => {
  const statement = `select pg_relation_filepath(oid) as path from pg_class where relpersistence <> 't' and pg_relation_filepath(oid) is not null`;
  return new Set((await runner.rows<{ readonly path: string }>({ name: '', text: statement }, [])).map(({ path }) => path));
};

/** Throws a sentence for the operator unless the copy has all tables, with the pages as the server wrote them. */
const checkCopy = async (
  copied: readonly string[],
  expected: readonly string[],
  {
    dataDir,
    to,
    began,
    checksums,
    signal,
  }: Pick<BackupOptions, 'dataDir' | 'to'> & { began: bigint; checksums: boolean; signal: AbortSignal | undefined },
): Promise<void> => {
  const all = new Set(copied);
  const missing = expected.find((path) => !all.has(path));
  if (missing !== undefined)
    throw new Error(
      `The database is damaged: its file ${missing} is missing, so that no whole backup can be made. Restore an older backup (docs/backup.md).`,
    );
  if (!checksums) return;
  const placed = (path: string): Pick<PageCheck, 'path' | 'copy' | 'source'> => ({
    path,
    copy: join(to, 'data', databasePrefix, path),
    source: join(dataDir, databasePrefix, path),
  });
  for (const path of copied) await checkPages({ ...placed(path), began, signal });
};

interface End {
  /** The last segment of the log that the copy needs. */
  readonly segment: string;
  readonly label: string;
}

const finish = async (runner: Runner): Promise<End> => {
  const [row] = await runner.rows<End>(
    { name: '', text: 'select pg_walfile_name(lsn) as segment, labelfile as label from pg_backup_stop(false)' },
    [],
  );
  if (row === undefined) throw new Error('The server did not end the backup.');
  return row;
};

/** Reads until two reads in a row are equal. The server writes this file as a whole, and a reader may see half of it. */
const copyControl = async (from: string, to: string): Promise<Omit<Entry, 'path'>> => {
  for (let before = await readFile(from); ; await wait(10)) {
    const bytes = await readFile(from);
    if (!bytes.equals(before)) {
      before = bytes;
      continue;
    }
    await writeFile(to, bytes, { mode: 0o600, flush: true });
    return { size: bytes.length, hash: createHash('sha256').update(bytes).digest('hex') };
  }
};

const copyDatabase = async (runner: Runner, copy: FolderCopy, { dataDir, to, signal, onProgress }: BackupOptions): Promise<void> => {
  const { segment: first, position } = await begin(runner);
  const known = await relationsOf(runner);
  const data = join(dataDir, databasePrefix);
  const { files, folders } = await walk(data, isOfDatabase);
  await copy.folders([databasePrefix, ...under(databasePrefix, folders)]);
  await copy.files(under(databasePrefix, files), { signal, onProgress: (progress) => onProgress?.('database', progress) });
  await copy.add(control, (target) => copyControl(join(dataDir, control), target));
  // Tables that were dropped or rewritten meanwhile have no file any more.
  const still = await relationsOf(runner);
  const expected = [...known].filter((path) => still.has(path));
  const checksums = (await text(runner, `select current_setting('data_checksums') as value`)) === 'on';
  const copied = files.filter((path) => copy.has(`${databasePrefix}/${path}`));
  await checkCopy(copied, expected, { dataDir, to, began: position, checksums, signal });
  const { segment: last, label } = await finish(runner);
  await copy.add(`${databasePrefix}/backup_label`, async (target) => {
    await writeFile(target, label, { mode: 0o600, flush: true });
    return { size: Buffer.byteLength(label), hash: createHash('sha256').update(label).digest('hex') };
  });
  const isNeeded = (path: string): boolean => path.endsWith('.history') || (/^[0-9A-F]{24}$/.test(path) && path >= first && path <= last);
  const segments = await walk(join(data, 'pg_wal'), isNeeded);
  for (const needed of [first, last])
    if (!segments.files.includes(needed)) throw new Error(`The server has removed ${needed} of its log: begin the backup anew.`);
  await copy.files(under(`${databasePrefix}/pg_wal`, segments.files), {
    signal,
    onProgress: (progress) => onProgress?.('log', progress),
  });
};

/** Throws a sentence for the operator. */
const checkPlaces = async ({ dataDir, to }: BackupOptions): Promise<void> => {
  const exists = (path: string): Promise<boolean> =>
    stat(path).then(
      () => true,
      () => false,
    );
  const hasDatabase = (folder: string): Promise<boolean> => exists(join(folder, databasePrefix, 'PG_VERSION'));
  if (!(await hasDatabase(dataDir))) {
    const sandbox = join(dataDir, sandboxFolder);
    const hint = (await hasDatabase(sandbox)) ? ` The sandbox has one, which this command copies: DATA_DIR=${sandbox} npm run backup` : '';
    throw new Error(`${dataDir} has no database of the embedded server.${hint}`);
  }
  if (await exists(join(to, listName))) throw new Error(`${to} holds a whole backup already: name another folder with --to.`);
  if (isWithin(dataDir, to)) throw new Error(`${to} is in the data folder, which is what a backup copies: name another folder with --to.`);
  makePlace(to);
  // A link counts as its target. A copy over its own source would empty every file.
  const source = await realpath(dataDir);
  const copy = await realpath(join(to, 'data')).catch(async () => join(await realpath(to), 'data'));
  if (isWithin(source, copy) || isWithin(copy, source))
    throw new Error(`${to} would put its copy over the data folder, or into it: name another folder with --to.`);
  const all = await sizeOf(dataDir, (await walk(dataDir, (path) => !isOfSandbox(path))).files);
  const there = await sizeOf(to, (await walk(to, () => true)).files);
  const { bavail, bsize } = await statfs(to);
  if (all - there > bavail * bsize)
    throw new Error(
      `The backup needs ${Math.ceil((all - there) / 1e6)} MB, and the disk of ${to} has ${Math.floor((bavail * bsize) / 1e6)} MB.`,
    );
};

/** Makes a backup, or continues an interrupted one. Rejects with a sentence for the operator. The same call then continues. */
export const backUp = async (given: BackupOptions): Promise<BackupList> => {
  const options = { ...given, dataDir: resolve(given.dataDir), to: resolve(given.to) };
  const { dataDir, to, log, signal, version } = options;
  await checkPlaces(options);
  const list = join(to, unfinishedName);
  const copy = await FolderCopy.open(dataDir, join(to, 'data'), list);
  const began = new Date().toISOString();
  const server = await startEmbedded({ dataDir, log, ...(options.settings ? { settings: options.settings } : {}) });
  try {
    const limits = { statement: longestCopyMs, connection: 10_000 };
    const database = await openDatabase({ url: server.url, log, poolSize: 1, limits });
    try {
      await database.transaction((runner) => copyDatabase(runner, copy, options));
    } finally {
      await database.close();
    }
  } finally {
    // A server that was started for the copy alone is stopped, also if the query for its clients fails.
    await server.close(!(await isInUse(server.url, log, server.adopted).catch(() => server.adopted)));
  }
  // Files follow the database, because the bytes of a file are stored before its row.
  const { files, folders } = await walk(dataDir, isOfFolder);
  await copy.folders(folders);
  await copy.files(files, { signal, onProgress: (progress) => options.onProgress?.('files', progress) });
  await copy.removeOthers();
  const all = await walk(join(to, 'data'), () => true);
  const major = (await readFile(join(to, 'data', databasePrefix, 'PG_VERSION'), 'utf8')).trim();
  const whole = { format: 1, version, major, began, ended: new Date().toISOString(), folders: all.folders, files: copy.entries } as const;
  await writeFile(join(to, `${listName}.part`), JSON.stringify(whole), { mode: 0o600, flush: true });
  await rename(join(to, `${listName}.part`), join(to, listName));
  await rm(list, { force: true });
  return whole;
};
