/**
 * Finds or makes the contact and the conversation of a chat, and stores their ids. A contact or conversation that was deleted in Chatwoot is found or made
 * again.
 */
import { type ChatwootChat, type ChatwootMessage, type ChatwootTarget, type Claim, numberForms, type ToldChat } from '../model.ts';
import type { ChatwootAnswer, ChatwootApi, ChatwootContact, ChatwootContactWish, ChatwootFailure, ChatwootStore } from '../ports.ts';

/** An inbox, as one instance uses it. */
export interface InboxOf {
  readonly claim: Claim;
  readonly target: ChatwootTarget;
  /** A hash of the server, the account and the inbox, which identifies the inbox. */
  readonly inbox: string;
  readonly newConversations: boolean;
}

type Contact = Pick<ChatwootChat, 'contactId' | 'sourceId'>;

/** Marks a name or a picture that the platform has not sent yet. No name on the platform contains a control character. */
const notTold = '\u0001';
/**
 * The name and picture of a chat whose conversation an agent began. The contact keeps the name and picture that the agent gave until the platform reports a
 * change.
 */
export const untold = { name: notTold, image: notTold } as const;

const done = <T>(value: T): ChatwootAnswer<T> => ({ ok: true, value });
const isGone = (answer: ChatwootAnswer<unknown>): answer is ChatwootFailure => !answer.ok && answer.status === 404;

/** Returns the number with a plus sign, or '' if the chat has no number that Chatwoot accepts. */
const phoneOf = (chatId: string): string => {
  const [, digits] = /^([1-9]\d{1,14})@s\.whatsapp\.net$/.exec(chatId) ?? [];
  return digits === undefined ? '' : `+${digits}`;
};

/** Returns the ids under which the platform may know the chat (see `numberForms`). The given id is the first. */
const formsOf = (chatId: string): readonly string[] => {
  const phone = phoneOf(chatId);
  return phone === '' ? [chatId] : numberForms(phone.slice(1)).map((digits) => `${digits}@s.whatsapp.net`);
};

/** Drops the query of a picture's URL, which changes while the picture stays the same. */
const pictureOf = (image: string): string => image.replace(/\?.*/, '');

export class Conversations {
  readonly #api: ChatwootApi;
  readonly #rows: ChatwootStore;

  constructor(api: ChatwootApi, rows: ChatwootStore) {
    this.#api = api;
    this.#rows = rows;
  }

  /** Returns the conversation for the next message of the chat. */
  async of(at: InboxOf, told: ToldChat): Promise<ChatwootAnswer<number>> {
    const row = await this.#row(at, told.chatId);
    if (row === null) return this.#begin(at, told);
    const known = await this.#refreshed(at, row, told);
    if (known.conversationId === 0) return this.#resume(at, told, known);
    if (!at.newConversations) return done(known.conversationId);
    const found = await this.#api.conversation(at.target, known.conversationId);
    if (found.ok && !found.value.isResolved) return done(known.conversationId);
    return found.ok || isGone(found) ? this.#resume(at, told, known) : found;
  }

  /** Forgets a conversation that was deleted in Chatwoot. */
  async forget(at: InboxOf, chatId: string): Promise<void> {
    const row = await this.#row(at, chatId);
    if (row) await this.#rows.saveChat(at.claim, at.inbox, { ...row, conversationId: 0 });
  }

  /** Returns the row of the chat. An agent may have begun the conversation with the other form of the number. */
  async #row({ claim, inbox }: InboxOf, chatId: string): Promise<ChatwootChat | null> {
    for (const form of formsOf(chatId)) {
      const row = await this.#rows.chat(claim.instanceId, inbox, form);
      if (row) return { ...row, chatId };
    }
    return null;
  }

  /**
   * Updates the contact in Chatwoot after its name or picture changed on the platform. A name that agents gave the contact stays until the name on the platform
   * changes.
   */
  async #refreshed({ claim, target, inbox }: InboxOf, row: ChatwootChat, told: ToldChat): Promise<ChatwootChat> {
    const name = told.name === '' || told.name === row.name ? '' : told.name;
    const imageUrl = told.image === '' || pictureOf(told.image) === pictureOf(row.image) ? '' : told.image;
    if (name === '' && imageUrl === '') return row;
    const wish = { name: row.name === notTold ? '' : name, imageUrl: row.image === notTold ? '' : imageUrl, identifier: '', phone: '' };
    if (wish.name !== '' || wish.imageUrl !== '') {
      const changed = await this.#api.updateContact(target, row.contactId, wish);
      if (!changed.ok) return row;
    }
    const next = { ...row, name: name || row.name, image: imageUrl || row.image };
    await this.#rows.saveChat(claim, inbox, next);
    return next;
  }

  async #begin(at: InboxOf, told: ToldChat): Promise<ChatwootAnswer<number>> {
    const contact = await this.#contact(at, told);
    if (!contact.ok) return contact;
    const conversation = contact.value.isNew ? done(0) : await this.#latest(at, contact.value.contactId);
    return conversation.ok ? this.#settle(at, told, contact.value, conversation.value) : conversation;
  }

  /** Finds or makes a conversation for a known contact. */
  async #resume(at: InboxOf, told: ToldChat, known: ChatwootChat): Promise<ChatwootAnswer<number>> {
    const conversation = await this.#latest(at, known.contactId);
    if (isGone(conversation)) return this.#begin(at, told);
    return conversation.ok ? this.#settle(at, known, known, conversation.value) : conversation;
  }

  /**
   * Returns the latest open conversation of the contact. If there is none, returns the latest resolved one, unless `newConversations` is set. Returns 0
   * if no conversation is found.
   */
  async #latest({ target, newConversations }: InboxOf, contactId: number): Promise<ChatwootAnswer<number>> {
    const found = await this.#api.conversations(target, contactId);
    if (!found.ok) return found;
    const open = found.value.find(({ isResolved }) => !isResolved) ?? (newConversations ? undefined : found.value[0]);
    return done(open?.id ?? 0);
  }

  async #settle(at: InboxOf, { chatId, name, image }: ToldChat, contact: Contact, found: number): Promise<ChatwootAnswer<number>> {
    const made = found === 0 ? await this.#api.createConversation(at.target, contact) : done(found);
    if (!made.ok) return made;
    const { contactId, sourceId } = contact;
    await this.#rows.saveChat(at.claim, at.inbox, { chatId, contactId, sourceId, conversationId: made.value, name, image });
    return made;
  }

  async #contact({ target }: InboxOf, told: ToldChat): Promise<ChatwootAnswer<Contact & { readonly isNew: boolean }>> {
    const { chatId, name, image: imageUrl } = told;
    for (const form of formsOf(chatId)) {
      const number = phoneOf(form);
      const found = await this.#api.searchContacts(target, number === '' ? form : number.slice(1));
      if (!found.ok) return found;
      const known =
        found.value.find(({ identifier }) => identifier === form) ??
        (number === '' ? undefined : found.value.find((one) => one.phone === number));
      if (known) return this.#existing(target, known, chatId);
    }
    const phone = phoneOf(chatId);
    const wish: ChatwootContactWish = { name: name || phone || chatId, identifier: chatId, phone, imageUrl };
    const made = await this.#api.createContact(target, wish);
    return made.ok ? done({ contactId: made.value.id, sourceId: made.value.sourceId, isNew: true }) : made;
  }

  async #existing(
    target: ChatwootTarget,
    { id: contactId, identifier, sourceId }: ChatwootContact,
    chatId: string,
  ): Promise<ChatwootAnswer<Contact & { readonly isNew: boolean }>> {
    if (identifier === '') {
      const named = await this.#api.updateContact(target, contactId, { identifier: chatId, name: '', phone: '', imageUrl: '' });
      if (!named.ok) return named;
    }
    const source = sourceId === '' ? await this.#api.addToInbox(target, contactId) : done(sourceId);
    return source.ok ? done({ contactId, sourceId: source.value, isNew: false }) : source;
  }
}

// Maps message ids between Chatwoot and the platform. A message of an agent carries its conversation and its id in Chatwoot as `track_id`.
// A message that the gateway posted carries the platform's id as its source id.

export const trackSource = 'chatwoot';

type Link = Pick<ChatwootMessage, 'conversationId' | 'id'>;

export const trackIdOf = ({ conversationId, id }: Link): string => `${conversationId}/${id}`;

/** Returns the conversation and the message of a `track_id`; null if the text has another form. */
export const linkOf = (trackId: string): Link | null => {
  const [, conversation = '', message = ''] = /^(\d{1,15})\/(\d{1,15})$/.exec(trackId) ?? [];
  return message === '' ? null : { conversationId: Number(conversation), id: Number(message) };
};

/** The progress of a message that failed or was deleted. A Chatwoot message with several parts has a separate row for its failure, see `failedKey`. */
export const failed = -1;

/** Returns the key of the row that notes the failure of a Chatwoot message. Keys of platform messages contain no colon. */
export const failedKey = (link: Link): string => `failed:${trackIdOf(link)}`;

/** Returns the key of the row that notes that an agent deleted a message. */
export const deletedKey = (link: Link): string => `deleted:${trackIdOf(link)}`;

const prefix = 'whatsapp:';

export const sourceIdOf = (key: string): string => prefix + key;

/** Returns true if a gateway posted the message. */
export const isOwnSource = (sourceId: string): boolean => sourceId.startsWith(prefix);
