/**
 * Places instances on nodes by rendezvous hashing, weighted by capacity. Each node gets a score for each instance, and the highest score
 * wins. A node that joins or leaves moves only its own share. All nodes compute the same result without communication.
 */
import type { InstanceId } from '../model.ts';
import type { LiveNode, Time } from '../ports.ts';

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

/** Largest load for which a node gets sessions that have an owner, as a share of its capacity. A full node would move such sessions on. */
const roomy = 0.9;

/** Places of instances among the nodes of one look. */
export class Placement {
  readonly #all: readonly Candidate[];
  readonly #open: readonly Candidate[];
  readonly #welcoming: ReadonlySet<string>;
  /** Key of the placement. Two looks have the same key if no instance would move to another node. */
  readonly key: string;

  /** Takes the nodes of a look. A node that is younger than `settled` milliseconds gets no session that has an owner. */
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

  /** Returns the node that takes an unowned instance, or null if no node has room. `hasRoom` excludes nodes that filled up since the look. */
  of(id: InstanceId, hasRoom?: (name: string) => boolean): string | null {
    return winner(hasRoom === undefined ? this.#open : this.#open.filter(({ name }) => hasRoom(name)), id);
  }

  /** Returns the node to which an owned instance should move, or null if the instance stays. */
  moveOf(id: InstanceId, owner: string): string | null {
    const ideal = winner(this.#all, id);
    return ideal !== null && ideal !== owner && this.#welcoming.has(ideal) ? ideal : null;
  }
}

/** Compares the scores `capacity / -ln(drawn)`. Nodes of equal capacity, which is the usual case, need no logarithm. */
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

/** Time for which a slot is reserved. Longer than a session takes to close. In milliseconds. */
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

  /** Returns the number of slots that are reserved for other instances than this one. */
  countBeside(id: InstanceId | null): number {
    for (const kept of this.#until.keys()) if (!this.has(kept)) this.#until.delete(kept);
    return this.#until.size - (id !== null && this.#until.has(id) ? 1 : 0);
  }
}
