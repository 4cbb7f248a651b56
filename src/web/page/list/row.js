/** One row element of the pool. The element is created once and filled with one session after the other. Only changed values are written. */
import { sessionAddress } from '../core/router.js';
import { visible } from '../texts/visible.js';
import { age, count, t } from '../texts.js';
import { groupOf, groupOfLetter, initialsOf, pictureOf, whyOf, wordOf } from '../sessions/words.js';

/** @import { Row } from '../sessions/types.ts' */

export const rowHeight = 44;

/** A row loads a picture after it has shown the same session for this time, in milliseconds. */
const restMs = 100;

/**
 * @param {string} name
 * @param {Readonly<Record<string, string>>} [attributes]
 * @param {readonly Element[]} [children]
 */
const el = (name, attributes = {}, children = []) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

const icon = (name = '') => {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  if (name !== '') use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return { svg, use };
};

/**
 * Returns the states of the last hour as a CSS background, with a colour stop at each change of the state.
 * @param {string} hour
 */
const stripeOf = (hour) => {
  const part = 100 / Math.max(1, hour.length);
  /** @type {string[]} */
  const stops = [];
  let from = 0;
  for (let at = 1; at <= hour.length; at += 1) {
    if (hour[at] === hour[from]) continue;
    const group = groupOfLetter[hour[from] ?? ''];
    const colour = group === undefined ? 'var(--line)' : `var(--${group}-line)`;
    stops.push(`${colour} ${(from * part).toFixed(1)}% ${(at * part).toFixed(1)}%`);
    from = at;
  }
  return `linear-gradient(90deg, ${stops.join(', ')})`;
};

/**
 * Returns the states of the last hour in words, for screen readers.
 * @param {string} hour
 */
const stripeText = (hour) => {
  const letters = [...new Set(hour)].filter((letter) => letter in groupOfLetter);
  const words = letters.map((letter) => t(/** @type {'state_connected'} */ (`state_${groupOfLetter[letter]}`)));
  return words.length === 0 ? t('hourUnknown') : t('hourText', { states: words.join(', ') });
};

export class RowElement {
  #choose = el('input', { type: 'checkbox', tabindex: '-1' });
  #sign = icon();
  #word = el('span');
  #initials = el('span');
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #showing;
  #image = el('img', { alt: '', width: '24', height: '24', decoding: 'async', hidden: '' });
  #picture = el('span', { class: 'picture', 'aria-hidden': 'true' }, [this.#initials, this.#image]);
  #link = el('a', { class: 'name', tabindex: '-1' });
  #number = el('span', { class: 'number dim' });
  #why = el('span', { role: 'gridcell', class: 'c-why' });
  #stripe = el('span', { class: 'stripe', role: 'img' });
  #since = el('span', { role: 'gridcell', class: 'c-since' });
  #last = el('span', { role: 'gridcell', class: 'c-last' });
  #queue = el('span', { role: 'gridcell', class: 'c-queue' });
  #outbox = el('span', { role: 'gridcell', class: 'c-outbox' });
  #more = el('button', { type: 'button', class: 'button quiet square', tabindex: '-1', 'aria-haspopup': 'menu' }, [icon('more').svg]);
  /** The last written values, by a name for each value, such as `why`. @type {Map<string, string | number>} */
  #written = new Map();

  /** @param {number} slot */
  constructor(slot) {
    this.index = -1;
    /** @type {Row | null} */
    this.row = null;
    this.node = el('div', { role: 'row', class: 'row', id: `session-row-${slot}` }, [
      el('span', { role: 'gridcell', class: 'c-choose' }, [this.#choose]),
      el('span', { role: 'gridcell', class: 'c-state' }, [this.#sign.svg, this.#word]),
      el('span', { role: 'gridcell', class: 'c-name' }, [this.#picture, this.#link, this.#number]),
      this.#why,
      el('span', { role: 'gridcell', class: 'c-hour' }, [this.#stripe]),
      this.#since,
      this.#last,
      this.#queue,
      this.#outbox,
      el('span', { role: 'gridcell', class: 'c-more' }, [this.#more]),
    ]);
  }

  /**
   * @param {string} place
   * @param {string | number} value
   * @param {(value: string | number) => void} write
   */
  #write(place, value, write) {
    if (this.#written.get(place) === value) return;
    this.#written.set(place, value);
    write(value);
  }

  /**
   * @param {Element} node
   * @param {string} place
   * @param {string} text
   */
  #text(node, place, text) {
    this.#write(place, text, () => {
      node.textContent = visible(text);
    });
  }

  /**
   * @param {Row} row
   * @param {number} index
   * @param {number} now
   * @param {boolean} active
   * @param {boolean} chosen
   */
  fill(row, index, now, active, chosen) {
    this.index = index;
    this.row = row;
    const { node } = this;
    this.#write('index', index, () => {
      node.style.transform = `translateY(${index * rowHeight}px)`;
      node.setAttribute('aria-rowindex', String(index + 2));
    });
    const group = groupOf(row);
    this.#write('group', `${group} ${active}`, () => {
      node.className = `row of-${group}${active ? ' active' : ''}`;
      this.#sign.use.setAttribute('href', `#i-${group}`);
    });
    this.node.setAttribute('aria-selected', String(chosen));
    // A press on the checkbox changes the property `checked` without this code, so the property is always set.
    /** @type {HTMLInputElement} */ (this.#choose).checked = chosen;
    this.#text(this.#word, 'word', wordOf(row));
    this.#write('name', row.name, () => this.#name(row));
    this.#write('id', row.id, () => this.#link.setAttribute('href', sessionAddress(row.id)));
    this.#write('picture', pictureOf(row), () => this.#show(pictureOf(row)));
    this.#text(this.#number, 'number', [row.number, row.node].filter(Boolean).join(' · '));
    const why = visible(whyOf(row));
    this.#write('why', why, () => {
      this.#why.textContent = why;
      this.#why.setAttribute('title', why);
    });
    this.#write('hour', row.hour, () => {
      this.#stripe.style.backgroundImage = stripeOf(row.hour);
      this.#stripe.setAttribute('aria-label', stripeText(row.hour));
    });
    this.#text(this.#since, 'since', row.since === 0 ? '' : age(now - row.since));
    this.#text(this.#last, 'last', row.lastEvent === 0 ? '' : age(now - row.lastEvent));
    this.#text(this.#queue, 'queue', row.queue === 0 ? '' : count(row.queue));
    this.#text(this.#outbox, 'outbox', row.outbox === 0 ? '' : count(row.outbox));
    this.show(true);
  }

  /**
   * Shows a picture when the row has had the same session for `restMs`. The old picture is removed at once. A row that scrolls past loads no picture.
   * @param {string} address
   */
  #show(address) {
    clearTimeout(this.#showing);
    this.#image.setAttribute('hidden', '');
    this.#image.removeAttribute('src');
    if (address === '') return;
    this.#showing = setTimeout(() => {
      this.#image.setAttribute('src', address);
      this.#image.removeAttribute('hidden');
    }, restMs);
  }

  /** @param {Row} row */
  #name(row) {
    this.#initials.textContent = visible(initialsOf(row.name));
    this.#link.textContent = visible(row.name);
    this.#choose.setAttribute('aria-label', t('chooseOf', { name: row.name }));
    this.#more.setAttribute('aria-label', t('actsOf', { name: row.name }));
  }

  /** @param {boolean} shown */
  show(shown) {
    if (!shown) this.index = -1;
    this.#write('shown', String(shown), () => {
      this.node.hidden = !shown;
    });
  }
}
