/** The list of the inspector over all nodes: rows of what other nodes own, asked for in pieces, so that no node stands still for it. */
import type { ActorRow } from '../face/inspector.ts';
import type { RowsElsewhere } from '../inspection/inspection.ts';
import type { InstanceId } from '../model.ts';
import type { LiveNode, Time } from '../ports.ts';
import type { NodeQuestion } from './remote.ts';

export interface ClusterRowsInput {
  /** Name of this node. */
  readonly me: string;
  readonly time: Time;
  nodes(): readonly LiveNode[];
  /** Null when that node does not answer. Never rejects. */
  ask(node: string, question: NodeQuestion): Promise<unknown>;
  owns(id: InstanceId): boolean;
  owned(): Iterable<InstanceId>;
  /** Null when the instance is gone. */
  row(id: InstanceId): ActorRow | null;
}

/** Some rows of a node, by their ids; `next` is '' with the last ones. */
interface Piece {
  readonly rows: readonly ActorRow[];
  readonly next: InstanceId | '';
}

/** Rows of one piece: some 3 ms of work on either side. */
const perPiece = 500;
/** Milliseconds for which answers count: the pages of one list are asked for one after the other. */
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

  /** Never rejects. */
  elsewhere(): Promise<RowsElsewhere> {
    const now = this.#input.time.monotonic();
    if (this.#known === null || now - this.#askedAt >= rememberedMs) [this.#known, this.#askedAt] = [this.#gather(), now];
    return this.#known;
  }

  /** Answers another node. `after`: the last id that it has, '' at the beginning. */
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
    // What came here meanwhile is this node's.
    for (const [node, all] of answers) for (const row of all ?? []) if (!owns(row.id)) rows.set(row.id, { ...row, node });
    return {
      rows,
      silent: answers.filter(([, all]) => all === null).map(([name]) => name),
      ownerOf: (id) => (owns(id) ? me : ''),
    };
  }

  /** Null when the node does not answer, or runs a version that does not know the question. */
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
