/** The process: configuration, start, signals. `main.ts` checks the version of Node and then calls `start`. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { helpText } from '#config/help.ts';
import { loadSettings, SettingsError, type Settings, type SettingSources, type UnknownSetting } from '#config/load.ts';
import { openDataDir } from '#config/secrets.ts';
import type { Log } from '#actors/ports.ts';
import { nodeNameOf } from './wiring/cluster.ts';
import { createLog } from './log.ts';
import { forkSandbox, sandboxPreset } from './sandbox-process.ts';
import { Restarts } from './restarts.ts';
import { startError } from './start-errors.ts';
import { startService, type Service } from './service.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** The period within which a second signal counts as a copy of the first signal. A later signal ends the process at once. In milliseconds. */
const sameSignalMs = 1_000;

/** Ends the process with one sentence. A stack trace does not help with a mistyped setting. */
const refuseToStart = (message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};

interface Read {
  readonly settings: Settings;
  readonly sources: SettingSources;
  readonly log: ReturnType<typeof createLog>;
}

/** Reads the settings, opens the log, and warns about unknown settings and about lines of `.env` without a value. */
const readSettings = (sandbox: boolean): Read => {
  const unknown: UnknownSetting[] = [];
  const oddLines: number[] = [];
  let sources: SettingSources = new Map();
  const told = {
    onUnknown: (setting: UnknownSetting) => void unknown.push(setting),
    onOddLine: (line: number) => void oddLines.push(line),
    onSources: (found: SettingSources) => void (sources = found),
  };
  try {
    const settings = loadSettings({ ...told, ...(sandbox ? { preset: sandboxPreset } : {}) });
    const log = createLog(settings.logLevel, settings.logFormat);
    for (const { name, inFile, constant, meant } of unknown)
      log.warn({ name, from: inFile ? '.env' : 'environment', constant, meant }, 'settings.unknown');
    for (const line of oddLines) log.warn({ line, file: '.env', missing: '=' }, 'settings.noValue');
    return { settings, sources, log };
  } catch (error) {
    if (error instanceof SettingsError) return refuseToStart(error.message);
    throw error;
  }
};

/** The PID file, in which scripts find the id of the process. */
class PidFile {
  readonly #dataDir: string;
  readonly #own = `${process.pid}\n`;
  #path: string | null = null;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Writes the file. A file that a killed process left is overwritten. */
  write(): void {
    this.#path = join(openDataDir(this.#dataDir), 'gateway.pid');
    writeFileSync(this.#path, this.#own);
  }

  /** Removes the file. If another process has taken over, its PID file is left in place. */
  remove(): void {
    const path = this.#path;
    if (path !== null && existsSync(path) && readFileSync(path, 'utf8') === this.#own) rmSync(path, { force: true });
  }
}

const installErrorHandlers = (log: Log): void => {
  // On a full disk, output to stdout and stderr may fail. Such a failure must not end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // An unexpected error of one session must not end the process with all sessions. The session handles its own error.
  process.on('unhandledRejection', (error) => log.error({ error }, 'process.unhandledRejection'));
};

/** Starts the program. `--sandbox` adds a simulated platform. `--help` prints commands and settings, and starts no service. */
export async function start(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return say(helpText());
  const sandbox = args.includes('--sandbox');
  const strange = args.find((arg) => arg !== '--sandbox');
  if (strange !== undefined)
    refuseToStart(`The argument ${strange} is not known; there are --sandbox and --help. Settings come from the environment and .env.`);
  const { settings: read, sources, log } = readSettings(sandbox);
  try {
    openDataDir(read.dataDir);
  } catch (error) {
    refuseToStart(`Dormouse could not start: ${(error as Error).message}`);
  }
  const platform = sandbox
    ? await forkSandbox(read, log).catch((error: Error) => refuseToStart(`Dormouse could not start: ${startError(error)}`))
    : null;
  const settings = platform ? { ...read, platformUrl: platform.url } : read;

  installErrorHandlers(log);

  const pidFile = new PidFile(settings.dataDir);
  const refuse = (error: unknown): never => {
    if (signal.aborted) throw signal.reason;
    log.debug({ error }, 'service.notStarted');
    token.tell();
    pidFile.remove();
    return refuseToStart(`Dormouse could not start: ${startError(error)}`);
  };
  const token = new MadeToken();
  const stopping = new AbortController();
  const { signal } = stopping;
  const options = { onAdminToken: (made: string) => token.note(made), simulatedPhone: platform?.phone ?? null, sources, signal };
  const stopLimit = settings.shutdownMs + (nodeNameOf(settings) === null ? 0 : settings.drainMs);
  const restarts = new Restarts({
    start: (port) => startService({ ...settings, port }, log, version, { ...options, restart: restarts.request }).catch(refuse),
    stop: (service) => stopToRestart(service, log, stopLimit),
    onStarted: (service) => {
      log.info({ address: service.address }, 'service.restarted');
      followTaken(service);
    },
  });
  const starting = restarts.start(settings.port);
  // The signals are handled from this line on, because an interrupted start must not leave a database server behind.
  const stop = stopOnSignals(log, stopLimit, async () => {
    stopping.abort();
    await restarts.stop();
    await platform?.stop();
    token.tell();
    pidFile.remove();
  });
  const followTaken = (service: Service): void => void service.taken.then(() => stop('taken'));
  const service = await starting.catch(() => null);
  // A stop that interrupted the start reports the outcome itself.
  if (service === null || signal.aborted) return;
  pidFile.write();
  if (!token.tell()) tellKnownToken(settings);
  greet(service, platform?.page ?? null);
  // A terminal has just shown the same facts, so this line has the level debug there.
  log[process.stdout.isTTY ? 'debug' : 'info']({ address: service.address, version, pid: process.pid }, 'service.started');
  followTaken(service);
}

/** Ends the process after this many milliseconds, unless its timer is cleared. */
const limitStop = (log: Log, ms: number): NodeJS.Timeout =>
  setTimeout(() => {
    log.error({ ms }, 'service.stopTimedOut');
    process.exit(1);
  }, ms).unref();

const stopToRestart = async (service: Service, log: Log, limit: number): Promise<void> => {
  log.info({}, 'service.restarting');
  const timer = limitStop(log, limit);
  await service.stop();
  clearTimeout(timer);
};

/** Stops the program gracefully on a signal, at the latest after `limit` milliseconds. Returns a function that does the same without a signal. */
function stopOnSignals(log: Log, limit: number, stopAll: () => Promise<void>): (signal: string) => void {
  let stoppedAt: number | null = null;
  const now = (signal: string): void => {
    if (stoppedAt !== null) {
      // Under npm, a signal to the whole process group arrives twice, because npm passes it on.
      if (performance.now() - stoppedAt < sameSignalMs) return;
      log.error({ signal }, 'service.stopCutShort');
      process.exit(1);
    }
    stoppedAt = performance.now();
    log.info({ signal }, 'service.stopping');
    limitStop(log, limit);
    void stopAll().then(() => {
      log.info({}, 'service.stopped');
      process.exit(); // the client library leaves a timer of 30 s behind after a pairing
    });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => now(signal));
  // After an uncaught exception the state of the process is unknown. The program therefore closes the sessions and ends. A supervisor can start it again.
  process.on('uncaughtException', (error) => {
    log.error({ error }, 'process.uncaughtException');
    process.exitCode = 1;
    now('uncaughtException');
  });
  return now;
}

const tell = (name: string, value: string): void => say(`${`${name}:`.padEnd(18)}${value}`);

/**
 * The admin token that this start made. Only its hash is stored, so a start that fails or is interrupted later shows the token too.
 */
class MadeToken {
  #made: string | null = null;

  note(token: string): void {
    this.#made = token;
  }

  /** Shows the token once. Returns true if there was a token. */
  tell(): boolean {
    const token = this.#made;
    this.#made = null;
    if (token !== null) tell('Admin token', `${token}  (shown only this once; ADMIN_TOKEN chooses another)`);
    return token !== null;
  }
}

const tellKnownToken = ({ adminToken }: Settings): void =>
  tell('Admin token', adminToken === null ? 'as before  (ADMIN_TOKEN replaces a lost one)' : 'the one in ADMIN_TOKEN, until it is rotated');

const greet = ({ address }: Service, page: string | null): void => {
  tell('Dashboard', `${address}/admin`);
  tell('API', `${address}/docs`);
  if (page !== null) tell('Simulated phones', page);
};
