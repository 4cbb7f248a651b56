/** The open parts of the program, which are closed together. */
import type { Log } from '#actors/ports.ts';

/** The time after which the log names a part that is still closing. In milliseconds. */
const usuallyClosed = 5_000;

/** Closes resources in the reverse order of their opening. A resource that fails to close does not prevent the closing of the next ones. */
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

  /** Closes all resources. Never rejects. */
  async close(): Promise<void> {
    for (const { name, close } of this.#all.splice(0).toReversed()) {
      // If the stop exceeds its time-out, the process ends. The log then has to name the part that was still open.
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
