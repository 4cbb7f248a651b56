/** Commands on the address book, which the phone and its devices share. */
import type { ContactFace } from '../views.ts';
import { done, refuse, type InstanceId } from '../model.ts';
import { performIn } from '../session/perform.ts';
import { recipientOf } from '../session/recipient-of.ts';
import type { Supervisor } from '../supervisor.ts';
import { whileLive } from './perform.ts';

export function contactCommands(supervisor: Supervisor): ContactFace {
  const { contacts } = supervisor.ports;

  /** Returns the contact in the address book for a number, in either of its forms. */
  const find = (id: InstanceId, number: string) => {
    const named = supervisor.cell(id)?.link.chatOf(number);
    return named?.ok ? contacts.saved(id, [named.value.chatId, ...named.value.forms]) : Promise.resolve(null);
  };

  return {
    contacts: (id, query) => contacts.list(id, query),
    saveContact: (id, number, name) =>
      whileLive(supervisor, id, async (cell, signal) => {
        const recipient = await recipientOf(cell, signal, number);
        if (!recipient.ok) return recipient;
        const { chatId } = recipient.value;
        const saved = await performIn(cell, signal, 'contact.save', { chatId, name });
        return saved.ok ? done((await contacts.saved(id, [chatId])) ?? { contactId: chatId, lid: '', name, pushName: '' }) : saved;
      }),
    removeContact: (id, number) =>
      whileLive(supervisor, id, async (cell, signal) => {
        const contact = await find(id, number);
        if (!contact) return refuse('notFound', 'contact not found');
        const removed = await performIn(cell, signal, 'contact.remove', { chatId: contact.contactId });
        return removed.ok ? done(contact) : removed;
      }),
  };
}
