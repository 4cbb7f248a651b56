/** Recognises faults that many sessions have in common, such as an outage, and puts up the barrier of the gate for them. */
import type { Verdict } from '../policy/close-cause.ts';
import { createOutageWatch, type Gate, type OutageRule } from '../policy/gate.ts';
import type { Time } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { Registry } from './registry.ts';

export interface CommonFaultsInput {
  readonly gate: Gate;
  readonly registry: Registry;
  readonly rule: OutageRule;
  readonly time: Time;
}

export class CommonFaults {
  readonly #input: CommonFaultsInput;
  readonly #outage: (now: number, live: number) => boolean;

  constructor(input: CommonFaultsInput) {
    this.#input = input;
    this.#outage = createOutageWatch(input.rule);
  }

  /** Takes each close. A fault in common puts the barrier up; while it is up, a canary that failed makes the next pause longer. */
  closed(cell: Cell, verdict: Verdict, wasLive: boolean): void {
    const { gate, registry, time } = this.#input;
    const { id } = cell.record;
    if (verdict.reaction === 'gate') return gate.raise(verdict.cause, id);
    if (verdict.reaction !== 'backOff') return;
    if (gate.barrier !== '') return gate.raise(gate.barrier, id);
    if (!wasLive) return;
    const live = [...registry.cells.values()].filter((other) => other !== cell && other.view.connected).length;
    if (this.#outage(time.now(), live)) gate.raise('outage', id);
  }
}
