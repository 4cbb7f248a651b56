/** The calls since the start, with every step of both sides. Nothing of it is stored. */
import type { CallStep, CallView, Digits } from './face.ts';

interface Call extends CallView {
  readonly steps: { step: CallStep['step']; by: Digits; at: number }[];
}

const maxCalls = 1000;

export class CallLog {
  readonly #calls = new Map<string, Call>();

  all(): readonly CallView[] {
    return structuredClone([...this.#calls.values()]);
  }

  find(id: string): CallView | undefined {
    return this.#calls.get(id);
  }

  /** Adds a step. The first one makes the call. */
  add({ id, from, to, video }: Omit<CallView, 'steps'>, step: CallStep['step'], by: Digits): void {
    const call = this.#calls.get(id) ?? { id, from, to, video, steps: [] };
    call.steps.push({ step, by, at: Date.now() });
    this.#calls.set(id, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > maxCalls && oldest !== undefined) this.#calls.delete(oldest);
  }
}
