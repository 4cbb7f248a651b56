/** Starts the servers that nodes share: PostgreSQL with its usual settings, NATS, and the simulated platform. */
import { join } from 'node:path';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { NatsServer } from '#test/support/nats.ts';
import { startGateway, type GatewayClient, type Gates } from './clients.ts';
import { quiet } from './fill.ts';
import type { BenchSandbox } from './sandbox.ts';
import { databaseServerOf, type Workshop } from './workshop.ts';

const encryptionKey = 'ab'.repeat(32);
/** The limit of connections of the PostgreSQL server. Each node opens up to 20. */
const connections = '200';

export interface NodeOptions {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly gates?: Gates;
  /** The folder of an earlier run. */
  readonly folder?: string;
}

export class Shared {
  readonly nats: NatsServer;
  /** The process id of the database server. */
  readonly database: number | null;
  readonly #workshop: Workshop;
  readonly #sandbox: BenchSandbox;
  readonly #server: string;
  readonly #admin: Database;

  private constructor(
    workshop: Workshop,
    sandbox: BenchSandbox,
    nats: NatsServer,
    server: { readonly url: string; readonly folder: string },
    admin: Database,
  ) {
    this.#workshop = workshop;
    this.#sandbox = sandbox;
    this.nats = nats;
    this.#server = server.url;
    this.database = databaseServerOf(server.folder);
    this.#admin = admin;
  }

  static async open(workshop: Workshop, sandbox: BenchSandbox): Promise<Shared> {
    const nats = await NatsServer.open();
    workshop.atEnd(() => nats.stop());
    // The workshop ends a remaining database server in its folder, after the nodes.
    const folder = await workshop.folder();
    const server = await EmbeddedServer.start({ dataDir: join(folder, 'data'), log: quiet, settings: { max_connections: connections } });
    await server.close(false);
    const admin = await openDatabase({ url: server.url, log: quiet, poolSize: 1 });
    workshop.atEnd(() => admin.close());
    return new Shared(workshop, sandbox, nats, { url: server.url, folder }, admin);
  }

  /** Creates an empty database. Returns its connection string. */
  async newDatabase(name: string): Promise<string> {
    await this.#admin.rows({ name: '', text: `create database ${name}` }, []);
    return this.#server.replace('/postgres?', `/${name}?`);
  }

  /** Opens a connection for checks of the stored data. The bench closes it. */
  async look(url: string): Promise<Database> {
    const database = await openDatabase({ url, log: quiet, poolSize: 2 });
    this.#workshop.atEnd(() => database.close());
    return database;
  }

  /** Starts a gateway on a database of the PostgreSQL server. With `name` it is a node of a cluster. */
  async start(url: string, name: string | null, { env = {}, gates, folder }: NodeOptions = {}): Promise<GatewayClient> {
    const node = name === null ? {} : { NODE_NAME: name, NATS_URL: this.nats.url };
    const shared = { DATABASE_URL: url, ENCRYPTION_KEY: encryptionKey, DRAIN_MS: '0', OVERLOAD_LAG_MS: '0' };
    const options = { env: { ...shared, ...node, ...env }, ...(folder === undefined ? {} : { folder }) };
    const gateway = await startGateway(this.#workshop, this.#sandbox, options, gates);
    return { ...gateway, database: this.database };
  }
}

/** Returns the name of the node that owns each instance, by the instance's phone number. Instances without such a node are absent. */
export const ownersOf = async (database: Database): Promise<ReadonlyMap<string, string>> => {
  const text = `select instance.owner, node.name from instance join lease on lease.instance_id = instance.id
    join node on node.incarnation = lease.incarnation and node.until > extract(epoch from clock_timestamp()) * 1000`;
  const rows = await database.rows<{ owner: string; name: string }>({ name: '', text }, []);
  return new Map(rows.map(({ owner, name }) => [owner, name]));
};
