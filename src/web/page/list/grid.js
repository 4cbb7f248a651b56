/**
 * Draws the visible rows of a list of any length, with a pool of elements that are moved and filled without Preact.
 * A component for each row would cost a long task for every second of fast scrolling.
 */
import { RowElement, rowHeight } from './row.js';

/** @import { Row } from '../sessions/types.ts' */
/** @import { Rows } from '../sessions/rows.js' */

/** The number of rows above and below the visible rows that are filled in advance. */
const spare = 4;
/** The time for which the order of the rows stays unchanged after the last move of the pointer over the rows, in milliseconds. */
const holdMs = 10_000;
/** The time between two updates of the ages, in milliseconds. */
const ageMs = 5_000;

/**
 * @typedef {object} GridOptions
 * @property {HTMLElement} scroller Has the focus, and the role `grid`.
 * @property {HTMLElement} canvas As high as all rows together.
 * @property {Rows} rows
 * @property {boolean} canChoose Sessions can be selected.
 * @property {(row: Row) => void} onOpen
 * @property {(row: Row, near: DOMRect) => void} onMenu
 */

export class Grid {
  /** @type {GridOptions} */
  #options;
  /** @type {RowElement[]} */
  #pool = [];
  /** The height of the head, which does not scroll. In pixels. */
  #head = 0;
  #scheduled = false;
  #activeId = '';
  /** The session whose checkbox was pressed last. A press with Shift selects from this session on. */
  #chosenId = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #holding;
  #listeners = new AbortController();

  /** @param {GridOptions} options */
  constructor(options) {
    this.#options = options;
    const { scroller, canvas, rows } = options;
    const { signal } = this.#listeners;
    scroller.addEventListener('scroll', () => this.#schedule(), { passive: true, signal });
    scroller.addEventListener('keydown', (event) => this.#onKey(event), { signal });
    canvas.addEventListener('click', (event) => this.#onClick(event), { signal });
    canvas.addEventListener('pointermove', () => this.#hold(), { passive: true, signal });
    canvas.addEventListener('pointerleave', () => this.#release(), { signal });
    const resized = new ResizeObserver(() => this.#resize());
    resized.observe(scroller);
    const timer = setInterval(() => this.#schedule(), ageMs);
    signal.addEventListener('abort', () => {
      resized.disconnect();
      clearInterval(timer);
      clearTimeout(this.#holding);
    });
    rows.listen(() => this.#schedule());
    this.#resize();
  }

  stop() {
    this.#listeners.abort();
    this.#options.rows.hold(false);
    this.#options.rows.listen(() => undefined);
  }

  #hold() {
    clearTimeout(this.#holding);
    this.#options.rows.hold(true);
    this.#holding = setTimeout(() => this.#release(), holdMs);
  }

  #release() {
    clearTimeout(this.#holding);
    this.#options.rows.hold(false);
  }

  #resize() {
    const { scroller, canvas } = this.#options;
    this.#head = canvas.offsetTop;
    const wanted = Math.ceil(scroller.clientHeight / rowHeight) + 1 + 2 * spare;
    for (let slot = this.#pool.length; slot < wanted; slot += 1) {
      const element = new RowElement(slot);
      this.#pool.push(element);
      canvas.append(element.node);
    }
    this.#schedule();
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      if (!this.#listeners.signal.aborted) this.#draw();
    });
  }

  #draw() {
    const { scroller, canvas, rows } = this.#options;
    const { shown } = rows;
    const height = `${shown.length * rowHeight}px`;
    if (canvas.style.height !== height) canvas.style.height = height;
    scroller.setAttribute('aria-rowcount', String(shown.length + 1));
    const size = this.#pool.length;
    const first = Math.max(0, Math.min(Math.floor(scroller.scrollTop / rowHeight) - spare, shown.length - size));
    const now = Date.now();
    const chosen = rows.chosen.value;
    let activeNode = '';
    // A row keeps its element while it is visible, so that few values are written.
    for (let index = first; index < first + size; index += 1) {
      const element = this.#pool[index % size];
      const row = shown[index];
      if (element === undefined) continue;
      if (row === undefined) element.show(false);
      else element.fill(row, index, now, row.id === this.#activeId, chosen.has(row.id));
      if (row !== undefined && row.id === this.#activeId) activeNode = element.node.id;
    }
    if (activeNode === '') scroller.removeAttribute('aria-activedescendant');
    else scroller.setAttribute('aria-activedescendant', activeNode);
  }

  /** @param {Event} event */
  #elementOf(event) {
    const node = event.target instanceof Element ? event.target.closest('.row') : null;
    return this.#pool.find((element) => element.node === node) ?? null;
  }

  /** @param {MouseEvent} event */
  #onClick(event) {
    const row = this.#elementOf(event)?.row;
    if (row === null || row === undefined || !(event.target instanceof Element)) return;
    if (event.target.closest('.c-choose') !== null) return this.#choose(row, event.shiftKey);
    const button = event.target.closest('button');
    if (button !== null) this.#options.onMenu(row, button.getBoundingClientRect());
    else if (event.target.closest('a') === null) this.#options.onOpen(row);
  }

  /**
   * Selects or deselects a session. `isRange`: also all sessions between this session and the session that was pressed before.
   * @param {Row} row
   * @param {boolean} isRange
   */
  #choose({ id }, isRange) {
    const { rows } = this.#options;
    const [from, to] = [this.#chosenId, id].map((one) => rows.shown.findIndex((row) => row.id === one));
    const isChosen = !rows.chosen.value.has(id);
    const [least, most] =
      isRange && from !== undefined && from >= 0 && to !== undefined ? [Math.min(from, to), Math.max(from, to)] : [to, to];
    const range = rows.shown.slice(least, (most ?? 0) + 1);
    rows.choose(
      range.map((one) => one.id),
      isChosen,
    );
    this.#chosenId = id;
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const { scroller, canvas, rows } = this.#options;
    // Arrow keys continue from a pressed row. The buttons of the head keep their own keys.
    const within = event.target instanceof Node && canvas.contains(event.target);
    if ((event.target !== scroller && !within) || event.ctrlKey || event.metaKey || event.altKey) return;
    // The browser handles these keys on a link or a checkbox.
    if (within && (event.key === 'Enter' || event.key === ' ')) return;
    if (within) scroller.focus({ preventScroll: true });
    const { shown } = rows;
    const at = shown.findIndex(({ id }) => id === this.#activeId);
    const page = Math.max(1, Math.floor((scroller.clientHeight - this.#head) / rowHeight) - 1);
    /** @type {Readonly<Record<string, number>>} */
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: shown.length - 1 };
    const target = moves[event.key];
    const row = shown[at];
    if (target !== undefined) this.#activate(Math.max(0, Math.min(target, shown.length - 1)));
    else if (event.key === 'Enter' && row !== undefined) this.#options.onOpen(row);
    else if (event.key === ' ' && row !== undefined && this.#options.canChoose) this.#choose(row, event.shiftKey);
    else if ((event.key === '.' || event.key === 'ContextMenu') && row !== undefined) this.#openMenu(row);
    else return;
    event.preventDefault();
  }

  /** @param {Row} row */
  #openMenu(row) {
    const button = this.#pool.find((element) => element.row === row)?.node.querySelector('button');
    if (button) this.#options.onMenu(row, button.getBoundingClientRect());
  }

  /** @param {number} index */
  #activate(index) {
    const { scroller, rows } = this.#options;
    this.#activeId = rows.shown[index]?.id ?? '';
    const [top, bottom] = [index * rowHeight, (index + 1) * rowHeight];
    const room = scroller.clientHeight - this.#head;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (bottom > scroller.scrollTop + room) scroller.scrollTop = bottom - room;
    this.#schedule();
  }
}
