/** Shapes of the address book. */
import { Type } from 'typebox';
import { contactScopes } from '#actors/gateway.ts';
import { Count, fields, Flag, LooseText, Name, NumberText, OneOf, optional } from './common.ts';

export const contactPage = { usual: 100, most: 1_000 };
/** Contacts that one list without pages has at most. */
export const mostContacts = 50_000;

const scope = optional(OneOf(contactScopes, { description: 'Whom to list; the address book when left out', default: 'address_book' }));

export const ContactsQuery = Type.Object({ contactScope: scope });

export const ListContactsBody = Type.Object({
  limit: optional(Count(-1_000_000, 100_000_000, `At most ${contactPage.most}; ${contactPage.usual} when not positive`)),
  offset: optional(Count(0, 100_000_000, 'Contacts to leave out')),
  contactScope: scope,
});

const Contact = Type.Object(fields('jid contact_name contact_FirstName', Type.String()), {
  examples: [{ jid: '5511999999999@s.whatsapp.net', contact_name: 'Ana Lima', contact_FirstName: 'Ana' }],
});

export const ContactsAnswer = Type.Array(Contact);

export const ContactPageAnswer = Type.Object({
  contacts: Type.Array(Contact),
  totalDeviceContacts: Type.Integer({ description: 'All contacts in the address book' }),
  pagination: Type.Object({
    ...fields('totalRecords limit offset nextOffset', Type.Integer()),
    hasMore: Type.Boolean({ description: 'Go on at nextOffset; a page may end before its limit when it is large' }),
  }),
});

const person = {
  number: NumberText('The number of the person'),
  phone: optional(LooseText(128, 'Another name of `number`', 1)),
};

export const SaveContactBody = Type.Object({ ...person, name: Name('The name to save the person under', 'Ana Lima') });
export const RemoveContactBody = Type.Object(person);

const said = { success: Flag('Always true'), message: Type.String() };

export const SavedContactAnswer = Type.Object({ ...said, contact: Type.Object(fields('jid name phone', Type.String())) });
export const RemovedContactAnswer = Type.Object({ ...said, removed_contact: Type.Object(fields('jid phone', Type.String())) });
