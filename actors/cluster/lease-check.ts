/** The checks that each node makes. A node compares its leases in the database with those in memory, and ends the leases of dead nodes. */
import type { Claim, InstanceId } from '../model.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../policy/supervised-workers.ts';
import { type LeaseStore, type LiveNode, type Log, type Look, type Meter, type NameHolder, StorageFailure, type Time } from '../ports.ts';

// Compares the leases of this node in the database with those in memory, after each renewal. The two sides differ if the reply to a statement was lost. The
// database then assigns a lease to this node without its knowledge, and no node serves the instance.

interface LeaseCheckInput {
  readonly store: Pick<LeaseStore, 'compare'>;
  readonly log: Log;
  readonly meter: Pick<Meter, 'leases'>;
  readonly workers: SupervisedWorkers;
  /** Returns null while the node is not live. */
  incarnation(): string | null;
  /** Returns the leases that this node holds and is not releasing. */
  held(): readonly Claim[];
  /** Returns the instances whose leases this node is releasing. */
  leaving(): ReadonlySet<InstanceId>;
  /** Runs the work while no take is under way. */
  serially(work: () => Promise<void>): Promise<void>;
  /** Releases leases. Never rejects. */
  giveBack(incarnation: string, claims: readonly Claim[]): Promise<void>;
  /** Ends the session at once, because the instance has no lease any more, or another node has it. */
  drop(id: InstanceId): void;
  /** Returns false if this node gets no commands for the instance. */
  isServed(id: InstanceId): boolean;
  /** Starts to serve the instance. Never throws. */
  serve(id: InstanceId): void;
}

const keyOf = ({ instanceId, epoch }: Claim): string => `${instanceId} ${epoch}`;

export class LeaseCheck {
  readonly #input: LeaseCheckInput;
  readonly #worker: SupervisedWorker;
  /** The number of differences at the last comparison. */
  found = 0;

  constructor(input: LeaseCheckInput) {
    this.#input = input;
    this.#worker = input.workers.supervise({ name: 'leases', run: () => input.serially(() => this.#compare()) });
  }

  /** Starts a comparison after the lease of the node was renewed. */
  renewed(): void {
    this.#worker.wake();
  }

  async #compare(): Promise<void> {
    const { store, log, incarnation: incarnationNow, held, leaving } = this.#input;
    const incarnation = incarnationNow();
    if (incarnation === null) return;
    const [holding, left] = [held(), leaving()];
    try {
      const { unheld, unleased } = await store.compare(incarnation, holding);
      if (incarnationNow() !== incarnation) return;
      const leftSince = leaving();
      await this.#mend(
        incarnation,
        unheld.filter(({ instanceId }) => !left.has(instanceId) && !leftSince.has(instanceId)),
        unleased,
      );
    } catch (error) {
      if (!(error instanceof StorageFailure)) throw error;
      log.warn({ error }, 'node.leasesNotCompared');
    }
  }

  /**
   * Releases leases that only the database assigns to this node. Ends sessions whose lease is missing in the database. Serves instances that this node holds
   * but does not serve.
   */
  async #mend(incarnation: string, unheld: readonly Claim[], unleased: readonly Claim[]): Promise<void> {
    const { held, drop, giveBack, isServed, serve } = this.#input;
    const holding = new Set(held().map(keyOf));
    const gone = unleased.filter((claim) => holding.has(keyOf(claim)));
    for (const { instanceId } of gone) drop(instanceId);
    const unserved = held().filter(({ instanceId }) => !isServed(instanceId));
    for (const { instanceId } of unserved) serve(instanceId);
    this.#count({ unheld: unheld.length, unleased: gone.length, unserved: unserved.length });
    if (unheld.length > 0) await giveBack(incarnation, unheld);
  }

  #count(differences: Readonly<Record<'unheld' | 'unleased' | 'unserved', number>>): void {
    const { meter, log } = this.#input;
    this.found = Object.values(differences).reduce((sum, count) => sum + count, 0);
    if (this.found === 0) return;
    for (const [kind, count] of Object.entries(differences)) if (count > 0) meter.leases('astray', kind, count);
    log.warn(differences, 'node.leasesAstray');
  }
}

// Finds dead nodes and ends their leases. A node is dead if its row was not renewed for a whole lease, by the monotonic clock of the observing node. The
// clock of the database does not decide, because it can step. A step would end the lease of a living node, or keep the lease of a dead node.

interface NodeWatchInput {
  readonly store: Pick<LeaseStore, 'look' | 'end'>;
  readonly time: Pick<Time, 'monotonic'>;
  readonly log: Log;
  /** The length of a lease. In milliseconds. */
  readonly lease: number;
  /** The name of this node. */
  readonly me: string;
}

interface Seen {
  readonly until: number;
  /** The time at which the row was first seen with this value, by the monotonic clock. The node renewed its row before this time. */
  readonly at: number;
}

/** The last renewals of nodes, as one observer saw them. */
export class Renewals {
  readonly #time: Pick<Time, 'monotonic'>;
  readonly #lease: number;
  #seen: ReadonlyMap<string, Seen> = new Map();

  constructor(time: Pick<Time, 'monotonic'>, lease: number) {
    this.#time = time;
    this.#lease = lease;
  }

  /** Returns the rows that were not renewed for a whole lease. `askedAt` is the time of the query, by the monotonic clock. */
  note<T extends NameHolder>(rows: readonly T[], askedAt: number): readonly T[] {
    const now = this.#time.monotonic();
    const before = this.#seen;
    const same = ({ incarnation, until }: NameHolder): Seen | null => {
      const seen = before.get(incarnation);
      return seen?.until === until ? seen : null;
    };
    this.#seen = new Map(rows.map((row) => [row.incarnation, same(row) ?? { until: row.until, at: now }]));
    return rows.filter((row) => askedAt - (same(row)?.at ?? now) >= this.#lease);
  }
}

/** The number of nodes that read data of the whole cluster in one interval. This number does not grow with the cluster. */
const readers = 4;
/** The time that the reads of all nodes together may take in one interval. In milliseconds. */
const budgetMs = 100;
/** The longest pause of a node between two reads, if reads take long. In intervals. */
const longestPause = 120;
/** The number of recent reads of which only the fastest counts. A slow read may have waited for the processor. */
const measured = 5;

/**
 * The share of one node in reads of data of the whole cluster. With more than four nodes a node skips reads, so that about four nodes read in each interval. If
 * there are many instances and reads take long, fewer nodes read. A node always reads when a node joined, left or died, because instances are free then.
 */
export class ReadShare {
  readonly #me: string;
  #nodes = '';
  #skipped = 0;
  /** Durations of the last reads. In milliseconds. */
  #took: readonly number[] = [];

  constructor(me: string) {
    this.#me = me;
  }

  /**
   * Returns true if this node reads now. The caller asks once in each interval. `urgent` is true if this node has to read in any case, for example because
   * the last read left work for it.
   */
  isDue(nodes: readonly Pick<LiveNode, 'name' | 'incarnation'>[], urgent = false): boolean {
    const known = nodes.map(({ incarnation }) => incarnation).join(' ');
    const every = this.#every(nodes.length);
    const isChanged = known !== this.#nodes;
    this.#skipped += 1;
    const isDue = urgent || isChanged || this.#skipped >= every;
    this.#nodes = known;
    // After a change or an urgent read, all nodes may have read at the same time. The position of each node in the list spreads the next reads.
    if (isDue) this.#skipped = urgent || isChanged ? nodes.findIndex(({ name }) => name === this.#me) % every : 0;
    return isDue;
  }

  /** Takes the duration of a read. In milliseconds. */
  took(ms: number): void {
    this.#took = [...this.#took.slice(1 - measured), ms];
  }

  /** Returns the number of intervals between two reads of one node, in a cluster of `nodes` nodes. */
  #every(nodes: number): number {
    const ms = this.#took.length === 0 ? 0 : Math.min(...this.#took);
    return Math.max(1, Math.ceil(nodes / readers), Math.min(longestPause, Math.ceil((ms * nodes) / budgetMs)));
  }
}

export class NodeWatch {
  readonly #input: NodeWatchInput;
  readonly #renewals: Renewals;
  readonly #share: ReadShare;
  /** The share of this node in reads of unfinished work. */
  readonly restShare: ReadShare;
  /** True if the last check found free instances. */
  #foundFree = false;

  constructor(input: NodeWatchInput) {
    this.#input = input;
    this.#renewals = new Renewals(input.time, input.lease);
    this.#share = new ReadShare(input.me);
    this.restShare = new ReadShare(input.me);
  }

  /**
   * Reads the state of the cluster and ends the leases of dead nodes, so that their instances are free. `expects` is true if this node waits for an
   * instance that becomes free.
   */
  async look(expects = false): Promise<Look> {
    const askedAt = this.#input.time.monotonic();
    const look = await this.#read(expects);
    const dead = this.#renewals.note(look.nodes, askedAt);
    if (dead.length === 0) return look;
    for (const node of dead) await this.#end(node);
    return this.#read(true);
  }

  async #read(urgent: boolean): Promise<Look> {
    const { store, time } = this.#input;
    const began = time.monotonic();
    let isRead = false;
    const look = await store.look((nodes) => (isRead = this.#share.isDue(nodes, urgent || this.#foundFree)));
    if (!isRead) return look;
    this.#share.took(time.monotonic() - began);
    this.#foundFree = look.free.length > 0;
    return look;
  }

  async #end(node: LiveNode): Promise<void> {
    const { store, log } = this.#input;
    if (await store.end(node)) log.warn({ node: node.name, incarnation: node.incarnation }, 'node.died');
  }
}
