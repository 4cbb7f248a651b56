/** Commands on people and groups: existence, pictures, known facts. */
import type { Gateway } from '../views.ts';
import { done } from '../model.ts';
import { detailsOf } from '../session/chat-details.ts';
import { checkNumbers } from '../session/number-check.ts';
import { performIn } from '../session/perform.ts';
import type { Supervisor } from '../supervisor.ts';
import { perform, whileLive } from './perform.ts';
import { portraitOf } from './portrait.ts';

type PeopleCommands = Pick<Gateway, 'checkNumbers' | 'picture' | 'chatDetails' | 'setOwnPicture'>;

export const peopleCommands = (supervisor: Supervisor): PeopleCommands => ({
  checkNumbers: (id, numbers) => whileLive(supervisor, id, (cell, signal) => checkNumbers(cell, signal, numbers)),
  chatDetails: (id, number, kind) =>
    whileLive(supervisor, id, (cell, signal) => detailsOf(supervisor.ports, cell, signal, { number, kind })),
  async setOwnPicture(id, source) {
    const picture = await portraitOf(supervisor.ports, source);
    return picture.ok ? perform(supervisor, id, 'account.picture', { jpeg: picture.value }) : picture;
  },
  picture: (id, number, kind, force) =>
    whileLive(supervisor, id, async (cell, signal) => {
      const chat = cell.link.chatOf(number);
      if (!chat.ok) return chat;
      const { chatId, certain } = chat.value;
      const resolved = certain ? done(chatId) : await performIn(cell, signal, 'chat.resolve', { number });
      if (!resolved.ok) return resolved;
      return cell.pictures.look(cell.recipients.remembered(resolved.value) ?? resolved.value, kind, force);
    }),
});
