/** Queries of stored messages, and operations on messages that are one request to the platform. */
import type { Gateway } from '../views.ts';
import { done, refuse } from '../model.ts';
import { deleteMessage } from './deletions.ts';
import { perform } from './perform.ts';
import type { Supervisor } from '../supervisor.ts';

type MessageCommands = Pick<Gateway, 'perform' | 'deleteMessage' | 'receipts' | 'findMessages' | 'findChats'>;

export function messageCommands(supervisor: Supervisor): MessageCommands {
  const { messages, chats } = supervisor.ports;
  return {
    perform: (id, name, input) => perform(supervisor, id, name, input),
    deleteMessage: (id, messageId) => deleteMessage(supervisor, id, messageId),
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
