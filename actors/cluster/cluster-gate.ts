/**
 * A gate that limits the handshakes of the whole cluster. A session passes the gate of its node first, then waits for a permit of the cluster. Waiting
 * sessions of a node share one query. A restart of all nodes therefore costs a few statements a second, and not one per session.
 */
import { createGate, type Gate } from '../policy/gate.ts';
import { backOff } from '../policy/pacing.ts';
import type { Policy } from '../policy/policy.ts';
import { StorageFailure, type AdmissionRate, type LeaseStore, type Log, type Ports, type Time } from '../ports.ts';
import type { ClusterPolicy } from './policy.ts';

interface ClusterGateInput {
  readonly own: Gate;
  readonly store: Pick<LeaseStore, 'admit'>;
  readonly rate: AdmissionRate;
  readonly time: Time;
  readonly log: Log;
  random(): number;
}

/** Back-off between two queries. The pause is short while permits are granted, and longer while other nodes take them all. In milliseconds. */
const pauses = { min: 100, max: 2_000 };

export class ClusterGate implements Gate {
  readonly #input: ClusterGateInput;
  readonly #line = new Set<() => void>();
  #asking = false;

  constructor(input: ClusterGateInput) {
    this.#input = input;
  }

  async admit(id: string, signal: AbortSignal, isDoubtful?: boolean): Promise<void> {
    const { own } = this.#input;
    await own.admit(id, signal, isDoubtful);
    try {
      await this.#permit(signal);
    } catch (error) {
      own.release(id);
      throw error;
    }
  }

  release(id: string): void {
    this.#input.own.release(id);
  }

  passed(id: string): void {
    this.#input.own.passed(id);
  }

  raise(reason: string, id: string): void {
    this.#input.own.raise(reason, id);
  }

  /** The number of sessions that wait at either gate. */
  get waiting(): number {
    return this.#input.own.waiting + this.#line.size;
  }

  get barrier(): string {
    return this.#input.own.barrier;
  }

  #permit(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#line.delete(enter);
        reject(signal.reason as Error);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      this.#line.add(enter);
      if (!this.#asking) void this.#ask();
    });
  }

  /** Asks for permits until no session waits. Never rejects. */
  async #ask(): Promise<void> {
    const { time, random } = this.#input;
    this.#asking = true;
    for (let inVain = 0; this.#line.size > 0;) {
      const granted = await this.#admitted(this.#line.size);
      inVain = granted > 0 ? 0 : inVain + 1;
      for (const enter of [...this.#line].slice(0, granted)) {
        this.#line.delete(enter);
        enter();
      }
      const pause = backOff(pauses, inVain, random());
      if (this.#line.size > 0) await new Promise<void>((resolve) => void time.setTimeout(resolve, pause));
    }
    this.#asking = false;
  }

  async #admitted(asked: number): Promise<number> {
    const { store, rate, log } = this.#input;
    try {
      return await store.admit(asked, rate);
    } catch (error) {
      if (error instanceof StorageFailure) log.warn({ error }, 'gate.notAsked');
      else log.error({ error }, 'gate.notAsked');
      return 0;
    }
  }
}

/** Returns the gate of this process. In a cluster a session passes the gate of the node first, and then the gate of the cluster. */
export const nodeGate = (
  ports: Pick<Ports, 'time' | 'log' | 'chance'>,
  policy: Pick<Policy, 'handshakes'>,
  cluster?: { readonly leases: ClusterGateInput['store']; readonly policy: Pick<ClusterPolicy, 'admission'> },
): Gate => {
  const random = (): number => ports.chance.random();
  const own = createGate(policy.handshakes, ports.time, random);
  return cluster ? new ClusterGate({ ...ports, own, store: cluster.leases, rate: cluster.policy.admission, random }) : own;
};
