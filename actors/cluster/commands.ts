/** Commands and questions about an instance: here when this node owns it, else at its owner, which is found or made first. */
import { refuse, type InstanceId, type Result } from '../model.ts';
import { StorageFailure, type LeaseStore, type Time } from '../ports.ts';
import { within } from '../waiting.ts';
import type { Command } from './host.ts';
import type { ClusterPolicy } from './policy.ts';
import type { Moved, Remote, RemoteAnswer } from './remote.ts';
import { LeaseLooks } from './lease-looks.ts';
import { unservedRefusal } from './unserved.ts';
import type { Uses } from './uses.ts';

export interface ClusterCommandsInput {
  /** Name of this node. */
  readonly me: string;
  readonly time: Time;
  readonly policy: Pick<ClusterPolicy, 'ownerWait' | 'answer' | 'question' | 'lease' | 'renewEvery' | 'retryEvery'>;
  readonly leases: Pick<LeaseStore, 'leaseOf' | 'epochOf'>;
  readonly uses: Uses;
  /** Null without a bus. */
  readonly remote: Remote | null;
  /** Whether this node owns the instance now. */
  owns(id: InstanceId): boolean;
  /** The node where the instance belongs; null when there is none. */
  placeOf(id: InstanceId): string | null;
  /** No node has room for more. */
  isFull(): boolean;
  /** Takes an instance that nobody owns; whether it is this node's now. */
  take(id: InstanceId): Promise<boolean>;
}

/** Milliseconds between two tries to find an owner, and between two looks whether the owner that was asked is the owner still. */
const ownerLookMs = 200;
const leaseLookMs = 2_000;

const lateRefusal: Result<never> = refuse('unknown', 'the node that has the instance did not answer: whether it was done is not known');

const versionRefusal: Result<never> = refuse(
  'unavailable',
  'the node that has the instance runs another version, which does not know this request: it works when all nodes run the same one',
  { retryAfter: 30 },
);

/** Another version, or somebody else on the bus, may answer anything. */
const isResult = (value: unknown): boolean => {
  const { ok, refusal } = (typeof value === 'object' && value !== null ? value : {}) as { ok?: unknown; refusal?: { message?: unknown } };
  return ok === true || (ok === false && typeof refusal?.message === 'string');
};

/** Nothing left the process, and trying again is safe. */
const wasNotSent = (value: unknown): boolean => {
  const { ok, refusal } = (typeof value === 'object' && value !== null ? value : {}) as Partial<Extract<Result<never>, { ok: false }>>;
  return ok === false && refusal?.reason === 'notSent';
};

const late: RemoteAnswer = { kind: 'late' };

export class ClusterCommands {
  readonly #input: ClusterCommandsInput;
  readonly #looks: LeaseLooks;

  constructor(input: ClusterCommandsInput) {
    this.#input = input;
    this.#looks = new LeaseLooks(input.leases, input.time);
  }

  /** Runs a command where its instance is owned: here, on another node, or here after it was taken because nobody owned it. */
  async command<T>(command: Command<Result<T>>): Promise<Result<T>> {
    const { time, policy } = this.#input;
    let until = time.monotonic() + policy.ownerWait;
    for (let tries = 1; ; tries += 1) {
      const began = time.monotonic();
      const here = await this.hereIfOwned(command);
      if (here) return here.value;
      const there = await this.#there(command, policy.answer);
      if (there.kind === 'answered') return isResult(there.value) ? (there.value as Result<T>) : lateRefusal;
      if (there.kind === 'late') return lateRefusal;
      if (there.kind === 'otherVersion') return versionRefusal;
      // An owner may have worked on it for long before it gave the instance away.
      until += time.monotonic() - began;
      const away = there.kind === 'away';
      const found = await this.#findOwner(command.id, away);
      // Taking it may have used up the time: the new owner is asked all the same, once.
      const left = until + (found ? policy.ownerWait : 0) - time.monotonic();
      if ((away && !found) || left <= 0) return this.#unserved(command.id);
      if (!found || tries > 1) await this.#pause(ownerLookMs);
    }
  }

  /** Asks the owner, whose memory knows more than the database; without one this node answers. */
  async question<T>(question: Command<T>): Promise<T> {
    const { owns, remote, policy } = this.#input;
    if (owns(question.id) || remote === null) return question.here();
    const there = await this.#there(question, policy.question);
    return there.kind === 'answered' && there.value !== undefined ? (there.value as T) : question.here();
  }

  /**
   * Null when another node is to be asked: this one does not own the instance, or closed its session for the next owner before the command had written
   * anything.
   */
  async hereIfOwned<T>({ id, here }: Pick<Command<T>, 'id' | 'here'>): Promise<{ readonly value: T } | null> {
    const { uses, owns } = this.#input;
    // Counted before it is asked for, so that it is not given away in between.
    return uses.during(id, async () => {
      if (!owns(id)) return null;
      const value = await here();
      return wasNotSent(value) && !owns(id) ? null : { value };
    });
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
   * Returns true if no later owner can have got the command. A former owner that stood still answers commands which it got beside the owner of now, and
   * that one may be working on them.
   */
  async #mayRepeat(id: InstanceId, { epoch, alone }: Moved, asked: number): Promise<boolean> {
    const { leases, time } = this.#input;
    if (alone === true) return true;
    try {
      if (typeof epoch === 'number') return ((await leases.epochOf(id)) ?? epoch) <= epoch;
      // A node of the last release names no epoch. An owner that took the instance after the command was sent did not get it.
      const lease = await leases.leaseOf(id);
      return lease === null || lease.heldMs < time.monotonic() - asked;
    } catch {
      return false;
    }
  }

  /**
   * An owner that lost the instance answers nobody any more, however long it is waited for. Never resolves while the answer may come: while the
   * owner of now had the instance before it was asked for.
   */
  async #ownerGone(id: InstanceId, answer: Promise<unknown>): Promise<RemoteAnswer> {
    const { time } = this.#input;
    const asked = time.monotonic();
    while ((await within(time, leaseLookMs, answer)) === 'late') {
      const waited = time.monotonic() - asked;
      // A database that is away says nothing: the answer is waited for.
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

  /** Nobody owns it as far as the bus knows: the node takes it where it belongs. Whether somebody may own it now. */
  async #findOwner(id: InstanceId, busAway: boolean): Promise<boolean> {
    const { me, placeOf, remote, take } = this.#input;
    const place = placeOf(id);
    const other = place !== null && place !== me ? place : null;
    if (!busAway && other !== null && (await remote?.ask(other, { ask: 'take', id })) === true) return true;
    return take(id);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#input.time.setTimeout(resolve, ms));
  }
}
