/** The inspector over all nodes: the list of instances, and the steps of one instance. */
import type { RowsElsewhere } from '../inspection/inspection.ts';
import type { InstanceId, Result } from '../model.ts';
import { type LiveNode, type Log, StorageFailure, type Time } from '../ports.ts';
import type { ActorDetail, ActorRow, Step, WatchEnd } from '../views/inspector.ts';
import type { Overview } from './other-nodes.ts';
import type { Ownership } from './ownership.ts';
import type { NodeQuestion } from './remote.ts';

// The list of the inspector over all nodes. Rows of other nodes are requested in pages, so that a large page blocks no node.

interface ClusterRowsInput {
  /** The name of this node. */
  readonly me: string;
  readonly time: Time;
  nodes(): readonly LiveNode[];
  /** Asks a node. Resolves with null if the node does not answer. Never rejects. */
  ask(node: string, question: NodeQuestion): Promise<unknown>;
  owns(id: InstanceId): boolean;
  owned(): Iterable<InstanceId>;
  /** Returns the row of an instance; null if the instance is gone. */
  row(id: InstanceId): ActorRow | null;
}

/** A page of the rows of a node, ordered by id. `next` is '' on the last page. */
interface Piece {
  readonly rows: readonly ActorRow[];
  readonly next: InstanceId | '';
}

/** Rows per page of the remote list. One page takes about 3 ms on each node. */
const perPiece = 500;
/** The time for which answers are cached, because clients request the pages of one list one after another. In milliseconds. */
const rememberedMs = 2_000;

const isPiece = (answer: unknown): answer is Piece => {
  const { rows, next } = (answer ?? {}) as Partial<Piece>;
  return Array.isArray(rows) && typeof next === 'string';
};

export class ClusterRows {
  readonly #input: ClusterRowsInput;
  #known: Promise<RowsElsewhere> | null = null;
  #askedAt = -Infinity;

  constructor(input: ClusterRowsInput) {
    this.#input = input;
  }

  /** Returns the rows of other nodes. Never rejects. */
  elsewhere(): Promise<RowsElsewhere> {
    const now = this.#input.time.monotonic();
    if (this.#known === null || now - this.#askedAt >= rememberedMs) [this.#known, this.#askedAt] = [this.#gather(), now];
    return this.#known;
  }

  /** Answers another node with the page after the id `after`, which is '' for the first page. */
  piece(after: InstanceId | ''): Piece {
    const ids = [...this.#input.owned()].filter((id) => id > after).toSorted();
    const rows = ids.slice(0, perPiece).flatMap((id) => this.#input.row(id) ?? []);
    return { rows, next: ids.length > perPiece ? (ids[perPiece - 1] ?? '') : '' };
  }

  async #gather(): Promise<RowsElsewhere> {
    const { me, nodes, owns } = this.#input;
    const others = nodes().filter(({ name }) => name !== me);
    const answers = await Promise.all(others.map(async ({ name }) => [name, await this.#rowsOf(name)] as const));
    const rows = new Map<InstanceId, ActorRow>();
    // Instances that moved to this node during the requests belong to its own rows.
    for (const [node, all] of answers) for (const row of all ?? []) if (!owns(row.id)) rows.set(row.id, { ...row, node });
    return {
      rows,
      silent: answers.filter(([, all]) => all === null).map(([name]) => name),
      ownerOf: (id) => (owns(id) ? me : ''),
    };
  }

  /** Returns all rows of the node; null if the node does not answer, or does not know the question. */
  async #rowsOf(node: string): Promise<readonly ActorRow[] | null> {
    const all: ActorRow[] = [];
    let after = '';
    do {
      const piece = await this.#input.ask(node, { ask: 'rows', after });
      if (!isPiece(piece)) return null;
      all.push(...piece.rows);
      after = piece.next;
    } while (after !== '');
    return all;
  }
}

// The steps of an instance for a viewer on any node. Steps of this node arrive at once. Steps of another node are polled.

type StepWatcher = { onStep(step: Step): void } & WatchEnd;

export interface ClusterStepsInput {
  readonly time: Time;
  readonly log: Log;
  owns(id: InstanceId): boolean;
  /** Returns the details of an instance, from its owner if the owner answers. The caller ignores details that do not come from the owner. */
  actor(id: InstanceId): Promise<Result<ActorDetail>>;
  /** Watches the steps that this node takes, and the end of the watch. */
  watchHere(id: InstanceId, watcher: StepWatcher): () => void;
}

/** The pause between two requests to the owner, while a person watches the page of an instance of another node. In milliseconds. */
const askEvery = 1_000;

/** The steps of one instance for one viewer. */
class FollowedSteps {
  readonly #input: ClusterStepsInput;
  readonly #id: InstanceId;
  readonly #watcher: StepWatcher;
  #timer: unknown = null;
  #isOver = false;
  /**
   * The number of the last known step of the other node; null before the first request. Infinity while this node owns the instance, so that all steps of the
   * next owner are new.
   */
  #last: number | null = null;

  constructor(input: ClusterStepsInput, id: InstanceId, watcher: StepWatcher) {
    this.#input = input;
    this.#id = id;
    this.#watcher = watcher;
  }

  /** Shows the steps of another owner that are new, and asks again after a pause. */
  follow(): void {
    if (this.#isOver) return;
    const { time, log } = this.#input;
    this.#look()
      .catch((error: unknown) => log.warn({ instance: this.#id, error }, 'inspector.notFollowed'))
      .finally(() => void (this.#timer = this.#isOver ? null : time.setTimeout(() => this.follow(), askEvery)));
  }

  stop(): void {
    this.#isOver = true;
    this.#input.time.clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#input.owns(this.#id)) this.#last = Infinity;
    else this.#last = await this.#ask(this.#last);
  }

  /** Shows new steps and returns the number of the last step. Each owner counts its steps from 1. */
  async #ask(last: number | null): Promise<number | null> {
    const { actor, owns } = this.#input;
    const answer = await actor(this.#id);
    if (!answer.ok || answer.value.lease?.answers !== true || owns(this.#id)) return last;
    const newest = answer.value.steps.at(-1)?.n ?? 0;
    if (last === null) return newest;
    for (const step of answer.value.steps) if ((newest < last || step.n > last) && !this.#isOver) this.#watcher.onStep(step);
    return newest;
  }
}

/** Watches the steps of an instance on any node. Returns the function that ends the watch. */
export const watchSteps = (input: ClusterStepsInput, id: InstanceId, watcher: StepWatcher): (() => void) => {
  const followed = new FollowedSteps(input, id, watcher);
  const onEnd = (): void => {
    followed.stop();
    watcher.onEnd();
  };
  const leave = input.watchHere(id, { onStep: (step) => watcher.onStep(step), onEnd });
  followed.follow();
  return () => {
    followed.stop();
    leave();
  };
};

// Finds the lease of an instance for its page in the inspector.

const nullWhenAway = (error: unknown): null => {
  if (error instanceof StorageFailure) return null;
  throw error;
};

/** Returns the owner and the lease. During a database outage both are empty, and the call does not reject. The inspector is needed most during an outage. */
export async function shownOwner(
  overview: Pick<Overview, 'leaseOf'>,
  ownership: Pick<Ownership, 'owns'>,
  id: InstanceId,
): Promise<Pick<ActorDetail, 'lease' | 'node'>> {
  const lease = await overview.leaseOf(id).catch(nullWhenAway);
  if (lease === null) return { node: '', lease };
  const { node, since, cause } = lease;
  return { node, lease: { node, since, cause, answers: ownership.owns(id) } };
}
