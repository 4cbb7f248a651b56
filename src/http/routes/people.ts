/** Checks numbers, and shows known facts of people and groups. */
import type { PictureKind } from '#actors/gateway.ts';
import { avatarView, bookView, chatDetailsView, checkedNumberView, removedContactView, savedContactView } from '#src/contract/views.ts';
import { pageSize, pageWithin, withPage } from '../answers.ts';
import { done, mapResult, platformRefusals, type Route, route } from '../route.ts';
import {
  AvatarAnswer,
  AvatarBody,
  CheckAnswer,
  CheckBody,
  contactPage,
  ContactPageAnswer,
  ContactsAnswer,
  ContactsQuery,
  DetailsAnswer,
  DetailsBody,
  ListContactsBody,
  mostContacts,
  RemoveContactBody,
  RemovedContactAnswer,
  SaveContactBody,
  SavedContactAnswer,
} from '../schemas/people.ts';
import { tooMany } from './send/row.ts';

const common = { credential: 'instance', tag: 'chat' } as const;

/**
 * Removes punctuation from a number, because clients write numbers in many forms. A text with other characters, such as an id with its suffix, is
 * returned unchanged.
 */
const plainNumber = (written: string | number): string => {
  const text = String(written).trim();
  return /^\+?[\d\s().-]+$/.test(text) ? text.replaceAll(/\D/g, '') : text;
};

const kindOf = (preview: boolean | undefined): PictureKind => (preview === true ? 'preview' : 'image');

export const peopleRoutes: readonly Route[] = [
  route({
    on: ['POST /chat/check'],
    operationId: 'checkNumbers',
    ...common,
    summary: 'Check which numbers have accounts and in which groups the account is. Known answers are cached, and look-ups are paced',
    body: CheckBody,
    answer: CheckAnswer,
    invalidTexts: { 'numbers:required': 'Missing numbers in payload', 'numbers:minItems': 'Missing numbers in payload' },
    refusals: { ...platformRefusals, limited: { ...tooMany, example: 'too many new numbers were looked up: try again later' } },
    run: async ({ gateway, id, body }) =>
      mapResult(await gateway.checkNumbers(id, body.numbers.map(plainNumber)), (all) =>
        all.map((one, at) => ({ ...checkedNumberView(one), query: String(body.numbers[at]) })),
      ),
  }),
  route({
    on: ['POST /chat/details'],
    operationId: 'getChatDetails',
    ...common,
    summary: 'Show everything that is known of a chat, with its picture, whether it is a business, and the groups that both are in',
    body: DetailsBody,
    answer: DetailsAnswer,
    invalidTexts: { '*': 'Invalid request payload' },
    refusals: {
      ...platformRefusals,
      limited: tooMany,
      notFound: { example: 'the number 5511999999999@s.whatsapp.net is not on WhatsApp' },
    },
    run: async ({ gateway, id, body }) => {
      const owner = gateway.view(id)?.record.owner ?? '';
      const details = await gateway.chatDetails(id, plainNumber(body.number), kindOf(body.preview));
      return mapResult(details, (known) => chatDetailsView(known, owner));
    },
  }),
  route({
    on: ['POST /chat/avatar'],
    operationId: 'getAvatar',
    ...common,
    summary: 'Tell where the picture of a person or group is, as far as the account may see it',
    body: AvatarBody,
    answer: AvatarAnswer,
    refusals: { ...platformRefusals, limited: { ...tooMany, example: 'too many pictures were looked up: try again later' } },
    run: async ({ gateway, id, body }) => {
      const kind = kindOf(body.preview);
      return mapResult(await gateway.picture(id, plainNumber(body.number), kind, body.force ?? false), (picture) =>
        avatarView(picture, kind),
      );
    },
  }),
];

// The address book, which the phone shares with its devices.

const tag = 'contact';

/** Texts that the interface fixes. */
const texts = {
  saved: 'Contact added successfully',
  removed: 'Contact removed successfully',
  notSaved: 'Erro ao adicionar contato',
  notRemoved: 'Erro ao remover contato',
} as const;

/** Accepts `phone` for `number`. Answers of `/chat/find` and contacts of other services use the name `phone`. */
const withNumber = ({ phone, ...body }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  phone === undefined ? body : { number: phone, ...body };

export const contactRoutes: readonly Route[] = [
  route({
    on: ['GET /contacts'],
    operationId: 'allContacts',
    credential: 'instance',
    tag,
    summary: 'List the people in the address book, or those outside of it, at once; use the pages for long lists',
    query: ContactsQuery,
    answer: ContactsAnswer,
    run: async ({ gateway, answerBytes, id, query }) => {
      const { contacts } = await gateway.contacts(id, { scope: query.contactScope ?? 'address_book', limit: mostContacts, offset: 0 });
      return done(pageWithin(contacts, bookView, answerBytes).views);
    },
  }),
  route({
    on: ['POST /contacts/list'],
    operationId: 'listContacts',
    credential: 'instance',
    tag,
    summary: 'List the people in the address book, or those outside of it, in pages',
    body: ListContactsBody,
    answer: ContactPageAnswer,
    run: async ({ gateway, answerBytes, id, body }) => {
      const { contactScope: scope = 'address_book', offset = 0 } = body;
      const limit = pageSize(body.limit ?? 0, contactPage);
      const { contacts, total, saved } = await gateway.contacts(id, { scope, limit, offset });
      const page = pageWithin(contacts, bookView, answerBytes);
      const nextOffset = offset + page.views.length;
      const pagination = { totalRecords: total, limit, offset, nextOffset, hasMore: nextOffset < total };
      return done(withPage('contacts', page, { totalDeviceContacts: saved, pagination }));
    },
  }),
  route({
    on: ['POST /contact/add'],
    operationId: 'saveContact',
    credential: 'instance',
    tag,
    summary: 'Save a person in the address book of the phone, or change the name',
    relevantFields: withNumber,
    body: SaveContactBody,
    answer: SavedContactAnswer,
    refusals: { ...platformRefusals, limited: {}, notFound: { example: 'the number 5511999999999@s.whatsapp.net is not on WhatsApp' } },
    failure: { text: texts.notSaved },
    run: async ({ gateway, id, body }) => {
      return mapResult(await gateway.saveContact(id, String(body.number), body.name.trim()), (contact) => ({
        success: true,
        message: texts.saved,
        contact: savedContactView(contact),
      }));
    },
  }),
  route({
    on: ['POST /contact/remove'],
    operationId: 'removeContact',
    credential: 'instance',
    tag,
    summary: 'Remove a person from the address book of the phone',
    relevantFields: withNumber,
    body: RemoveContactBody,
    answer: RemovedContactAnswer,
    refusals: { ...platformRefusals, notFound: { example: 'contact not found' } },
    failure: { text: texts.notRemoved },
    run: async ({ gateway, id, body }) => {
      return mapResult(await gateway.removeContact(id, String(body.number)), (contact) => ({
        success: true,
        message: texts.removed,
        removed_contact: removedContactView(contact),
      }));
    },
  }),
];
