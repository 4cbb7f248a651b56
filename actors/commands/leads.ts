/** Commands on leads. They need no session: what they change is ours alone. */
import type { Gateway } from '../face.ts';
import { done, refuse } from '../model.ts';
import type { Supervisor } from '../supervisor.ts';

type LeadCommands = Pick<Gateway, 'chatStats' | 'editLead'>;

export function leadCommands(supervisor: Supervisor): LeadCommands {
  const { chats } = supervisor.ports;
  return {
    chatStats: (id) => chats.stats(id),
    async editLead(id, name, fields) {
      const cell = supervisor.cell(id);
      if (!cell) return refuse('notFound', 'instance not found');
      const chat = await chats.get(id, name);
      if (!chat) return refuse('notFound', 'Chat not found');
      await cell.recorder.append({ kind: 'chat', chat: { chatId: chat.chatId, extra: fields }, create: false, tell: 'chats' });
      return done((await chats.get(id, chat.chatId)) ?? chat);
    },
  };
}
