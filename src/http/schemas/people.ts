/** Shapes of look-ups of people and groups. */
import { Type } from 'typebox';
import { contactScopes } from '#actors/gateway.ts';
import type { chatDetailsView } from '#src/contract/views.ts';
import { Chat } from './chat.ts';
import { Count, fields, Flag, like, LooseText, Name, numberExample, NumberText, OneOf, optional, ref } from './common.ts';

/** Largest number of queries in one request. The platform's own client sends no more in one request. */
const mostNumbers = 500;

export const CheckBody = Type.Object({
  numbers: Type.Array(like(LooseText(100, 'A number in any spelling, or the id of a group'), numberExample), {
    minItems: 1,
    maxItems: mostNumbers,
    description: 'Numbers and groups to look up, answered in this order',
  }),
});

const CheckedNumber = Type.Object({
  query: Type.String({ description: 'The number or id of the query' }),
  ...fields('jid lid', Type.String()),
  isInWhatsapp: optional(
    Type.Boolean({
      description: 'True if the number has an account; for a group, if the account is a member. Absent if the platform did not answer',
    }),
  ),
  verifiedName: Type.String({ description: 'Name of a verified business, if it is known' }),
  groupName: Type.String(),
  error: Type.String({ description: 'Reason why there is no answer; empty if there is one' }),
});

export const CheckAnswer = Type.Array(CheckedNumber);

const number = like(LooseText(100, 'A number in any spelling, or the id of a person or group', 1), numberExample);
const preview = optional(Flag('The small picture in place of the whole one'));

export const DetailsBody = Type.Object({ number, preview });

const details = {
  is_business: optional(
    Type.Boolean({ description: 'A verified business; left out when that is not known and the pace of lookups allows no question' }),
  ),
  business_name: optional(Type.String()),
};

export const DetailsAnswer = Type.Unsafe<ReturnType<typeof chatDetailsView>>(Type.Intersect([ref(Chat), Type.Object(details)]));

export const AvatarBody = Type.Object({ number, preview, force: optional(Flag('Ask the platform again; honoured every 20 s')) });

export const AvatarAnswer = Type.Object({
  image: Type.String({ description: 'Address of the whole picture; empty with `preview`' }),
  imagePreview: Type.String({ description: 'Address of the small picture; empty without `preview`' }),
  status: OneOf(['there', 'hidden', 'absent'], { description: '`hidden`: the account may not see it' }),
});

// Shapes of the address book.

export const contactPage = { usual: 100, most: 1_000 };
/** Largest number of contacts in a list without pages. */
export const mostContacts = 50_000;

const scope = optional(OneOf(contactScopes, { description: 'Contacts to list; the address book if absent', default: 'address_book' }));

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
