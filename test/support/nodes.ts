/** Runs several gateways as nodes of one cluster, with one database and one simulated platform. */
import assert from 'node:assert/strict';
import { Placement } from '#actors/cluster/placement.ts';
import type { LeaseStore } from '#actors/ports.ts';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { createLeaseStore } from '#src/storage/stores/leases.ts';
import { Account } from './account.ts';
import { quietLog, testLimits } from './database.ts';
import { ExternalServer } from './external-server.ts';
import type { GatewayProcess } from './gateway.ts';
import { Scene } from './scene.ts';
import { patience, until } from './until.ts';

const shared = { ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'info', DRAIN_MS: '60000' };

export class Nodes {
  readonly server: ExternalServer;
  readonly scene: Scene;
  readonly admin: Database;
  readonly #started: GatewayProcess[] = [];

  readonly #leases: LeaseStore;
  readonly #common: Readonly<Record<string, string>>;

  private constructor(server: ExternalServer, scene: Scene, admin: Database, common: Readonly<Record<string, string>>) {
    this.#common = common;
    this.server = server;
    this.scene = scene;
    this.admin = admin;
    this.#leases = createLeaseStore(admin);
  }

  /** Opens a cluster with one node, named `first`. `env` has the settings of all nodes. */
  static async open(env: Readonly<Record<string, string>> = {}): Promise<Nodes> {
    const server = await ExternalServer.open();
    const common = { ...shared, ...env, DATABASE_URL: server.url };
    const scene = await Scene.open({ ...common, NODE_NAME: 'first' });
    const admin = await openDatabase({ url: server.url, log: quietLog, poolSize: 1, application: 'test', limits: testLimits });
    return new Nodes(server, scene, admin, common);
  }

  get first(): GatewayProcess {
    return this.scene.gateway;
  }

  /** Creates a further node without starting it. */
  another(name: string, env: Readonly<Record<string, string>> = {}): GatewayProcess {
    const node = this.scene.another({ ...this.#common, NODE_NAME: name, ...env });
    this.#started.push(node);
    return node;
  }

  /** Returns the name of the owner of each account. The name is empty for an account without an owner. */
  async owners(accounts: readonly Account[]): Promise<readonly string[]> {
    const text = `select instance.owner, node.name from instance left join lease on lease.instance_id = instance.id
      left join node on node.incarnation = lease.incarnation and not node.ended`;
    const rows = await this.admin.rows<{ owner: string; name: string | null }>({ name: '', text }, []);
    return accounts.map(({ number }) => rows.find(({ owner }) => owner === number)?.name ?? '');
  }

  /** Waits until these accounts are connected on their preferred nodes, so that no balance moves them. Returns the names of their owners. */
  async settled(accounts: readonly Account[]): Promise<readonly string[]> {
    const homes = async (): Promise<readonly string[]> => {
      const { nodes } = await this.#leases.look();
      const placement = new Placement(nodes, 0);
      // The ids are read each time, because a session that is still being paired has no number yet.
      const rows = await this.admin.rows<{ id: string; owner: string }>({ name: '', text: 'select id, owner from instance' }, []);
      const ids = new Map(rows.map(({ id, owner }) => [owner, id]));
      return accounts.map(({ number }) => {
        const id = ids.get(number);
        return id === undefined ? 'not paired yet' : (placement.of(id) ?? '');
      });
    };
    let owners: readonly string[] = [];
    let wanted: readonly string[] = [];
    await until(
      async () => {
        [owners, wanted] = [await this.owners(accounts), await homes()];
        return owners.join() === wanted.join();
      },
      () => `all are where they belong: on ${wanted.join(' ')}; they are on ${owners.join(' ')}`,
      // A move waits for the next balance, and for both nodes.
      2 * patience,
    );
    for (const account of accounts) await account.reaches('connected');
    return owners;
  }

  /** Waits until this node owns all of the accounts. Returns the duration of the wait. In milliseconds. */
  async ownedBy(name: string, accounts: readonly Account[], ms?: number): Promise<number> {
    const began = performance.now();
    let last: readonly string[] = [];
    await until(
      async () => {
        last = await this.owners(accounts);
        return last.every((owner) => owner === name);
      },
      () => `${name} owns all; the owners are ${last.join(' ')}`,
      ms,
    );
    return performance.now() - began;
  }

  /** Returns the same account through another node. */
  at(node: GatewayProcess, { number, token }: Account): Account {
    return Account.of(node, number, token);
  }

  /** Returns the number of logins of devices that were logged in already. */
  get doubleLogins(): number {
    return this.scene.platform.sandbox.stats().logins.double;
  }

  async close(): Promise<void> {
    await this.admin.close();
    for (const node of this.#started) await node.close();
    await this.scene.close();
    await this.server.close();
  }
}

/** Asserts that the start of a node fails with this error text. */
export const refusesToStart = async (node: GatewayProcess, sentence: RegExp): Promise<void> => {
  node.launch();
  assert.equal(await node.endsWithin(patience), 1, node.printed);
  assert.match(node.printed, sentence);
};
