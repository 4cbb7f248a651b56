/** Questions about what is stored, and operations on it that are one request to the platform. */
import type { Gateway } from '../face.ts';
import { perform } from './perform.ts';
import type { Supervisor } from '../supervisor.ts';

type MessageCommands = Pick<Gateway, 'perform' | 'findMessages' | 'findChats'>;

export function messageCommands(supervisor: Supervisor): MessageCommands {
  const { messages, chats } = supervisor.ports;
  return {
    perform: (id, name, input) => perform(supervisor, id, name, input),
    findMessages: (id, query) => messages.find(id, query),
    async findChats(id, query) {
      const [page, stats] = await Promise.all([chats.find(id, query), chats.stats(id)]);
      return { ...page, stats };
    },
  };
}
