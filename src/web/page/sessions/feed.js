/** Keeps the rows up to date. Loads them in pages. The first page is small, so that the list appears at once. Afterwards the stream reports changes. */
import { signal } from '@preact/signals';
import { ApiError, get } from '../core/api.js';
import { follow } from '../core/stream.js';

/** @import { Row, RowPage, Status } from './types.ts' */
/** @import { Rows } from './rows.js' */

const firstPage = 200;
const furtherPages = 1_000;
/** The reload intervals of a small and of a large list, in milliseconds. Queues, last events and the last hour are not part of the stream. */
const quickMs = 20_000;
const slowMs = 120_000;
/** The reload interval of a small list without a stream, in milliseconds. */
const lostMs = 5_000;
const quickRows = 1_000;

/**
 * `state`: '' if the session was deleted.
 * @typedef {[id: string, state: string, since: number, reason: string, status: Status, needsPerson: boolean, linked: boolean]} Change
 */

export class Feed {
  /** @type {Rows} */
  #rows;
  #over = false;
  #loading = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #stopStream = () => {};
  /** The sessions that the current load has found, or that the server reported meanwhile. @type {Set<string>} */
  #seen = new Set();
  /** Unknown sessions that the server reported during the current load. The load may have passed their position in the list. @type {Set<string>} */
  #missed = new Set();

  /** True after the first page was loaded. */
  ready = signal(false);
  /** The error of the last load; null if it succeeded. */
  failure = signal(/** @type {unknown} */ (null));
  /** The names of the nodes that did not answer. */
  silent = signal(/** @type {readonly string[]} */ ([]));
  /** Warnings of the server that an operator should check. */
  warnings = signal(/** @type {readonly string[]} */ ([]));
  /** True while the stream is open and changes arrive at once. */
  live = signal(false);

  /** @param {Rows} rows */
  constructor(rows) {
    this.#rows = rows;
  }

  /** Follows all sessions until `stop` is called. */
  start() {
    this.#stopStream = follow('/admin/actors/stream', {
      onEvent: (type, data) => {
        if (type === 'moved') this.#onMoved(data);
      },
      onState: (state) => {
        this.live.value = state === 'open';
        // Changes were missed while the stream was not open.
        if (state === 'open') void this.load();
      },
    });
    void this.load();
  }

  stop() {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#stopStream();
  }

  /** Loads all sessions again. */
  async load() {
    if (this.#loading || this.#over) return;
    this.#loading = true;
    clearTimeout(this.#timer);
    try {
      await this.#loadPages();
      this.failure.value = null;
    } catch (error) {
      this.failure.value = error;
    }
    this.#loading = false;
    if (this.#over) return;
    const quick = this.live.value ? quickMs : lostMs;
    this.#timer = setTimeout(() => this.load(), document.hidden || this.#rows.size > quickRows ? slowMs : quick);
  }

  /**
   * Loads one session that was created or changed.
   * @param {string} id
   */
  async loadOne(id) {
    this.#seen.add(id);
    try {
      this.#rows.put([/** @type {Row} */ (await get(`/admin/actors/${encodeURIComponent(id)}`))]);
    } catch (error) {
      // 404 means that the session was deleted meanwhile. After other failures the next load gets the session.
      if (error instanceof ApiError && error.status === 404) this.#rows.remove(id);
    }
  }

  async #loadPages() {
    const rows = this.#rows;
    this.#seen = new Set();
    this.#missed = new Set();
    const isFirst = rows.size === 0;
    let [after, limit] = ['', isFirst ? firstPage : furtherPages];
    // The first load shows trouble first. Later loads are sorted by name. Sorted by trouble, a session whose trouble changes between two pages could be on no
    // page.
    /** @type {Record<string, string>} */
    const order = isFirst ? {} : { sort: 'name' };
    do {
      const query = new URLSearchParams({ limit: String(limit), ...order, ...(after === '' ? {} : { after }) });
      const page = /** @type {RowPage} */ (await get(`/admin/actors?${query}`));
      if (this.#over) return;
      rows.put(page.rows);
      this.silent.value = page.silent ?? [];
      this.warnings.value = page.warnings ?? [];
      for (const { id } of page.rows) this.#seen.add(id);
      if (!this.ready.value) {
        rows.arrange();
        this.ready.value = true;
      }
      after = page.next;
      limit = furtherPages;
    } while (after !== '');
    rows.keep(this.#seen);
    for (const id of this.#missed) if (rows.get(id) === undefined) void this.loadOne(id);
  }

  /** @param {string} id */
  #forget(id) {
    this.#rows.remove(id);
    this.#missed.delete(id);
  }

  /** @param {unknown} data */
  #onMoved(data) {
    const { changes } = /** @type {{ changes: readonly Change[] }} */ (data);
    for (const [id, state, since, reason, status, needsPerson, linked] of changes) {
      if (state === '') this.#forget(id);
      else if (this.#rows.move(id, { state, since, reason, status, needsPerson, linked })) this.#seen.add(id);
      else if (this.#loading) this.#missed.add(id);
      else void this.loadOne(id);
    }
  }
}
