/** Measures the return of sessions after a kill, a drain and a restart of the cluster, by the login times at the platform. */
import type { Database } from '#src/storage/postgres/database.ts';
import { scaled, type Bench, type Setting } from './bench.ts';
import { adminToken, pairMany, type GatewayClient } from './clients.ts';
import { ownersOf, Shared } from './cluster.ts';
import { databaseCpu } from './cost.ts';
import { median, type Figure } from './report.ts';
import { doubleLogins, loginTimes, postJson, startSandbox, type BenchSandbox } from './sandbox.ts';
import { eventually, pause } from './workshop.ts';

const sessions = 200;
const rounds = 2;
/** The ratio of paired sessions to the sessions of the killed node. Some sessions belong to the other nodes. */
const spare = 1.1;
const heirNames = ['heir', 'sister'] as const;
/** The capacities of the nodes. The killed node gets nearly all sessions, and each other node has room for all. */
const capacities = { victim: '10000', heir: '300' };
/** The pause after a start. A node gets its share ten seconds after its start, and the requests of the logins have ended by then. In milliseconds. */
const settleMs = 20_000;
const idleMs = 60_000;
const patienceMs = 180_000;
const lookMs = 300;
/** The limit of logins per second: twice CLUSTER_HANDSHAKES_PER_SECOND, because a late login may fall into the second of later logins. */
const mostLogins = 40;

class Stage {
  readonly sandbox: BenchSandbox;
  readonly shared: Shared;
  readonly database: Database;
  readonly #url: string;
  readonly #nodes = new Map<string, GatewayClient>();

  private constructor(sandbox: BenchSandbox, shared: Shared, url: string, database: Database) {
    this.sandbox = sandbox;
    this.shared = shared;
    this.#url = url;
    this.database = database;
  }

  static async open({ workshop }: Setting): Promise<Stage> {
    const sandbox = await startSandbox(workshop);
    const shared = await Shared.open(workshop, sandbox);
    const url = await shared.newDatabase('nodes');
    return new Stage(sandbox, shared, url, await shared.look(url));
  }

  /** Starts a node with the default limits of logins. */
  async start(name: string): Promise<GatewayClient> {
    const env = { MAX_CONNECTED_INSTANCES: name === 'victim' ? capacities.victim : capacities.heir };
    const node = await this.shared.start(this.#url, name, { env, gates: 'usual' });
    this.#nodes.set(name, node);
    return node;
  }

  async end(name: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const node = this.#nodes.get(name);
    this.#nodes.delete(name);
    if (signal === 'SIGKILL' && node) process.kill(node.pid, signal);
    await node?.end();
  }

  /** Returns the accounts that the named node owns. Without a name it returns all accounts. */
  async accounts(name?: string): Promise<readonly string[]> {
    const owners = await ownersOf(this.database);
    return [...owners].filter(([, owner]) => name === undefined || owner === name).map(([account]) => account);
  }

  owns(name: string, least: number): Promise<unknown> {
    const enough = async (): Promise<true | null> => ((await this.accounts(name)).length >= least ? true : null);
    return eventually(enough, `${name} to own ${least} sessions`, patienceMs, lookMs);
  }
}

interface Back {
  /** The time from the start until each account was logged in again. In seconds. */
  readonly after: readonly number[];
  /** The time of each account without a login. In seconds. */
  readonly away: readonly number[];
  /** The times of the logins. In Unix milliseconds. */
  readonly logins: readonly number[];
}

/** Waits until all accounts have logged in after `since` (Unix milliseconds) and are connected. */
const back = async ({ sandbox }: Stage, accounts: readonly string[], since: number): Promise<Back> => {
  const logins = await eventually(
    async () => {
      const times = await loginTimes(sandbox);
      const found = accounts.flatMap((account) => times[account] ?? []);
      return found.every(({ loggedIn, closed }) => loggedIn > since && loggedIn >= closed) ? found : null;
    },
    `${accounts.length} sessions to be back`,
    patienceMs,
    lookMs,
  );
  return {
    after: logins.map(({ loggedIn }) => (loggedIn - since) / 1000),
    away: logins.map(({ loggedIn, closed }) => (loggedIn - closed) / 1000),
    logins: logins.map(({ loggedIn }) => loggedIn),
  };
};

/** Returns the largest number of logins within one second. */
const densest = (moments: readonly number[]): number => {
  const sorted = moments.toSorted((a, b) => a - b);
  let [most, from] = [0, 0];
  for (const [at, moment] of sorted.entries()) {
    while (moment - (sorted[from] ?? moment) >= 1000) from += 1;
    most = Math.max(most, at - from + 1);
  }
  return most;
};

const kill = async (stage: Stage): Promise<Back> => {
  const accounts = await stage.accounts('victim');
  const since = Date.now();
  await stage.end('victim', 'SIGKILL');
  return back(stage, accounts, since);
};

/** Restarts the killed node, and waits until it has its share of the sessions. */
const comeBack = async (stage: Stage, least: number): Promise<Back> => {
  const [since, before] = [Date.now(), await stage.accounts()];
  await stage.start('victim');
  await stage.owns('victim', least);
  return back(
    stage,
    (await stage.accounts('victim')).filter((account) => before.includes(account)),
    since,
  );
};

const drain = async (stage: Stage, address: string): Promise<Back> => {
  const accounts = await stage.accounts('victim');
  const since = Date.now();
  await postJson(`${address}/admin/nodes/victim/drain`, {}, { admintoken: adminToken });
  const moved = await back(stage, accounts, since);
  await stage.end('victim', 'SIGTERM');
  return moved;
};

/** Ends all nodes at the same time, and starts them again at the same time. */
const restart = async (stage: Stage): Promise<Back> => {
  const accounts = await stage.accounts();
  await Promise.all(['victim', ...heirNames].map((name) => stage.end(name, 'SIGTERM')));
  const since = Date.now();
  await Promise.all(['victim', ...heirNames].map((name) => stage.start(name)));
  return back(stage, accounts, since);
};

/** Returns the processor time of the database server per session and second without traffic. In milliseconds. */
const idle = async ({ shared, database }: Stage, count: number): Promise<number> => {
  await database.rows({ name: '', text: 'vacuum analyze' }, []);
  const before = databaseCpu(shared.database);
  await pause(idleMs);
  return (databaseCpu(shared.database) - before) / count / (idleMs / 1000);
};

const worst = (values: readonly number[]): number => Math.max(...values);

interface Measured {
  readonly killed: readonly Back[];
  readonly moved: readonly Back[];
  readonly drained: readonly Back[];
  readonly restarted: Back;
  readonly idle: number;
}

const figuresOf = ({ killed, moved, drained, restarted, idle: cost }: Measured): readonly Figure[] => {
  const figure = (name: string, unit: string, ours: number, most: number, details: Figure['details'] = {}): Figure => ({
    name,
    unit,
    ours,
    baseline: null,
    judged: 'value',
    bound: { most },
    details,
  });
  const of = (all: readonly Back[], field: 'after' | 'away', pick: (values: readonly number[]) => number): readonly number[] =>
    all.map((one) => pick(one[field]));
  const bunches = killed.map(({ logins }) => densest(logins));
  const count = worst(killed.map(({ after }) => after.length));
  return [
    figure(`${count} sessions of a killed node: the last is back`, 's', median(of(killed, 'after', worst)), 35, {
      rounds: of(killed, 'after', worst),
    }),
    figure(`${count} sessions of a killed node: the median`, 's', median(of(killed, 'after', median)), 25, {
      rounds: of(killed, 'after', median),
    }),
    figure('sessions of a node that drains: longest time away', 's', median(of(drained, 'away', worst)), 3, {
      rounds: of(drained, 'away', worst),
      medians: of(drained, 'away', median),
      untilTheLast: of(drained, 'after', worst),
    }),
    figure('sessions that move to a node that came: longest time away', 's', median(of(moved, 'away', worst)), 3, {
      rounds: of(moved, 'away', worst),
      medians: of(moved, 'away', median),
      untilTheLast: of(moved, 'after', worst),
    }),
    figure('a restart of all nodes: most logins in a second', 'logins', densest(restarted.logins), mostLogins, {
      sessions: restarted.logins.length,
      secondsUntilTheLast: worst(restarted.after),
    }),
    figure('a killed node: most logins in a second', 'logins', median(bunches), mostLogins, { rounds: bunches }),
    figure('three nodes, idle: processor of the database', 'ms/s/session', cost, 0.05),
  ];
};

export const failover: Bench = {
  name: 'failover',
  about: `${sessions} sessions of a node that is killed, that drains, and that starts with all others`,
  async run(setting) {
    const stage = await Stage.open(setting);
    const count = scaled(sessions * spare, setting);
    const victim = await stage.start('victim');
    await pairMany(victim, 2, 0, count);
    const [heir] = await Promise.all(heirNames.map((name) => stage.start(name)));
    await pause(settleMs);
    setting.say(`${count} sessions are paired, ${(await stage.accounts('victim')).length} of them are the victim's`);
    const cost = await idle(stage, count);
    const [killed, moved, drained]: [Back[], Back[], Back[]] = [[], [], []];
    for (let round = 1; round <= rounds; round += 1) {
      killed.push(await kill(stage));
      setting.say(`round ${round} of ${rounds}: the last of the killed is back after ${worst(killed.at(-1)!.after).toFixed(1)} s`);
      moved.push(await comeBack(stage, killed.at(-1)!.after.length));
      drained.push(await drain(stage, heir!.address));
      setting.say(`round ${round} of ${rounds}: drained ones were away for ${worst(drained.at(-1)!.away).toFixed(2)} s at most`);
      moved.push(await comeBack(stage, killed.at(-1)!.after.length));
    }
    const measured = { killed, moved, drained, restarted: await restart(stage), idle: cost };
    const double = await doubleLogins(stage.sandbox);
    if (double > 0) throw new Error(`${double} logins of accounts that were logged in`);
    return figuresOf(measured);
  },
};
