/** Runs a PostgreSQL server outside the gateway, over TCP and with a role and a database. Tests kill and restart the server. */
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { quietLog, testLimits } from './database.ts';
import { freePort } from './ports.ts';
import { copyPreparedDatabase } from './prepared-database.ts';
import { databaseServers, isRunning, removeFolder, signalTo, temporaryFolder } from './processes.ts';
import { until } from './until.ts';

/** The password in the connection string. It must appear nowhere else. */
export const password = 'external-server-password';

/** Settings for speed. A killed server loses no commit with these settings, because commits stay synchronous. */
const haste = { fsync: 'off', full_page_writes: 'off' };

/** Servers that have to be killed when the test process exits early. */
const running = new Set<ExternalServer>();
process.once('exit', () => {
  for (const server of running) for (const pid of server.pids) signalTo(pid, 'SIGQUIT');
});

/** Starts the server without a supervisor, so that it is not restarted. */
const startAlone = async (folder: string, settings: Readonly<Record<string, string>>): Promise<void> => {
  const server = await EmbeddedServer.start({ dataDir: folder, log: quietLog, settings: { ...haste, ...settings } });
  await server.close(false);
};

/** Creates the role and its database. Connections over TCP need the password. */
const prepare = async (folder: string): Promise<void> => {
  copyPreparedDatabase(folder);
  const server = await EmbeddedServer.start({ dataDir: folder, log: quietLog, settings: haste });
  const database = await openDatabase({ url: server.url, log: quietLog, poolSize: 1, limits: testLimits });
  for (const text of [`create role shop login password '${password}'`, 'create database messages owner shop'])
    await database.rows({ name: '', text }, []);
  await database.close();
  await server.close(true);
  const access = join(folder, 'postgres', 'data', 'pg_hba.conf');
  const refused = await readFile(access, 'utf8');
  // The file is overwritten in place, which keeps its owner.
  await writeFile(access, 'host all all 127.0.0.1/32 scram-sha-256\n');
  await appendFile(access, refused);
};

export interface ExternalOptions {
  /** Settings of the server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called with the folder of the stopped server before its first start. */
  readonly prepared?: (folder: string) => Promise<void>;
}

export class ExternalServer {
  readonly #folder: string;
  readonly #settings: Readonly<Record<string, string>>;
  #port = 0;

  private constructor(folder: string, settings: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#settings = settings;
    running.add(this);
  }

  static async open({ settings = {}, prepared }: ExternalOptions = {}): Promise<ExternalServer> {
    const server = new ExternalServer(temporaryFolder(), settings);
    try {
      await prepare(server.#folder);
      await prepared?.(server.#folder);
      server.#port = await freePort();
      await server.start();
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  get url(): string {
    return `postgresql://shop:${password}@127.0.0.1:${this.#port}/messages`;
  }

  get pids(): readonly number[] {
    return databaseServers(this.#folder);
  }

  /** Starts the server, and waits until it accepts connections. */
  async start(): Promise<void> {
    const address = { listen_addresses: '127.0.0.1', port: String(this.#port), unix_socket_directories: '' };
    await startAlone(this.#folder, { ...address, ...this.#settings });
  }

  /** Kills the server without closing its connections, and waits for its end. */
  async kill(): Promise<void> {
    const killed = this.pids.filter((pid) => signalTo(pid, 'SIGKILL'));
    if (killed.length !== 1) throw new Error(`${killed.length} servers ran`);
    await until(() => killed.every((pid) => !isRunning(pid)), 'the server is gone');
  }

  async close(): Promise<void> {
    await removeFolder(this.#folder);
    running.delete(this);
  }
}
