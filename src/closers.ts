/** Parts of the program that are open, and the way to close all of them. */
import type { Log } from '#actors/ports.ts';

/** Milliseconds. A part that takes longer to close is named in the log. */
const usuallyClosed = 5_000;

/** Closes resources in the reverse order of their opening. A failing one does not keep the others open. */
export class Closers {
  readonly #log: Log;
  readonly #slowMs: number;
  readonly #all: { readonly name: string; readonly close: () => Promise<void> }[] = [];

  constructor(log: Log, slowMs = usuallyClosed) {
    this.#log = log;
    this.#slowMs = slowMs;
  }

  add(name: string, close: () => Promise<void>): void {
    this.#all.push({ name, close });
  }

  /** Never rejects. */
  async close(): Promise<void> {
    for (const { name, close } of this.#all.splice(0).toReversed()) {
      // The process ends when its stop takes too long: then the log has to say which part it waited for.
      const timer = setTimeout(() => this.#log.warn({ part: name, ms: this.#slowMs }, 'service.closesSlowly'), this.#slowMs).unref();
      try {
        await close();
      } catch (error) {
        this.#log.error({ part: name, error }, 'service.notClosed');
      }
      clearTimeout(timer);
    }
  }
}
