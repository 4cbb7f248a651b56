/** The gateway's own PostgreSQL server in the data folder: started or adopted, watched, and stopped by its last user. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { chown, copyFile, mkdir, mkdtemp, readFile, readlink, realpath, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '#actors/ports.ts';
import {
  alive,
  type Binaries,
  checkOwner,
  giveTo,
  initUser,
  ofAnotherUser,
  run,
  serverBinaries,
  serverEnvironment,
  serverUser,
  type ServerUser,
  sweepHalfMade,
} from './server-files.ts';
import { guardServer } from './server-password.ts';

export interface EmbeddedServer {
  /** Connection string of its maintenance database, valid in this process. */
  readonly url: string;
  /** True if the server ran already, so that another process may need it. */
  readonly adopted: boolean;
  /** Ends the watch. With `stop` the server is shut down too. Without it, the server continues for its other users. */
  close(stop: boolean): Promise<void>;
}

interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** Server settings such as `fsync: 'off'`, for tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Milliseconds between two looks at the length of the server's log. */
  readonly logCheckMs?: number;
  /** Milliseconds without a server that lives, after which a start fails. */
  readonly startDeadlineMs?: number;
  /** Called each second of a start while the server accepts no connections, because it reads its log after a crash. */
  readonly onRecovering?: () => void;
  /** Ends a start that is under way. A server that this start made is stopped. */
  readonly signal?: AbortSignal | undefined;
}

interface Place {
  /** `DATA_DIR/postgres`. */
  readonly root: string;
  /** The server's data folder. Its socket is in this folder, so that only the owner can connect. */
  readonly data: string;
  readonly user: ServerUser;
  readonly binaries: Binaries;
  readonly settings: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly startDeadline: number;
}

/** A server reads its log after a crash or a restore, which takes as long as the log is large. The start waits as long as the server lives. */
const usualStartDeadline = 60_000;
/** Milliseconds. */
const recoveryLook = 1_000;
const stopDeadline = 15_000;
const watchInterval = 250;
const longestBackOff = 5_000;
/** `sun_path` holds 108 bytes on Linux and 104 elsewhere, the final zero included. */
const longestSocketPath = 103;
const socketName = '.s.PGSQL.5432';

/** Errors have short texts, because a detail or a statement may hold message texts. */
const serverSettings: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_directories: '.',
  max_connections: '100',
  // In microseconds. Commits of several sessions share a write to the disk; `shared-commits.ts` says when they wait.
  commit_delay: '3000',
  // Each checkpoint makes the next change of a page write all of it to the log. Fewer and larger checkpoints, and compressed pages, halve the log.
  checkpoint_timeout: '15min',
  max_wal_size: '2GB',
  wal_compression: 'on',
  jit: 'off',
  log_min_messages: 'warning',
  log_checkpoints: 'off',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

/**
 * On Linux the server gets the path `/proc/self/cwd` and starts inside its folder. It then needs no right to the folders above, and paths
 * may have any length.
 */
const dataArgument = (place: Place): string => (process.platform === 'linux' ? '/proc/self/cwd' : place.data);

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** A process id in a file proves nothing: ids are used again, in containers very soon. */
const isServerOf = async (pid: number, place: Place): Promise<boolean> => {
  if (!alive(pid)) return false;
  if (process.platform !== 'linux') return (await run('ps', ['-o', 'command=', '-p', String(pid)], null)).output.includes(place.data);
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  return folder === (await realpath(place.data));
};

type Found = { readonly pid: number; readonly ready: boolean; readonly stopping: boolean } | null;

const findServer = async (place: Place): Promise<Found> => {
  const file = join(place.data, 'postmaster.pid');
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  const state = lines[7]?.trim() ?? '';
  if (await isServerOf(pid, place)) return { pid, ready: state === 'ready', stopping: state === 'stopping' };
  // The id belongs to someone else now, so the server would refuse to start. With an id that no process can have, the server checks the shared memory
  // that the same file names. This check also finds backends that outlived their server.
  if (alive(pid)) await writeFile(file, ['2147483647', ...lines.slice(1)].join('\n'));
  return null;
};

const initialise = async (place: Place, signal: AbortSignal | undefined): Promise<void> => {
  if (!(await exists(join(place.data, 'PG_VERSION')))) {
    const fresh = await mkdtemp(join(place.root, `init-${process.pid}-`));
    try {
      const maker = await initUser();
      if (maker) await chown(fresh, maker.uid, maker.gid);
      const target = process.platform === 'linux' ? '/proc/self/cwd' : fresh;
      const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
      const access = ['--username=postgres', '--auth-local=trust', '--auth-host=reject'];
      const haste = place.settings['fsync'] === 'off' ? ['--no-sync'] : [];
      const made = await run(place.binaries.initdb, ['-D', target, ...locale, ...access, ...haste], maker, { cwd: fresh, signal });
      signal?.throwIfAborted();
      if (made.code !== 0) throw new Error(`The embedded PostgreSQL server could not make its data folder: ${made.output}`);
      if (place.user) await giveTo(place.user, fresh);
      // The second process finds the folder taken, and uses that.
      await rename(fresh, place.data).catch(() => undefined);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }
  const version = await readFile(join(place.data, 'PG_VERSION'), 'utf8').catch(() => '');
  if (version.trim() === place.binaries.major) return;
  throw new Error(
    version
      ? `${place.data} was made by PostgreSQL ${version.trim()}, this is ${place.binaries.major}. Nothing was changed: the release of Dormouse that made it still runs it. docs/backup.md, "Another version of PostgreSQL", says how to take the data along.`
      : `${place.data} is in the way: it is no data folder of PostgreSQL.`,
  );
};

/** Time after which an empty lock file has no owner, because a server writes the file at once. In milliseconds. */
const emptyLockFor = 1_000;

/**
 * Removes the lock files of a killed server, which would keep the next server from starting. The process id in a lock may belong to another process
 * by now, or to a zombie (in a container without an init). A lock is empty if the server died between creating and writing the file.
 */
const dropStaleLocks = async (place: Place): Promise<void> => {
  const socketLock = join(place.data, `${socketName}.lock`);
  const pid = Number.parseInt(await readFile(socketLock, 'utf8').catch(() => ''), 10);
  if (pid > 0 && !(await isServerOf(pid, place))) await rm(socketLock, { force: true });
  const locks = [join(place.data, 'postmaster.pid'), socketLock];
  const areEmpty = (): Promise<boolean[]> =>
    Promise.all(
      locks.map((lock) =>
        stat(lock).then(
          ({ size }) => size === 0,
          () => false,
        ),
      ),
    );
  const before = await areEmpty();
  if (!before.includes(true)) return;
  await wait(emptyLockFor);
  const after = await areEmpty();
  for (const [at, lock] of locks.entries()) if (before[at] && after[at]) await rm(lock, { force: true });
};

/** In bytes. */
const mostLog = 4_000_000;
/** In milliseconds. */
const logCheckInterval = 10_000;

/** Moves the log aside when it is too long. The server appends, so it goes on at the start of the emptied file. */
const boundLog = async (place: Place): Promise<void> => {
  const [file, aside] = [join(place.root, 'server.log'), join(place.root, 'server.log.1')];
  const size = (await stat(file).catch(() => null))?.size ?? 0;
  if (size <= mostLog) return;
  await rm(aside, { force: true });
  // A full disk has no room for a copy.
  await copyFile(file, aside).catch(() => rm(aside, { force: true }));
  await truncate(file);
};

/** Detached, writing to a file: neither Ctrl-C nor the death of this process reaches it. Answers null when it ended at once. */
const spawnServer = async (place: Place, signal?: AbortSignal): Promise<number | null> => {
  await dropStaleLocks(place);
  const output = openSync(join(place.root, 'server.log'), 'a', 0o600);
  const flags = Object.entries({ ...serverSettings, ...place.settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(place.binaries.postgres, ['-D', dataArgument(place), ...flags], {
    cwd: place.data,
    env: serverEnvironment,
    detached: true,
    stdio: ['ignore', output, output],
    ...place.user,
  });
  closeSync(output);
  let ended = false;
  child.on('error', () => (ended = true)).on('exit', () => (ended = true));
  child.unref();
  for (let deadline = performance.now() + place.startDeadline; performance.now() < deadline; await wait(10)) {
    const found = await findServer(place);
    if (found?.ready) return found.pid;
    if ((ended && !found) || signal?.aborted) return null;
    if (found && !found.stopping) deadline = performance.now() + place.startDeadline;
  }
  return null;
};

const lastLines = async (place: Place): Promise<string> => {
  const text = await readFile(join(place.root, 'server.log'), 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-5).join('\n');
};

const stopServer = async (place: Place): Promise<void> => {
  const found = await findServer(place);
  if (!found) return;
  for (const [signal, patience] of [
    ['SIGINT', stopDeadline],
    ['SIGQUIT', 5_000],
  ] as const) {
    if (!alive(found.pid)) return;
    process.kill(found.pid, signal);
    for (const deadline = performance.now() + patience; alive(found.pid) && performance.now() < deadline;) await wait(10);
  }
};

/** The id of the one server of this folder, adopted or started. */
const ensureServer = async (place: Place, signal?: AbortSignal): Promise<{ readonly pid: number; readonly adopted: boolean }> => {
  for (let deadline = performance.now() + place.startDeadline; performance.now() < deadline; await wait(20)) {
    const found = await findServer(place);
    if (found?.ready) return { pid: found.pid, adopted: true };
    if (found && !found.stopping) deadline = performance.now() + place.startDeadline;
    signal?.throwIfAborted();
    if (found) continue;
    const pid = await spawnServer(place, signal);
    if (signal?.aborted) await stopServer(place);
    signal?.throwIfAborted();
    if (pid !== null) return { pid, adopted: false };
    if (await findServer(place)) continue;
    // Processes of a server that was killed live on for some moments, and a new one must not write beside them.
    if (!(await lastLines(place)).includes('shared memory block')) break;
    await wait(200);
  }
  throw new Error(
    `The embedded PostgreSQL server did not start. Its log (${join(place.root, 'server.log')}) ends with:\n${await lastLines(place)}`,
  );
};

/** Reports progress during a start, as long as the server accepts no connections. */
const firstServer = async (place: Place, { onRecovering, signal }: EmbeddedOptions): ReturnType<typeof ensureServer> => {
  const looking = setInterval(() => onRecovering?.(), recoveryLook);
  return ensureServer(place, signal).finally(() => clearInterval(looking));
};

const socketFolder = (place: Place): { readonly path: string; release(): void } => {
  const fits = Buffer.byteLength(join(place.data, socketName)) <= longestSocketPath;
  if (fits) return { path: place.data, release: () => undefined };
  if (process.platform !== 'linux')
    throw new Error(`${place.data} is too long for a socket's path: choose a shorter DATA_DIR, or set DATABASE_URL.`);
  const handle = openSync(place.data, 'r');
  return { path: `/proc/self/fd/${handle}`, release: () => closeSync(handle) };
};

const preparePlace = async (options: EmbeddedOptions): Promise<Place> => {
  if (process.platform === 'win32') throw new Error('The embedded PostgreSQL server needs Linux or macOS: set DATABASE_URL.');
  const root = resolve(options.dataDir, 'postgres');
  const data = join(root, 'data');
  await mkdir(root, { recursive: true, mode: 0o700 });
  await sweepHalfMade(root);
  const first = await serverUser(data);
  const { settings = {}, startDeadlineMs: startDeadline = usualStartDeadline } = options;
  const place = { root, data, user: first, binaries: await serverBinaries(first, options.log), settings, startDeadline };
  await initialise(place, options.signal);
  // Another process may have been quicker, and have given the folder to another user.
  const user = await serverUser(data);
  const { uid } = await stat(data);
  if (user && (uid !== user.uid || (await ofAnotherUser(data, user.uid)) !== null)) await giveTo(user, data);
  if (!user) await checkOwner(data);
  return { ...place, user };
};

/** Sets the password of the server. If that fails, stops a server that was started here, because nobody can use it. */
const guardOrStop = async (
  place: Place,
  { pid, adopted }: Awaited<ReturnType<typeof ensureServer>>,
  socket: ReturnType<typeof socketFolder>,
  log: Log,
): Promise<string> => {
  try {
    return await guardServer(place.root, { data: place.data, pid, socket: socket.path }, log);
  } catch (error) {
    socket.release();
    if (!adopted) await stopServer(place);
    throw error;
  }
};

/** Makes sure that the server of `dataDir` runs, for as long as it is not closed. Rejects with a sentence that says what to do. */
export const startEmbedded = async (options: EmbeddedOptions): Promise<EmbeddedServer> => {
  const place = await preparePlace(options);
  let server = await firstServer(place, options);
  if (server.adopted) options.log.info({ pid: server.pid, folder: place.data }, 'storage.serverAdopted');
  else options.log.debug({ pid: server.pid, folder: place.data }, 'storage.serverStarted');
  const socket = socketFolder(place);
  const url = await guardOrStop(place, server, socket, options.log);
  const ending = new AbortController();
  let revival: Promise<void> | null = null;

  const revive = async (): Promise<void> => {
    options.log.error({ pid: server.pid }, 'storage.serverDied');
    for (let delay = 100; !ending.signal.aborted; delay = Math.min(longestBackOff, delay * 2)) {
      const tried = await ensureServer(place).catch((error: Error) => error);
      if (!(tried instanceof Error)) {
        server = tried;
        options.log.info({ pid: server.pid }, 'storage.serverRevived');
        return;
      }
      options.log.error({ error: tried.message, retryInMs: delay }, 'storage.serverFailed');
      await wait(delay, undefined, { ref: false });
    }
  };
  /** After a stop request from outside, a server accepts no new connections and waits for the gateway's connections, which never end. */
  const hurry = async (): Promise<void> => {
    const found = await findServer(place);
    if (!found?.stopping || found.pid !== server.pid || ending.signal.aborted) return;
    options.log.warn({ pid: server.pid }, 'storage.serverStopping');
    process.kill(server.pid, 'SIGINT');
  };
  const watch = setInterval(() => {
    if (revival) return;
    const work = alive(server.pid) ? hurry() : revive();
    revival = work.catch((error: unknown) => options.log.warn({ error }, 'storage.serverUnknown')).finally(() => (revival = null));
  }, watchInterval);
  watch.unref();
  let bounding: Promise<void> | null = null;
  // A second copy would take the emptied file for the log.
  const lookAtLog = (): void => {
    bounding ??= boundLog(place)
      .catch((error: unknown) => options.log.warn({ error }, 'storage.serverLogNotBound'))
      .finally(() => (bounding = null));
  };
  const logWatch = setInterval(lookAtLog, options.logCheckMs ?? logCheckInterval).unref();
  lookAtLog();

  return {
    url,
    adopted: server.adopted,
    async close(stop) {
      if (ending.signal.aborted) return;
      ending.abort();
      clearInterval(watch);
      clearInterval(logWatch);
      await revival;
      socket.release();
      if (stop) await stopServer(place);
    },
  };
};
