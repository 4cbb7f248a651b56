/** Runs the gateway as in production, in its own process with its data in a folder outside the project. Tests kill and restart the process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { root } from '#test/source-tree.ts';
import { argsFor } from './constants.ts';
import { copyPreparedDatabase } from './prepared-database.ts';
import { databaseServers, removeFolder, signalTo, temporaryFolder } from './processes.ts';
import { patience, until } from './until.ts';

export const adminToken = 'admin-token-of-the-e2e-tests';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // A test states the expected type where it reads the body.
  readonly body: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  /** The token of an instance. The admin token if absent. */
  readonly token?: string;
  readonly body?: unknown;
  /** Headers in addition to those of the credential and the body. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly ms?: number;
}

/** The end of a process: its code, or the signal that ended it. */
export type End = number | NodeJS.Signals | null;

export interface GatewayOptions {
  /** The WebSocket address of the simulated platform. If absent, the gateway starts with `--sandbox` and a platform of its own. */
  readonly platformUrl?: string;
  /** Settings, and values for constants by the names that they would have as settings. */
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of Node, before those of the program. */
  readonly nodeArgs?: readonly string[];
  /** True if the start creates the database folder, which takes a second. By default the start uses a copy of a prepared folder. */
  readonly fresh?: boolean;
  /** The folder of another version with its own Node.js. Absent for this version. */
  readonly program?: string;
}

/** Arguments of Node that reuse the module resolutions of earlier processes. */
const quickly = ['--import', join(root, 'test/support/resolutions.ts')];

/** The folder for the compile cache of the program. Naming it explicitly enables the cache with the arguments above. */
const compiled = join(root, 'node_modules', '.cache', 'dormouse');

/** Gateways that must be killed when the test process ends early. */
const running = new Set<GatewayProcess>();
process.once('exit', () => {
  for (const gateway of running) gateway.abandon();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

export class GatewayProcess {
  readonly dataDir: string;
  readonly #options: GatewayOptions;
  #child: ChildProcess | null = null;
  #ended: Promise<End> = Promise.resolve(null);
  #printed = '';

  /** Creates the gateway without starting it. `dataDir` is the folder of another process, and `close` does not delete it. */
  constructor(options: GatewayOptions, dataDir?: string) {
    this.dataDir = dataDir ?? temporaryFolder();
    this.#options = options;
    running.add(this);
  }

  /** Returns the output since the last start, logs included. */
  get printed(): string {
    return this.#printed;
  }

  /** Waits until the output matches the pattern. A log line may appear after the answer of its request. */
  prints(pattern: RegExp): Promise<unknown> {
    return until(
      () => pattern.test(this.#printed),
      () => `the gateway prints ${String(pattern)}; it printed:\n${this.#printed}`,
    );
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get address(): string {
    return /(?:API:|listens on) +(http:\/\/[^\s/]+)/.exec(this.#printed)?.[1] ?? '';
  }

  /** Starts the process without waiting. */
  launch(env: Readonly<Record<string, string>> = {}): void {
    const { platformUrl, env: own = {}, nodeArgs = [], fresh = false, program } = this.#options;
    const embedded = own['DATABASE_URL'] === undefined && env['DATABASE_URL'] === undefined;
    if (embedded && !fresh && !existsSync(join(this.dataDir, 'postgres'))) copyPreparedDatabase(this.dataDir);
    const platform = platformUrl === undefined ? { SANDBOX_PORT: '0' } : { PLATFORM_URL: platformUrl };
    const child = spawn(
      program === undefined ? process.execPath : join(program, 'node_modules/.bin/node'),
      [
        ...(program === undefined ? quickly : []),
        ...nodeArgs,
        ...argsFor({ ...own, ...env }, program),
        join(program ?? root, 'src/main.ts'),
        ...(platformUrl === undefined ? ['--sandbox'] : []),
      ],
      {
        cwd: this.dataDir,
        // The process inherits no variables, so only the settings of the test apply.
        env: {
          PATH: process.env['PATH'] ?? '',
          NODE_COMPILE_CACHE: compiled,
          DATA_DIR: this.dataDir,
          PORT: '0',
          ADMIN_TOKEN: adminToken,
          ALLOW_PRIVATE_RECEIVERS: 'loopback',
          // The machine may be busy with other tests. That load must not count as overload of this gateway.
          OVERLOAD_LAG_MS: '0',
          SHUTDOWN_MS: '60000',
          ...platform,
          ...own,
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    this.#printed = '';
    const hear = (chunk: Buffer): void => void (this.#printed += chunk.toString());
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    this.#child = child;
    this.#ended = new Promise((resolve) => void child.once('close', (code, signal) => resolve(code ?? signal)));
  }

  /** Starts the process and waits until it answers. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<this> {
    this.launch(env);
    await until(
      () => {
        if (this.#child?.exitCode !== null) throw new Error(`the gateway ended:\n${this.#printed}`);
        return this.address !== '' && this.#isHealthy();
      },
      () => `the gateway answers; it printed:\n${this.#printed}`,
      patience,
    );
    return this;
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<End> {
    this.#child?.kill(signal);
    return this.#ended;
  }

  /** Waits until the process ends without a signal. Rejects after the time-out. */
  endsWithin(ms: number): Promise<End> {
    return Promise.race([
      this.#ended,
      wait(ms, undefined, { ref: false }).then(() => {
        throw new Error(`the gateway did not end in ${ms} ms`);
      }),
    ]);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  get databases(): readonly number[] {
    return databaseServers(this.dataDir);
  }

  async call(method: string, path: string, { token, body, headers = {}, ms = patience }: CallOptions = {}): Promise<Answer> {
    const response = await fetch(this.address + path, {
      method,
      headers: {
        ...(token === undefined ? { admintoken: adminToken } : { token }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ms),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
  }

  /** Ends the process and its database server, and removes the folder. */
  async close(): Promise<void> {
    await this.end();
    running.delete(this);
    await removeFolder(this.dataDir);
  }

  /** Kills the process and its database server without waiting for their ends. */
  abandon(): void {
    this.#child?.kill('SIGKILL');
    for (const pid of this.databases) signalTo(pid, 'SIGQUIT');
  }

  async #isHealthy(): Promise<boolean> {
    try {
      return (await this.call('GET', '/health', { ms: 1_000 })).status === 200;
    } catch {
      return false;
    }
  }
}
