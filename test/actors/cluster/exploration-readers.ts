/** Readers of streams in a simulated cluster. The events that each reader got are compared with the committed events. */
import type { InstanceId } from '#actors/model.ts';
import type { ExploredNode } from './explored-node.ts';
import { mostLate } from './simulated-chaos.ts';
import type { World } from './simulated-world.ts';

interface ReadersWorld extends Pick<World, 'instances' | 'database' | 'time'> {
  /** Returns a running node; null if there is none. */
  running(): ExploredNode | null;
  one<T>(items: readonly T[]): T;
  violated(what: string): void;
}

/** The maximum number of readers at once. */
const most = 3;
const gap = '(gap)';

interface Reader {
  readonly id: InstanceId;
  readonly node: ExploredNode;
  readonly got: string[];
  /** The time of the last message. */
  at: number;
  readonly end: () => void;
}

export class Readers {
  readonly #world: ReadersWorld;
  readonly all: Reader[] = [];
  /** Events that a living owner knew to be stored while the bus was within reach, with the time. Other events reach no reader. */
  readonly sent = new Map<string, number>();

  constructor(world: ReadersWorld) {
    this.#world = world;
  }

  /** Starts a reader or ends one. */
  change(): void {
    const node = this.#world.running();
    if (this.all.length >= most) this.#leave(this.all[0]!);
    else if (node !== null) this.#join(node, this.#world.one(this.#world.instances));
  }

  gone(node: ExploredNode): void {
    for (const reader of this.all.filter((one) => one.node === node)) this.#leave(reader);
  }

  compare(): void {
    for (const reader of this.all) this.#compareOne(reader);
  }

  #join(node: ExploredNode, id: InstanceId): void {
    const got: string[] = [];
    const take = (what: string): void => {
      got.push(what);
      reader.at = this.#world.time.now();
    };
    const reader: Reader = { id, node, got, at: -Infinity, end: () => undefined };
    try {
      const end = node.cluster.streams!.subscribe(
        id,
        (event) => take(event.id),
        () => take('(end)'),
        () => take(gap),
      );
      this.all.push(Object.assign(reader, { end }));
    } catch {
      // The client gets an error and asks again.
    }
  }

  #leave(reader: Reader): void {
    this.all.splice(this.all.indexOf(reader), 1);
    reader.end();
    // Messages that wait for a stopped process may report a gap, and so may the first message after the connection to the bus broke.
    if (!reader.node.process.stoodStill && reader.at > reader.node.bus.lostAt) this.#compareOne(reader);
  }

  /** Checks that no committed event is missing between two events of the reader, unless the reader was told of a gap, possibly later. */
  #compareOne({ id, node, got }: Reader): void {
    const all = (this.#world.database.journal.get(id) ?? []).map((event) => event.id);
    const lastGap = got.lastIndexOf(gap);
    let last = got.length === 0 ? -1 : all.indexOf(got.find((one) => one !== gap) ?? '') - 1;
    let lastPosition = -1;
    // Later messages may still be on their way to the server or from the server.
    const arrived = this.#world.time.now() - 2 * mostLate;
    for (const [position, one] of got.entries()) {
      if (one === gap) continue;
      const at = all.indexOf(one);
      if (at <= last) return this.#world.violated(`a reader of ${id} at ${node.name} got ${one} after ${all[last] ?? ''}`);
      const missing = all.slice(last + 1, at).filter((event) => (this.sent.get(event) ?? Infinity) < arrived);
      if (lastGap < lastPosition && missing.length > 0)
        return this.#world.violated(`a reader of ${id} at ${node.name} was not told that ${missing.join(' ')} are missing`);
      last = at;
      lastPosition = position;
    }
  }
}
