/** The plan of a node after a look: the instances that it takes, and the instances that it moves to other nodes. A pure function. */
import type { InstanceId } from '../model.ts';
import type { LiveNode, Look, Time } from '../ports.ts';
import type { Placement } from './placement.ts';

// Moves sessions to other nodes at an even pace, and few at once. A session leaves only when enough earlier sessions are connected again.
// Each session is thus down only for its own move, however slow the other nodes are.

export interface Departure {
  readonly id: InstanceId;
  /** Name of the next owner. */
  readonly to: string;
}

export interface DeparturesInput {
  readonly time: Pick<Time, 'monotonic' | 'setTimeout' | 'clearTimeout'>;
  readonly atOnce: number;
  /** Moves one session. Resolves when the session is connected on another node, when it stays, or after some seconds. Never rejects. */
  leave(departure: Departure): Promise<void>;
}

export class Departures {
  readonly #input: DeparturesInput;
  #planned: Departure[] = [];
  #onTheirWay = 0;
  /** Pause between two departures. In milliseconds. */
  #every = 0;
  /** Earliest time of the next departure, by the monotonic clock. */
  #nextAt = -Infinity;
  #timer: unknown = null;

  constructor(input: DeparturesInput) {
    this.#input = input;
  }

  /** Replaces the departures that were planned before and have not begun. */
  plan(departures: readonly Departure[], perSecond: number): void {
    this.#planned = [...departures];
    this.#every = 1000 / perSecond;
    this.#advance();
  }

  #advance(): void {
    const { time, atOnce } = this.#input;
    time.clearTimeout(this.#timer);
    while (this.#onTheirWay < atOnce) {
      const [departure] = this.#planned;
      if (departure === undefined) return;
      const wait = this.#nextAt - time.monotonic();
      if (wait > 0) {
        this.#timer = time.setTimeout(() => this.#advance(), wait);
        return;
      }
      this.#planned.shift();
      this.#nextAt = time.monotonic() + this.#every;
      this.#begin(departure);
    }
  }

  #begin(departure: Departure): void {
    this.#onTheirWay += 1;
    void this.#input.leave(departure).finally(() => {
      this.#onTheirWay -= 1;
      this.#advance();
    });
  }
}

export interface PlanInput {
  /** Name of this node. */
  readonly me: string;
  readonly look: Look;
  readonly placement: Placement;
  /** Instances that this node owns, without those that are leaving. */
  readonly owned: Iterable<InstanceId>;
  /** Number of further instances that the node may own. */
  readonly room: number;
  /** Number of instances that may be taken now. */
  readonly takes: number;
  /** Number of instances that may leave now. */
  readonly moves: number;
  readonly draining: boolean;
  /** Nodes that recently refused a session, even if the look shows room. */
  readonly refusing: ReadonlySet<string>;
  /** Instances that this node gave away since it began to drain. */
  readonly given: ReadonlySet<InstanceId>;
}

export interface Plan {
  readonly take: readonly InstanceId[];
  readonly giveAway: readonly Departure[];
}

const firstOf = (ids: Iterable<InstanceId>, most: number, test: (id: InstanceId) => boolean): readonly InstanceId[] => {
  const found: InstanceId[] = [];
  if (most <= 0) return found;
  for (const id of ids) if (test(id) && found.push(id) >= most) break;
  return found;
};

/** Room of the nodes at a look, minus the sessions that are planned to move to these nodes. */
class Room {
  readonly #left: Map<string, number>;

  constructor(nodes: readonly LiveNode[], refusing: ReadonlySet<string>) {
    const open = nodes.filter(({ name }) => !refusing.has(name));
    this.#left = new Map(open.map(({ name, capacity, load }) => [name, capacity - load]));
  }

  readonly has = (name: string): boolean => (this.#left.get(name) ?? 0) > 0;

  use(name: string): void {
    this.#left.set(name, (this.#left.get(name) ?? 0) - 1);
  }
}

const departuresOf = (
  { owned, moves, look, refusing }: PlanInput,
  nodeFor: (id: InstanceId, hasRoom: (name: string) => boolean) => string | null,
): readonly Departure[] => {
  const room = new Room(look.nodes, refusing);
  const found: Departure[] = [];
  if (moves <= 0) return found;
  for (const id of owned) {
    const to = nodeFor(id, room.has);
    if (to === null) continue;
    room.use(to);
    if (found.push({ id, to }) >= moves) break;
  }
  return found;
};

/**
 * Returns the plan of this node. A draining node gives away the sessions for which other nodes have room, and keeps the rest until it ends. The node
 * takes back an instance that it gave away, if no node has room for it any more.
 */
export const planOf = (input: PlanInput): Plan => {
  const { me, look, placement, room, takes, draining, given } = input;
  const most = Math.min(room, takes);
  if (draining)
    return {
      take: firstOf(look.free, most, (id) => given.has(id) && placement.of(id) === null),
      giveAway: departuresOf(input, (id, hasRoom) => placement.of(id, hasRoom)),
    };
  return {
    take: firstOf(look.free, most, (id) => placement.of(id) === me),
    giveAway: departuresOf(input, (id, hasRoom) => {
      const ideal = placement.moveOf(id, me);
      return ideal !== null && hasRoom(ideal) ? ideal : null;
    }),
  };
};
