/** Commands on chats that take more than one request: marking messages of several chats as read, and continuous typing. */
import type { Gateway, MarkedMessage } from '../views.ts';
import { done, notConnected, type InstanceId, type Result } from '../model.ts';
import type { NamedMessage, TypingState } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { performIn } from '../session/perform.ts';
import { recipientOf } from '../session/recipient-of.ts';
import type { Supervisor } from '../supervisor.ts';
import { whileLive } from './perform.ts';

type ChatCommands = Pick<Gateway, 'markRead' | 'showTyping'>;

/** Returns the reason why a message cannot be marked; '' if it can. */
const problemOf = (message: NamedMessage | undefined): string => {
  if (message === undefined) return 'Message not found';
  return message.fromMe ? 'own messages are not marked as read' : '';
};

/** Sends one request for each chat. A refusal does not stop the other requests. */
async function markIn(cell: Cell, signal: AbortSignal, named: ReadonlyMap<string, NamedMessage>): Promise<ReadonlyMap<string, string>> {
  const chats = Map.groupBy([...new Set(named.values())], ({ chatId }) => chatId);
  const errors = new Map<string, string>();
  for (const [chatId, messages] of chats) {
    const outcome = await performIn(cell, signal, 'chat.markMessagesRead', { chatId, messages });
    if (!outcome.ok) errors.set(chatId, outcome.refusal.message);
  }
  return errors;
}

export function chatCommands(supervisor: Supervisor): ChatCommands {
  const { messages } = supervisor.ports;
  return {
    markRead: (id: InstanceId, ids: readonly string[]): Promise<Result<readonly MarkedMessage[]>> =>
      whileLive(supervisor, id, async (cell, signal) => {
        if (signal.aborted) return notConnected;
        const named = await messages.named(id, ids);
        const markable = new Map([...named].filter(([, message]) => problemOf(message) === ''));
        const errors = await markIn(cell, signal, markable);
        return done(ids.map((one) => ({ id: one, error: problemOf(named.get(one)) || (errors.get(named.get(one)?.chatId ?? '') ?? '') })));
      }),
    showTyping: (id: InstanceId, number: string, state: TypingState, delay: number): Promise<Result<null>> =>
      whileLive(supervisor, id, async (cell, signal) => {
        const chat = await recipientOf(cell, signal, number);
        return chat.ok ? cell.typing.show(chat.value.chatId, state, delay, signal) : chat;
      }),
  };
}
