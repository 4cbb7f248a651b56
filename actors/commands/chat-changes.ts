/** Commands on single chats: what the owner does with them on a phone, and what of them is removed here. */
import type { ChatFace, ChatRemoval, RemovalStep } from '../face.ts';
import { done, refuse, type Chat, type ChatChange, type ChatEnd, type InstanceId, type Result } from '../model.ts';
import type { Cell } from '../session/cell.ts';
import { performIn } from '../session/perform.ts';
import { recipientOf } from '../session/recipient-of.ts';
import { storedChat } from '../session/stored-chat.ts';
import type { Supervisor } from '../supervisor.ts';
import { whileLive } from './perform.ts';

/** Unread messages whose authors are told that a chat was read. */
const mostReceipts = 500;
/** Messages of a chat that one statement removes at most. */
const piece = 2_000;

const unknownChat = refuse('notFound', 'chat not found');
const noBusiness = refuse('notSupported', 'notes about chats are a feature of business accounts');

/** A part of a removal, for a chat that is stored. */
type Step = (cell: Cell, chat: Chat) => Promise<Result<null>>;

class ChatChanges implements ChatFace {
  readonly #supervisor: Supervisor;
  /** In this order: what is removed here is needed to name the last message to the phone. */
  readonly #steps: Readonly<Record<keyof ChatRemoval, Step>> = {
    clearOnPhone: (cell, chat) => this.#changeOnPhone(cell.record.id, chat, { kind: 'clear' }),
    deleteOnPhone: (cell, chat) => this.#changeOnPhone(cell.record.id, chat, { kind: 'delete' }),
    messages: (cell, chat) => this.#removeMessages(cell, chat),
    chat: async (cell, { chatId }) => {
      await cell.recorder.append({ kind: 'chatRemoved', chatId });
      return done(null);
    },
  };

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
  }

  readonly chat: ChatFace['chat'] = async (id, number) => {
    const chat = await this.#find(id, number);
    return chat ? done(chat) : unknownChat;
  };

  readonly changeChat: ChatFace['changeChat'] = (id, number, change) =>
    this.#withChat(id, number, (cell, signal, chat) => this.#change(cell, signal, chat, change));

  readonly reloadNotes: ChatFace['reloadNotes'] = (id, number) =>
    this.#withChat(id, number, async (cell, signal) => {
      const reloaded = await performIn(cell, signal, 'chat.reloadNotes', null);
      // What the library reported meanwhile is stored before the note is read.
      if (reloaded.ok) await cell.recorder.recorded();
      return reloaded;
    });

  readonly setChatTimer: ChatFace['setChatTimer'] = (id, number, seconds) =>
    whileLive(this.#supervisor, id, async (cell, signal) => {
      const recipient = await recipientOf(cell, signal, number);
      if (!recipient.ok) return recipient;
      const { chatId } = recipient.value;
      const set = await performIn(cell, signal, 'chat.timer', { chatId, seconds });
      return set.ok ? done(await this.#supervisor.ports.chats.get(id, chatId)) : set;
    });

  readonly block: ChatFace['block'] = (id, number, block) =>
    whileLive(this.#supervisor, id, async (cell, signal) => {
      const recipient = await recipientOf(cell, signal, number);
      return recipient.ok ? performIn(cell, signal, 'chat.block', { chatId: recipient.value.chatId, block }) : recipient;
    });

  readonly removeChat: ChatFace['removeChat'] = async (id, number, wanted) => {
    const cell = this.#supervisor.cell(id);
    if (!cell) return refuse('notFound', 'instance not found');
    const chat = await this.#find(id, number);
    if (!chat) return unknownChat;
    const outcomes: RemovalStep[] = [];
    for (const of of Object.keys(this.#steps) as (keyof ChatRemoval)[]) {
      if (!wanted[of]) continue;
      const outcome = await this.#steps[of](cell, chat);
      outcomes.push({ of, error: outcome.ok ? '' : outcome.refusal.message });
    }
    return done(outcomes);
  };

  /** The stored chat; a number may be written in two forms. */
  async #find(id: InstanceId, number: string): Promise<Chat | null> {
    const cell = this.#supervisor.cell(id);
    return cell && storedChat(cell, this.#supervisor.ports.chats, number);
  }

  /** Runs `work` on a live session, and answers with the chat as it is stored afterwards. */
  #withChat(
    id: InstanceId,
    number: string,
    work: (cell: Cell, signal: AbortSignal, chat: Chat) => Promise<Result<null>>,
  ): Promise<Result<Chat>> {
    return whileLive(this.#supervisor, id, async (cell, signal) => {
      const chat = await this.#find(id, number);
      if (!chat) return unknownChat;
      const worked = await work(cell, signal, chat);
      return worked.ok ? done((await this.#supervisor.ports.chats.get(id, chat.chatId)) ?? chat) : worked;
    });
  }

  #changeOnPhone(id: InstanceId, chat: Chat, change: ChatChange): Promise<Result<null>> {
    return whileLive(this.#supervisor, id, (cell, signal) => this.#change(cell, signal, chat, change));
  }

  async #change(cell: Cell, signal: AbortSignal, { chatId }: Chat, change: ChatChange): Promise<Result<null>> {
    const { id, isBusiness } = cell.record;
    if (change.kind === 'note' && !isBusiness) return noBusiness;
    const isRead = change.kind === 'read' && change.on;
    const unread = isRead ? await this.#supervisor.ports.messages.unread(id, chatId, mostReceipts) : [];
    return performIn(cell, signal, 'chat.change', { chatId, change, last: await this.#endOf(id, chatId), unread });
  }

  async #endOf(id: InstanceId, chatId: string): Promise<ChatEnd | null> {
    const [newest] = (await this.#supervisor.ports.messages.find(id, { chatId, limit: 1, offset: 0 })).messages;
    return newest ? { messageId: newest.messageId, fromMe: newest.fromMe, sender: newest.sender, at: newest.timestamp } : null;
  }

  /** Takes the messages away that the chat has now, and what the chat shows of them. Those that wait to be sent stay. */
  async #removeMessages(cell: Cell, { chatId }: Chat): Promise<Result<null>> {
    const { id, epoch } = cell.record;
    const until = (await this.#endOf(id, chatId))?.at ?? 0;
    let removed = piece;
    while (removed === piece) removed = await this.#supervisor.ports.messages.removeOf({ instanceId: id, epoch }, chatId, until, piece);
    const nothing = { unreadCount: 0, lastMessageText: '', lastMessageType: '', lastMessageSender: '' };
    await cell.recorder.append({ kind: 'chat', chat: { chatId, ...nothing }, create: false, tell: 'chats' });
    return done(null);
  }
}

export const chatChangeCommands = (supervisor: Supervisor): ChatFace => {
  const { chat, changeChat, reloadNotes, setChatTimer, block, removeChat } = new ChatChanges(supervisor);
  return { chat, changeChat, reloadNotes, setChatTimer, block, removeChat };
};
