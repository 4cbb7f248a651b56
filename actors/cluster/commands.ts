/** Runs commands and questions on the node that owns the instance. If no node owns the instance, a node takes it first. */
import { type InstanceId, refuse, type Result } from '../model.ts';
import type { Policy } from '../policy/policy.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import { type Lease, type LeaseStore, type Ports, StorageFailure, type Time } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { Campaigns } from '../supervisor/campaigns.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { ActorRow } from '../views/inspector.ts';
import { within } from '../waiting.ts';
import type { ClusterStepsInput } from './inspector.ts';
import type { Ownership } from './ownership.ts';
import type { ClusterPolicy } from './policy.ts';
import type { Moved, Remote, RemoteAnswer } from './remote.ts';
import type { SharedSignIns } from './sign-ins.ts';

// The host of the cluster code, which is the gateway on the same node, and the commands that travel between nodes.

export interface ClusterHost {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly workers: SupervisedWorkers;
  readonly registry: Registry;
  readonly dispatcher: Dispatcher;
  /** The start of the process. In Unix milliseconds. */
  readonly since: number;
  readonly campaigns: Pick<Campaigns, 'look' | 'forget'>;
  /** Wakes a hibernated session that has messages in its queue. */
  readonly wake: (cell: Cell) => void;
  /** Forgets an instance that is gone. */
  readonly forget: (id: InstanceId) => void;
  /** Ends the work for an instance outside its cell and clears its caches, because another node becomes its owner. May be called more than once. */
  readonly forgetBeside: (id: InstanceId) => void;
  /** Called after this node took instances and began their sessions. */
  readonly begun: () => void;
  /** Implements `MemoryHost.refreshAdmin`. */
  readonly refreshAdmin: () => Promise<void>;
  /** Implements `MemoryHost.refreshSignIns`. */
  readonly refreshSignIns: () => Promise<void>;
  /** Returns the row of the inspector for an instance of this node. Returns null if the instance is gone. */
  readonly row: (id: InstanceId) => ActorRow | null;
  /** Watches the steps that this node takes. */
  readonly watchHere: ClusterStepsInput['watchHere'];
}

/** A command on an instance, at the node that received the request of the client. */
export interface Command<T> {
  readonly id: InstanceId;
  readonly method: string;
  /** Returns the arguments that travel to the owner, if another node owns the instance. A refusal becomes the answer to the command. */
  args(): Promise<Result<readonly unknown[]>>;
  /** Runs the command on this node. */
  here(): Promise<T>;
}

/** The credentials of operators. In a cluster each node reads them again periodically, because another node may have changed them. */
export interface OperatorAccess {
  /** Reads the admin token again. Returns true if it changed. */
  refresh(): Promise<boolean>;
  readonly signIns: Pick<SharedSignIns, 'look'>;
}

// Caches leases briefly for requests on the same instance. An instance whose owner is gone costs one query a second, for any number of waiting requests.

/** The time for which a lease is cached. This time is shorter than the pause between two reads of the lease for one request. In milliseconds. */
const sharedMs = 1_000;

interface LookUnderWay {
  readonly lease: Promise<Lease | null>;
  /** The time of the query, by the monotonic clock. */
  readonly askedAt: number;
}

export class LeaseLooks {
  readonly #store: Pick<LeaseStore, 'leaseOf'>;
  readonly #time: Pick<Time, 'monotonic'>;
  /** Queries by instance, oldest first. */
  readonly #looks = new Map<InstanceId, LookUnderWay>();

  constructor(store: Pick<LeaseStore, 'leaseOf'>, time: Pick<Time, 'monotonic'>) {
    this.#store = store;
    this.#time = time;
  }

  /** Returns the lease from a query that began at most a second ago. `heldMs` and `leftMs` are adjusted to the present. */
  async of(id: InstanceId): Promise<Lease | null> {
    const { lease, askedAt } = this.#look(id);
    const found = await lease;
    const passed = this.#time.monotonic() - askedAt;
    return found && { ...found, heldMs: found.heldMs + passed, leftMs: found.leftMs - passed };
  }

  #look(id: InstanceId): LookUnderWay {
    const now = this.#time.monotonic();
    for (const [other, { askedAt }] of this.#looks) {
      if (now - askedAt < sharedMs) break;
      this.#looks.delete(other);
    }
    const known = this.#looks.get(id);
    if (known !== undefined) return known;
    const look = { lease: this.#store.leaseOf(id), askedAt: now };
    this.#looks.set(id, look);
    return look;
  }
}

// Refuses commands that reached no owner of their instance. Nothing was begun, and a retry is safe.

export interface Unserved {
  /** Null if no node owns the instance; undefined if the database does not answer. */
  readonly lease: Pick<Lease, 'node' | 'leftMs'> | null | undefined;
  /** True if no node has room for more instances. */
  readonly isFull: boolean;
  /** Current time. In Unix milliseconds. */
  readonly now: number;
  readonly policy: Pick<ClusterPolicy, 'lease' | 'renewEvery' | 'retryEvery'>;
}

/** The delay before a retry of the client if no better estimate is known. In seconds. */
const usualRetry = 2;

/**
 * Refuses a command whose owner does not answer. If the owner missed a renewal and its retry, the refusal says when the lease ends, because other nodes
 * take the instance then.
 */
const ownedRefusal = ({ node, leftMs }: Pick<Lease, 'node' | 'leftMs'>, { now, policy }: Unserved): Result<never> => {
  const silentMs = policy.lease - leftMs;
  if (silentMs <= policy.renewEvery + policy.retryEvery)
    return refuse('unavailable', `another node has the instance: ${node}, which is alive and does not answer`, { retryAfter: usualRetry });
  const freeMs = Math.max(0, leftMs) + policy.retryEvery;
  const until = new Date(now + freeMs).toISOString();
  const text = `another node has the instance: ${node}, which has not renewed its lease for ${Math.round(silentMs / 1000)} s; the instance is free at ${until} unless it does`;
  return refuse('unavailable', text, { retryAfter: Math.max(usualRetry, Math.ceil(freeMs / 1000)) });
};

export const unservedRefusal = (unserved: Unserved): Result<never> => {
  const { lease, isFull } = unserved;
  if (lease) return ownedRefusal(lease, unserved);
  const nobody = isFull ? 'no node has room for the instance' : 'no node has the instance at the moment';
  const unknown = 'the database does not say which node has the instance';
  return refuse('unavailable', lease === null ? nobody : unknown, { retryAfter: usualRetry });
};

interface ClusterCommandsInput {
  /** The name of this node. */
  readonly me: string;
  readonly time: Time;
  readonly policy: Pick<ClusterPolicy, 'ownerWait' | 'answer' | 'question' | 'lease' | 'renewEvery' | 'retryEvery'>;
  readonly leases: Pick<LeaseStore, 'leaseOf' | 'epochOf'>;
  readonly ownership: Ownership;
  /** Null without a bus. */
  readonly remote: Remote | null;
  /** Returns the name of the node that takes the unowned instance (see `ClusterNode.nodeFor`), or null. */
  nodeFor(id: InstanceId): string | null;
  /** Returns true if no node has room for more instances. */
  isFull(): boolean;
  /** Takes an instance that no node owns. Resolves with true if this node owns the instance afterwards. */
  take(id: InstanceId): Promise<boolean>;
}

/**
 * The pause between two attempts to find an owner (`ownerLookMs`), and between two checks that the asked owner still holds the lease (`leaseLookMs`). In
 * milliseconds.
 */
const ownerLookMs = 200;
const leaseLookMs = 2_000;

const lateRefusal: Result<never> = refuse('unknown', 'the node that has the instance did not answer, and the outcome is unknown');

const versionRefusal: Result<never> = refuse(
  'unavailable',
  'the node that has the instance runs another version, which does not know this request: it works when all nodes run the same one',
  { retryAfter: 30 },
);

/** Checks the form of an answer, because another version or another client of the bus may have sent it. */
const isResult = (value: unknown): boolean => {
  const { ok, refusal } = (typeof value === 'object' && value !== null ? value : {}) as { ok?: unknown; refusal?: { message?: unknown } };
  return ok === true || (ok === false && typeof refusal?.message === 'string');
};

const late: RemoteAnswer = { kind: 'late' };

export class ClusterCommands {
  readonly #input: ClusterCommandsInput;
  readonly #looks: LeaseLooks;

  constructor(input: ClusterCommandsInput) {
    this.#input = input;
    this.#looks = new LeaseLooks(input.leases, input.time);
  }

  /** Runs a command on the node that owns its instance. If no node owns the instance, a node takes it first. */
  async command<T>(command: Command<Result<T>>): Promise<Result<T>> {
    const { time, policy } = this.#input;
    let until = time.monotonic() + policy.ownerWait;
    for (let tries = 1; ; tries += 1) {
      const began = time.monotonic();
      const here = await this.#input.ownership.run(command);
      if (here) return here.value;
      const there = await this.#there(command, policy.answer);
      if (there.kind === 'answered') return isResult(there.value) ? (there.value as Result<T>) : lateRefusal;
      if (there.kind === 'late') return lateRefusal;
      if (there.kind === 'otherVersion') return versionRefusal;
      // The owner may have worked on the command for long before it moved the instance. This time does not count.
      until += time.monotonic() - began;
      const away = there.kind === 'away';
      const found = await this.#findOwner(command.id, away);
      // The takeover may have used up the time. The new owner still gets one attempt.
      const left = until + (found ? policy.ownerWait : 0) - time.monotonic();
      if ((away && !found) || left <= 0) return this.#unserved(command.id);
      if (!found || tries > 1) await this.#pause(ownerLookMs);
    }
  }

  /** Asks the owner, whose memory is newer than the database. Without an answer of the owner, this node answers. */
  async question<T>(question: Command<T>): Promise<T> {
    const { ownership, remote, policy } = this.#input;
    if (ownership.owns(question.id) || remote === null) return question.here();
    const there = await this.#there(question, policy.question);
    return there.kind === 'answered' && there.value !== undefined ? (there.value as T) : question.here();
  }

  async #there<T>({ id, method, args }: Command<T>, ms: number): Promise<RemoteAnswer> {
    const { remote } = this.#input;
    if (remote === null) return { kind: 'away' };
    const given = await args();
    if (!given.ok) return { kind: 'answered', value: given };
    const asked = this.#input.time.monotonic();
    const answer = remote.call(id, method, given.value, ms, (moved) => this.#mayRepeat(id, moved, asked));
    return Promise.race([answer, this.#ownerGone(id, answer)]);
  }

  /**
   * Returns true if no later owner can have received the command. A former owner that was suspended may answer a command that a later owner received
   * too. The later owner may still be working on the command.
   */
  async #mayRepeat(id: InstanceId, { epoch, alone }: Moved, asked: number): Promise<boolean> {
    const { leases, time } = this.#input;
    if (alone === true) return true;
    try {
      if (typeof epoch === 'number') return ((await leases.epochOf(id)) ?? epoch) <= epoch;
      // A node of the previous release sends no epoch. An owner that took the instance after the command was sent did not receive the command.
      const lease = await leases.leaseOf(id);
      return lease === null || lease.heldMs < time.monotonic() - asked;
    } catch {
      return false;
    }
  }

  /**
   * Resolves with `late` when the owner that received the command no longer holds the lease, because its answer will not come. Never resolves while
   * that owner still holds the lease.
   */
  async #ownerGone(id: InstanceId, answer: Promise<unknown>): Promise<RemoteAnswer> {
    const { time } = this.#input;
    const asked = time.monotonic();
    while ((await within(time, leaseLookMs, answer)) === 'late') {
      const waited = time.monotonic() - asked;
      // An unavailable database gives no information, so the wait continues.
      const lease = await this.#looks.of(id).catch(() => undefined);
      if (lease === null || (lease && lease.heldMs < waited)) return late;
    }
    return new Promise(() => undefined);
  }

  async #unserved(id: InstanceId): Promise<Result<never>> {
    const { time, policy, isFull } = this.#input;
    const lease = await this.#looks.of(id).catch((error: unknown) => {
      if (error instanceof StorageFailure) return undefined;
      throw error;
    });
    return unservedRefusal({ lease, isFull: isFull(), now: time.now(), policy });
  }

  /**
   * Makes a node take the instance, because no node answers for the instance on the bus. Asks the node to which the instance belongs, and then falls back to
   * this node. Returns true if a node may own the instance now.
   */
  async #findOwner(id: InstanceId, busAway: boolean): Promise<boolean> {
    const { me, nodeFor, remote, take } = this.#input;
    const node = nodeFor(id);
    const other = node !== null && node !== me ? node : null;
    if (!busAway && other !== null && (await remote?.ask(other, { ask: 'take', id })) === true) return true;
    return take(id);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#input.time.setTimeout(resolve, ms));
  }
}
