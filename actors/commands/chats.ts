/** Commands on chats: reading, typing, the changes that a phone offers as well, removals from storage, and leads. */
import {
  type Chat,
  type ChatChange,
  type ChatEnd,
  done,
  type InstanceId,
  isChannelId,
  type Kept,
  type LeadTag,
  type Message,
  notConnected,
  refuse,
  type Result,
  unknownInstance,
  withoutTimes,
} from '../model.ts';
import type { ChatStore, NamedMessage, TypingState } from '../ports.ts';
import { type Operable, performIn, recipientOf, type Recorded, storedChat } from '../session/requests.ts';
import type { ChatMethods, ChatRemoval, LeadMethods, LeadTagEdit, MarkedMessage, MessageMethods, RemovalStep } from '../views.ts';
import { KeyedMutex } from '../waiting.ts';
import type { WithCells, WithPolicy, WithPorts } from './host.ts';

/** The parts of the supervisor that these commands need. */
type Host = WithCells & WithPorts<'chats' | 'messages' | 'journal'>;

// Commands on chats that take more than one request: marking messages of several chats as read, and continuous typing.

type ChatCommands = Pick<MessageMethods, 'markRead' | 'showTyping'>;

/** Returns the reason why a message cannot be marked as read; '' if it can. */
const problemOf = (message: NamedMessage | undefined): string => {
  if (message === undefined) return 'Message not found';
  return message.fromMe ? 'own messages are not marked as read' : '';
};

/** Sends one request for each chat. A refusal does not stop the other requests. */
async function markIn(cell: Operable, signal: AbortSignal, named: ReadonlyMap<string, NamedMessage>): Promise<ReadonlyMap<string, string>> {
  const chats = Map.groupBy([...new Set(named.values())], ({ chatId }) => chatId);
  const errors = new Map<string, string>();
  for (const [chatId, messages] of chats) {
    const outcome = await performIn(cell, signal, 'chat.markMessagesRead', { chatId, messages });
    if (!outcome.ok) errors.set(chatId, outcome.refusal.message);
  }
  return errors;
}

export function chatCommands(host: Host): ChatCommands {
  const { messages } = host.ports;
  return {
    markRead: (id: InstanceId, ids: readonly string[]): Promise<Result<readonly MarkedMessage[]>> =>
      host.cells.live(id, async (cell, signal) => {
        if (signal.aborted) return notConnected;
        const named = await messages.named(id, ids);
        const markable = new Map([...named].filter(([, message]) => problemOf(message) === ''));
        const errors = await markIn(cell, signal, markable);
        return done(ids.map((one) => ({ id: one, error: problemOf(named.get(one)) || (errors.get(named.get(one)?.chatId ?? '') ?? '') })));
      }),
    showTyping: (id: InstanceId, number: string, state: TypingState, delay: number): Promise<Result<null>> =>
      host.cells.live(id, async (cell, signal) => {
        const chat = await recipientOf(cell, signal, number);
        return chat.ok ? cell.typing.show(chat.value.chatId, state, delay, signal) : chat;
      }),
  };
}

// Commands on single chats: the changes that a phone offers as well, and removals from storage.

/** The largest number of read receipts that are sent when a chat is read, newest first. */
const mostReceipts = 500;
/** The largest number of messages that one statement removes. */
const piece = 2_000;
/** The number of attempts to recreate a removed chat from messages that arrived meanwhile. */
const mostTries = 20;

const unknownChat = refuse('notFound', 'chat not found');
const timedMute = refuse('invalid', 'channels are muted for ever (-1) or not at all (0)');
const noBusiness = refuse('notSupported', 'notes about chats are a feature of business accounts');

/** Returns the stored chat of a number or a chat id; null if there is none. A number may have two forms, and the chat is found under either. */
const find = async (host: Host, id: InstanceId, number: string): Promise<Chat | null> => {
  const cell = host.cells.get(id);
  return cell && storedChat(cell, host.ports.chats, number);
};

/** Runs `work` on a live session, and returns the stored chat afterwards. */
const withChat = (
  host: Host,
  id: InstanceId,
  number: string,
  work: (cell: Operable, signal: AbortSignal, chat: Chat) => Promise<Result<null>>,
): Promise<Result<Chat>> =>
  host.cells.live(id, async (cell, signal) => {
    const chat = await find(host, id, number);
    if (!chat) return unknownChat;
    const worked = await work(cell, signal, chat);
    return worked.ok ? done((await host.ports.chats.get(id, chat.chatId)) ?? chat) : worked;
  });

const newestOf = async ({ messages }: Host['ports'], id: InstanceId, chatId: string): Promise<Message | null> =>
  (await messages.find(id, { chatId, limit: 1, offset: 0 })).messages[0] ?? null;

const endOf = async (ports: Host['ports'], id: InstanceId, chatId: string): Promise<ChatEnd | null> => {
  const newest = await newestOf(ports, id, chatId);
  return newest ? { messageId: newest.messageId, fromMe: newest.fromMe, sender: newest.sender, at: newest.timestamp } : null;
};

/** Mutes a channel. The platform has a separate setting for channels, which has no end time. */
const muteChannel = (cell: Operable, signal: AbortSignal, channelId: string, until: number): Promise<Result<null>> =>
  until > 0 ? Promise.resolve(timedMute) : performIn(cell, signal, 'channel.mute', { channelId, mute: until !== 0 });

const change = async (
  ports: Host['ports'],
  cell: Operable,
  signal: AbortSignal,
  { chatId }: Chat,
  wanted: ChatChange,
): Promise<Result<null>> => {
  const { id, isBusiness } = cell.record;
  if (wanted.kind === 'mute' && isChannelId(chatId)) return muteChannel(cell, signal, chatId, wanted.until);
  if (wanted.kind === 'note' && !isBusiness) return noBusiness;
  const isRead = wanted.kind === 'read' && wanted.on;
  const unread = isRead ? await ports.messages.unread(id, chatId, mostReceipts) : [];
  return performIn(cell, signal, 'chat.change', { chatId, change: wanted, last: await endOf(ports, id, chatId), unread });
};

/** Removes the current messages of the chat, and the chat's summary of them. Messages that wait to be sent stay. */
const removeMessages = async (ports: Host['ports'], cell: Operable, { chatId }: Chat): Promise<Result<null>> => {
  const { id, epoch } = cell.record;
  const until = (await endOf(ports, id, chatId))?.at ?? 0;
  let removed = piece;
  while (removed === piece) removed = await ports.messages.removeOf({ instanceId: id, epoch }, chatId, until, piece);
  ports.journal.forget(id);
  const nothing = { unreadCount: 0, lastMessageText: '', lastMessageType: '', lastMessageSender: '' };
  await cell.recorder.append({ kind: 'chat', chat: { chatId, ...nothing }, create: false, tell: 'chats' });
  return done(null);
};

/** Returns the fields of a chat that follow from its newest message. */
const shownOf = (message: Message) => ({
  chatId: message.chatId,
  isGroup: message.isGroup,
  ...(message.chatLid === '' ? {} : { chatLid: message.chatLid }),
  ...(message.isGroup || message.fromMe || message.senderName === '' ? {} : { pushName: message.senderName }),
  lastMessageText: message.text || message.vote,
  lastMessageType: message.messageType,
  lastMessageSender: message.sender,
  lastMessageTimestamp: message.timestamp,
});

/**
 * Recreates a removed chat from messages that arrived during the removal. The caller did not know these messages and did not ask to remove them. Repeats until
 * no newer message arrives during the write. `before`: the id of the newest message at the start; undefined if there was none.
 */
const keepLate = async (ports: Host['ports'], cell: Operable, { chatId }: Chat, before: string | undefined): Promise<void> => {
  const { id } = cell.record;
  for (let [seen, tries] = [before, 0]; tries < mostTries; tries += 1) {
    await cell.recorder.recorded();
    const newest = await newestOf(ports, id, chatId);
    if (newest === null || newest.messageId === seen || newest.status === 'Queued') return;
    seen = newest.messageId;
    const unreadCount = (await ports.messages.unread(id, chatId, mostReceipts)).length;
    await cell.recorder.append({ kind: 'chat', chat: { ...shownOf(newest), unreadCount }, create: true, tell: 'chats' });
  }
};

/** One step of the removal of a stored chat. */
type Step = (host: Host, cell: Operable, chat: Chat) => Promise<Result<null>>;

const changeOnPhone =
  (wanted: ChatChange): Step =>
  (host, { record }, chat) =>
    host.cells.live(record.id, (cell, signal) => change(host.ports, cell, signal, chat, wanted));

/** The steps of a removal, in order. The changes on the phone come first, because they need the last message, which is still stored then. */
const steps: Readonly<Record<keyof ChatRemoval, Step>> = {
  clearOnPhone: changeOnPhone({ kind: 'clear' }),
  deleteOnPhone: changeOnPhone({ kind: 'delete' }),
  messages: ({ ports }, cell, chat) => removeMessages(ports, cell, chat),
  chat: async (_supervisor, cell, { chatId }) => {
    await cell.recorder.append({ kind: 'chatRemoved', chatId });
    return done(null);
  },
};

export const chatChangeCommands = (host: Host): ChatMethods => ({
  async chat(id, number) {
    const chat = await find(host, id, number);
    return chat ? done(chat) : unknownChat;
  },

  changeChat: (id, number, wanted) => withChat(host, id, number, (cell, signal, chat) => change(host.ports, cell, signal, chat, wanted)),

  reloadNotes: (id, number) =>
    withChat(host, id, number, async (cell, signal) => {
      const reloaded = await performIn(cell, signal, 'chat.reloadNotes', null);
      // The changes that the library reported meanwhile must be stored before the note is read.
      if (reloaded.ok) await cell.recorder.recorded();
      return reloaded;
    }),

  setChatTimer: (id, number, seconds) =>
    host.cells.live(id, async (cell, signal) => {
      const recipient = await recipientOf(cell, signal, number);
      if (!recipient.ok) return recipient;
      const { chatId } = recipient.value;
      const set = await performIn(cell, signal, 'chat.timer', { chatId, seconds });
      if (!set.ok) return set;
      const chat = await host.ports.chats.get(id, chatId);
      return chat ? done(chat) : unknownChat;
    }),

  block: (id, number, block) =>
    host.cells.live(id, async (cell, signal) => {
      const recipient = await recipientOf(cell, signal, number);
      return recipient.ok ? performIn(cell, signal, 'chat.block', { chatId: recipient.value.chatId, block }) : recipient;
    }),

  async removeChat(id, number, wanted) {
    const cell = host.cells.get(id);
    if (!cell) return unknownInstance;
    const chat = await find(host, id, number);
    if (!chat) return unknownChat;
    const before = (await newestOf(host.ports, id, chat.chatId))?.messageId;
    const outcomes: RemovalStep[] = [];
    for (const of of Object.keys(steps) as (keyof ChatRemoval)[]) {
      if (!wanted[of]) continue;
      const outcome = await steps[of](host, cell, chat);
      outcomes.push({ of, error: outcome.ok ? '' : outcome.refusal.message });
    }
    if (wanted.messages || wanted.chat) await keepLate(host.ports, cell, chat, before);
    return done(outcomes);
  },
});

// Commands on leads. The commands need no session, because the platform does not know leads.

/** The parts of the supervisor that these commands need. */
type LeadHost = WithCells & WithPorts<'chance' | 'chats' | 'definitions'> & WithPolicy<'definitionsPerInstance'>;

const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Returns the tag after the edit. */
const edited = (known: readonly LeadTag[], edit: LeadTagEdit, newId: () => string, most: number): Result<LeadTag> => {
  const old = known.find(({ id }) => id === edit.id);
  if (edit.id !== '' && !old) return refuse('notFound', 'Tag not found');
  const { name = old?.name ?? '', kanban = old?.kanban ?? false, kanbanOrder = old?.kanbanOrder ?? 0 } = edit;
  if (name === '') return refuse('invalid', 'name is required');
  if (known.some((tag) => tag !== old && sameName(tag.name, name))) return refuse('conflict', `there is a tag ${name} already`);
  if (!old && known.length >= most) return refuse('limited', `an instance has at most ${most} tags`);
  return done({ id: old?.id ?? newId(), name, kanban, kanbanOrder });
};

/** The number of chats that are read with one query and changed in parallel. */
const together = 500;

/** Renames the tag in all chats that have it. */
async function rename(chats: ChatStore, cell: Recorded, from: string, to: string): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const found: readonly string[] = await chats.tagged(cell.record.id, from, after, together);
    await Promise.all(found.map((chatId) => cell.recorder.append({ kind: 'retagged', chatId, from, to })));
    after = found.length < together ? undefined : found.at(-1);
  }
}

const inBoardOrder = (a: LeadTag, b: LeadTag): number => Number(b.kanban) - Number(a.kanban) || a.kanbanOrder - b.kanbanOrder;

export function leadCommands(host: LeadHost): LeadMethods {
  const { ports, policy } = host;
  const { chats, definitions, chance } = ports;
  // The edits of one instance run one after the other, because a name is compared with the stored tags.
  const mutex = new KeyedMutex();
  const tagsOf = async (id: string): Promise<readonly Kept<'leadTag'>[]> => (await definitions.all(id, 'leadTag')).toSorted(inBoardOrder);

  return {
    chatStats: (id) => chats.stats(id),
    async editLead(id, name, fields) {
      const cell = host.cells.get(id);
      if (!cell) return unknownInstance;
      const chat = await chats.get(id, name);
      if (!chat) return refuse('notFound', 'Chat not found');
      await cell.recorder.append({ kind: 'chat', chat: { chatId: chat.chatId, extra: fields }, create: false, tell: 'chats' });
      return done((await chats.get(id, chat.chatId)) ?? chat);
    },
    leadTags: tagsOf,
    editLeadTag: (id, edit) =>
      mutex.run(id, async () => {
        const cell = host.cells.get(id);
        if (!cell) return unknownInstance;
        const known = (await definitions.all(id, 'leadTag')).map(withoutTimes);
        const gone = edit.delete ? known.find((tag) => tag.id === edit.id) : undefined;
        if (edit.delete && !gone) return refuse('notFound', 'Tag not found');
        if (gone) await cell.recorder.append({ kind: 'definitionGone', definition: { of: 'leadTag', value: gone } });
        if (gone) return done(await tagsOf(id));
        const tag = edited(known, edit, () => `r${chance.hex(7)}`, policy.definitionsPerInstance);
        if (!tag.ok) return tag;
        const old = known.find(({ id: one }) => one === tag.value.id)?.name ?? tag.value.name;
        // The tag is renamed in the chats first, so that a repeated call can complete an interrupted rename.
        if (old !== tag.value.name) await rename(chats, cell, old, tag.value.name);
        await cell.recorder.append({ kind: 'definition', definition: { of: 'leadTag', value: tag.value } });
        return done(await tagsOf(id));
      }),
  };
}
