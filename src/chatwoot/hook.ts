/** The posts of Chatwoot to the webhook of an inbox, reduced to the fields that the gateway uses. */
import { cutText, longestText, type ChatwootNews } from '#actors/model.ts';
import { field, idOf, listOf, textOf } from './json.ts';

/** Types of messages that are for the contact: agents write the one, Chatwoot itself the other. */
const types: ReadonlySet<unknown> = new Set(['outgoing', 'template', 1, 3]);

const mostFiles = 15;

const filesOf = (message: unknown) =>
  listOf(field(message, 'attachments'))
    .slice(0, mostFiles)
    .map((file) => ({ url: textOf(field(file, 'data_url')), kind: textOf(field(file, 'file_type')) }))
    .filter(({ url }) => url !== '');

const contactOf = (conversation: unknown) => {
  const contact = field(conversation, 'meta', 'sender');
  return {
    id: idOf(field(contact, 'id')),
    name: textOf(field(contact, 'name')),
    identifier: textOf(field(contact, 'identifier')),
    phone: textOf(field(contact, 'phone_number')),
    sourceId: textOf(field(conversation, 'contact_inbox', 'source_id')),
  };
};

/** Older versions tell what a message was posted with only where they list the messages of the conversation. */
const sourceOf = (body: unknown, id: number): string => {
  const same = listOf(field(body, 'conversation', 'messages')).find((message) => field(message, 'id') === id);
  return textOf(field(body, 'source_id')) || textOf(field(same, 'source_id'));
};

/** Returns true if the message is visible to the contact. Only agents may see a note, so a message that is not clearly public counts as a note. */
const isOpen = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && (!Object.hasOwn(body, 'private') || field(body, 'private') === false);

/** Null for what concerns nobody: notes between agents, what contacts wrote, changes of other things. */
export const readHook = (body: unknown): ChatwootNews | null => {
  const id = idOf(field(body, 'id'));
  const conversation = field(body, 'conversation');
  const common = {
    accountId: idOf(field(body, 'account', 'id')),
    inboxId: idOf(field(body, 'inbox', 'id')),
    conversationId: idOf(field(conversation, 'id')),
    id,
    sourceId: sourceOf(body, id),
  };
  const isForContact = types.has(field(body, 'message_type')) && isOpen(body);
  if (id === 0 || common.conversationId === 0 || !isForContact) return null;
  const isDeleted = field(body, 'content_attributes', 'deleted') === true;
  if (field(body, 'event') === 'message_updated') return isDeleted ? { ...common, kind: 'deleted' } : null;
  if (field(body, 'event') !== 'message_created' || isDeleted) return null;
  const [text, files] = [cutText(textOf(field(body, 'content')), longestText), filesOf(body)];
  if (text === '' && files.length === 0) return null;
  const isOfAgent = ['outgoing', 1].includes(field(body, 'message_type') as string | number);
  const agent = isOfAgent ? textOf(field(body, 'sender', 'available_name')) || textOf(field(body, 'sender', 'name')) : '';
  const replyTo = idOf(field(body, 'content_attributes', 'in_reply_to'));
  return { ...common, kind: 'message', text, agent, files, replyTo, contact: contactOf(conversation) };
};
