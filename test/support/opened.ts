/** What a test opened, part by part, and closes again wherever it got to. */

/** What was opened last is closed first. */
export class Opened {
  readonly #close: (() => unknown)[] = [];

  add<T>(part: T, close: (part: T) => unknown): T {
    this.#close.push(() => close(part));
    return part;
  }

  async close(): Promise<void> {
    for (const close of this.#close.splice(0).toReversed()) await close();
  }
}
