/** Operations on the address book. */
import { refuse } from '#actors/model.ts';
import type { ContactOperations } from '#actors/ports.ts';
import { removeAction, setAction } from '../app-state/actions.ts';
import { isPerson } from '../wire/jid.ts';
import type { Handlers } from './handlers.ts';
import { lidOf } from './people.ts';

const noNumber = refuse('invalid', 'a contact is saved by its number');

export const contactHandlers: Handlers<ContactOperations> = {
  // Contacts are indexed by number; the LID stands beside it, so that devices learn the pair.
  'contact.save': async (connection, { chatId, name }) => {
    if (!isPerson(chatId)) return noNumber;
    const lidJid = await lidOf(connection, chatId);
    const [firstName = name] = name.split(' ', 1);
    const contactAction = { fullName: name, firstName, saveOnPrimaryAddressbook: true, ...(lidJid === '' ? {} : { lidJid }) };
    return connection.shared.patch([setAction('contact', [chatId], { contactAction })]);
  },

  'contact.remove': async (connection, { chatId }) => {
    if (!isPerson(chatId)) return noNumber;
    await connection.learn([chatId]);
    return connection.shared.patch([removeAction('contact', [chatId], { contactAction: {} })]);
  },
};
