/** The data of a Chatwoot server: contacts, conversations and messages of one account, with one inbox of the type API. */

export interface Contact {
  readonly id: number;
  name: string;
  identifier: string;
  phone_number: string;
  avatar_url: string;
  /** Source ids by inbox. */
  readonly sources: Map<number, string>;
}

export interface Conversation {
  readonly id: number;
  readonly contactId: number;
  readonly inboxId: number;
  readonly sourceId: string;
  status: 'open' | 'resolved' | 'pending';
}

export interface Attached {
  readonly id: number;
  readonly name: string;
  readonly mimetype: string;
  readonly bytes: Buffer;
  /** The address of the file in the message, if it is not the address of this test server. */
  readonly url?: string;
}

export interface Message {
  readonly id: number;
  readonly conversationId: number;
  content: string;
  readonly type: 'incoming' | 'outgoing' | 'activity' | 'template';
  readonly private: boolean;
  readonly sourceId: string | null;
  attributes: Readonly<Record<string, unknown>>;
  readonly files: readonly Attached[];
  /** The name of the agent who wrote the message. Empty for a message of the contact. */
  readonly sender: string;
  status: 'sent' | 'delivered' | 'read' | 'failed';
  error: string;
  /** The time of the message. In Unix seconds. */
  readonly at: number;
}

export type Refused = { readonly status: 404 | 422; readonly message: string };
const missing: Refused = { status: 404, message: 'Resource could not be found' };
const taken = (what: string): Refused => ({ status: 422, message: `${what} has already been taken` });

type ContactFields = Partial<Pick<Contact, 'name' | 'identifier' | 'phone_number' | 'avatar_url'>>;

export class ChatwootWorld {
  readonly inboxId: number;
  readonly contacts = new Map<number, Contact>();
  readonly conversations = new Map<number, Conversation>();
  readonly messages: Message[] = [];
  /** Called when a message was created or changed. */
  changed: (event: 'message_created' | 'message_updated', message: Message) => void = () => undefined;
  #last = 100;

  constructor(inboxId: number) {
    this.inboxId = inboxId;
  }

  nextId(): number {
    return (this.#last += 1);
  }

  #objection(fields: ContactFields, self: number): Refused | null {
    if (fields.phone_number && !/^\+[1-9]\d{1,14}$/.test(fields.phone_number))
      return { status: 422, message: 'Phone number should be in e164 format' };
    for (const other of this.contacts.values()) {
      if (other.id === self) continue;
      if (fields.identifier && other.identifier === fields.identifier) return taken('Identifier');
      if (fields.phone_number && other.phone_number === fields.phone_number) return taken('Phone number');
    }
    return null;
  }

  /** Adds a contact. `inbox` is false for a contact that an agent created by hand. */
  addContact(fields: ContactFields, inbox = true): Contact | Refused {
    const objection = this.#objection(fields, 0);
    if (objection) return objection;
    const id = this.nextId();
    const contact = { id, name: '', identifier: '', phone_number: '', avatar_url: '', ...fields, sources: new Map<number, string>() };
    this.contacts.set(id, contact);
    if (inbox) contact.sources.set(this.inboxId, `source-${id}`);
    return contact;
  }

  changeContact(id: number, fields: ContactFields): Contact | Refused {
    const contact = this.contacts.get(id);
    if (!contact) return missing;
    return this.#objection(fields, id) ?? Object.assign(contact, fields);
  }

  search(text: string): readonly Contact[] {
    const fits = (value: string): boolean => value.toLowerCase().includes(text.toLowerCase());
    return [...this.contacts.values()]
      .filter(({ name, identifier, phone_number }) => [name, identifier, phone_number].some(fits))
      .slice(0, 15);
  }

  addToInbox(id: number): string | Refused {
    const contact = this.contacts.get(id);
    if (!contact) return missing;
    if (contact.sources.has(this.inboxId)) return taken('Source');
    contact.sources.set(this.inboxId, `source-${id}`);
    return `source-${id}`;
  }

  addConversation(contactId: number, sourceId: string, status: Conversation['status'] = 'open'): Conversation | Refused {
    const contact = this.contacts.get(contactId);
    if (!contact || contact.sources.get(this.inboxId) !== sourceId) return missing;
    const conversation = { id: this.nextId(), contactId, inboxId: this.inboxId, sourceId, status };
    this.conversations.set(conversation.id, conversation);
    return conversation;
  }

  addMessage(conversationId: number, given: Partial<Message> & Pick<Message, 'content' | 'type'>): Message | Refused {
    const conversation = this.conversations.get(conversationId);
    if (!conversation) return missing;
    const plain = { private: false, sourceId: null, attributes: {}, files: [], sender: '', status: 'sent', error: '' } as const;
    const message: Message = { ...plain, at: Math.floor(Date.now() / 1000), ...given, id: this.nextId(), conversationId };
    this.messages.push(message);
    if (message.type === 'incoming' && !message.private && conversation.status === 'resolved') conversation.status = 'open';
    this.changed('message_created', message);
    return message;
  }

  setStatus(conversationId: number, id: number, status: Message['status'], error: string): Message | Refused {
    const message = this.messages.find((one) => one.id === id && one.conversationId === conversationId);
    if (!message) return missing;
    // The status of a read message does not go back to delivered.
    if (message.status === 'read' && status === 'delivered') return message;
    message.status = status;
    message.error = status === 'failed' ? error : '';
    this.changed('message_updated', message);
    return message;
  }

  removeConversation(id: number): void {
    this.conversations.delete(id);
    for (let at = this.messages.length - 1; at >= 0; at -= 1) if (this.messages[at]?.conversationId === id) this.messages.splice(at, 1);
  }

  removeContact(id: number): void {
    for (const { id: conversation, contactId } of this.conversations.values()) if (contactId === id) this.removeConversation(conversation);
    this.contacts.delete(id);
  }
}

export const isRefused = (value: object | string): value is Refused =>
  typeof value === 'object' && 'message' in value && 'status' in value && typeof value.status === 'number';
