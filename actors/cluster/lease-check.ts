/**
 * Compares the leases of this node in the database with those in memory, after each renewal. The two sides differ if the reply to a statement was
 * lost. A lease was then taken or not given back, and no node serves the instance.
 */
import type { Claim, InstanceId } from '../model.ts';
import { StorageFailure, type LeaseStore, type Log, type Meter } from '../ports.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../policy/supervised-workers.ts';

export interface LeaseCheckInput {
  readonly store: Pick<LeaseStore, 'compare'>;
  readonly log: Log;
  readonly meter: Pick<Meter, 'leases'>;
  readonly workers: SupervisedWorkers;
  /** Returns null while the node is not live. */
  incarnation(): string | null;
  /** Returns the leases that this node holds and is not giving back. */
  held(): readonly Claim[];
  /** Returns the instances whose leases this node is giving back. */
  leaving(): ReadonlySet<InstanceId>;
  /** Runs the work while no take is under way. */
  serially(work: () => Promise<void>): Promise<void>;
  /** Gives leases back. Never rejects. */
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
  /** Number of differences at the last comparison. */
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

  /** Gives back leases that this node does not hold, ends sessions without a lease, and serves owned instances that are not served. */
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
