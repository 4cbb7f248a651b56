/**
 * All sessions in the memory of the page. Ten thousand sessions take some megabytes, and search, filters and sorting need no request.
 * Changes from the server are shown at most once per frame. The rows are sorted at most once a second, and not while the order is held.
 */
import { signal } from '@preact/signals';
import { groupOf, groups, letterOf } from './words.js';

/** @import { Group, Row } from './types.ts' */

/** @typedef {'trouble' | 'name' | 'since' | 'lastEvent' | 'queue' | 'outbox'} Sort */

const orderMs = 1_000;

/** @type {Readonly<Record<Group, number>>} */
const ranks = { person: 0, connecting: 2, connected: 4, disconnected: 5, hibernated: 6 };

/** @param {Row} row */
const troubleOf = (row) => {
  const group = groupOf(row);
  if (group === 'person') return 0;
  if (row.reason !== '') return 1;
  return row.queue > 0 && group === 'connected' ? 3 : ranks[group];
};

/**
 * @param {string | number} a
 * @param {string | number} b
 */
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** The sort orders: newest times and largest counts first. Equal rows are sorted by name. @type {Readonly<Record<Sort, (a: Row, b: Row) => number>>} */
const orders = {
  trouble: (a, b) => troubleOf(a) - troubleOf(b),
  name: () => 0,
  since: (a, b) => b.since - a.since,
  lastEvent: (a, b) => b.lastEvent - a.lastEvent,
  queue: (a, b) => b.queue - a.queue,
  outbox: (a, b) => b.outbox - a.outbox,
};

/**
 * Returns the sort key of a name. The keys sort `shop 2` before `shop 10`, as the server does.
 * @param {string} name
 */
const naturalOf = (name) =>
  name
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/0*(\d+)/g, (_, digits) => `${String.fromCharCode(0x30 + Math.min(digits.length, 40))}${digits}`);

/** @typedef {Readonly<Record<Group, number>>} Counts */

const noCounts = () => /** @type {Record<Group, number>} */ (Object.fromEntries(groups.map((group) => [group, 0])));

export class Rows {
  /** @type {Map<string, Row>} */
  #rows = new Map();
  /** The names in lower case by session id, for the search. @type {Map<string, string>} */
  #names = new Map();
  /** The sort keys of the names, by session id. @type {Map<string, string>} */
  #keys = new Map();
  /** @type {readonly Row[]} */
  #shown = [];
  #held = false;
  #stale = false;
  #orderedAt = 0;
  #scheduled = false;
  /** Called after a change, with true if the order changed. @type {(reordered: boolean) => void} */
  #onChange = () => undefined;

  counts = signal(/** @type {Counts} */ (noCounts()));
  /** The number of sessions that match the filter. */
  fitting = signal(0);
  filter = signal(/** @type {Group | ''} */ (''));
  search = signal('');
  /** The name of the node whose sessions are shown; '' for all nodes. */
  node = signal('');
  /** The names of all nodes that have a session, sorted. Empty for a single gateway. */
  nodes = signal(/** @type {readonly string[]} */ ([]));
  /** The ids of the selected sessions. Each change replaces the set. */
  chosen = signal(/** @type {ReadonlySet<string>} */ (new Set()));
  sort = signal(/** @type {{ by: Sort, turned: boolean }} */ ({ by: 'trouble', turned: false }));

  get size() {
    return this.#rows.size;
  }

  /** The shown sessions, in the order of the list. */
  get shown() {
    return this.#shown;
  }

  /** @param {(reordered: boolean) => void} listener */
  listen(listener) {
    this.#onChange = listener;
  }

  /** @param {string} id */
  get(id) {
    return this.#rows.get(id);
  }

  /**
   * Adds rows, or replaces known rows.
   * @param {readonly Row[]} rows
   */
  put(rows) {
    for (const row of rows) {
      if (this.#rows.get(row.id)?.name !== row.name) {
        this.#names.set(row.id, row.name.toLowerCase());
        this.#keys.set(row.id, naturalOf(row.name));
      }
      this.#rows.set(row.id, row);
    }
    this.#stale = true;
    this.#schedule();
  }

  /**
   * Removes all rows except those with these ids.
   * @param {ReadonlySet<string>} ids
   */
  keep(ids) {
    for (const id of this.#rows.keys()) if (!ids.has(id)) this.remove(id);
  }

  /**
   * Selects or deselects sessions.
   * @param {readonly string[]} ids
   * @param {boolean} chosen
   */
  choose(ids, chosen) {
    const next = new Set(this.chosen.value);
    for (const id of ids) {
      if (chosen) next.add(id);
      else next.delete(id);
    }
    this.chosen.value = next;
    this.#onChange(false);
  }

  /** Returns the sessions that a bulk action acts on: the selected sessions, or all shown sessions if none is selected. */
  get targets() {
    const chosen = this.chosen.value;
    return chosen.size === 0 ? this.#shown : [...chosen].flatMap((id) => this.#rows.get(id) ?? []);
  }

  /** True if a filter, a node or a search is set. */
  get isFiltered() {
    return this.filter.value !== '' || this.node.value !== '' || this.search.value.trim() !== '';
  }

  /** Shows all sessions and selects none. */
  clear() {
    this.filter.value = '';
    this.node.value = '';
    this.search.value = '';
    this.chosen.value = new Set();
    this.arrange();
  }

  /** @param {string} id */
  remove(id) {
    if (this.chosen.value.has(id)) this.choose([id], false);
    this.#rows.delete(id);
    this.#names.delete(id);
    this.#keys.delete(id);
    this.#stale = true;
    this.#schedule();
  }

  /**
   * Changes the state of a session. Returns false if the session is not known.
   * @param {string} id
   * @param {Pick<Row, 'state' | 'since' | 'reason' | 'status' | 'needsPerson' | 'linked'>} change
   */
  move(id, { state, since, reason, status, needsPerson, linked }) {
    const row = this.#rows.get(id);
    if (row === undefined) return false;
    Object.assign(row, { state, status, since, reason, needsPerson, linked });
    row.hour = row.hour.slice(0, -1) + letterOf[groupOf(row)];
    this.#stale = true;
    this.#schedule();
    return true;
  }

  /**
   * Holds or releases the order. Rows change in place while the order is held, so that no row moves away from the pointer.
   * @param {boolean} held
   */
  hold(held) {
    this.#held = held;
    if (!held && this.#stale) this.#schedule();
  }

  /** Sorts and filters the rows at once, because the reader changed the filter, the search or the sorting. */
  arrange() {
    this.#order();
    this.#onChange(true);
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      const due = this.#stale && !this.#held && performance.now() - this.#orderedAt >= orderMs;
      if (due) this.#order();
      else if (this.#stale && !this.#held) setTimeout(() => this.#schedule(), orderMs);
      this.#onChange(due);
    });
  }

  #order() {
    const [counts, filter, search] = [noCounts(), this.filter.value, this.search.value.trim().toLowerCase()];
    /** @type {Row[]} */
    const fitting = [];
    /** @type {Set<string>} */
    const nodes = new Set();
    const only = this.node.value;
    for (const row of this.#rows.values()) {
      const group = groupOf(row);
      if (row.node) nodes.add(row.node);
      if (only !== '' && row.node !== only) continue;
      counts[group] += 1;
      if ((filter === '' || filter === group) && (search === '' || this.#fits(row, search))) fitting.push(row);
    }
    const { by, turned } = this.sort.value;
    const [order, sign] = [orders[by], turned ? -1 : 1];
    const nameOf = (/** @type {Row} */ row) => this.#keys.get(row.id) ?? '';
    this.#shown = fitting.sort((a, b) => sign * (order(a, b) || compare(nameOf(a), nameOf(b)) || compare(a.id, b.id)));
    this.#stale = false;
    this.#orderedAt = performance.now();
    const names = [...nodes].toSorted(compare);
    if (names.join('\n') !== this.nodes.value.join('\n')) this.nodes.value = names;
    this.counts.value = counts;
    this.fitting.value = fitting.length;
  }

  /**
   * @param {Row} row
   * @param {string} search
   */
  #fits({ id, number, reason, state, node = '' }, search) {
    return (
      (this.#names.get(id) ?? '').includes(search) ||
      number.includes(search) ||
      reason.toLowerCase().includes(search) ||
      state.toLowerCase().includes(search) ||
      id.includes(search) ||
      node.toLowerCase().includes(search)
    );
  }
}
