/** Entries and messages for the suites of the ports that keep conversations. */
import type { Chat, ChatPatch, Entry, InstanceRecord, Message, MessageStatus, Past } from '#actors/model.ts';
import type { Committed, Stores } from '#actors/ports.ts';
import { instance, message as sample, owner, webhook } from '#test/contract/samples.ts';

/** The tested ports, and the ports that their data needs. */
export type Conversations = Pick<
  Stores,
  'journal' | 'messages' | 'chats' | 'campaigns' | 'optOuts' | 'sendKeys' | 'contacts' | 'definitions' | 'instances' | 'webhooks' | 'outbox'
>;

/** Opens empty stores with a fixed time. */
export type Open = () => Promise<Conversations>;

export const now = 9_000;

export const chatId = '5511900000001@s.whatsapp.net';

let count = 0;
/** Returns a message that no other test uses. */
export const fresh = (change: Partial<Message> = {}): Message => {
  count += 1;
  return { ...sample, id: `r${count.toString(16).padStart(7, '0')}`, messageId: `M${count}`, chatId, ...change };
};
export const sent = (change: Partial<Message> = {}): Message => fresh({ fromMe: true, wasSentByApi: true, status: 'Queued', ...change });

export const arrived = (message: Message, more: Partial<Omit<Chat, 'id'>> = {}): Entry => ({
  kind: 'message',
  message,
  chat: { chatId: message.chatId, lastMessageText: message.text, lastMessageTimestamp: message.timestamp, ...more },
  unread: !message.fromMe,
});
export const queued = (message: Message): Entry => ({ kind: 'queued', message, chat: { chatId: message.chatId } });
export const chat = (patch: ChatPatch, change: { readonly create?: boolean; readonly tell?: 'chats' | 'contacts' } = {}): Entry => ({
  kind: 'chat',
  chat: patch,
  create: true,
  ...change,
});
export const deletion = (messageId: string): Entry => ({
  kind: 'deleted',
  messageId,
  chatId,
  sender: sample.sender,
  fromMe: false,
  at: 2_000,
});
export const past = (part: Past): Entry => ({ kind: 'history', past: part, number: 2, total: 3 });
export const status = (messageIds: readonly string[], to: MessageStatus, change: object = {}): Entry => ({
  kind: 'status',
  messageIds,
  chatId,
  status: to,
  sender: 'a@lid',
  senderPn: 'a@s.whatsapp.net',
  senderLid: 'a@lid',
  fromMe: false,
  at: 1_000,
  ...change,
});

/** A stored instance with one webhook. */
export class Bench {
  readonly stores: Conversations;
  readonly record: InstanceRecord;
  readonly webhookId: string;

  constructor(stores: Conversations, id: string) {
    this.stores = stores;
    this.record = { ...instance.record, id, token: `token of ${id}`, owner };
    this.webhookId = `hook of ${id}`;
  }

  async store(): Promise<this> {
    await this.stores.instances.insert(this.record);
    await this.stores.webhooks.save({ ...webhook, id: this.webhookId, instanceId: this.record.id }, 1);
    return this;
  }

  commit(...entries: readonly Entry[]): Promise<Committed> {
    return this.stores.journal.commit(this.record, entries, () => [this.webhookId]);
  }

  message(id: string): Promise<Message | null> {
    return this.stores.messages.byId(this.record.id, id);
  }

  chat(name: string): Promise<Chat | null> {
    return this.stores.chats.get(this.record.id, name);
  }
}

/** Opens stores with one instance. */
export const benchOf = async (open: Open, id: string): Promise<Bench> => new Bench(await open(), id).store();

/** Returns the types of the events, with the state of an update. */
export const kindsOf = ({ events }: Committed): readonly string[] =>
  events.map(({ type, payload }) => (type === 'messages_update' ? `${type} ${String(payload['state'])}` : type));

/** A behaviour of an implementation, tested on an instance of its own. */
export type Case = readonly [title: string, run: (bench: Bench) => Promise<void>];
