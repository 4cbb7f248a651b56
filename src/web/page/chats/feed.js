/** Applies the events of the session's stream to the list of chats and to the open conversation. */
import { signal } from '@preact/signals';
import { whenBack } from '../core/contact.js';
import { follow } from '../core/stream.js';

/** @import { ChatList } from './chat-list.js' */
/** @import { Conversation } from './conversation.js' */
/** @import { Chat, MessageEvent, UpdateEvent } from './types.ts' */

const types = ['messages', 'messages_update', 'chats'];

/**
 * `opening`: there was no stream yet. `paused`: other windows have the seats for streams.
 * @typedef {'opening' | 'open' | 'lost' | 'paused' | 'refused'} FeedState
 */

/** The time between two loads without a stream. In milliseconds. */
const pausedMs = 10_000;

export class ChatFeed {
  state = signal(/** @type {FeedState} */ ('opening'));
  /** The conversation that is open. @type {Conversation | null} */
  #open = null;
  #list;

  /** @param {ChatList} list */
  constructor(list) {
    this.#list = list;
  }

  /** Follows the events until the returned function is called. */
  start() {
    const refresh = () => {
      void this.#list.refresh();
      void this.#open?.refresh();
    };
    const stopWaiting = whenBack(refresh);
    const polling = setInterval(() => {
      if (this.state.value === 'paused' && !document.hidden) refresh();
    }, pausedMs);
    const stop = follow(`/sse?events=${types.join(',')}`, {
      instance: this.#list.instance,
      onEvent: (type, data) => this.#take(type, data),
      onState: (state) => {
        this.state.value = state;
        // Events may have been missed while the stream was lost.
        if (state === 'open') refresh();
      },
      onRefused: () => {
        this.state.value = 'refused';
        void this.#list.load();
      },
    });
    return () => {
      stopWaiting();
      clearInterval(polling);
      stop();
    };
  }

  /** @param {Conversation | null} conversation */
  show(conversation) {
    this.#open = conversation;
  }

  /** @param {string} type @param {unknown} event */
  #take(type, event) {
    if (type === 'messages') {
      const { data } = /** @type {MessageEvent} */ (event);
      const { chat, ...message } = data;
      this.#list.take(chat);
      if (this.#open?.isOf(chat)) this.#open.take(message);
    } else if (type === 'chats') this.#list.take(/** @type {{ data: { chat: Chat } }} */ (event).data.chat);
    else if (type === 'messages_update') this.#open?.update(/** @type {UpdateEvent} */ (event).data);
  }
}
