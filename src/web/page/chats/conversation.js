/**
 * The messages of one chat. The newest page is loaded first, older pages on demand, and events add messages. Ids remove duplicates of messages that
 * come with a page and with an event.
 */
import { signal } from '@preact/signals';
import { post } from '../core/api.js';
import { itemsOf } from './fold.js';

/** @import { Chat, Item, Message, UpdateEvent } from './types.ts' */

/** The number of rows in one page. The server makes such a page within 10 ms. */
const page = 50;
/** The overlap of two pages, in rows. No message is missed if at most this number of messages is deleted between two requests. */
const overlap = 5;
/** The largest number of pages that are read to close the gap after a lost stream. */
const mostPages = 10;

/**
 * Ranks of the states of a message. A state with a lower rank does not replace a state with a higher rank, in whatever order they arrive.
 * @type {Readonly<Record<string, number>>}
 */
const ranks = { Queued: 0, Failed: 1, Sent: 1, Delivered: 2, Read: 3, Played: 4, Canceled: 5, Deleted: 6 };

/** @param {string} known @param {string} status */
const furthest = (known, status) => ((ranks[status] ?? 0) >= (ranks[known] ?? 0) ? status : known);

/** @param {Message | undefined} known @param {Message} row @returns {Message} */
const merged = (known, row) =>
  known === undefined
    ? row
    : { ...row, status: furthest(known.status, row.status), edited: row.edited || known.edited, fileURL: row.fileURL || known.fileURL };

export class Conversation {
  items = signal(/** @type {readonly Item[]} */ ([]));
  /** True if there are older messages. */
  hasMore = signal(true);
  isLoading = signal(false);
  failure = signal(/** @type {unknown} */ (null));
  /** Oldest first. @type {Message[]} */
  #rows = [];
  /** The rows by message id. @type {Map<string, Message>} */
  #known = new Map();
  #isOver = false;
  #isScheduled = false;
  /** The load in progress. Loads run one after the other. @type {Promise<void> | null} */
  #reading = null;
  /** @type {Promise<void> | null} */
  #older = null;

  /** @param {string} instance @param {Chat} chat */
  constructor(instance, chat) {
    this.instance = instance;
    this.chat = chat;
  }

  /**
   * Returns true if an event is about this chat. A chat gets another short id when two chats of one person are merged.
   * @param {Chat} chat
   */
  isOf({ id, wa_chatid: jid, wa_chatlid: lid }) {
    const own = [this.chat.wa_chatid, this.chat.wa_chatlid].filter(Boolean);
    return id === this.chat.id || own.includes(jid) || own.includes(lid);
  }

  close() {
    this.#isOver = true;
  }

  /** Loads the newest messages, and those that were missed since the last refresh. */
  refresh() {
    return this.#inTurn(async () => {
      const isFirst = this.#rows.length === 0;
      /** @type {Message[]} */
      const found = [];
      for (let at = 0; at < mostPages; at += 1) {
        const { messages, hasMore } = await this.#ask(at * page);
        found.push(...messages);
        const isJoined = messages.some(({ messageid }) => this.#known.has(messageid));
        if (isFirst) this.hasMore.value = hasMore;
        if (isFirst || isJoined || !hasMore) return this.#placeAll(found);
      }
      // The gap is longer than `mostPages`, so the conversation restarts with its newest messages.
      this.#rows = [];
      this.#known.clear();
      this.hasMore.value = true;
      return this.#placeAll(found);
    });
  }

  loadOlder() {
    if (!this.hasMore.value || this.#rows.length === 0) return Promise.resolve();
    this.#older ??= this.#inTurn(() => this.#readOlder()).finally(() => (this.#older = null));
    return this.#older;
  }

  async #readOlder() {
    let offset = Math.max(0, this.#rows.length - overlap);
    for (;;) {
      const { messages, hasMore } = await this.#ask(offset);
      const isJoined = messages.some(({ messageid }) => this.#known.has(messageid));
      for (const row of messages) this.#place(row, true);
      this.hasMore.value = hasMore;
      if (isJoined || offset === 0) return;
      // Messages were deleted meanwhile, so older messages moved into earlier pages.
      offset = Math.max(0, offset - page + overlap);
    }
  }

  /**
   * Loads older messages until the message with this id is loaded. Returns false if the message is too old or deleted.
   * @param {string} id
   */
  async find(id) {
    for (let at = 0; at < mostPages && !this.#known.has(id) && this.hasMore.value; at += 1) {
      await this.loadOlder();
      if (this.failure.value !== null || this.#isOver) return false;
    }
    return this.#known.has(id);
  }

  /** Adds a message that was received or sent. @param {Message} row */
  take(row) {
    this.#place(row);
  }

  /** @param {UpdateEvent['data']} update */
  update({ state, event }) {
    if (event.chatid !== this.chat.wa_chatid && event.chatid !== this.chat.wa_chatlid) return;
    for (const id of event.MessageIDs) {
      const row = this.#known.get(id);
      if (row === undefined) continue;
      if (state === 'FileDownloaded') this.#put({ ...row, fileURL: event.FileURL ?? '' });
      else if (Object.hasOwn(ranks, state)) this.#put({ ...row, status: furthest(row.status, state) });
    }
  }

  /** @param {() => Promise<void>} work */
  async #inTurn(work) {
    while (this.#reading !== null) await this.#reading;
    if (this.#isOver) return;
    this.isLoading.value = true;
    this.#reading = work().then(
      () => void (this.failure.value = null),
      (error) => void (this.failure.value = error),
    );
    await this.#reading;
    this.#reading = null;
    this.isLoading.value = false;
  }

  /** @param {number} offset @returns {Promise<{ messages: readonly Message[], hasMore: boolean }>} */
  #ask(offset) {
    return post('/message/find', { chatid: this.chat.wa_chatid, limit: page, offset }, { instance: this.instance });
  }

  /** Replaces a known message. @param {Message} row */
  #put(row) {
    const at = this.#rows.findLastIndex(({ messageid }) => messageid === row.messageid);
    this.#rows[at] = row;
    this.#known.set(row.messageid, row);
    this.#schedule();
  }

  /** @param {readonly Message[]} rows Newest first, as pages have them. */
  #placeAll(rows) {
    for (const row of rows.toReversed()) this.#place(row);
  }

  /**
   * Adds a message at its time, or replaces it. `isOlder`: the message goes before messages of the same time, and not after them.
   * @param {Message} row
   */
  #place(row, isOlder = false) {
    const known = this.#known.get(row.messageid);
    if (known !== undefined) return this.#put(merged(known, row));
    const rows = this.#rows;
    this.#known.set(row.messageid, row);
    const at = row.messageTimestamp - (isOlder ? 1 : 0);
    if ((rows[0]?.messageTimestamp ?? 0) > at) rows.unshift(row);
    else rows.splice(rows.findLastIndex(({ messageTimestamp }) => messageTimestamp <= at) + 1, 0, row);
    return this.#schedule();
  }

  /** Batches the changes of one turn of the event loop into one update. */
  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.items.value = itemsOf(this.#rows);
    });
  }
}
