/**
 * Several nodes as in production, each in its own process, with a NATS server, one PostgreSQL server, and the simulated platform in another process. Each
 * node reaches these services through simulated network cables that a test can cut.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { root } from '#test/source-tree.ts';
import { Account } from './account.ts';
import { Cable, type Cut } from './cable.ts';
import { quietLog, testLimits } from './database.ts';
import { ExternalServer } from './external-server.ts';
import { FleetTraffic } from './fleet-traffic.ts';
import { GatewayProcess } from './gateway.ts';
import { NatsServer } from './nats.ts';
import { Opened } from './opened.ts';
import { PlatformProcess } from './platform-process.ts';
import { randomOf } from './random.ts';
import { openReceiver, type Receiver } from './receivers.ts';
import { until } from './until.ts';

export interface FleetOptions {
  readonly nodes: number;
  readonly sessions: number;
  readonly seed: number;
  /** The longest delay of the receiver for a post. In milliseconds. */
  readonly slowestMs: number;
}

/** The services that a node needs, each on a cable of its own. */
export type Surroundings = 'database' | 'bus' | 'platform';

/** The time-out of waits. It is long, because the machine may be busy. In milliseconds. */
const patience = 120_000;
/** The receiver delays the answer to each n-th post, where n is this number. */
const slowEvery = 50;
export const hour = 3_600_000;

const settings = {
  ENCRYPTION_KEY: 'ab'.repeat(32),
  LOG_LEVEL: 'info',
  DRAIN_MS: '15000',
  RECONNECT_MIN_MS: '100',
  RECONNECT_MAX_MS: '1000',
  FRAME_SILENCE_MS: '8000',
  SEND_TIMEOUT_MS: '5000',
  DATABASE_STATEMENT_MS: '3000',
  DATABASE_CONNECTION_MS: '1500',
  CLUSTER_HANDSHAKES_PER_SECOND: '50',
  WEBHOOK_QUICK_RETRIES_MS: '0,50,100',
  WEBHOOK_SLOW_RETRIES_MS: '200,400,800,1600,3200,6400',
  CIRCUIT_FAILURES: '1000',
  CLOCK_JUMP_MS: String(hour),
};

const clockModule = pathToFileURL(join(root, 'test/support/shifted-clock.ts')).href;

/** Matches log lines of unexpected errors. Keys that a node could not store after the loss of its leases are allowed, because other nodes get them again. */
const neverPrinted = /unhandledRejection|notRestored|rashed|surprised|(?<!EpochLost.*)keys-lost|commandFailed/;

export class Member {
  readonly name: string;
  readonly gateway: GatewayProcess;
  readonly #cables: Readonly<Record<Surroundings, Cable>>;
  /** The output of the node at the last check. */
  #seen = '';

  constructor(name: string, gateway: GatewayProcess, cables: Readonly<Record<Surroundings, Cable>>) {
    this.name = name;
    this.gateway = gateway;
    this.#cables = cables;
  }

  cut(from: readonly Surroundings[], kind: Cut): void {
    for (const one of from) this.#cables[one].cut(kind);
  }

  mend(): void {
    for (const cable of Object.values(this.#cables)) cable.mend();
  }

  /** Asserts that the process had no unexpected error since the last call. */
  assertSound(): void {
    const { printed } = this.gateway;
    // The output begins anew with each start.
    const seen = printed.startsWith(this.#seen) ? this.#seen.length : 0;
    this.#seen = printed;
    const lines = printed
      .slice(seen)
      .split('\n')
      .filter((line) => neverPrinted.test(line));
    assert.deepEqual(lines, [], `${this.name} went wrong`);
  }

  /** Stops the node by SIGTERM and waits for its end. */
  async leaves(): Promise<void> {
    this.gateway.signal('SIGTERM');
    assert.equal(await this.gateway.endsWithin(patience), 0, `${this.name} ends in order: ${this.gateway.printed}`);
    this.assertSound();
  }

  /** Ends the process and checks its output. */
  async end(signal: NodeJS.Signals): Promise<void> {
    await this.gateway.end(signal);
    this.assertSound();
  }
}

export class Fleet {
  readonly platform: PlatformProcess;
  readonly receiver: Receiver;
  readonly server: ExternalServer;
  readonly nats: NatsServer;
  readonly members: Member[] = [];
  readonly accounts: Account[] = [];
  readonly #opened: Opened;
  readonly #admin: Database;

  private constructor(parts: Pick<Fleet, 'platform' | 'receiver' | 'server' | 'nats'>, admin: Database, opened: Opened) {
    this.platform = parts.platform;
    this.receiver = parts.receiver;
    this.server = parts.server;
    this.nats = parts.nats;
    this.#admin = admin;
    this.#opened = opened;
  }

  /** Opens the nodes with all sessions connected and spread over them. */
  static async open(options: FleetOptions): Promise<Fleet> {
    const opened = new Opened();
    try {
      return await Fleet.#open(options, opened);
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  static async #open({ nodes, sessions, seed, slowestMs }: FleetOptions, opened: Opened): Promise<Fleet> {
    const random = randomOf(seed + 1);
    const hold = (): number => (random() < 1 / slowEvery ? random() * slowestMs : 0);
    const server = opened.add(await ExternalServer.open(), (one) => one.close());
    const nats = opened.add(await NatsServer.open(), (one) => one.stop());
    const platform = opened.add(await PlatformProcess.start(), (one) => one.close());
    const receiver = opened.add(await openReceiver(hold), (one) => one.close());
    const admin = await openDatabase({ url: server.url, log: quietLog, poolSize: 1, application: 'test', limits: testLimits });
    opened.add(admin, (one) => one.close());
    const fleet = new Fleet({ platform, receiver, server, nats }, admin, opened);
    for (let at = 1; at <= nodes; at += 1) await (await fleet.another(`node-${at}`)).gateway.start();
    const webhook = { url: receiver.url, events: ['messages', 'connection'] };
    const saved = await fleet.members[0]!.gateway.call('POST', '/globalwebhook', { body: webhook });
    assert.equal(saved.status, 200, JSON.stringify(saved.body));
    for (let made = 0; made < sessions; made += 1) {
      const { gateway } = fleet.members[made % nodes]!;
      const account = await Account.create(gateway, `55119000${String(made).padStart(5, '0')}`);
      fleet.accounts.push(await account.pair(platform));
    }
    return fleet;
  }

  /** Creates a further node without starting it. A running node may have the same name. */
  async another(name: string): Promise<Member> {
    const cable = async (url: string, endsPass = false): Promise<Cable> =>
      this.#opened.add(await Cable.open(url, { endsPass }), (one) => one.close());
    // The platform counts connections of nodes, so a cable must not keep any open.
    const cables = {
      database: await cable(this.server.url),
      bus: await cable(this.nats.url),
      platform: await cable(this.platform.url, true),
    };
    const env = { ...settings, NODE_NAME: name, DATABASE_URL: cables.database.url, NATS_URL: cables.bus.url };
    const options = { platformUrl: cables.platform.url, env, nodeArgs: ['--import', clockModule] };
    const gateway = this.#opened.add(new GatewayProcess(options), (one) => one.close());
    const member = new Member(name, gateway, cables);
    if (!this.members.some((one) => one.name === name)) this.members.push(member);
    return member;
  }

  traffic(random: () => number): FleetTraffic {
    const { platform, receiver, accounts, members } = this;
    return new FleetTraffic({ platform, receiver, accounts, random, gateways: members.map(({ gateway }) => gateway) });
  }

  /** Returns the accounts by the name of the live node that owns them. Accounts without an owner have the name ''. */
  async owned(): Promise<ReadonlyMap<string, readonly Account[]>> {
    const text = `select instance.owner, node.name from instance join lease on lease.instance_id = instance.id
      join node on node.incarnation = lease.incarnation where node.until > extract(epoch from clock_timestamp()) * 1000`;
    const rows = await this.#admin.rows<{ owner: string; name: string }>({ name: '', text }, []);
    const names = new Map(rows.map(({ owner, name }) => [owner, name]));
    return Map.groupBy(this.accounts, ({ number }) => names.get(number) ?? '');
  }

  async ownedBy(member: Member): Promise<readonly Account[]> {
    return (await this.owned()).get(member.name) ?? [];
  }

  /** Returns the number of deliveries that wait for a later attempt. */
  async postponed(accounts: readonly Account[]): Promise<number> {
    const text = `select count(*)::int as count from outbox join instance on instance.id = outbox.instance_id
      where not_before > 0 and type = 'messages' and instance.owner = any($1::text[])`;
    const owners = accounts.map(({ number }) => number);
    return (await this.#admin.rows<{ count: number }>({ name: '', text }, [owners]))[0]?.count ?? 0;
  }

  /** Returns the number of logins of devices that were logged in already. */
  async doubleLogins(): Promise<number> {
    return (await this.platform.stats()).logins.double;
  }

  /** Waits until every node is ready, and every account has an owner and one connection. */
  async recovers(): Promise<void> {
    let state = '';
    const isWell = async (): Promise<boolean> => {
      // The database may still be unreachable.
      const owned = await this.owned().catch(() => new Map([['', this.accounts]]));
      const { open } = (await this.platform.stats()).connections;
      const ready = await Promise.all(this.members.map(({ gateway }) => gateway.call('GET', '/health/ready').catch(() => null)));
      const statuses = ready.map((answer) => answer?.status ?? 0);
      state = `${open} connections, ready: ${statuses.join(' ')}, ${owned.get('')?.length ?? 0} without an owner`;
      return open === this.accounts.length && !owned.has('') && statuses.every((status) => status === 200);
    };
    await until(isWell, () => `everybody is connected; ${state}`, patience);
  }

  /** Writes the output of each node since its start into a folder. */
  save(folder: string): void {
    mkdirSync(folder, { recursive: true });
    for (const { name, gateway } of this.members) writeFileSync(join(folder, `${name}.log`), gateway.printed);
  }

  async close(): Promise<void> {
    await this.#opened.close();
  }
}
