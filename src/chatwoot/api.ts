/** The requests of Chatwoot's Application API that the gateway makes, and the parts of the answers that it reads. */
import { openAsBlob } from 'node:fs';
import { FormData } from 'undici';
import { type ChatwootNews, type ChatwootTarget, cutText, longestText } from '#actors/model.ts';
import type {
  ChatwootAnswer,
  ChatwootApi,
  ChatwootContact,
  ChatwootContactWish,
  ChatwootConversation,
  ChatwootListed,
  ChatwootPost,
} from '#actors/ports.ts';
import { type Ask, type ChatwootClient, type ClientOptions, createChatwootClient } from './client.ts';

// Reads fields of unknown JSON. A missing field, or one of another type, is empty.

const field = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (at, name) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Readonly<Record<string, unknown>>)[name] : null,
    value,
  );

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the id; 0 if the value is not an id. */
const idOf = (value: unknown): number => (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

// The posts of Chatwoot to the webhook of an inbox, reduced to the fields that the gateway uses.

/** Types of messages that are for the contact. Agents write `outgoing` messages, and Chatwoot itself sends `template` messages. */
const types: ReadonlySet<unknown> = new Set(['outgoing', 'template', 1, 3]);

const mostFiles = 15;

const filesOf = (message: unknown) =>
  listOf(field(message, 'attachments'))
    .slice(0, mostFiles)
    .map((file) => ({ url: textOf(field(file, 'data_url')), kind: textOf(field(file, 'file_type')) }))
    .filter(({ url }) => url !== '');

const contactIn = (conversation: unknown) => {
  const contact = field(conversation, 'meta', 'sender');
  return {
    id: idOf(field(contact, 'id')),
    name: textOf(field(contact, 'name')),
    identifier: textOf(field(contact, 'identifier')),
    phone: textOf(field(contact, 'phone_number')),
    sourceId: textOf(field(conversation, 'contact_inbox', 'source_id')),
  };
};

/** Returns the source id of a message. Older versions of Chatwoot send the source id only in the list of the conversation's messages. */
const sourceOf = (body: unknown, id: number): string => {
  const same = listOf(field(body, 'conversation', 'messages')).find((message) => field(message, 'id') === id);
  return textOf(field(body, 'source_id')) || textOf(field(same, 'source_id'));
};

/** Returns true if the message is visible to the contact: `private` is missing or false. Any other value counts as a note, which only agents may see. */
const isOpen = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && (!Object.hasOwn(body, 'private') || field(body, 'private') === false);

/**
 * Reads a post of Chatwoot's webhook. Returns null for posts that need no action: notes between agents, messages of contacts, and changes of
 * other resources.
 */
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
  return { ...common, kind: 'message', text, agent, files, replyTo, contact: contactIn(conversation) };
};

// A message in the format that Chatwoot accepts: JSON, or form data if the message has a file.

/** Largest length of one text that Chatwoot accepts. In characters. */
const longest = 150_000;

const messageBody = async ({ text, incoming, private: isNote, sourceId, replyTo, file }: ChatwootPost): Promise<object | FormData> => {
  const fields = {
    content: text.slice(0, longest),
    message_type: incoming ? 'incoming' : 'outgoing',
    private: isNote,
    source_id: sourceId,
  };
  const attributes = replyTo === 0 ? null : { in_reply_to: replyTo };
  if (file === null) return { ...fields, ...(attributes && { content_attributes: attributes }) };
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
  if (attributes) form.set('content_attributes', JSON.stringify(attributes));
  form.set('attachments[]', await openAsBlob(file.path, { type: file.mimetype }), file.name);
  return form;
};

const said = (error: string): ChatwootAnswer<never> => ({ ok: false, error });
const strange = said('what answers there is no Chatwoot: the answer lacks what was asked for');

/** A function that reads an answer. It returns null if the answer has another form. */
type Read<T> = (answer: unknown) => T | null;

const contactOf =
  (inboxId: number): Read<ChatwootContact> =>
  (contact) => {
    const id = idOf(field(contact, 'id'));
    const own = listOf(field(contact, 'contact_inboxes')).find((one) => field(one, 'inbox', 'id') === inboxId);
    const [name, identifier, phone] = ['name', 'identifier', 'phone_number'].map((key) => textOf(field(contact, key)));
    return id === 0
      ? null
      : { id, name: name ?? '', identifier: identifier ?? '', phone: phone ?? '', sourceId: textOf(field(own, 'source_id')) };
  };

const madeContactOf =
  (inboxId: number): Read<ChatwootContact> =>
  (answer) => {
    const contact = contactOf(inboxId)(field(answer, 'payload', 'contact'));
    const sourceId = textOf(field(answer, 'payload', 'contact_inbox', 'source_id'));
    return contact && { ...contact, sourceId: sourceId || contact.sourceId };
  };

const conversationOf: Read<ChatwootConversation> = (conversation) => {
  const id = idOf(field(conversation, 'id'));
  return id === 0 ? null : { id, isResolved: field(conversation, 'status') === 'resolved' };
};

const all =
  <T>(read: Read<T>, fits: (one: unknown) => boolean = () => true): Read<readonly T[]> =>
  (answer) => {
    const items = field(answer, 'payload');
    return Array.isArray(items)
      ? items.filter(fits).flatMap((one) => {
          const item = read(one);
          return item === null ? [] : [item];
        })
      : null;
  };

const wished = ({ name, identifier, phone, imageUrl }: ChatwootContactWish) => ({
  ...(name === '' ? {} : { name }),
  ...(identifier === '' ? {} : { identifier }),
  ...(phone === '' ? {} : { phone_number: phone }),
  ...(imageUrl === '' ? {} : { avatar_url: imageUrl }),
});

const madeId: Read<number> = (answer) => idOf(field(answer, 'id')) || null;

/** Sends a request and reads the answer. */
type Get = <T>(target: ChatwootTarget, ask: Ask, read: Read<T>) => Promise<ChatwootAnswer<T>>;

const getterOf =
  (client: ChatwootClient): Get =>
  async (target, ask, read) => {
    const answer = await client.ask(target, ask);
    if (!answer.ok) return answer;
    const value = read(answer.value);
    return value === null ? strange : { ok: true, value };
  };

/** Sends a change and ignores the body of the answer. */
const change = async (get: Get, target: ChatwootTarget, ask: Ask): Promise<ChatwootAnswer<null>> => {
  const changed = await get(target, ask, () => true);
  return changed.ok ? { ok: true, value: null } : changed;
};

const contactRequests = (get: Get): Pick<ChatwootApi, 'searchContacts' | 'createContact' | 'updateContact' | 'addToInbox'> => ({
  searchContacts: (target, text) =>
    get(target, { method: 'GET', path: `contacts/search?q=${encodeURIComponent(text)}` }, all(contactOf(target.inboxId))),
  createContact: (target, wish) => {
    const body = { inbox_id: target.inboxId, ...wished(wish) };
    return get(target, { method: 'POST', path: 'contacts', body }, madeContactOf(target.inboxId));
  },
  updateContact: (target, contactId, wish) => change(get, target, { method: 'PUT', path: `contacts/${contactId}`, body: wished(wish) }),
  addToInbox: (target, contactId) => {
    const ask = { method: 'POST', path: `contacts/${contactId}/contact_inboxes`, body: { inbox_id: target.inboxId } } as const;
    return get(target, ask, (answer) => textOf(field(answer, 'source_id')) || null);
  },
});

const conversationRequests = (get: Get): Pick<ChatwootApi, 'conversations' | 'conversation' | 'createConversation'> => ({
  async conversations(target, contactId) {
    const ofInbox = (one: unknown): boolean => field(one, 'inbox_id') === target.inboxId;
    const found = await get(target, { method: 'GET', path: `contacts/${contactId}/conversations` }, all(conversationOf, ofInbox));
    return found.ok ? { ok: true, value: found.value.toSorted((a, b) => b.id - a.id) } : found;
  },
  conversation: (target, id) => get(target, { method: 'GET', path: `conversations/${id}` }, conversationOf),
  createConversation: (target, { contactId, sourceId }) => {
    const body = { source_id: sourceId, inbox_id: target.inboxId, contact_id: contactId, status: 'open' };
    return get(target, { method: 'POST', path: 'conversations', body }, madeId);
  },
});

/** Reads a listed message. Chatwoot states the time in Unix seconds. */
const listedOf: Read<ChatwootListed> = (message) => {
  const [id, seconds] = [idOf(field(message, 'id')), field(message, 'created_at')];
  return id === 0 ? null : { id, sourceId: textOf(field(message, 'source_id')), at: typeof seconds === 'number' ? seconds * 1_000 : null };
};

const messageRequests = (get: Get): Pick<ChatwootApi, 'post' | 'listed' | 'setStatus'> => ({
  async post(target, conversationId, post) {
    const body = await messageBody(post).catch(() => null);
    if (body === null) return said('the file of the message is gone');
    return get(target, { method: 'POST', path: `conversations/${conversationId}/messages`, body, bytes: post.file?.size ?? 0 }, madeId);
  },
  listed(target, conversationId, before) {
    const query = before === 0 ? '' : `?before=${before}`;
    return get(target, { method: 'GET', path: `conversations/${conversationId}/messages${query}` }, all(listedOf));
  },
  setStatus: (target, { conversationId, id }, status, error) => {
    const body = { status, ...(error === '' ? {} : { external_error: error }) };
    return change(get, target, { method: 'PATCH', path: `conversations/${conversationId}/messages/${id}`, body });
  },
});

const inboxRequest = (get: Get): Pick<ChatwootApi, 'check'> => ({
  async check(target) {
    const { inboxId, accountId } = target;
    const found = await get(
      target,
      { method: 'GET', path: `inboxes/${inboxId}`, isAwaited: true },
      (answer) => textOf(field(answer, 'channel_type')) || null,
    );
    if (!found.ok) return found.status === 404 ? said(`Chatwoot has no inbox ${inboxId} in account ${accountId}`) : found;
    return found.value === 'Channel::Api' ? { ok: true, value: null } : said(`the inbox ${inboxId} is of another type than API`);
  },
});

export const createChatwootApi = (options: ClientOptions): ChatwootApi & { close(): Promise<void> } => {
  const client = createChatwootClient(options);
  const get = getterOf(client);
  return {
    objection: (url) => options.guard.checkUrl(url),
    read: readHook,
    ...inboxRequest(get),
    ...contactRequests(get),
    ...conversationRequests(get),
    ...messageRequests(get),
    close: () => client.close(),
  };
};
