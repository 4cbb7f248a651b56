/** The rules of the journal, without a database. The ledger applies entries to the stored rows, and returns the rows that must be written. */
import { isDeepStrictEqual } from 'node:util';
import {
  isChannelId,
  newPost,
  statusChat,
  type Call,
  type Chat,
  type Entry,
  type EventType,
  type Label,
  type Message,
  type PersonPair,
  type Revision,
  type UsedSendKey,
} from '#actors/model.ts';
import { keyText } from '../postgres/parameters.ts';
import {
  editedContent,
  type Erasure,
  isAuthor,
  isInSameChat,
  isProgress,
  type KeptMessage,
  MessageLedger,
  rank,
  ReceiptLedger,
  recordCall,
  withShortKeys,
} from './message-ledger.ts';
import { CampaignLedger } from './campaigns.ts';
import { ChatLedger } from './chat-ledger.ts';
import { ContactLedger, GroupLedger } from './people.ts';
import type { StoredMessage } from './columns.ts';
import {
  campaignDraft,
  chatDraft,
  deletedDraft,
  downloadedDraft,
  editedPostDraft,
  historyDraft,
  isMemberReceipt,
  messageDraft,
  newsDraft,
  passedOn,
  starredDraft,
  statusDraft,
  type EventDraft,
} from './event-drafts.ts';
import { DefinitionLedger } from './definitions.ts';
import type { Known, Outcome } from './outcome.ts';
import { repeatsOf, unrepeated } from './repeats.ts';

type Of<K extends Entry['kind']> = Extract<Entry, { kind: K }>;

class Ledger {
  readonly #owner: string;
  readonly #newId: () => string;
  readonly #messages: MessageLedger;
  readonly #chats: ChatLedger;
  readonly #readChats = new Set<string>();
  readonly #erasures: Erasure[] = [];
  readonly #merged: PersonPair[] = [];
  /** The last state of each idempotency key, by its hash. */
  readonly #sendKeys = new Map<string, UsedSendKey>();
  readonly #receipts = new ReceiptLedger();
  readonly #groups: GroupLedger;
  readonly #contacts: ContactLedger;
  readonly #definitions: DefinitionLedger;
  readonly #campaigns = new CampaignLedger();
  readonly #events: EventDraft[] = [];
  readonly #unrendered: Outcome['unrendered'][number][] = [];

  constructor(known: Known, owner: string, newId: () => string) {
    this.#owner = owner;
    this.#newId = newId;
    this.#messages = new MessageLedger(known.messages, (chatId) => this.#chats.get(chatId)?.chatLid);
    this.#contacts = new ContactLedger(known.contacts ?? []);
    this.#chats = new ChatLedger(known.chats, owner, newId, (chatId) => this.#contacts.namesOf(chatId));
    this.#groups = new GroupLedger(known.groups ?? []);
    this.#definitions = new DefinitionLedger(known.definitions ?? [], owner);
  }

  apply(entry: Entry): void {
    if (entry.kind === 'samePerson') return this.#samePerson(entry);
    if (entry.kind === 'blocklist') return this.#chats.blockOnly(entry.people).forEach((chat) => this.#tell('chats', chat));
    if (entry.kind === 'event') return this.#add(entry.type, () => passedOn(entry));
    switch (entry.kind) {
      case 'message':
      case 'queued':
        return this.#message(entry);
      case 'recipient':
        return this.#campaigns.recipient(entry);
      case 'campaign':
        return this.#campaign(entry);
      case 'optOut':
        return this.#campaigns.optOut(entry);
      case 'sendKey':
        return void this.#sendKeys.set(entry.key.hash, entry.key);
      case 'composed':
        return this.#messages.compose(entry.message);
      case 'status':
        return this.#status(entry);
      case 'deleted':
        return this.#deleted(entry);
      case 'starred':
        return this.#starred(entry);
      case 'postEdited':
        return this.#postEdited(entry);
      case 'postCounts':
        return this.#messages.count(keyText(entry.chatId), entry.counts);
      case 'messagesRead':
        return this.#messagesRead(entry);
      case 'downloaded':
        return this.#downloaded(entry);
      case 'chatRead':
        return this.#chatRead(keyText(entry.chatId));
      case 'chatUnread':
        return this.#chatUnread(entry.chatId);
      case 'chatRemoved':
        return this.#chats.remove(entry.chatId);
      case 'chatErased':
        return this.#chatErased(entry);
      case 'chat':
        return this.#chat(entry);
      case 'chatLabel':
        return this.#tell('chat_labels', this.#chats.label(entry));
      case 'retagged':
        return this.#tell('chats', this.#chats.retag(entry));
      case 'definition':
      case 'channel':
      case 'definitionGone':
        return this.#definitions.apply(entry);
      case 'history':
        return this.#history(entry);
      case 'group':
      case 'groupGone':
      case 'groupsListed':
        return this.#groups.apply(entry);
      case 'news':
        return this.#news(entry);
    }
  }

  outcome(): Outcome {
    return {
      freshMessages: this.#messages.marked('fresh'),
      changedMessages: this.#messages.marked('changed'),
      composedMessages: this.#messages.marked('composed'),
      revisedMessages: this.#messages.marked('revised'),
      chats: this.#chats.outcome(),
      readChats: [...this.#readChats],
      removedChats: this.#chats.removed,
      erasures: this.#erasures,
      merged: this.#merged,
      sendKeys: [...this.#sendKeys.values()],
      receipts: this.#receipts.outcome(),
      ...this.#groups.outcome(),
      ...this.#contacts.outcome(),
      ...this.#definitions.outcome(),
      ...this.#campaigns.outcome(),
      events: this.#events,
      unrendered: this.#unrendered,
    };
  }

  /** Adds an event. An event that cannot be built is reported as unrendered, and its entry is stored all the same. */
  #add(type: EventType, make: () => EventDraft | null): void {
    try {
      const draft = make();
      if (draft) this.#events.push(draft);
    } catch (error) {
      this.#unrendered.push({ type, error });
    }
  }

  #tell(type: Parameters<typeof chatDraft>[0], chat: Chat | null): void {
    if (chat) this.#add(type, () => chatDraft(type, chat, this.#owner));
  }

  #chat({ chat: patch, create, tell }: Of<'chat'>): void {
    const isRenamed = this.#contacts.apply(patch);
    const isKnown = this.#chats.get(patch.chatId) !== null;
    const changed = create || isKnown ? this.#chats.patch(patch) : null;
    if (tell === undefined) return;
    const isStranger = tell === 'contacts' && !isKnown && !create && isRenamed;
    this.#tell(tell, isStranger ? this.#chats.preview(patch) : changed);
  }

  #campaign(entry: Of<'campaign'>): void {
    this.#campaigns.changed(entry);
    this.#add('sender', () => campaignDraft(entry));
  }

  #history(entry: Of<'history'>): void {
    const { past } = entry;
    const chats = new Map<string, Chat>();
    const keep = (chat: Chat | null): void => void (chat && chats.set(chat.chatId, chat));
    if (past.of === 'chats')
      for (const patch of past.items) {
        this.#contacts.apply(patch);
        keep(this.#chats.patch(patch));
      }
    if (past.of === 'chat_labels') for (const label of past.items) keep(this.#chats.label(label));
    if (past.of === 'calls') for (const call of past.items) this.#call(call);
    if (past.of === 'labels') for (const label of past.items) this.#label(label);
    const messages =
      past.of === 'messages' ? past.items.flatMap(({ message, chat }) => this.#store(message, chat, false)?.message ?? []) : [];
    this.#add('history', () => historyDraft(entry, { messages, chats: [...chats.values()] }, this.#owner));
  }

  #news(entry: Of<'news'>): void {
    if (entry.news.type === 'call') this.#call(entry.news.call);
    if (entry.news.type === 'groups') this.#groups.change(entry.news.group);
    const { news } = entry;
    const label = news.type === 'labels' ? this.#label(news.label) : null;
    if (label === null && news.type === 'labels') return;
    this.#add(news.type, () => newsDraft(label === null ? entry : { ...entry, news: { type: 'labels', label } }));
  }

  /** Changes a label. Returns null if nothing changes. A deleted label is removed from its chats without an event for each chat. */
  #label(label: Label): Label | null {
    const changed = this.#definitions.label(label);
    if (changed?.deleted) this.#chats.unlabel(changed.id);
    return changed;
  }

  #call(call: Call): void {
    recordCall(call, { messages: this.#messages, chats: this.#chats, newId: this.#newId });
  }

  #samePerson({ people }: Of<'samePerson'>): void {
    for (const pair of people) {
      for (const ledger of [this.#contacts, this.#messages]) ledger.merge(pair);
      this.#merged.push(pair);
      this.#tell('chats', this.#chats.merge(pair));
    }
  }

  #message(entry: Of<'message' | 'queued'>): void {
    const isQueued = entry.kind === 'queued';
    if (isQueued && entry.key) this.#sendKeys.set(entry.key.hash, entry.key);
    const message: Message = isQueued ? { ...entry.message, status: 'Queued' } : this.#messages.honest(entry.message, entry.revises);
    const stored = this.#store(message, entry.chat, !isQueued && entry.unread);
    if (stored && isQueued) this.#campaigns.queued(stored.message);
    if (!stored || isQueued) return;
    if (entry.revises) this.#revise(stored.message, entry.revises);
    const chat = entry.revises ? this.#chats.orEmpty(stored.message.chatId) : stored.chat;
    this.#add('messages', () => messageDraft(stored.message, chat, this.#owner));
  }

  /** Applies the revision in the message `by` to the message that the revision names. Does nothing if the named message is not stored or is deleted. */
  #revise(by: Message, { messageId, text, pinnedUntil }: Revision): void {
    const kept = this.#messages.find(messageId, by.chatId, [by.chatId, by.chatLid]);
    if (!kept || kept.value.deletedAt !== 0) return;
    if (text !== undefined && isAuthor(kept.value, by) && kept.value.edited !== by.messageId) {
      this.#retell(kept, text);
      this.#messages.revise(kept, { text, edited: by.messageId, content: editedContent(kept.value, by) });
    }
    if (pinnedUntil !== undefined && isInSameChat(kept.value, by)) this.#messages.revise(kept, { pinnedUntil });
  }

  /** Changes the last text of a chat, if the message is the last message of the chat. */
  #retell({ value: { chatId, timestamp, text: old } }: KeptMessage, text: string): void {
    const chat = this.#chats.get(chatId);
    if (chat?.lastMessageTimestamp === timestamp && chat.lastMessageText === old) this.#chats.patch({ chatId, lastMessageText: text });
  }

  /** Adds a message and updates its chat. Returns null if the message is stored already. */
  #store(given: Message, patch: Of<'message'>['chat'], unread: boolean): { readonly message: Message; readonly chat: Chat } | null {
    const message = withShortKeys(given);
    if (this.#messages.has(message)) return null;
    this.#messages.add(message, unread);
    // Status posts have no chat, so that no list of chats shows them.
    if (message.chatId === statusChat) return { message, chat: this.#chats.orEmpty(message.chatId) };
    this.#chats.patch({ ...(message.chatLid && { chatLid: message.chatLid }), ...patch, chatId: message.chatId });
    if (unread) this.#chats.addUnread(message.chatId);
    return { message, chat: this.#chats.orEmpty(message.chatId) };
  }

  #status(entry: Of<'status'>): void {
    const updated: StoredMessage[] = [];
    for (const messageId of entry.messageIds) {
      const kept = this.#messages.find(messageId, keyText(entry.chatId), [entry.senderPn, entry.senderLid]);
      if (!kept) continue;
      if (entry.revises) this.#revise(kept.value, entry.revises);
      this.#receipts.note(kept.value, entry);
      if (!isProgress(kept.value.status, entry.status)) {
        if (isMemberReceipt(entry, kept.value.chatId)) updated.push(kept.value);
        continue;
      }
      const leaves = kept.value.wasSentByApi && rank(kept.value.status) < rank('Sent') && rank(entry.status) >= rank('Sent');
      this.#campaigns.progressed(kept.value, entry.status, entry.at);
      // The queue data of a message is cleared when the message is sent or given up.
      this.#messages.change(kept, { status: entry.status, error: entry.error ?? '', queuedSend: null });
      if (entry.serverId !== undefined) this.#messages.number(kept, entry.serverId);
      // The first proof that the message was sent creates the `messages` event. It may be a receipt, because acknowledgements get lost.
      if (leaves && kept.value.chatId !== statusChat) {
        const message: Message = { ...kept.value, status: 'Sent' };
        const chat = this.#chats.orEmpty(message.chatId);
        this.#add('messages', () => messageDraft(message, chat, this.#owner));
      }
      if (!leaves || entry.status !== 'Sent') updated.push(kept.value);
    }
    const [first] = updated;
    const ids = updated.map(({ messageId }) => messageId);
    if (first) this.#add('messages_update', () => statusDraft(entry, first.chatId, ids));
  }

  /** Marks a message as deleted. A message that is not stored causes no event, because a repeated report could not be recognised. */
  #deleted(entry: Of<'deleted'>): void {
    const kept = this.#messages.find(entry.messageId, keyText(entry.chatId), [entry.senderPn, entry.senderLid]);
    if (!kept || kept.value.deletedAt !== 0) return;
    // A deletion by another device of the account, or in a channel, is trusted.
    const isAdmin = isChannelId(kept.value.chatId) || (kept.value.isGroup && (entry.byAdmin === true || entry.fromMe));
    const mayDelete = entry.forMe === true || isAuthor(kept.value, entry) || (isAdmin && kept.value.chatId === keyText(entry.chatId));
    if (!mayDelete) return;
    this.#retell(kept, '');
    const nothing = { text: '', content: null, convertOptions: '', raw: null, pinnedUntil: 0, error: '' };
    this.#messages.revise(kept, { ...nothing, deletedAt: Math.max(1, entry.at), status: 'Deleted' });
    this.#add('messages_update', () => deletedDraft(entry, kept.value.chatId));
  }

  #starred(entry: Of<'starred'>): void {
    const kept = this.#messages.find(entry.messageId, keyText(entry.chatId));
    if (!kept || kept.value.deletedAt !== 0 || (kept.value.starred ?? false) === entry.starred) return;
    this.#messages.revise(kept, { starred: entry.starred });
    this.#add('messages_update', () => starredDraft(entry, kept.value.chatId));
  }

  /** Deletes messages of a chat. A chat with a newer message keeps its unread count, because the number of deleted unread messages is not known. */
  #chatErased({ chatId: name, gone, keepStarred, until, last }: Of<'chatErased'>): void {
    const chatId = keyText(name);
    const chat = this.#chats.get(chatId);
    for (const address of new Set([chatId, chat?.chatLid || chatId])) this.#erase({ chatId: address, keepStarred, until, last });
    if (chat === null || chat.lastMessageTimestamp > until) return;
    if (gone) this.#chats.remove(chatId);
    else this.#tell('chats', this.#chats.empty(chatId));
  }

  #erase(erasure: Erasure): void {
    this.#messages.erase(erasure);
    this.#erasures.push(erasure);
  }

  /** Applies the edit of a post. The platform gives an edit the id of its post. */
  #postEdited({ message, chat }: Of<'postEdited'>): void {
    const kept = this.#messages.find(message.messageId, keyText(message.chatId));
    if (!kept) return this.#message({ kind: 'message', message, chat, unread: false });
    const { text, content, convertOptions, messageId: edited } = message;
    const post = { ...newPost, ...kept.value.post };
    const editedAt = message.post?.editedAt ?? 0;
    if (kept.value.deletedAt !== 0 || (editedAt > 0 && editedAt <= post.editedAt) || isDeepStrictEqual(kept.value.content, content)) return;
    this.#retell(kept, text);
    this.#messages.revise(kept, { text, content, convertOptions, edited, post: { ...post, editedAt: Math.max(editedAt, post.editedAt) } });
    this.#add('newsletter_messages', () => editedPostDraft(kept.value, this.#chats.orEmpty(kept.value.chatId), this.#owner));
  }

  #messagesRead(entry: Of<'messagesRead'>): void {
    const found = entry.messageIds.map((messageId) => this.#messages.find(messageId, keyText(entry.chatId)));
    const read = found.filter((kept) => kept?.value.unread === true) as KeptMessage[];
    const [first] = read;
    if (!first) return;
    for (const kept of read) this.#messages.revise(kept, { unread: false });
    const { chatId } = first.value;
    const ids = read.map(({ value }) => value.messageId);
    this.#add('messages_update', () => statusDraft({ ...entry, kind: 'status', status: 'Read', fromMe: true }, chatId, ids));
    const unreadCount = Math.max(0, (this.#chats.get(chatId)?.unreadCount ?? 0) - read.length);
    if (this.#chats.get(chatId)) this.#tell('chats', this.#chats.patch({ chatId, unreadCount }));
  }

  /** Stores the address of a downloaded file. A new address causes an event. A second request for the same file causes none. */
  #downloaded(entry: Of<'downloaded'>): void {
    const message = this.#messages.find(entry.messageId, keyText(entry.chatId));
    if (!message || message.value.deletedAt !== 0 || message.value.fileUrl === entry.fileUrl) return;
    this.#messages.revise(message, { fileUrl: entry.fileUrl });
    this.#add('messages_update', () => downloadedDraft(entry, message.value));
  }

  #chatRead(chatId: string): void {
    if (this.#chats.get(chatId) === null) return;
    this.#tell('chats', this.#chats.patch({ chatId, unreadCount: 0 }));
    this.#readChats.add(chatId);
    this.#messages.markRead(chatId);
  }

  #chatUnread(chatId: string): void {
    if (this.#chats.get(chatId)?.unreadCount === 0) this.#tell('chats', this.#chats.patch({ chatId, unreadCount: 1 }));
  }
}

/** Applies the entries in their order. Messages and chats that are missing in `known` count as new. */
export const reduceEntries = (known: Known, owner: string, entries: readonly Entry[], newId: () => string, again = false): Outcome => {
  const ledger = new Ledger(known, owner, newId);
  for (const entry of again ? unrepeated(known, entries) : entries) ledger.apply(entry);
  return again ? { ...ledger.outcome(), repeats: repeatsOf(known, owner, entries) } : ledger.outcome();
};
