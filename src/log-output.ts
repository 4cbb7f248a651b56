/** The output of the log. A full disk or a stalled reader must not end the sessions, so lines that cannot be written are dropped and counted. */
import { writeSync } from 'node:fs';

/** In milliseconds, as long as no line was lost. Every session waits meanwhile, so a reader that stands still is waited for once. */
const patience = 1_000;
const pause = 10;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

export class LogOutput {
  readonly #file: number;
  readonly #onRecovered: (lines: number, code: string) => void;
  #lost = 0;
  #code = '';
  /** The last line was written in part. */
  #isTorn = false;

  /** `onRecovered` is called in a later turn, after the first line that could be written again. It gets what was lost, and why. */
  constructor(file: number, onRecovered: (lines: number, code: string) => void) {
    this.#file = file;
    this.#onRecovered = onRecovered;
  }

  /** Lines that were lost since one could be written. */
  get lost(): number {
    return this.#lost;
  }

  /** Writes at once, so that a crash loses no line. Never throws. */
  write(line: string): void {
    try {
      this.#writeAll(Buffer.from(this.#isTorn ? `\n${line}` : line));
    } catch (error) {
      this.#lost += 1;
      this.#code = (error as NodeJS.ErrnoException).code ?? '';
      return;
    }
    if (this.#lost > 0) this.#recover();
  }

  #writeAll(bytes: Buffer): void {
    const deadline = performance.now() + (this.#lost > 0 ? 0 : patience);
    for (let written = 0; written < bytes.length;) {
      try {
        written += writeSync(this.#file, bytes, written);
        this.#isTorn = written < bytes.length;
      } catch (error) {
        // The pipe is full.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > deadline) throw error;
        Atomics.wait(sleeper, 0, 0, pause);
      }
    }
  }

  #recover(): void {
    const [lines, code] = [this.#lost, this.#code];
    this.#lost = 0;
    setImmediate(() => this.#onRecovered(lines, code));
  }
}
