/** Closes the parts that a test opened, also if the test failed halfway. */

/** Parts that close in reverse order. */
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
