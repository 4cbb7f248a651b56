/** The inspector over all nodes: the list of instances, and the steps of one. */
import type { RowsElsewhere } from '../inspection/inspection.ts';
import type { InstanceId, Result } from '../model.ts';
import type { LiveNode, Log, Time } from '../ports.ts';
import type { ActorDetail, ActorRow, Step, WatchEnd } from '../views/inspector.ts';
import type { NodeQuestion } from './remote.ts';

// The list of the inspector over all nodes. Rows of other nodes are requested in pages, so that a large page blocks no node.

export interface ClusterRowsInput {
  /** Name of this node. */
  readonly me: string;
  readonly time: Time;
  nodes(): readonly LiveNode[];
  /** Asks a node. Resolves with null if the node does not answer. Never rejects. */
  ask(node: string, question: NodeQuestion): Promise<unknown>;
  owns(id: InstanceId): boolean;
  owned(): Iterable<InstanceId>;
  /** Returns null if the instance is gone. */
  row(id: InstanceId): ActorRow | null;
}

/** A page of the rows of a node, ordered by id. `next` is '' on the last page. */
interface Piece {
  readonly rows: readonly ActorRow[];
  readonly next: InstanceId | '';
}

/** Rows per page of the remote list. One page takes about 3 ms on each node. */
const perPiece = 500;
/** Time for which answers are cached, because clients request the pages of one list one after another. In milliseconds. */
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

  /** Returns null if the node does not answer, or does not know the question. */
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
  /** Asks the owner for the state of an instance. Answers of other nodes have no effect. */
  actor(id: InstanceId): Promise<Result<ActorDetail>>;
  /** Watches the steps that this node takes, and the end of the watch. */
  watchHere(id: InstanceId, watcher: StepWatcher): () => void;
}

/** Pause between two requests to the owner, while a person watches the page of an instance of another node. In milliseconds. */
const askEvery = 1_000;

export class ClusterSteps {
  readonly #input: ClusterStepsInput;

  constructor(input: ClusterStepsInput) {
    this.#input = input;
  }

  watch(id: InstanceId, watcher: StepWatcher): () => void {
    const { time, log, owns, watchHere } = this.#input;
    let over = false;
    let timer: unknown = null;
    /**
     * Number of the last step of the other node that was shown; null before the first request. After steps of this node, all steps of the next owner
     * are new.
     */
    let last: number | null = null;
    const stop = (): void => {
      over = true;
      time.clearTimeout(timer);
    };
    const end = (): void => {
      stop();
      watcher.onEnd();
    };
    const look = async (): Promise<void> => {
      if (owns(id)) last = Infinity;
      else last = await this.#ask(id, last, (step) => over || watcher.onStep(step));
    };
    const turn = (): void => {
      if (over) return;
      look()
        .catch((error: unknown) => log.warn({ instance: id, error }, 'inspector.notFollowed'))
        .finally(() => void (timer = over ? null : time.setTimeout(turn, askEvery)));
    };
    const leave = watchHere(id, { onStep: (step) => watcher.onStep(step), onEnd: end });
    turn();
    return () => {
      stop();
      leave();
    };
  }

  /** Shows new steps and returns the number of the last step. Each owner counts its steps from 1. */
  async #ask(id: InstanceId, last: number | null, show: (step: Step) => void): Promise<number | null> {
    const answer = await this.#input.actor(id);
    if (!answer.ok || answer.value.lease?.answers !== true || this.#input.owns(id)) return last;
    const newest = answer.value.steps.at(-1)?.n ?? 0;
    if (last !== null) for (const step of answer.value.steps) if (newest < last || step.n > last) show(step);
    return newest;
  }
}
