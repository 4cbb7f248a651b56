/** Commands on messages: a text goes out as one operation of its instance; queries go to storage. */
import type { Gateway, SendOptions } from '../face.ts';
import { done, refuse, type Message, type Result } from '../model.ts';
import type { TextSend, Transmission } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { createKeyedMutex, type KeyedMutex } from '../keyed-mutex.ts';
import { accept, giveUp, transmit } from '../session/sending.ts';
import type { Supervisor } from '../supervisor.ts';
import { fillPlaceholders, hasPlaceholders } from '../text.ts';
import { notConnected } from './settling.ts';

type MessageCommands = Pick<Gateway, 'sendText' | 'findMessages' | 'findChats' | 'queue' | 'clearQueue'>;

/** Unread messages that `readchat` and `readmessages` confirm at most. */
const readLimit = 500;

export function messageCommands(supervisor: Supervisor): MessageCommands {
  const lines = new WeakMap<Cell, KeyedMutex>();
  const lineOf = (cell: Cell): KeyedMutex => {
    const line = lines.get(cell) ?? createKeyedMutex();
    lines.set(cell, line);
    return line;
  };
  const { messages, chats } = supervisor.ports;

  return {
    async sendText(id, send, options) {
      const once = async (): Promise<Result<Message>> => {
        const awake = await supervisor.awake(id);
        if (!awake.ok) return awake;
        const cell = awake.value;
        const answer = cell.request(() => lineOf(cell).run(send.number, (next) => new Sending(supervisor, cell, send, options).run(next)));
        return (await answer) ?? notConnected;
      };
      const first = await once();
      // It went to sleep while the text waited for its turn: nothing was accepted, so it is woken and asked again.
      return first === notConnected && supervisor.view(id)?.record.wanted === 'asleep' ? once() : first;
    },
    findMessages: (id, query) => messages.find(id, query),
    async findChats(id, query) {
      const [page, stats] = await Promise.all([chats.find(id, query), chats.stats(id)]);
      return { ...page, stats };
    },
    async queue(id) {
      const cell = supervisor.cell(id);
      const ready = cell?.view.connected ?? false;
      const pending = cell?.queue.pending ?? 0;
      const processing = cell?.queue.processing ?? false;
      return {
        status: processing ? 'processing' : pending === 0 ? 'idle' : ready ? 'processing' : 'waiting_connection',
        pending,
        processingNow: processing,
        acceptingNewMessages: ready && supervisor.accepting,
        sessionReady: ready,
        resetting: false,
      };
    },
    async clearQueue(id) {
      const cell = supervisor.cell(id);
      if (!cell) return refuse('notFound', 'instance not found');
      const waiting = cell.queue.clear();
      await Promise.all(waiting.map((message) => giveUp(cell, message, 'Canceled', '')));
      return done(waiting.length);
    },
  };
}

/** One text on its way. */
class Sending {
  readonly #supervisor: Supervisor;
  readonly #cell: Cell;
  readonly #send: TextSend;
  readonly #options: SendOptions;

  constructor(supervisor: Supervisor, cell: Cell, send: TextSend, options: SendOptions) {
    this.#supervisor = supervisor;
    this.#cell = cell;
    this.#send = send;
    this.#options = options;
  }

  /** `next` lets the following text to the same number go on: it is called when this one has been written. */
  async run(next: () => void): Promise<Result<Message>> {
    if (!this.#cell.view.connected) return notConnected; // it went away while this text waited for its turn
    const composed = await this.#compose();
    if (!composed.ok) return composed.closed ? notConnected : refuse('invalid', composed.message);
    const message = this.#labelled(composed.composed.message);
    await accept(this.#cell, message);
    if (this.#options.async) {
      this.#cell.queue.push([message]);
      return done(message);
    }
    await this.#prepare(message);
    const answer = transmit(this.#cell, { message, transmit: () => composed.composed.transmit() });
    next();
    return this.#result(message, await answer);
  }

  async #compose() {
    const { text } = this.#send;
    if (!hasPlaceholders(text)) return this.#cell.link.compose(this.#send);
    const draft = await this.#cell.link.compose({ ...this.#send, preview: null });
    if (!draft.ok) return draft;
    const chat = await this.#supervisor.ports.chats.get(this.#cell.record.id, draft.composed.message.chatId);
    return this.#cell.link.compose({ ...this.#send, text: fillPlaceholders(text, chat) });
  }

  #labelled(message: Message): Message {
    const { trackId, trackSource, payload } = this.#options;
    return { ...message, trackId, trackSource, sendFunction: '/send/text', sendPayload: payload };
  }

  /** What precedes the message; when it fails the message is not written. */
  async #prepare(message: Message): Promise<void> {
    try {
      await this.#showTyping(message.chatId);
      await this.#confirmReading(message.chatId);
    } catch (error) {
      void giveUp(this.#cell, message, 'Failed', 'it could not be prepared');
      throw error;
    }
  }

  async #showTyping(chatId: string): Promise<void> {
    if (this.#options.delay <= 0) return;
    await this.#cell.link.chatState(chatId, 'composing');
    await this.#supervisor.pause(this.#options.delay);
    await this.#cell.link.chatState(chatId, 'paused');
  }

  async #confirmReading(chatId: string): Promise<void> {
    if (!this.#options.readChat && !this.#options.readMessages) return;
    const keys = await this.#supervisor.ports.messages.unread(this.#cell.record.id, chatId, readLimit);
    if (keys.length > 0 && (await this.#cell.link.markRead(keys))) this.#cell.recorder.record([{ kind: 'chatRead', chatId }]);
  }

  async #result(message: Message, sent: Transmission): Promise<Result<Message>> {
    if (sent.ok) return done({ ...message, status: 'Sent' });
    if (sent.reason === 'refused') return refuse('refused', sent.error, sent.code === undefined ? {} : { code: sent.code });
    if (sent.reason === 'unknown') return refuse('unknown', sent.error);
    await giveUp(this.#cell, message, 'Failed', sent.error);
    return refuse(sent.reason === 'closed' ? 'unknown' : 'notSent', sent.error);
  }
}
