/** The embedded PostgreSQL server in the data folder. It is started, or adopted if it runs already. It is watched, and stopped by its last client. */
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

interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** Settings of the server such as `fsync: 'off'`. Only tests set them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The pause between two checks of the size of the server's log. In milliseconds. */
  readonly logCheckMs?: number;
  /** The time without a running server process after which a start fails. In milliseconds. */
  readonly startDeadlineMs?: number;
  /** Called each second of a start until the server accepts connections. After a crash, the server first replays its write-ahead log. */
  readonly onRecovering?: () => void;
  /** Aborts a start. A server that this start spawned is stopped. */
  readonly signal?: AbortSignal | undefined;
}

interface ServerSetup {
  /** The folder `DATA_DIR/postgres`. */
  readonly root: string;
  /** The server's data folder. Its socket is in this folder, so only the owner can connect. */
  readonly data: string;
  readonly user: ServerUser;
  readonly binaries: Binaries;
  readonly settings: Readonly<Record<string, string>>;
  /** The time without a running server process after which a start fails. In milliseconds. */
  readonly startDeadline: number;
}

/** The time without a running server process after which a start fails. The replay of the write-ahead log has no limit. In milliseconds. */
const usualStartDeadline = 60_000;
/** Intervals and limits in milliseconds. */
const recoveryLook = 1_000;
const stopDeadline = 15_000;
const watchInterval = 250;
const longestBackOff = 5_000;
/** The longest path of a socket. `sun_path` has 108 bytes on Linux and 104 elsewhere, including the final zero. In bytes. */
const longestSocketPath = 103;
const socketName = '.s.PGSQL.5432';

/** Settings of the server. It logs errors without details and statements, because they may contain message texts. */
const serverSettings: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_directories: '.',
  max_connections: '100',
  // In microseconds. The commits of several sessions then share a write to the disk. `shared-commits.ts` describes when a commit waits.
  commit_delay: '3000',
  // After a checkpoint, the first change of a page writes the whole page to the write-ahead log. Fewer checkpoints and compressed pages halve this log.
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
 * Returns the path of the data folder for the server. On Linux the server starts inside its folder and gets the path `/proc/self/cwd`. It then needs
 * no access to the parent folders, and the path may have any length.
 */
const dataArgument = (setup: ServerSetup): string => (process.platform === 'linux' ? '/proc/self/cwd' : setup.data);

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Returns true if the process is a server in this folder. A process id alone proves nothing, because the system reuses ids, in containers very soon. */
const isServerOf = async (pid: number, setup: ServerSetup): Promise<boolean> => {
  if (!alive(pid)) return false;
  if (process.platform !== 'linux') return (await run('ps', ['-o', 'command=', '-p', String(pid)], null)).output.includes(setup.data);
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  return folder === (await realpath(setup.data));
};

type Found = { readonly pid: number; readonly ready: boolean; readonly stopping: boolean } | null;

const findServer = async (setup: ServerSetup): Promise<Found> => {
  const file = join(setup.data, 'postmaster.pid');
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  const state = lines[7]?.trim() ?? '';
  if (await isServerOf(pid, setup)) return { pid, ready: state === 'ready', stopping: state === 'stopping' };
  // Another process now has the id in this file, so the server would refuse to start. The file gets an id that no process can have. The server then checks the
  // shared memory that the same file names. This check also finds backends that outlived their server.
  if (alive(pid)) await writeFile(file, ['2147483647', ...lines.slice(1)].join('\n'));
  return null;
};

const initialise = async (setup: ServerSetup, signal: AbortSignal | undefined): Promise<void> => {
  if (!(await exists(join(setup.data, 'PG_VERSION')))) {
    const fresh = await mkdtemp(join(setup.root, `init-${process.pid}-`));
    try {
      const maker = await initUser();
      if (maker) await chown(fresh, maker.uid, maker.gid);
      const target = process.platform === 'linux' ? '/proc/self/cwd' : fresh;
      const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
      const access = ['--username=postgres', '--auth-local=trust', '--auth-host=reject'];
      const haste = setup.settings['fsync'] === 'off' ? ['--no-sync'] : [];
      const made = await run(setup.binaries.initdb, ['-D', target, ...locale, ...access, ...haste], maker, { cwd: fresh, signal });
      signal?.throwIfAborted();
      if (made.code !== 0) throw new Error(`The embedded PostgreSQL server could not make its data folder: ${made.output}`);
      if (setup.user) await giveTo(setup.user, fresh);
      // If another process was faster, the rename fails, and the folder of that process is used.
      await rename(fresh, setup.data).catch(() => undefined);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }
  const version = await readFile(join(setup.data, 'PG_VERSION'), 'utf8').catch(() => '');
  if (version.trim() === setup.binaries.major) return;
  throw new Error(
    version
      ? `${setup.data} was made by PostgreSQL ${version.trim()}, this is ${setup.binaries.major}. Nothing was changed: the release of Dormouse that made it still runs it. docs/backup.md, "Another version of PostgreSQL", says how to take the data along.`
      : `${setup.data} is not a data folder of PostgreSQL: move it away, or choose another DATA_DIR.`,
  );
};

/** The time after which a lock file that is still empty counts as stale. A running server writes the file at once after its creation. In milliseconds. */
const emptyLockFor = 1_000;

/**
 * Removes the lock files of a killed server, which would keep the next server from starting. The process id in a lock may belong to another process
 * now, or to a zombie (in a container without an init). A lock is empty if the server was killed between the creation and the write of the file.
 */
const dropStaleLocks = async (setup: ServerSetup): Promise<void> => {
  const socketLock = join(setup.data, `${socketName}.lock`);
  const pid = Number.parseInt(await readFile(socketLock, 'utf8').catch(() => ''), 10);
  if (pid > 0 && !(await isServerOf(pid, setup))) await rm(socketLock, { force: true });
  const locks = [join(setup.data, 'postmaster.pid'), socketLock];
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

/** The size limit of the server's log, in bytes. */
const mostLog = 4_000_000;
/** The pause between two checks of the log's size. In milliseconds. */
const logCheckInterval = 10_000;

/** Copies a log that is too large to `server.log.1`, and truncates it. The server opens the log for appending, so it continues at the start of the file. */
const boundLog = async (setup: ServerSetup): Promise<void> => {
  const [file, aside] = [join(setup.root, 'server.log'), join(setup.root, 'server.log.1')];
  const size = (await stat(file).catch(() => null))?.size ?? 0;
  if (size <= mostLog) return;
  await rm(aside, { force: true });
  // On a full disk the copy fails, and the old log is dropped.
  await copyFile(file, aside).catch(() => rm(aside, { force: true }));
  await truncate(file);
};

/** Starts the server as a detached process that logs to a file, so that it survives Ctrl-C and the end of this process. Returns null if the start failed. */
const spawnServer = async (setup: ServerSetup, signal?: AbortSignal): Promise<number | null> => {
  await dropStaleLocks(setup);
  const output = openSync(join(setup.root, 'server.log'), 'a', 0o600);
  const flags = Object.entries({ ...serverSettings, ...setup.settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(setup.binaries.postgres, ['-D', dataArgument(setup), ...flags], {
    cwd: setup.data,
    env: serverEnvironment,
    detached: true,
    stdio: ['ignore', output, output],
    ...setup.user,
  });
  closeSync(output);
  let ended = false;
  child.on('error', () => (ended = true)).on('exit', () => (ended = true));
  child.unref();
  for (let deadline = performance.now() + setup.startDeadline; performance.now() < deadline; await wait(10)) {
    const found = await findServer(setup);
    if (found?.ready) return found.pid;
    if ((ended && !found) || signal?.aborted) return null;
    if (found && !found.stopping) deadline = performance.now() + setup.startDeadline;
  }
  return null;
};

interface Started {
  readonly pid: number;
  readonly adopted: boolean;
}

const lastLines = async (setup: ServerSetup): Promise<string> => {
  const text = await readFile(join(setup.root, 'server.log'), 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-5).join('\n');
};

const stopServer = async (setup: ServerSetup): Promise<void> => {
  const found = await findServer(setup);
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

/** Adopts or starts the server of this folder. Returns its process id. */
const ensureServer = async (setup: ServerSetup, signal?: AbortSignal): Promise<Started> => {
  for (let deadline = performance.now() + setup.startDeadline; performance.now() < deadline; await wait(20)) {
    const found = await findServer(setup);
    if (found?.ready) return { pid: found.pid, adopted: true };
    if (found && !found.stopping) deadline = performance.now() + setup.startDeadline;
    signal?.throwIfAborted();
    if (found) continue;
    const pid = await spawnServer(setup, signal);
    if (signal?.aborted) await stopServer(setup);
    signal?.throwIfAborted();
    if (pid !== null) return { pid, adopted: false };
    if (await findServer(setup)) continue;
    // Backends of a killed server live on for some moments. A new server must not write at the same time.
    if (!(await lastLines(setup)).includes('shared memory block')) break;
    await wait(200);
  }
  throw new Error(
    `The embedded PostgreSQL server did not start. Its log (${join(setup.root, 'server.log')}) ends with:\n${await lastLines(setup)}`,
  );
};

/** Runs the first start. Until the server accepts connections, `onRecovering` is called each second. */
const firstServer = async (setup: ServerSetup, { onRecovering, signal }: EmbeddedOptions): Promise<Started> => {
  const looking = setInterval(() => onRecovering?.(), recoveryLook);
  return ensureServer(setup, signal).finally(() => clearInterval(looking));
};

const socketFolder = (setup: ServerSetup): { readonly path: string; release(): void } => {
  const fits = Buffer.byteLength(join(setup.data, socketName)) <= longestSocketPath;
  if (fits) return { path: setup.data, release: () => undefined };
  if (process.platform !== 'linux')
    throw new Error(`${setup.data} is too long for a socket's path: choose a shorter DATA_DIR, or set DATABASE_URL.`);
  const handle = openSync(setup.data, 'r');
  return { path: `/proc/self/fd/${handle}`, release: () => closeSync(handle) };
};

type SocketFolder = ReturnType<typeof socketFolder>;

const prepareSetup = async (options: EmbeddedOptions): Promise<ServerSetup> => {
  if (process.platform === 'win32') throw new Error('The embedded PostgreSQL server needs Linux or macOS: set DATABASE_URL.');
  const root = resolve(options.dataDir, 'postgres');
  const data = join(root, 'data');
  await mkdir(root, { recursive: true, mode: 0o700 });
  await sweepHalfMade(root);
  const first = await serverUser(data);
  const { settings = {}, startDeadlineMs: startDeadline = usualStartDeadline } = options;
  const setup = { root, data, user: first, binaries: await serverBinaries(first, options.log), settings, startDeadline };
  await initialise(setup, options.signal);
  // The user is determined again, because another process may have made the folder meanwhile and given it to another user.
  const user = await serverUser(data);
  const { uid } = await stat(data);
  if (user && (uid !== user.uid || (await ofAnotherUser(data, user.uid)) !== null)) await giveTo(user, data);
  if (!user) await checkOwner(data);
  return { ...setup, user };
};

/** Sets the password of the server. If this fails, stops a server that this process started. */
const guardOrStop = async (setup: ServerSetup, { pid, adopted }: Started, socket: SocketFolder, log: Log): Promise<string> => {
  try {
    return await guardServer(setup.root, { data: setup.data, pid, socket: socket.path }, log);
  } catch (error) {
    socket.release();
    if (!adopted) await stopServer(setup);
    throw error;
  }
};

/** A server that was started or adopted. It is restarted after a crash until it is closed. */
export class EmbeddedServer {
  /** The connection string of the server's maintenance database. It is valid in this process only. */
  readonly url: string;
  /** True if the server ran already. Another process may then need it. */
  readonly adopted: boolean;
  readonly #setup: ServerSetup;
  readonly #log: Log;
  readonly #socket: SocketFolder;
  readonly #ending = new AbortController();
  readonly #watch: NodeJS.Timeout;
  readonly #logWatch: NodeJS.Timeout;
  #pid: number;
  #revival: Promise<void> | null = null;
  #isBounding = false;

  private constructor(setup: ServerSetup, started: Started, socket: SocketFolder, url: string, { log, logCheckMs }: EmbeddedOptions) {
    this.url = url;
    this.adopted = started.adopted;
    this.#setup = setup;
    this.#log = log;
    this.#socket = socket;
    this.#pid = started.pid;
    this.#watch = setInterval(() => this.#look(), watchInterval).unref();
    this.#logWatch = setInterval(() => this.#boundLog(), logCheckMs ?? logCheckInterval).unref();
    this.#boundLog();
  }

  /** Starts or adopts the server of `dataDir`. Rejects with a text for the operator. */
  static async start(options: EmbeddedOptions): Promise<EmbeddedServer> {
    const { log } = options;
    const setup = await prepareSetup(options);
    const started = await firstServer(setup, options);
    if (started.adopted) log.info({ pid: started.pid, folder: setup.data }, 'storage.serverAdopted');
    else log.debug({ pid: started.pid, folder: setup.data }, 'storage.serverStarted');
    const socket = socketFolder(setup);
    return new EmbeddedServer(setup, started, socket, await guardOrStop(setup, started, socket, log), options);
  }

  /** Ends the watch. With `stop`, also shuts the server down. Without `stop`, the server continues for its other clients. */
  async close(stop: boolean): Promise<void> {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    clearInterval(this.#watch);
    clearInterval(this.#logWatch);
    await this.#revival;
    this.#socket.release();
    if (stop) await stopServer(this.#setup);
  }

  #look(): void {
    if (this.#revival) return;
    const work = alive(this.#pid) ? this.#hurry() : this.#revive();
    this.#revival = work
      .catch((error: unknown) => this.#log.warn({ error }, 'storage.serverUnknown'))
      .finally(() => (this.#revival = null));
  }

  async #revive(): Promise<void> {
    this.#log.error({ pid: this.#pid }, 'storage.serverDied');
    for (let delay = 100; !this.#ending.signal.aborted; delay = Math.min(longestBackOff, delay * 2)) {
      const tried = await ensureServer(this.#setup).catch((error: Error) => error);
      if (!(tried instanceof Error)) {
        this.#pid = tried.pid;
        this.#log.info({ pid: tried.pid }, 'storage.serverRevived');
        return;
      }
      this.#log.error({ error: tried.message, retryInMs: delay }, 'storage.serverFailed');
      await wait(delay, undefined, { ref: false });
    }
  }

  /** Speeds up a shutdown that another program requested. The server waits for the gateway's connections, which never end by themselves. SIGINT ends them. */
  async #hurry(): Promise<void> {
    const found = await findServer(this.#setup);
    if (!found?.stopping || found.pid !== this.#pid || this.#ending.signal.aborted) return;
    this.#log.warn({ pid: this.#pid }, 'storage.serverStopping');
    process.kill(this.#pid, 'SIGINT');
  }

  /** Starts a check of the log's size unless a check runs. A second copy would overwrite the first copy with the truncated log. */
  #boundLog(): void {
    if (this.#isBounding) return;
    this.#isBounding = true;
    void boundLog(this.#setup)
      .catch((error: unknown) => this.#log.warn({ error }, 'storage.serverLogNotBound'))
      .finally(() => (this.#isBounding = false));
  }
}
