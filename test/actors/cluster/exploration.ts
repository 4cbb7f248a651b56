/** One run of a simulated cluster. A random generator chooses the faults and their times, and the invariants are checked after each step. */
import type { InstanceId, Result } from '#actors/model.ts';
import type { Log } from '#actors/ports.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { randomOf, shuffled } from '#test/support/random.ts';
import { ExploredNode } from './explored-node.ts';
import { faults, type FaultName } from './exploration-faults.ts';
import { Readers } from './exploration-readers.ts';
import { BusServer } from './simulated-bus.ts';
import { calm, Chaos, mostLate } from './simulated-chaos.ts';
import { SimulatedDatabase } from './simulated-database.ts';
import type { SessionHost, World } from './simulated-world.ts';

/** Milliseconds. */
const stepMs = 250;
const faultyMs = 60_000;
/** The time after the last fault until the cluster is healthy: the last start of a killed node, the wait for its name, and the logins. In milliseconds. */
const healMs = 55_000;
/** The longest move of a session: the grace of a stop for its commands, then the close and the open. In milliseconds. */
const movedMs = 5_000;
/** A node that promised to take a session can fail before the take. More such moves of one session within `ms` milliseconds are a fault. */
const inVain = { most: 2, ms: 20_000 };

interface Asked {
  readonly id: InstanceId;
  readonly at: number;
  readonly node: string;
  outcome: string;
}

export class Violation extends Error {}

export class Exploration implements World {
  readonly time = new FakeTime();
  readonly random: () => number;
  readonly chaos: Chaos;
  readonly database: SimulatedDatabase;
  readonly server: BusServer;
  readonly instances: readonly InstanceId[];
  readonly nodes = new Map<string, ExploredNode>();
  readonly log: Log;
  readonly readers: Readers;
  /** The steps of the run, printed when it fails. */
  readonly trace: string[] = [];
  readonly #logins = new Map<InstanceId, SessionHost>();
  /** Nodes that closed the session for another node, until it is opened again. */
  readonly #givenBy = new Map<InstanceId, SessionHost>();
  /** Times at which a session was closed for another node and opened again on the same node. */
  readonly #inVain = new Map<InstanceId, readonly number[]>();
  /** Second processes of a name that have not started yet. */
  readonly #rivals = new Map<string, ExploredNode>();
  /** The recently committed events whose messages may not have reached the bus. */
  readonly #noted = new Map<string, { readonly node: SessionHost; readonly at: number }>();
  readonly #executions = new Map<string, string[]>();
  readonly #asked = new Map<string, Asked>();
  readonly #withReaders: boolean;
  readonly #start = this.time.now();
  #commands = 0;
  #received = 0;
  #violation: string | null = null;

  constructor(seed: number, { instances = 6, nodes = 3, readers = true } = {}) {
    this.#withReaders = readers;
    this.random = randomOf(seed);
    this.chaos = new Chaos(this.random);
    this.database = new SimulatedDatabase(this.time, this.chaos);
    this.server = new BusServer(this.time, this.chaos);
    this.instances = Array.from({ length: instances }, (_, at) => `r${at.toString(16).padStart(14, '0')}`);
    for (const id of this.instances) this.database.leases.register(id);
    const note = (level: string) => (fields: object, event: string) => this.#logged(level, fields, event);
    this.log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
    this.readers = new Readers(this);
    for (let at = 0; at < nodes; at += 1) this.add(`node-${at}`);
  }

  add(name: string): ExploredNode {
    const node = new ExploredNode(this, name);
    this.nodes.set(name, node);
    node.start().catch((error: unknown) => {
      this.note(`${name} does not start: ${String(error)}`);
      // A process manager restarts a process in the same way.
      if (this.nodes.get(name) === node) node.process.setTimeout(() => this.replace(node), 1_000);
    });
    return node;
  }

  /** Kills the process and starts another one with its name. */
  replace(node: ExploredNode): void {
    if (this.nodes.get(node.name) !== node) return;
    this.kill(node);
    this.add(node.name);
  }

  kill(node: ExploredNode): void {
    this.unsent(node);
    node.process.kill();
    node.bus.kill();
    for (const [id, owner] of this.#logins) if (owner === node) this.#logins.delete(id);
    if (this.nodes.get(node.name) === node) this.nodes.delete(node.name);
    this.readers.gone(node);
  }

  /** Starts a second process under the name of a node. */
  rival(name: string): void {
    if (this.#rivals.has(name)) return;
    const rival = new ExploredNode(this, name);
    this.#rivals.set(name, rival);
    rival.start().then(
      () => this.#succeeds(rival),
      (error: unknown) => {
        this.note(`the rival of ${name} does not start: ${String(error)}`);
        this.#rivals.delete(name);
        this.kill(rival);
      },
    );
  }

  /** Gives the name to the rival. The node that had the name may not rely on its lease any more, and the process manager ends that node. */
  #succeeds(rival: ExploredNode): void {
    const { name } = rival;
    const former = this.nodes.get(name);
    this.note(`the rival of ${name} starts`);
    if (former?.process.runs && former.cluster.figures.leaseLeftMs > 0) this.violated(`${name} is live twice`);
    if (former) this.kill(former);
    this.#rivals.delete(name);
    this.nodes.set(name, rival);
  }

  one<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)] as T;
  }

  /** Returns a running node; null if there is none. */
  running(): ExploredNode | null {
    return this.one([...this.nodes.values()].filter((node) => node.process.runs)) ?? null;
  }

  note(what: string): void {
    this.trace.push(`${((this.time.now() - this.#start) / 1000).toFixed(2)} ${what}`);
  }

  violated(what: string): void {
    this.note(`VIOLATION ${what}`);
    this.#violation ??= what;
  }

  login(id: InstanceId, node: SessionHost): void {
    const other = this.#logins.get(id);
    if (other && other !== node && !other.process.stoodStill) this.violated(`${id} is logged in at ${other.name} and at ${node.name}`);
    this.#logins.set(id, node);
    this.note(`${node.name} logs ${id.slice(-2)} in`);
    const isBack = this.#givenBy.get(id) === node;
    this.#givenBy.delete(id);
    if (!isBack) return;
    const now = this.time.now();
    const all = [...(this.#inVain.get(id) ?? []), now].filter((at) => now - at < inVain.ms);
    this.#inVain.set(id, all);
    if (all.length > inVain.most) this.violated(`${id} was closed in vain ${all.length} times for nodes that did not take it`);
  }

  given(id: InstanceId, node: SessionHost): void {
    this.#givenBy.set(id, node);
  }

  noted(event: string, node: SessionHost): void {
    if (!node.bus.keeps) return;
    this.readers.sent.set(event, this.time.now());
    this.#noted.set(event, { node, at: this.time.now() });
  }

  /** Drops the messages of a node that are on their way to the bus. This happens when the node is killed or its connection breaks. */
  unsent(node: ExploredNode): void {
    for (const [event, noted] of this.#noted) {
      const isLate = this.time.now() - noted.at <= mostLate;
      if (isLate && noted.node === node) this.readers.sent.delete(event);
      if (!isLate || noted.node === node) this.#noted.delete(event);
    }
  }

  logout(id: InstanceId, node: SessionHost): void {
    if (this.#logins.get(id) === node) this.#logins.delete(id);
  }

  executed(command: string, node: string): void {
    const all = [...(this.#executions.get(command) ?? []), node];
    this.#executions.set(command, all);
    this.note(`${node} executes ${command}`);
    if (all.length > 1) this.violated(`${command} was executed ${all.length} times, by ${all.join(' and ')}`);
    const outcome = this.#asked.get(command)?.outcome ?? '';
    if (outcome === 'unavailable' || outcome === 'notSent') this.violated(`${command} was executed after its answer ${outcome}`);
  }

  /** Runs to the end. Throws a `Violation` with the time and the broken invariant. */
  async run(kinds: readonly FaultName[]): Promise<void> {
    const mix = new Set(shuffled(kinds, this.random).slice(0, 1 + Math.floor(this.random() * 5)));
    this.note(`faults: ${[...mix].join(', ')}`);
    await this.pass(15_000);
    await this.pass(faultyMs, mix);
    await this.#heal();
    await this.pass(healMs);
    await this.finish();
  }

  async pass(ms: number, mix: ReadonlySet<FaultName> = new Set()): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      if (mix.size > 0 && this.random() < 0.08) this.#fault(this.one([...mix]));
      if (this.random() < 0.3) this.#command();
      if (this.random() < 0.4) this.#event();
      if (this.random() < 0.05 && this.#withReaders) this.readers.change();
      await this.time.pass(stepMs);
      this.#compare();
    }
  }

  #logged(level: string, fields: object, event: string): void {
    if (level !== 'debug')
      this.note(`  ${event} ${JSON.stringify(fields, (key, value: unknown) => (key === 'error' ? String(value) : value))}`);
    if (event === 'worker.crashed')
      this.violated(`a worker crashed: ${JSON.stringify({ ...fields, error: String((fields as { error?: unknown }).error) })}`);
  }

  #fault(name: FaultName): void {
    const node = this.running();
    if (node === null) return;
    this.note(`fault ${name} at ${node.name}`);
    faults[name](this, node);
  }

  #command(id = this.one(this.instances), node = this.running(), ms = this.random() < 0.2 ? this.random() * 8_000 : 0): Asked | null {
    if (node === null) return null;
    const command = `c${(this.#commands += 1)}`;
    const asked: Asked = { id, at: this.time.now(), node: node.name, outcome: '' };
    this.#asked.set(command, asked);
    this.note(`${node.name} is asked ${command} for ${id.slice(-2)}`);
    const end = (outcome: string): void => {
      asked.outcome = outcome;
      this.note(`${command}: ${outcome}`);
      const count = this.#executions.get(command)?.length ?? 0;
      if (outcome === 'done' && count !== 1) this.violated(`${command} was answered and executed ${count} times`);
      if ((outcome === 'unavailable' || outcome === 'notSent') && count > 0) this.violated(`${command} was refused and executed`);
    };
    node.command(id, command, Math.floor(ms)).then(
      (result: Result<string>) => end(result.ok ? 'done' : result.refusal.reason),
      (error: unknown) => end(error instanceof Error ? error.name : 'error'),
    );
    return asked;
  }

  /** Delivers a message to a random account. */
  #event(): void {
    const id = this.one(this.instances);
    void this.#logins
      .get(id)
      ?.session(id)
      ?.receive(`e${(this.#received += 1)}`);
  }

  #compare(): void {
    const running = [...this.nodes.values()].filter((node) => node.process.runs);
    for (const id of this.instances) {
      const owners = running.filter((node) => node.ownership.mayAct(id));
      if (owners.length > 1) this.violated(`${id} is owned by ${owners.map(({ name }) => name).join(' and ')}`);
    }
    if (this.#violation !== null) throw new Violation(this.#violation);
  }

  /** Ends all faults and restarts the nodes that drain. */
  async #heal(): Promise<void> {
    this.note('heal');
    this.chaos.odds = calm;
    for (const node of this.nodes.values()) {
      node.reachable = true;
      node.bus.connected = true;
      if (node.process.stopped) node.process.continue();
      if (node.draining) void node.cluster.stop().then(() => this.replace(node));
    }
  }

  async finish(): Promise<void> {
    const isUnserved = (id: InstanceId): boolean => !this.#logins.get(id)?.ownership.owns(id);
    const unserved = this.instances.filter(isUnserved);
    // A session that moves for balance at this moment waits for its commands first.
    if (unserved.length > 0) await this.time.pass(movedMs);
    for (const id of unserved.filter(isUnserved)) this.violated(`${id} has no session ${healMs} ms after the last fault`);
    const asked = this.instances.flatMap((id) => [...this.nodes.values()].map((node) => this.#command(id, node, 0)));
    await this.time.pass(10_000);
    for (const one of asked)
      if (one?.outcome !== 'done') this.violated(`a command for ${one?.id} at ${one?.node} ended as ${one?.outcome}`);
    this.readers.compare();
    this.#compare();
  }
}

/** Returns the violation under this seed; null if there is none. */
export const explore = async (
  seed: number,
  { kinds = Object.keys(faults) as readonly FaultName[], readers = true } = {},
): Promise<{ readonly what: string; readonly trace: readonly string[] } | null> => {
  const world = new Exploration(seed, { readers });
  try {
    await world.run(kinds);
    return null;
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { what: error.message, trace: world.trace };
  }
};
