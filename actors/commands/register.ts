/** The register of instances: adds and removes instances, and finds the instance of a token or an id. In a cluster, the register of all nodes. */
import type { Cluster } from '../cluster/cluster.ts';
import { storedStatus } from '../inspection/step-log.ts';
import type { InstanceId, InstanceRecord, Status } from '../model.ts';
import { type Ports, StorageBusy, StorageFailure } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { restingView } from '../session/status.ts';
import type { Chores } from '../supervisor/chores.ts';
import { type Registry, TokenLookup } from '../supervisor/registry.ts';
import type { InstanceView } from '../views.ts';
import { Pause, untilStored } from '../waiting.ts';

interface RegisterInput {
  readonly ports: Pick<Ports, 'instances' | 'stepLog' | 'time'>;
  readonly registry: Registry;
  /** Null for a single gateway, whose memory has every instance. */
  readonly cluster: Pick<Cluster, 'others' | 'ownership' | 'streams' | 'unowned'> | null;
  readonly chores: Pick<Chores, 'wakeRemover'>;
  /** Removes an instance from memory. */
  forget(id: InstanceId): void;
}

export class Register {
  readonly #input: RegisterInput;
  readonly #tokens: TokenLookup;
  readonly #pause: Pause;
  /** New instances that storage may or may not have, because their insert failed without an answer. Oldest first. */
  readonly #unanswered: { readonly record: InstanceRecord; readonly discarded: () => void }[] = [];

  constructor(input: RegisterInput) {
    this.#input = input;
    this.#tokens = new TokenLookup(input.ports);
    this.#pause = new Pause(input.ports.time);
  }

  view(id: InstanceId): InstanceView | null {
    return this.#input.registry.view(id);
  }

  views(): readonly InstanceView[] {
    return this.#input.registry.views();
  }

  /** Returns the view of an instance whose owner was not asked or did not answer. */
  async current(id: InstanceId): Promise<InstanceView | null> {
    const known = this.view(id);
    const stored = await this.#stored(known === null ? [] : [known]);
    const view = this.view(id);
    return view && this.#asStored(view, stored);
  }

  /** Returns the views of all instances. The view of an instance comes from the node that owns it, if this node answers. */
  async everywhere(): Promise<readonly InstanceView[]> {
    const elsewhere = new Map((await this.#input.cluster?.others.views())?.map((view) => [view.record.id, view]));
    const stored = await this.#stored(this.views().filter(({ record: { id } }) => !elsewhere.has(id)));
    return this.views().map((view) => elsewhere.get(view.record.id) ?? this.#asStored(view, stored));
  }

  /**
   * Returns the last stored status of each session that another live node owns. The record of such a session would show it as connecting, because the record
   * only says that the session is wanted online. Returns an empty map during a database outage.
   */
  async #stored(views: readonly InstanceView[]): Promise<ReadonlyMap<InstanceId, Status>> {
    const { cluster, ports } = this.#input;
    const asked = views.filter((view) => this.#isElsewhere(view)).map(({ record }) => record.id);
    if (cluster === null || asked.length === 0) return new Map();
    try {
      const free = new Set(await cluster.unowned(asked));
      const steps = await ports.stepLog.last(asked.filter((id) => !free.has(id)));
      return new Map([...steps].map(([id, last]) => [id, storedStatus(last)]));
    } catch (error) {
      if (error instanceof StorageFailure) return new Map();
      throw error;
    }
  }

  /** Returns true for a session that seems to be connecting, and that this node neither owns nor runs. */
  #isElsewhere({ status, record: { id } }: InstanceView): boolean {
    const { cluster, registry } = this.#input;
    return status === 'connecting' && cluster?.ownership.owned.has(id) === false && !registry.cells.has(id);
  }

  #asStored(view: InstanceView, stored: ReadonlyMap<InstanceId, Status>): InstanceView {
    const status = this.#isElsewhere(view) ? stored.get(view.record.id) : undefined;
    return status === undefined ? view : { ...view, status, connected: status === 'connected' };
  }

  /** Returns the instance of a token in memory. */
  byToken(token: string): InstanceId | null {
    return this.#input.registry.byToken(token);
  }

  /**
   * Looks up the instance of a token in the database, for a token that this node does not know. Returns null for a single gateway, whose memory has every
   * instance.
   */
  async lookUp(token: string): Promise<InstanceId | null> {
    const { registry, cluster } = this.#input;
    const record = cluster === null ? null : await registry.unforgotten(() => this.#tokens.find(token));
    if (record === null) return null;
    this.#learn(record);
    return record.id;
  }

  /** Returns true if the instance exists, in memory or in the database. */
  async exists(id: InstanceId): Promise<boolean> {
    const { registry, cluster, ports } = this.#input;
    if (registry.record(id) !== undefined || cluster === null) return registry.record(id) !== undefined;
    const record = await registry.unforgotten(async () => (await ports.instances.some([id]))[0] ?? null);
    if (record !== null) this.#learn(record);
    return record !== null;
  }

  /** Stores and adds a new instance. In a cluster the instance has no owner yet. */
  async add(record: InstanceRecord): Promise<InstanceView> {
    const { ports, registry, cluster } = this.#input;
    try {
      await ports.instances.insert(record);
    } catch (error) {
      // A busy storage has not executed the statement, so there is no instance to discard.
      if (error instanceof StorageFailure && !(error instanceof StorageBusy)) void this.discard(record);
      throw error;
    }
    if (cluster === null) return registry.add(record).view;
    registry.register(record);
    return restingView(record);
  }

  /**
   * Removes a new instance that storage may have although its insert failed. The client does not know this instance, and its retry creates another one. Never
   * rejects. Removals run one after another, so that an outage costs one statement a second. A stop ends the retries. An instance that storage has then stays.
   */
  discard(record: InstanceRecord): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#unanswered.push({ record, discarded: resolve }) === 1) void this.#discardAll();
    return promise;
  }

  async #discardAll(): Promise<void> {
    const { ports, chores } = this.#input;
    for (let next = this.#unanswered[0]; next !== undefined && !this.#pause.ended; next = this.#unanswered[0]) {
      const { id, epoch } = next.record;
      // All other errors need no retry: storage does not have the instance, or another node took it.
      await untilStored(this.#pause, () => ports.instances.remove(id, epoch)).catch(() => undefined);
      next.discarded();
      this.#unanswered.shift();
    }
    if (!this.#pause.ended) chores.wakeRemover();
  }

  stop(): void {
    this.#pause.end();
  }

  /** Replaces the token. The streams of the former token end, on any node. */
  async replaceToken(cell: Cell, token: string): Promise<void> {
    const { registry, cluster } = this.#input;
    const { id } = cell.record;
    await cell.keeper.save({ token });
    registry.addToken(token, id);
    cell.feed.end();
    cluster?.streams?.ended(id);
  }

  /** Removes an instance whose session is logged out. If this rejects, the instance stays and can be removed again. */
  async remove(cell: Cell): Promise<void> {
    const { ports, forget, chores } = this.#input;
    const { id, epoch } = cell.record;
    await ports.instances.remove(id, epoch);
    forget(id);
    await cell.close();
    cell.end();
    chores.wakeRemover();
  }

  /** Registers a record of the database, unless this node has a newer one. */
  #learn(record: InstanceRecord): void {
    const { registry, cluster } = this.#input;
    if (cluster?.ownership.mayAct(record.id) !== true) registry.register(record);
  }
}
