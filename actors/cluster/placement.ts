/**
 * Places instances on nodes by rendezvous hashing, weighted by capacity, and plans which instances a node takes and which it moves to other
 * nodes.
 */
import type { InstanceId } from '../model.ts';
import type { LiveNode, Look, Time } from '../ports.ts';

// Places instances on nodes by rendezvous hashing, weighted by capacity. Each node gets a score for each instance, and the highest score
// wins. A node that joins or leaves moves only its own share. All nodes compute the same result without communication.

/** Hashes a text with FNV-1a, 32 bits. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
};

/** Mixes two hashes into a number in (0, 1), with the finalizer of MurmurHash3. */
const mixed = (a: number, b: number): number => {
  let mix = a ^ Math.imul(b, 0x9e3779b1);
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (((mix ^ (mix >>> 16)) >>> 0) + 0.5) / 2 ** 32;
};

interface Candidate {
  readonly name: string;
  readonly hash: number;
  readonly capacity: number;
}

/** The load below which a node gets sessions from other nodes, as a share of its capacity. The rest of the capacity is left for instances without an owner. */
const roomy = 0.9;

/** The placement of instances on the live nodes of one check. */
export class Placement {
  readonly #all: readonly Candidate[];
  readonly #open: readonly Candidate[];
  readonly #welcoming: ReadonlySet<string>;
  /** The key of the placement. Two placements with the same key move the same instances. */
  readonly key: string;

  /** Takes the live nodes. A node that is younger than `settled` milliseconds gets no session that has an owner. */
  constructor(nodes: readonly LiveNode[], settled: number) {
    const taking = nodes.filter(({ draining, capacity }) => !draining && capacity > 0);
    const candidates = (some: readonly LiveNode[]): readonly Candidate[] =>
      some.map(({ name, capacity }) => ({ name, capacity, hash: hashOf(name) }));
    this.#all = candidates(taking);
    this.#open = candidates(taking.filter(({ load, capacity }) => load < capacity));
    this.#welcoming = new Set(
      taking.filter(({ load, capacity, age }) => load < capacity * roomy && age >= settled).map(({ name }) => name),
    );
    this.key = JSON.stringify([this.#all, ...this.#welcoming]);
  }

  /** True if some node takes instances. */
  get hasRoom(): boolean {
    return this.#open.length > 0;
  }

  /** Returns the node that takes an unowned instance, or null if no node has room. `hasRoom` excludes nodes that have become full meanwhile. */
  of(id: InstanceId, hasRoom?: (name: string) => boolean): string | null {
    return winner(hasRoom === undefined ? this.#open : this.#open.filter(({ name }) => hasRoom(name)), id);
  }

  /** Returns the node to which an owned instance should move, or null if the instance stays. */
  moveOf(id: InstanceId, owner: string): string | null {
    const ideal = winner(this.#all, id);
    return ideal !== null && ideal !== owner && this.#welcoming.has(ideal) ? ideal : null;
  }
}

/** Compares the scores `capacity / -ln(drawn)`. Most nodes have equal capacities, which need no logarithm. */
const beats = (drawn: number, capacity: number, other: number, otherCapacity: number): boolean =>
  capacity === otherCapacity ? drawn > other : capacity * Math.log(other) < otherCapacity * Math.log(drawn);

const winner = (candidates: readonly Candidate[], id: InstanceId): string | null => {
  const hash = hashOf(id);
  let best: Candidate | null = null;
  let most = 0;
  for (const candidate of candidates) {
    const drawn = mixed(hash, candidate.hash);
    if (best !== null && !beats(drawn, candidate.capacity, most, best.capacity)) continue;
    most = drawn;
    best = candidate;
  }
  return best?.name ?? null;
};

// Slots that a node reserves for sessions that other nodes are about to move to it. Reservations keep several draining nodes from sending
// more sessions than the node has room for.

/** The time for which a slot is reserved. Longer than a session takes to close. In milliseconds. */
const keptMs = 60_000;

export class ReservedSlots {
  readonly #time: Pick<Time, 'monotonic'>;
  /** Ends of the reservations, by the monotonic clock. */
  readonly #until = new Map<InstanceId, number>();

  constructor(time: Pick<Time, 'monotonic'>) {
    this.#time = time;
  }

  keep(id: InstanceId): void {
    this.#until.set(id, this.#time.monotonic() + keptMs);
  }

  /** Ends a reservation, because the session has arrived. */
  end(id: InstanceId): void {
    this.#until.delete(id);
  }

  has(id: InstanceId): boolean {
    return (this.#until.get(id) ?? -Infinity) > this.#time.monotonic();
  }

  /** Returns the number of slots that are reserved for other instances. */
  countBeside(id: InstanceId | null): number {
    for (const kept of this.#until.keys()) if (!this.has(kept)) this.#until.delete(kept);
    return this.#until.size - (id !== null && this.#until.has(id) ? 1 : 0);
  }
}

// Moves sessions to other nodes at an even pace, and few at once. A session leaves only when enough earlier sessions are connected again. Each session is thus
// down only for its own move, even if other nodes are slow.

export interface Departure {
  readonly id: InstanceId;
  /** The name of the next owner. */
  readonly to: string;
}

interface DeparturesInput {
  readonly time: Pick<Time, 'monotonic' | 'setTimeout' | 'clearTimeout'>;
  readonly atOnce: number;
  /** Moves one session. Resolves when the session is connected on another node, when it stays, or after some seconds. Never rejects. */
  leave(departure: Departure): Promise<void>;
}

export class Departures {
  readonly #input: DeparturesInput;
  #planned: Departure[] = [];
  #onTheirWay = 0;
  /** The pause between two departures. In milliseconds. */
  #every = 0;
  /** Earliest time of the next departure, by the monotonic clock. */
  #nextAt = -Infinity;
  #timer: unknown = null;

  constructor(input: DeparturesInput) {
    this.#input = input;
  }

  /**
   * Replaces the departures that were planned before and have not begun. `turn`: the share of the pause between two departures that passes before the first
   * one. Each node has another turn, because all nodes begin when they see that a node has joined.
   */
  plan(departures: readonly Departure[], perSecond: number, turn = 0): void {
    const now = this.#input.time.monotonic();
    const isFirst = this.#planned.length === 0 && departures.length > 0 && this.#nextAt < now;
    this.#planned = [...departures];
    this.#every = 1000 / perSecond;
    if (isFirst) this.#nextAt = now + this.#every * turn;
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

interface PlanInput {
  /** The name of this node. */
  readonly me: string;
  readonly look: Look;
  readonly placement: Placement;
  /** Instances that this node owns, without those that are leaving. */
  readonly owned: Iterable<InstanceId>;
  /** The number of further instances that the node may own. */
  readonly room: number;
  /** The number of instances that may be taken now. */
  readonly takes: number;
  /** The number of instances that may leave now. */
  readonly moves: number;
  readonly draining: boolean;
  /** Nodes that recently refused a session, even if the last check shows room. */
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

/** The room of the nodes, minus the sessions that are planned to move to these nodes. */
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
 * Returns the plan of this node. A draining node gives away the sessions for which other nodes have room, and keeps the rest until the process ends. The node
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
