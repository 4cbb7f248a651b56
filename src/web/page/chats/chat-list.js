/** The chats of one session, the newest first. Pages are loaded as the reader scrolls, and events change the loaded chats. */
import { signal } from '@preact/signals';
import { post } from '../core/api.js';

/** @import { Chat } from './types.ts' */

/** @typedef {'all' | 'unread' | 'groups'} Kind */

/** The number of chats in one page. The server makes such a page within 10 ms. */
const page = 100;
/** The overlap of two pages, in chats. No chat is missed if at most this number of chats is deleted between two requests. */
const overlap = 10;
/** The debounce of the search, in milliseconds. Readers type letters faster than the server answers. */
const typingMs = 250;
/** The time for which events are batched before they are shown, in milliseconds. A busy account has many events. */
const settleMs = 100;

/** @type {Readonly<Record<Kind, Readonly<Record<string, string>>>>} */
const filters = { all: {}, unread: { wa_unreadCount: '>0' }, groups: { wa_isGroup: 'true' } };

/**
 * Returns the filter of a search. The tilde means "contains", also before a text that begins with another operator. A number is compared with the ids of
 * chats, which contain the digits of the number only. With 45,000 chats, a comparison with formatted numbers would take almost three times as long.
 * @param {string} text
 */
const searching = (text) => ({
  operator: 'OR',
  name: `~${text}`,
  ...(/^[+\d\s().-]*\d[\s().-]*$/.test(text)
    ? { wa_chatid: `~${text.replaceAll(/\D/g, '')}` }
    : { wa_name: `~${text}`, wa_contactName: `~${text}`, lead_name: `~${text}` }),
});

/** @param {string} instance @param {Readonly<Record<string, unknown>>} query @returns {Promise<{ chats: readonly Chat[], pagination: { totalRecords: number, hasMore: boolean } }>} */
const find = (instance, query) => post('/chat/find', { compact: true, ...query }, { instance });

/** Returns the chat with this short id; null if there is none. @param {string} instance @param {string} id */
export const findChat = async (instance, id) => (await find(instance, { id: `=${id}`, limit: 1 })).chats[0] ?? null;

/** @param {Chat} chat */
const timeOf = ({ wa_lastMsgTimestamp: at }) => at;

export class ChatList {
  chats = signal(/** @type {readonly Chat[]} */ ([]));
  total = signal(/** @type {number | null} */ (null));
  failure = signal(/** @type {unknown} */ (null));
  search = signal('');
  kind = signal(/** @type {Kind} */ ('all'));
  isLoading = signal(false);
  #hasMore = true;
  /** The number of the last request. Answers to earlier requests are ignored. */
  #asked = 0;
  /** @type {Map<string, Chat>} */
  #changed = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #typing;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #settling;

  /** @param {string} instance */
  constructor(instance) {
    this.instance = instance;
  }

  close() {
    this.#asked += 1;
    clearTimeout(this.#typing);
    clearTimeout(this.#settling);
  }

  /** Loads the first page, at the beginning and for each new search. */
  load = () => this.#read(0);

  /** Loads the first page after the stream was lost. Other loaded chats stay below the page, except in a search and among unread chats. */
  refresh() {
    return this.#read(0, this.kind.value !== 'unread' && this.search.value.trim() === '');
  }

  /** @param {string} text */
  find(text) {
    this.search.value = text;
    clearTimeout(this.#typing);
    this.#typing = setTimeout(this.load, typingMs);
  }

  /** @param {Kind} kind */
  show(kind) {
    this.kind.value = kind;
    void this.load();
  }

  /** Loads the next page. The caller has reached the end of the loaded chats. */
  more() {
    if (this.#hasMore && !this.isLoading.value && this.failure.value === null)
      void this.#read(Math.max(0, this.chats.value.length - overlap));
  }

  /** Adds or replaces a chat that changed or got a message. @param {Chat} chat */
  take(chat) {
    this.#changed.delete(chat.id);
    this.#changed.set(chat.id, chat);
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      this.#arrange();
    }, settleMs);
  }

  /** @param {number} offset 0 replaces the loaded chats, unless `stays` is true. */
  async #read(offset, stays = offset > 0) {
    const own = (this.#asked += 1);
    const text = this.search.value.trim();
    this.isLoading.value = true;
    try {
      const query = text === '' ? filters[this.kind.value] : searching(text);
      const { chats, pagination } = await find(this.instance, { ...query, limit: page, offset });
      if (own !== this.#asked) return;
      const found = new Set(chats.map(({ id }) => id));
      const rest = stays ? this.chats.value.filter(({ id }) => !found.has(id)) : [];
      if (offset > 0 || rest.length === 0) this.#hasMore = pagination.hasMore;
      this.total.value = pagination.totalRecords;
      this.failure.value = null;
      this.chats.value = offset > 0 ? [...rest, ...chats] : [...chats, ...rest];
      if (this.#changed.size > 0) this.#arrange();
    } catch (error) {
      if (own === this.#asked) this.failure.value = error;
    } finally {
      if (own === this.#asked) this.isLoading.value = false;
    }
  }

  /** Sorts changed chats into the list. A chat that is older than all loaded chats is left out, because a later page will contain it. */
  #arrange() {
    const changed = this.#changed;
    this.#changed = new Map();
    const shown = this.chats.value;
    const known = new Set(shown.map(({ id }) => id));
    const rest = shown.filter(({ id }) => !changed.has(id));
    const last = this.#hasMore ? timeOf(shown.at(-1) ?? /** @type {Chat} */ ({ wa_lastMsgTimestamp: 0 })) : 0;
    const isWanted = (/** @type {Chat} */ chat) => known.has(chat.id) || (this.#fits(chat) && timeOf(chat) >= last);
    const moved = [...changed.values()].filter(isWanted).toReversed();
    // The sort is stable. Of two chats with the same time, the chat that changed later comes first.
    this.chats.value = [...moved, ...rest].toSorted((a, b) => timeOf(b) - timeOf(a));
  }

  /** Returns true if a chat fits the filter. During a search only the server decides. @param {Chat} chat */
  #fits({ wa_unreadCount: unread, wa_isGroup: isGroup }) {
    if (this.search.value.trim() !== '') return false;
    return { all: true, unread: unread > 0, groups: isGroup }[this.kind.value];
  }
}
