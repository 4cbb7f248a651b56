/** Questions between the nodes of a cluster: results of each node, and files on the disk of another node. */
import { newestErrors } from '../delivery/finished-deliveries.ts';
import { type Dropped, sumOfDropped } from '../delivery/sweeper.ts';
import type { DeliveryError, InstanceId } from '../model.ts';
import type { ByteRange, FileStore, KeptFile, KnownNode, Lease, LeaseStore, LiveNode, TakeCause, Time } from '../ports.ts';
import type { ErrorHistory, InstanceView } from '../views.ts';
import type { NodeQuestion } from './remote.ts';

// Questions to other nodes, and the answers of this node to the questions of other nodes. Results leave out nodes that do not answer in time.

interface OtherNodesInput {
  /** The name of this node. */
  readonly me: string;
  /** Returns the live nodes at the last check. */
  nodes(): readonly LiveNode[];
  /** Asks a node. Resolves with null if the node does not answer. Never rejects. */
  ask(node: string, question: NodeQuestion): Promise<unknown>;
  /** Returns true if this node owns the instance now. */
  owns(id: InstanceId): boolean;
  owned(): Iterable<InstanceId>;
  view(id: InstanceId): InstanceView | null;
  /** Returns rows of the inspector after this id. */
  rows(after: InstanceId | ''): unknown;
  /** Returns the failed deliveries of the global webhook on this node. */
  globalErrors(): ErrorHistory;
  /**
   * Returns how many events of the webhook this node dropped, by type. Only the node on duty drops events. The duty moves, so several nodes may have dropped
   * events.
   */
  dropped(webhookId: string): Dropped;
  /** Makes the courier read the outbox again. */
  nudge(id: InstanceId, webhookId: string): void;
  /** Takes the instance. Resolves with true if this node owns the instance afterwards. */
  take(id: InstanceId, cause?: TakeCause): Promise<boolean>;
  /** Reserves a slot. Returns true on success. */
  reserveSlot(id: InstanceId): boolean;
  /** Resolves when the session of the instance is connected, or after some seconds. */
  settled(id: InstanceId): Promise<void>;
  /** Moves the sessions of this node to other nodes. */
  drain(): Promise<void>;
}

/** Checks the form of an answer, because a node of another version may answer otherwise. */
const areViews = (answer: unknown): boolean =>
  Array.isArray(answer) && answer.every((view: { readonly record?: unknown } | null) => typeof view?.record === 'object');
const isHistory = (answer: unknown): boolean => {
  const { since, errors } = (answer ?? {}) as Partial<ErrorHistory>;
  return typeof since === 'number' && Array.isArray(errors);
};

const areDropped = (answer: unknown): boolean =>
  Array.isArray(answer) &&
  answer.every((one: unknown) => typeof one === 'object' && one !== null && Object.values(one).every((count) => typeof count === 'number'));

type Answers = { readonly [A in NodeQuestion['ask']]: (question: Extract<NodeQuestion, { readonly ask: A }>) => unknown };

export class OtherNodes {
  readonly #input: OtherNodesInput;
  readonly #answers: Answers;

  constructor(input: OtherNodesInput) {
    this.#input = input;
    this.#answers = {
      take: (question) => this.#taken(question),
      place: ({ id }) => input.reserveSlot(id),
      views: () => [...input.owned()].map((id) => input.view(id)).filter((view) => view !== null),
      rows: ({ after }) => input.rows(after),
      globalErrors: () => input.globalErrors(),
      dropped: ({ webhooks }) => webhooks.map((id) => input.dropped(id)),
      nudge: ({ webhookId, ids }) => this.#nudged(webhookId, ids),
      drain: async () => {
        await input.drain();
        return true;
      },
    };
  }

  /** Answers a question of another node. Returns null for an unknown question of a later version. */
  async answer(question: NodeQuestion): Promise<unknown> {
    if (!Object.hasOwn(this.#answers, question.ask)) return null;
    return (this.#answers[question.ask] as (asked: NodeQuestion) => unknown)(question);
  }

  /** Returns the views of instances that other nodes own. */
  async views(): Promise<readonly InstanceView[]> {
    return (await this.#askAll<readonly InstanceView[]>({ ask: 'views' }, areViews)).flat();
  }

  /** Returns the failed deliveries of the global webhook on all nodes. The list is complete since the start of the node that started last. */
  async globalErrors(): Promise<ErrorHistory> {
    const all = [this.#input.globalErrors(), ...(await this.#askAll<ErrorHistory>({ ask: 'globalErrors' }, isHistory))];
    const errors: readonly DeliveryError[] = all.flatMap((one) => one.errors);
    return { since: Math.max(...all.map(({ since }) => since)), errors: newestErrors(errors) };
  }

  /** Returns for each webhook how many events all live nodes dropped since their starts, by type. */
  async dropped(webhooks: readonly string[]): Promise<readonly Dropped[]> {
    if (webhooks.length === 0) return [];
    const own = webhooks.map((id) => this.#input.dropped(id));
    const all = [own, ...(await this.#askAll<readonly Dropped[]>({ ask: 'dropped', webhooks }, areDropped))];
    return webhooks.map((_, at) => sumOfDropped(all.map((one) => one[at] ?? {})));
  }

  /** Makes the owners of the instances read the outbox again. This node takes unowned instances. Never rejects. */
  async nudge(webhookId: string, ids: readonly InstanceId[]): Promise<void> {
    const owned = new Set([...this.#nudged(webhookId, ids), ...(await this.#nudgeOthers(webhookId, ids))]);
    // A new session reads the outbox by itself.
    for (const id of ids) if (!owned.has(id)) await this.#input.take(id).catch(() => false);
  }

  async #taken({ id, cause, settled }: Extract<NodeQuestion, { readonly ask: 'take' }>): Promise<boolean> {
    const taken = await this.#input.take(id, cause);
    if (taken && settled === true) await this.#input.settled(id);
    return taken;
  }

  async #nudgeOthers(webhookId: string, ids: readonly InstanceId[]): Promise<readonly InstanceId[]> {
    const elsewhere = ids.filter((id) => !this.#input.owns(id));
    if (elsewhere.length === 0) return [];
    return (await this.#askAll<readonly InstanceId[]>({ ask: 'nudge', webhookId, ids: elsewhere }, Array.isArray)).flat();
  }

  /** Makes the couriers of owned instances read the outbox, and returns these instances. */
  #nudged(webhookId: string, ids: readonly InstanceId[]): readonly InstanceId[] {
    const own = ids.filter((id) => this.#input.owns(id));
    for (const id of own) this.#input.nudge(id, webhookId);
    return own;
  }

  /** Asks all other nodes. `T` is the type of the answer. Missing answers, and answers for which `fits` returns false, are left out. */
  async #askAll<T>(question: NodeQuestion, fits: (answer: unknown) => boolean): Promise<readonly T[]> {
    const { me, nodes, ask } = this.#input;
    const others = nodes().filter(({ name }) => name !== me);
    const answers = await Promise.all(others.map(({ name }) => ask(name, question)));
    return answers.flatMap((answer) => (fits(answer) ? [answer as T] : []));
  }
}

// The nodes of the cluster and the owners of instances for the dashboard, from the database. The nodes are cached.

/** The time for which an answer is cached, because several people may open the page at once. In milliseconds. */
const rememberedMs = 1_000;

export class Overview {
  readonly #store: Pick<LeaseStore, 'known' | 'leaseOf'>;
  readonly #time: Time;
  #nodes: Promise<readonly KnownNode[]> | null = null;
  #askedAt = -Infinity;

  constructor(store: Pick<LeaseStore, 'known' | 'leaseOf'>, time: Time) {
    this.#store = store;
    this.#time = time;
  }

  /** Returns the known nodes. The answer is cached for a second. A failure is not cached. */
  nodes(): Promise<readonly KnownNode[]> {
    const now = this.#time.monotonic();
    if (this.#nodes !== null && now - this.#askedAt < rememberedMs) return this.#nodes;
    const asked = this.#store.known();
    [this.#nodes, this.#askedAt] = [asked, now];
    asked.catch(() => {
      if (this.#nodes === asked) this.#nodes = null;
    });
    return asked;
  }

  leaseOf(id: InstanceId): Promise<Lease | null> {
    return this.#store.leaseOf(id);
  }
}

// Reads files from the disk of another node. Without a shared bucket, the owner of the instance sends the file in parts.

/** The name of the method that asks the owner of an instance for a file, or for bytes of a file. */
export const fileMethod = '$file';

interface RemoteFilesInput {
  readonly files: FileStore;
  owns(id: InstanceId): boolean;
  /** Asks the owner on another node. Resolves with null if no owner answers or has the file. Never rejects. */
  ask(id: InstanceId, args: readonly unknown[]): Promise<unknown>;
}

/** The largest size of one part of a file that another node sends. In bytes. */
const pieceBytes = 262_144;

const isFile = (answer: unknown): answer is KeptFile => {
  const { name, hash, size } = (answer ?? {}) as Partial<KeptFile>;
  return typeof name === 'string' && typeof hash === 'string' && typeof size === 'number';
};

export class RemoteFiles {
  readonly #input: RemoteFilesInput;

  constructor(input: RemoteFilesInput) {
    this.#input = input;
  }

  /** Answers another node with the file of this name, or with the given bytes of the file. Returns null if this node does not have the bytes. */
  async answer(name: unknown, start?: unknown, end?: unknown): Promise<KeptFile | Uint8Array | null> {
    const { files } = this.#input;
    const file = await files.named(String(name));
    if (file === null || start === undefined) return file;
    const bytes = await files.read(file, { start: Number(start), end: Math.min(Number(end), file.size - 1) });
    return bytes && Buffer.concat(await Array.fromAsync(bytes));
  }

  async named(name: string): Promise<KeptFile | null> {
    const { files } = this.#input;
    const here = await files.named(name);
    if (here !== null) return here;
    const holder = await this.#holder(name);
    const there = holder === null ? null : await this.#input.ask(holder, [name]);
    return isFile(there) ? there : null;
  }

  async read(file: KeptFile, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null> {
    const here = await this.#input.files.read(file, range);
    if (here !== null) return here;
    const holder = await this.#holder(file.name);
    if (holder === null) return null;
    const { start, end } = range ?? { start: 0, end: file.size - 1 };
    const first = await this.#piece(holder, file, start, end);
    return first && this.#pieces(holder, file, { start, end }, first);
  }

  /** Returns the instance of the file if another node owns it, else null. */
  async #holder(name: string): Promise<InstanceId | null> {
    const id = await this.#input.files.holder(name);
    return id === null || this.#input.owns(id) ? null : id;
  }

  async *#pieces(id: InstanceId, file: KeptFile, { start, end }: ByteRange, first: Uint8Array): AsyncGenerator<Uint8Array> {
    yield first;
    for (let at = start + first.length; at <= end;) {
      const piece = await this.#piece(id, file, at, end);
      if (piece === null) throw new Error('the node that has the file does not answer any more');
      yield piece;
      at += piece.length;
    }
  }

  /** Returns one part of the file; null if the owner does not answer with bytes. */
  async #piece(id: InstanceId, { name }: KeptFile, start: number, end: number): Promise<Uint8Array | null> {
    const piece = await this.#input.ask(id, [name, start, Math.min(end, start + pieceBytes - 1)]);
    return piece instanceof Uint8Array && piece.length > 0 ? piece : null;
  }
}
