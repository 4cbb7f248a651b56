/** Commands on stored messages: queries, operations on them, their files, and older messages from the phone. */
import type { Cluster } from '../cluster/cluster.ts';
import { done, type InstanceId, type Message, notConnected, refuse, type Result, unknownInstance } from '../model.ts';
import type { InputOf } from '../ports.ts';
import type { HistoryRequests } from '../session/history-requests.ts';
import { type Operable, performIn } from '../session/requests.ts';
import type { Downloads } from '../supervisor/files.ts';
import type { FileMethods, HistoryAsk, HistoryMethods, MessageMethods } from '../views.ts';
import { within } from '../waiting.ts';
import type { WithCells, WithPorts } from './host.ts';
import type { Register } from './register.ts';

// Deletes messages: a queued message in the asynchronous queue, any other message at the platform.

type DeletingHost = WithCells & WithPorts<'messages' | 'time'>;

const beingSent = refuse('conflict', 'the message is being sent: try again in a moment', { retryAfter: 1 });

/** Implements `Gateway.deleteMessage`. */
export async function deleteMessage(host: DeletingHost, id: InstanceId, messageId: string): ReturnType<MessageMethods['deleteMessage']> {
  const { messages, time } = host.ports;
  const message = await messages.byId(id, messageId);
  if (message?.status !== 'Queued' || !message.fromMe) return host.cells.perform(id, 'message.delete', { id: messageId });
  const cell = host.cells.get(id);
  if (cell === null) return unknownInstance;
  const isCancelled = message.queuedSend !== null && (await cell.queue.cancel(message));
  return isCancelled ? done({ messageId: message.messageId, at: time.now() }) : beingSent;
}

/** The parts of the supervisor that these commands need. */
type Host = WithCells &
  WithPorts<'chance' | 'chats' | 'files' | 'messages' | 'time'> & {
    readonly cluster: Pick<Cluster, 'files' | 'sharesFiles'> | null;
    readonly downloads: Downloads;
    readonly register: Pick<Register, 'view'>;
  };

// Queries of stored messages, and operations on messages that are one request to the platform.

type MessageCommands = Pick<MessageMethods, 'perform' | 'deleteMessage' | 'receipts' | 'findMessages' | 'findChats'>;

export function messageCommands(host: Host): MessageCommands {
  const { messages, chats } = host.ports;
  return {
    perform: (id, name, input) => host.cells.perform(id, name, input),
    deleteMessage: (id, messageId) => deleteMessage(host, id, messageId),
    async receipts(id, messageId, page) {
      const message = await messages.byId(id, messageId);
      if (message === null) return refuse('notFound', 'Message not found');
      if (!message.fromMe || !message.isGroup) return refuse('invalid', 'receipts of members are kept for own messages in groups');
      return done({ message, ...(await messages.receipts(id, { ...page, messageId: message.messageId })) });
    },
    findMessages: (id, query) => messages.find(id, query),
    async findChats(id, query) {
      const [page, stats] = await Promise.all([chats.find(id, query), chats.stats(id)]);
      return { ...page, stats };
    },
  };
}

// Commands on files of messages, and on files by their public names.

export function fileCommands(host: Host): FileMethods {
  const { cluster, ports } = host;
  const files = cluster === null || cluster.sharesFiles ? ports.files : cluster.files;
  return {
    download: async (id, wish) => (host.register.view(id) === null ? unknownInstance : host.downloads.download(id, wish, false)),
    file: (name) => files.named(name),
    readFile: (file, range) => files.read(file, range),
  };
}

// Requests older messages of a chat from the phone, and reports the progress.

type Question = InputOf<'message.history'>;

/** The timeout for an answer of the phone. In milliseconds. */
const answerTimeout = 60_000;

/** Returns the message before which the phone searches for older messages. */
async function anchorOf({ ports }: Host, id: InstanceId, chatId: string, ask: HistoryAsk): Promise<Result<Question['before']>> {
  const { messageId, at, fromMe, exact } = ask;
  const found = (message: Message): Result<Question['before']> =>
    done({ messageId: message.messageId, fromMe: message.fromMe, at: message.timestamp });
  const stored = messageId === '' ? null : await ports.messages.byId(id, messageId);
  if (stored) return found(stored);
  if (exact) return messageId === '' ? refuse('invalid', 'mode exact needs the id of a message') : refuse('notFound', 'message not found');
  if (at !== null) return done({ messageId, fromMe, at });
  if (messageId !== '') return refuse('notFound', 'message not found: give its timestamp too');
  const oldest = await ports.messages.oldest(id, chatId);
  return oldest ? found(oldest) : done({ messageId: '', fromMe: false, at: ports.time.now() });
}

/**
 * Returns the requests in order. The first request uses the given address of the chat. The others use its alternative addresses, in case the phone has no
 * messages under the first address.
 */
async function questionsOf(host: Host, id: InstanceId, chatId: string, ask: HistoryAsk): Promise<Result<readonly Question[]>> {
  const before = await anchorOf(host, id, chatId, ask);
  if (!before.ok) return before;
  const chat = ask.alternates ? await host.ports.chats.get(id, chatId) : null;
  const addresses = new Set([chatId, chat?.chatId ?? '', chat?.chatLid ?? ''].filter((address) => address !== ''));
  return done([...addresses].map((address) => ({ chatId: address, before: before.value, count: ask.count })));
}

/** A session that asks the phone for its history. */
interface HistorySession extends Operable {
  readonly histories: HistoryRequests;
}

/** Waits for the answer, and sends the next request if the answer is empty. Never rejects. */
async function follow({ ports }: Host, cell: HistorySession, id: string, sent: string, others: readonly Question[]): Promise<void> {
  let answer = await cell.histories.answerTo(ports.time, sent, answerTimeout);
  for (const question of others) {
    if (answer === null || answer.messages > 0) break;
    const again = await cell.request((signal) => performIn(cell, signal, 'message.history', question))?.catch(() => null);
    if (!again?.ok) break;
    answer = (await cell.histories.answerTo(ports.time, again.value.requestId, answerTimeout)) ?? answer;
  }
  cell.histories.finish(id, answer);
}

export function historyCommands(host: Host): HistoryMethods {
  const { chance, time } = host.ports;

  const begin = async (cell: HistorySession, signal: AbortSignal, id: InstanceId, requestId: string, ask: HistoryAsk) => {
    const chat = cell.link.chatOf(ask.number);
    if (!chat.ok) return chat;
    // The phone knows the chat under one form of a number, which is also the stored form.
    const { chatId } = (await host.ports.chats.get(id, chat.value.chatId)) ?? chat.value;
    const questions = await questionsOf(host, id, chatId, ask);
    if (!questions.ok) return questions;
    const [first, ...others] = questions.value;
    if (signal.aborted || !first) return notConnected;
    if (!cell.histories.begin(requestId, chatId, time.now())) return refuse('conflict', 'this requestId was used before');
    const sent = await performIn(cell, signal, 'message.history', first);
    if (!sent.ok) cell.histories.forget(requestId);
    return sent.ok ? done({ cell, answered: follow(host, cell, requestId, sent.value.requestId, others) }) : sent;
  };

  return {
    async requestHistory(id, ask) {
      const requestId = ask.requestId || chance.hex(8);
      const begun = await host.cells.live(id, (cell, signal) => begin(cell, signal, id, requestId, ask));
      if (!begun.ok) return begun;
      const { cell, answered } = begun.value;
      if (ask.wait > 0) await within(time, ask.wait, answered);
      // The history must be stored before the caller reads it.
      if (ask.wait > 0) await within(time, ask.wait, cell.recorder.recorded());
      return done(cell.histories.get(requestId) ?? { id: requestId, chatId: '', at: time.now(), state: 'pending', answer: null });
    },
    histories: async (id) => host.cells.get(id)?.histories.view ?? { initial: { messages: 0, progress: null }, requests: [] },
  };
}
