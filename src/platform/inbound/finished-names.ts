/**
 * Names of the messages that were finished last, remembered over the end of the process. The platform repeats a message whose confirmation it
 * did not get, and a kill takes confirmations that had left: the system answers bytes that nobody has read with a reset, at which the other side
 * drops what it had received. The ratchet has moved on by then, and the message could not be read a second time.
 */

/** A page as it is stored. Pages are written one at a time, in a circle, so that a message costs the write of a small row. */
export interface Page {
  /** Counts up; the page with the largest number is the one that is being written. */
  readonly at: number;
  /** When it was begun, Unix milliseconds. */
  readonly begun: number;
  readonly names: readonly string[];
}

const pageSize = 64;
/** 4,096 names: five seconds at the fastest, which is how long confirmations may be lost before a connection that loses them is given up. */
const pageCount = 64;
/**
 * Milliseconds. An older page goes when a new one begins: by then the platform has answered something on the same connection, and would have repeated
 * what it missed. While nothing is finished nothing goes, however long the platform is away.
 */
const kept = 10 * 60_000;

interface Kept {
  readonly begun: number;
  readonly names: Set<string>;
}

export class FinishedNames {
  readonly #now: () => number;
  readonly #pages = new Map<number, Kept>();
  /** Numbers of pages that were changed, or went, since they were put. */
  readonly #changed = new Set<number>();
  #at = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What an earlier run put, in any order. */
  load(pages: Iterable<Page>): void {
    for (const { at, begun, names } of [...pages].toSorted((a, b) => a.at - b.at)) {
      this.#pages.set(at, { begun, names: new Set(names) });
      this.#at = at;
    }
  }

  has(name: string): boolean {
    for (const { names } of this.#pages.values()) if (names.has(name)) return true;
    return false;
  }

  add(name: string): void {
    const page = this.#page();
    page.names.add(name);
    this.#changed.add(this.#at);
  }

  /** Puts what changed since the last time: pages, each in the place of the one it follows, and null for one that went. */
  save(put: (id: string, page: Page | null) => void): void {
    for (const at of this.#changed) {
      const page = this.#pages.get(at);
      put(String(at % pageCount), page === undefined ? null : { at, begun: page.begun, names: [...page.names] });
    }
    this.#changed.clear();
  }

  #page(): Kept {
    const page = this.#pages.get(this.#at);
    if (page !== undefined && page.names.size < pageSize) return page;
    this.#at += 1;
    const next = { begun: this.#now(), names: new Set<string>() };
    // Before the next one is changed: one that went and one that takes its place are put in this order.
    for (const [at, { begun }] of this.#pages) if (at <= this.#at - pageCount || begun < next.begun - kept) this.#drop(at);
    this.#pages.set(this.#at, next);
    return next;
  }

  #drop(at: number): void {
    this.#pages.delete(at);
    this.#changed.add(at);
  }
}
