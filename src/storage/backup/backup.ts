/**
 * Copies the data folder while the embedded server runs, by the low-level backup API of PostgreSQL. Changes during the copy are in the write-ahead log
 * (WAL). A temporary replication slot keeps the log until it is copied. The slot and the backup end with their connection.
 */
import { readdir, readFile, realpath, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { join, resolve } from 'node:path';
import type { Log } from '#actors/ports.ts';
import { isInUse, openDatabase, type Runner } from '../postgres/database.ts';
import { EmbeddedServer } from '../postgres/embedded.ts';
import { type Entry, FolderCopy, isWithin, makeTargetFolder, type Progress, sizeOf, walk } from './copying.ts';
import { lockFolder } from './folder-lock.ts';
import { checkPages, type PageCheck } from './pages.ts';

/** The list of files in a complete backup. A backup without a list is unfinished. */
export interface BackupList {
  readonly format: 1;
  /** The version of the program that made the backup. */
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
  /** Settings for the server if this call starts one. Only tests set them. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (stage: 'database' | 'log' | 'files', progress: Progress) => void;
}

export const listName = 'backup.json';
const unfinishedName = 'unfinished.jsonl';
const slot = 'dormouse_backup';
/** Time limit of the transaction, which is open during the whole copy. A copy to a slow disk may take days. In milliseconds. */
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

/** The data folder of the sandbox, inside the data folder of the gateway. The sandbox has its own database, whose files change during a copy. */
export const sandboxFolder = 'sandbox';

const isOfSandbox = (path: string): boolean => path === sandboxFolder || path.startsWith(`${sandboxFolder}/`);

/** Returns true for files of the data folder outside the database: the key, stored files, and the simulated platform if the folder is that of a sandbox. */
const isOfFolder = (path: string): boolean =>
  !isOfSandbox(path) && !/^(?:postgres|temporary|gateway\.pid|unfinished\.pid|encryption\.key\.\d+)(?:\/|$)/.test(path);

/** The names in the data folder that may be symbolic links: to another disk, or to a mounted secret. */
const followed = ['postgres', 'files', 'encryption.key'];

const under = (prefix: string, paths: readonly string[]): readonly string[] => paths.map((path) => `${prefix}/${path}`);

const text = async (runner: Runner, statement: string, values: readonly unknown[] = []): Promise<string> => {
  const [row] = await runner.rows<{ readonly value: string }>({ name: '', text: statement }, values);
  return row?.value ?? '';
};

interface Begin {
  /** The first segment of the write-ahead log that the copy needs. */
  readonly segment: string;
  /** The position in the write-ahead log at which the backup began, in bytes. */
  readonly position: bigint;
}

const begin = async (runner: Runner): Promise<Begin> => {
  // All backups of a server use the same name for the slot, so a second backup at the same time is refused.
  const taken = await text(runner, `select count(*)::text as value from pg_replication_slots where slot_name = $1`, [slot]);
  if (taken !== '0') throw new Error('Another backup of this data folder is being made.');
  await text(runner, 'select slot_name::text as value from pg_create_physical_replication_slot($1, true, true)', [slot]);
  const begun = await text(runner, `select pg_backup_start('dormouse', true)::text as value`);
  const segment = await text(runner, 'select pg_walfile_name($1::pg_lsn) as value', [begun]);
  return { segment, position: BigInt(await text(runner, `select ($1::pg_lsn - '0/0')::text as value`, [begun])) };
};

/** Returns the paths of the main files of all tables and indexes, below the server's folder. */
const relationsOf = async (runner: Runner): Promise<ReadonlySet<string>> => {
  const statement = `select pg_relation_filepath(oid) as path from pg_class where relpersistence <> 't' and pg_relation_filepath(oid) is not null`;
  return new Set((await runner.rows<{ readonly path: string }>({ name: '', text: statement }, [])).map(({ path }) => path));
};

/** Checks that the copy has all tables, with undamaged pages. Throws an error with a text for the operator. */
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
  /** The last segment of the write-ahead log that the copy needs. */
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

/** Copies the control file. It is read until two successive reads are equal, because a read during a write may be half old and half new. */
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
  // Only tables that exist before and after the copy are expected, because tables may be dropped or rewritten meanwhile.
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

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const refuseWhole = async (to: string): Promise<void> => {
  if (await exists(join(to, listName))) throw new Error(`${to} holds a whole backup already: name another folder with --to.`);
};

/**
 * Returns the paths of the files in the data folder. Throws an error with a text for the operator if a needed file is a symbolic link that a backup does not
 * follow.
 */
const filesOf = async ({ dataDir, to, log }: BackupOptions): Promise<readonly string[]> => {
  const { files, links } = await walk(dataDir, (path) => !isOfSandbox(path), followed);
  for (const path of links.filter(isOfFolder)) {
    if (!followed.some((name) => isWithin(name, path))) log.warn({ path: join(dataDir, path) }, 'backup.linkLeftOut');
    else throw new Error(`${join(dataDir, path)} is a symbolic link, which a backup does not follow: put what it leads to in its place.`);
  }
  for (const name of followed)
    if (isWithin(await realpath(join(dataDir, name)).catch(() => join(dataDir, name)), await realpath(to)))
      throw new Error(`${to} is in ${join(dataDir, name)}, which is what a backup copies: name another folder with --to.`);
  return files;
};

/** Checks the folders and the free disk space. Throws an error with a text for the operator. */
const checkFolders = async (options: BackupOptions): Promise<void> => {
  const { dataDir, to } = options;
  const hasDatabase = (folder: string): Promise<boolean> => exists(join(folder, databasePrefix, 'PG_VERSION'));
  if (!(await hasDatabase(dataDir))) {
    const sandbox = join(dataDir, sandboxFolder);
    const hint = (await hasDatabase(sandbox)) ? ` The sandbox has one, which this command copies: DATA_DIR=${sandbox} npm run backup` : '';
    throw new Error(`${dataDir} has no database of the embedded server.${hint}`);
  }
  await refuseWhole(to);
  if (isWithin(dataDir, to)) throw new Error(`${to} is in the data folder, which is what a backup copies: name another folder with --to.`);
  makeTargetFolder(to);
  // Symbolic links are resolved, because a copy over its own source would empty every file.
  const source = await realpath(dataDir);
  const copy = await realpath(join(to, 'data')).catch(async () => join(await realpath(to), 'data'));
  if (isWithin(source, copy) || isWithin(copy, source))
    throw new Error(`${to} would put its copy over the data folder, or into it: name another folder with --to.`);
  // A backup overwrites the files in its folder, and removes those that the source does not have.
  if ((await readdir(copy).catch(() => [])).length > 0 && !(await exists(join(to, unfinishedName))))
    throw new Error(`${join(to, 'data')} holds files that no backup wrote: name another folder with --to.`);
  const all = await sizeOf(dataDir, await filesOf(options));
  const there = await sizeOf(to, (await walk(to, () => true)).files);
  const { bavail, bsize } = await statfs(to);
  if (all - there > bavail * bsize)
    throw new Error(
      `The backup needs ${Math.ceil((all - there) / 1e6)} MB, and the disk of ${to} has ${Math.floor((bavail * bsize) / 1e6)} MB.`,
    );
};

/** Makes a backup, or continues an interrupted one. Rejects with a text for the operator. A later call continues the backup. */
export const backUp = async (given: BackupOptions): Promise<BackupList> => {
  const options = { ...given, dataDir: resolve(given.dataDir), to: resolve(given.to) };
  const { dataDir, to, log, signal, version } = options;
  await checkFolders(options);
  await using _lock = await lockFolder(to);
  // Another backup may have ended since the check.
  await refuseWhole(to);
  const list = join(to, unfinishedName);
  const copy = await FolderCopy.open(dataDir, join(to, 'data'), list);
  const began = new Date().toISOString();
  const server = await EmbeddedServer.start({ dataDir, log, ...(options.settings ? { settings: options.settings } : {}) });
  try {
    const limits = { statement: longestCopyMs, connection: 10_000 };
    const database = await openDatabase({ url: server.url, log, poolSize: 1, limits });
    try {
      await database.transaction((runner) => copyDatabase(runner, copy, options));
    } finally {
      await database.close();
    }
  } finally {
    // The server is stopped unless it has other clients. If the query for clients fails, only a server that this call started is stopped.
    await server.close(!(await isInUse(server.url, log, server.adopted).catch(() => server.adopted)));
  }
  // Files are copied after the database, because the bytes of a file are stored before its row.
  const { files, folders } = await walk(dataDir, isOfFolder, followed);
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
