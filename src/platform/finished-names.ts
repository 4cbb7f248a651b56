/**
 * Names of the messages that were finished last, remembered over the end of the process. The platform repeats a message whose confirmation it
 * did not get, and a kill takes confirmations that had left: the system answers bytes that nobody has read with a reset, at which the other side
 * drops what it had received. The ratchet has moved on by then, and the message could not be read a second time.
 */

/** A page as it is stored. Pages are written one at a time, in a circle, so that a message costs the write of a small row. */
export interface Page {
  /** Counts up; the page with the largest number is the one that is being written. */
  readonly at: number;
  readonly names: readonly string[];
}

const pageSize = 64;
const pageCount = 8;

export class FinishedNames {
  readonly #pages = new Map<number, Set<string>>();
  /** Numbers of pages that were changed since they were put. */
  readonly #changed = new Set<number>();
  #at = 0;

  /** What an earlier run put, in any order. */
  load(pages: Iterable<Page>): void {
    for (const { at, names } of pages) {
      this.#pages.set(at, new Set(names));
      this.#at = Math.max(this.#at, at);
    }
  }

  has(name: string): boolean {
    for (const names of this.#pages.values()) if (names.has(name)) return true;
    return false;
  }

  add(name: string): void {
    if ((this.#pages.get(this.#at)?.size ?? 0) >= pageSize) this.#turn();
    const page = this.#pages.get(this.#at) ?? new Set<string>();
    this.#pages.set(this.#at, page.add(name));
    this.#changed.add(this.#at);
  }

  /** Puts what was added since the last time. `id`: where the page is stored, in the place of the one it follows. */
  save(put: (id: string, page: Page) => void): void {
    for (const at of this.#changed) put(String(at % pageCount), { at, names: [...(this.#pages.get(at) ?? [])] });
    this.#changed.clear();
  }

  #turn(): void {
    this.#at += 1;
    this.#pages.delete(this.#at - pageCount);
    this.#changed.delete(this.#at - pageCount);
  }
}
