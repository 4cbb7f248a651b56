/** A PostgreSQL server with a streaming standby. A test kills the server and promotes the standby. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { serverBinaries, serverEnvironment, serverUser } from '#src/storage/postgres/server-files.ts';
import { Cable } from './cable.ts';
import { quietLog, testLimits } from './database.ts';
import { ExternalServer } from './external-server.ts';
import { freePort } from './ports.ts';
import { databaseServers, removeFolder, signalTo, temporaryFolder } from './processes.ts';
import { until } from './until.ts';

const secret = 'standby-password';
const dataOf = (folder: string): string => join(folder, 'postgres', 'data');

/** Creates the replication role in the stopped server of the folder, and lets the role connect. */
const allowStandby = async (folder: string): Promise<void> => {
  const server = await EmbeddedServer.start({ dataDir: folder, log: quietLog, settings: { fsync: 'off' } });
  const database = await openDatabase({ url: server.url, log: quietLog, poolSize: 1, limits: testLimits });
  // The role of the gateway may read the progress of the standby.
  for (const text of [`create role standby login replication password '${secret}'`, 'grant pg_monitor to shop'])
    await database.rows({ name: '', text }, []);
  await database.close();
  await server.close(true);
  const access = join(dataOf(folder), 'pg_hba.conf');
  const rules = await readFile(access, 'utf8');
  await writeFile(access, `host replication standby 127.0.0.1/32 scram-sha-256\n${rules}`);
};

/** A primary server and its standby. Both start from copies of the same folder. */
export class Replicated {
  readonly #folder: string;
  readonly #first: ExternalServer;
  /** The simulated network cable between the standby and the primary server. */
  readonly link: Cable;
  /** The simulated network cable between the gateways and the current primary server. */
  readonly front: Cable;
  readonly #port: number;

  private constructor(folder: string, first: ExternalServer, cables: { readonly link: Cable; readonly front: Cable }, port: number) {
    this.#folder = folder;
    this.#first = first;
    this.link = cables.link;
    this.front = cables.front;
    this.#port = port;
  }

  /** Opens both servers. With `isSynchronous` a commit is answered only when the standby has received it. */
  static async open(isSynchronous: boolean): Promise<Replicated> {
    const folder = temporaryFolder();
    const settings = isSynchronous ? { synchronous_standby_names: 'standby', synchronous_commit: 'on' } : {};
    const first = await ExternalServer.open({
      settings,
      prepared: async (from) => {
        await allowStandby(from);
        spawnSync('cp', ['-a', join(from, 'postgres'), join(folder, 'postgres')]);
      },
    });
    const cables = { link: await Cable.open(first.url), front: await Cable.open(first.url) };
    const pair = new Replicated(folder, first, cables, await freePort());
    try {
      await pair.#follow();
      return pair;
    } catch (error) {
      await pair.close();
      throw error;
    }
  }

  /** Returns the address of the current primary server. */
  get url(): string {
    return this.front.url;
  }

  #printed(): Promise<string> {
    return readFile(this.#log, 'utf8');
  }

  get #log(): string {
    return join(this.#folder, 'standby.log');
  }

  async #follow(): Promise<void> {
    const data = dataOf(this.#folder);
    const { port } = new URL(this.link.url);
    await writeFile(join(data, 'standby.signal'), '');
    const source = `host=127.0.0.1 port=${port} user=standby password=${secret} application_name=standby`;
    await appendFile(join(data, 'postgresql.auto.conf'), `\nprimary_conninfo = '${source}'\n`);
    const user = await serverUser(data);
    if (user)
      for (const name of ['standby.signal', 'postgresql.auto.conf']) spawnSync('chown', [`${user.uid}:${user.gid}`, join(data, name)]);
    const { postgres } = await serverBinaries(user, quietLog);
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(this.#port),
      unix_socket_directories: '',
      fsync: 'off',
      wal_retrieve_retry_interval: '100ms',
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const output = openSync(this.#log, 'a');
    spawn(postgres, ['-D', process.platform === 'linux' ? '/proc/self/cwd' : data, ...flags], {
      cwd: data,
      env: serverEnvironment,
      detached: true,
      stdio: ['ignore', output, output],
      ...user,
    }).unref();
    closeSync(output);
    await until(async () => (await this.#printed()).includes('started streaming'), 'the standby follows');
  }

  /** Waits until the standby has all the data that the primary server has at the time of the call. */
  async caughtUp(): Promise<void> {
    const database = await openDatabase({ url: this.#first.url, log: quietLog, poolSize: 1, limits: testLimits });
    try {
      const [now] = await database.rows<{ place: string }>({ name: '', text: 'select pg_current_wal_insert_lsn()::text as place' }, []);
      const text = `select 1 from pg_stat_replication where application_name = 'standby' and flush_lsn >= $1::text::pg_lsn`;
      await until(
        async () => (await database.rows({ name: '', text }, [now?.place])).length > 0,
        'the standby has what the first server has',
      );
    } finally {
      await database.close();
    }
  }

  /** Kills the primary server and promotes the standby. */
  async failOver(): Promise<void> {
    await this.#first.kill();
    const [standby] = databaseServers(this.#folder);
    if (standby === undefined) throw new Error('there is no standby');
    await writeFile(join(dataOf(this.#folder), 'promote'), '');
    signalTo(standby, 'SIGUSR1');
    await until(async () => (await this.#printed()).includes('ready to accept connections'), 'the standby takes writes');
    const url = new URL(this.#first.url);
    url.port = String(this.#port);
    this.front.turnTo(url.href);
  }

  async close(): Promise<void> {
    await this.link.close();
    await this.front.close();
    await this.#first.close();
    await removeFolder(this.#folder);
  }
}
