/** Recognises faults that many sessions have in common, such as an outage, and raises the barrier of the gate for them. */
import type { InstanceRecord } from '../model.ts';
import type { Verdict } from '../policy/close-cause.ts';
import { type Gate, type OutageRule, OutageWatch } from '../policy/gate.ts';
import type { Time } from '../ports.ts';
import type { Registry } from './registry.ts';

interface CommonFaultsInput {
  readonly gate: Gate;
  readonly registry: Registry;
  readonly rule: OutageRule;
  readonly time: Time;
}

/**
 * Shortest time between two counts of the live sessions. A count visits every cell. Between two counts, logins are added and losses are subtracted,
 * because 10,000 sessions that close together would otherwise visit 10,000 cells each. In milliseconds.
 */
const recountMs = 1_000;

/** The part of a lost session that the count needs. */
interface Lost {
  readonly record: InstanceRecord;
}

export class CommonFaults {
  readonly #input: CommonFaultsInput;
  readonly #outage: OutageWatch;
  #live = 0;
  #countedAt = -Infinity;

  constructor(input: CommonFaultsInput) {
    this.#input = input;
    this.#outage = new OutageWatch(input.rule);
  }

  /** Counts a login. */
  opened(): void {
    this.#live += 1;
  }

  /** Judges a close. A common fault raises the barrier. While the barrier is up, a failed canary makes the next pause longer. */
  closed(cell: Lost, verdict: Verdict, wasLive: boolean): void {
    const { gate, time } = this.#input;
    const { id } = cell.record;
    if (wasLive) this.#live -= 1;
    if (verdict.reaction === 'gate') return gate.raise(verdict.cause, id);
    // A proxy belongs to one instance, so its failure says nothing about other sessions.
    if (verdict.reaction !== 'backOff' || verdict.cause === 'proxyFailed') return;
    if (gate.barrier !== '') return gate.raise(gate.barrier, id);
    if (!wasLive) return;
    if (this.#outage.lost(time.monotonic(), this.#liveWithout(cell))) gate.raise('outage', id);
  }

  /** Returns the number of live sessions after the loss of this one. */
  #liveWithout(lost: Lost): number {
    const { registry, time } = this.#input;
    if (time.monotonic() - this.#countedAt >= recountMs) {
      this.#countedAt = time.monotonic();
      this.#live = 0;
      for (const cell of registry.cells.values()) if (cell !== lost && cell.status === 'connected') this.#live += 1;
    }
    return this.#live;
  }
}
