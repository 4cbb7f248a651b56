/** Performs one operation on a live session within a deadline, and finds the recipient or the stored chat that a request means. */
import { type Chat, done, type InstanceRecord, notConnected, type Picture, type PictureKind, type Result } from '../model.ts';
import type { AnswerOf, InputOf, OperationName, Outcome, TypingState } from '../operations.ts';
import type { ChatStore, PlatformLink } from '../ports.ts';
import type { Recorder } from '../delivery/recorder.ts';
import type { Recipients } from './recipients.ts';

// Parts of a cell. A function takes the smallest of them with which it can work.

/** An instance with its recorder. */
export interface Recorded {
  readonly record: InstanceRecord;
  readonly recorder: Recorder;
}

/** A session on which operations are performed. */
export interface Operable extends Recorded {
  readonly link: PlatformLink;
  /** Returns the deadline of an operation that begins now. In Unix milliseconds. */
  deadline(): number;
  /** Runs a task on the live session. Returns null without one. */
  request<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> | null;
}

/** A session that finds the recipients of messages. */
export interface Addressable extends Operable {
  readonly recipients: Recipients;
}

// Performs one operation on a live session within a deadline, and records its results.

/**
 * Performs one operation inside a task of `Operable.request`, with the `signal` of that task. The entries of the handler are recorded before the promise
 * resolves.
 */
export async function performIn<N extends OperationName>(
  cell: Operable,
  signal: AbortSignal,
  name: N,
  input: InputOf<N>,
): Promise<Outcome<AnswerOf<N>>> {
  if (signal.aborted) return notConnected;
  const outcome = await cell.link.perform({ name, input }, { signal, deadline: cell.deadline() });
  if (outcome.ok && outcome.entries) await Promise.all(outcome.entries.map((entry) => cell.recorder.tell(entry)));
  return outcome;
}

/** Shows typing, for a call or by itself. Writes nothing without a live session. */
export const writeTyping =
  (cell: Operable) =>
  async (chatId: string, state: TypingState, signal?: AbortSignal): Promise<Result<null>> => {
    const write = (during: AbortSignal): Promise<Result<null>> => performIn(cell, during, 'chat.typing', { chatId, state });
    if (signal) return write(signal);
    return (await cell.request(write)?.catch(() => null)) ?? notConnected;
  };

/** Asks for a picture in a separate request. Resolves with null without a live session. */
export const askForPicture =
  (cell: Operable) =>
  async (id: string, kind: PictureKind): Promise<Outcome<Picture> | null> => {
    // The chart takes no request while it starts another one.
    await Promise.resolve();
    return cell.request((signal) => performIn(cell, signal, 'picture.look', { id, kind }));
  };

// Finds the recipient of a message in any spelling. An unknown number is looked up on the platform.

export interface Recipient {
  /** The id under which the chat is stored. */
  readonly chatId: string;
  /** The number for which the message is composed. */
  readonly number: string;
}

/** Returns the recipient. Needs a live session. Refuses as `PlatformLink.chatOf` and `Recipients.resolve` do. */
export async function recipientOf(cell: Addressable, signal: AbortSignal, number: string): Promise<Result<Recipient>> {
  const chat = cell.link.chatOf(number);
  if (!chat.ok) return chat;
  const { chatId, certain } = chat.value;
  if (!certain) {
    const resolved = await performIn(cell, signal, 'chat.resolve', { number });
    return resolved.ok ? done({ chatId: resolved.value, number }) : resolved;
  }
  const found = await cell.recipients.resolve(chat.value, (numbers) => performIn(cell, signal, 'chat.lookUp', { numbers }));
  if (!found.ok) return found;
  return done({ chatId: found.value, number: found.value === chatId ? number : found.value });
}

/** Finds a stored chat by any of its names, because a number may be written in two forms. */
export async function storedChat({ record, link }: Operable, chats: ChatStore, number: string): Promise<Chat | null> {
  const named = link.chatOf(number);
  for (const name of new Set([number, ...(named.ok ? [named.value.chatId, ...named.value.forms] : [])])) {
    const chat = await chats.get(record.id, name);
    if (chat) return chat;
  }
  return null;
}
