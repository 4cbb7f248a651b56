/**
 * Stores the names of the last finished stanzas, so that a repetition after a kill is recognised and only acknowledged. The platform repeats a stanza whose
 * acknowledgement it did not get. A kill can lose acknowledgements that were sent: if the killed process had unread bytes, its kernel resets the connection.
 * The platform's kernel then drops received bytes that the platform has not read. A repeated message cannot be decrypted a second time, because its ratchet has
 * moved on.
 */

/** The key type under which the names of finished stanzas are stored. */
export const finishedType = 'inbound-finished';

/** A stored page of names. The pages form a ring. Only the newest page is written, so a message costs the write of a small row. */
export interface Page {
  /** An increasing page number. Names are written to the page with the largest number. */
  readonly at: number;
  /** The time of the page's creation, in Unix milliseconds. */
  readonly begun: number;
  readonly names: readonly string[];
}

/** The number of names in a page. Each finished stanza writes its page, so a page is small: 200 bytes on average. */
const pageSize = 16;
/**
 * The number of pages in the ring. Together they have 4,096 names, which is the number of stanzas in five seconds at the highest rate. A connection that
 * loses acknowledgements for a longer time ends.
 */
const pageCount = 256;
/**
 * Pages of this age are dropped when a new page begins. A new page begins only while stanzas arrive, and then the platform has already repeated the older
 * stanzas whose acknowledgements it missed. In milliseconds.
 */
const pageAge = 10 * 60_000;

interface MemoryPage {
  readonly begun: number;
  readonly names: Set<string>;
}

export class FinishedNames {
  readonly #now: () => number;
  readonly #opened = new Map<number, MemoryPage>();
  /** The names of all opened pages. A name is in one page only. */
  readonly #names = new Set<string>();
  /** Stored pages. They are converted to sets at the first look-up, so that a login does not wait for thousands of names. */
  #unopened: readonly Page[] = [];
  /** Numbers of pages that were changed or dropped since the last `save`. */
  readonly #changed = new Set<number>();
  #at = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Loads the stored pages of an earlier run, in any order. */
  load(pages: Iterable<Page>): void {
    this.#unopened = [...pages].toSorted((a, b) => a.at - b.at);
    this.#at = this.#unopened.at(-1)?.at ?? this.#at;
  }

  has(name: string): boolean {
    this.#open();
    return this.#names.has(name);
  }

  add(name: string): void {
    if (this.has(name)) return;
    this.#page().names.add(name);
    this.#names.add(name);
    this.#changed.add(this.#at);
  }

  /**
   * Calls `put` for each page that was changed or dropped since the last `save`. `id`: the position of the page in the ring. `page`: null for a dropped page.
   */
  save(put: (id: string, page: Page | null) => void): void {
    for (const at of this.#changed) {
      const page = this.#opened.get(at);
      put(String(at % pageCount), page === undefined ? null : { at, begun: page.begun, names: [...page.names] });
    }
    this.#changed.clear();
  }

  #open(): void {
    for (const { at, begun, names } of this.#unopened) {
      this.#opened.set(at, { begun, names: new Set(names) });
      for (const name of names) this.#names.add(name);
    }
    this.#unopened = [];
  }

  /** Returns the current page, or a new page if it is full. */
  #page(): MemoryPage {
    const page = this.#opened.get(this.#at);
    if (page !== undefined && page.names.size < pageSize) return page;
    this.#at += 1;
    const next = { begun: this.#now(), names: new Set<string>() };
    // The old page is dropped before the new page is changed. If both have the same position in the ring, the later change is the one that is stored.
    for (const [at, { begun }] of this.#opened) if (at <= this.#at - pageCount || begun < next.begun - pageAge) this.#drop(at);
    this.#opened.set(this.#at, next);
    return next;
  }

  #drop(at: number): void {
    for (const name of this.#opened.get(at)?.names ?? []) this.#names.delete(name);
    this.#opened.delete(at);
    this.#changed.add(at);
  }
}
