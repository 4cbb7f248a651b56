/** Operations on chats, on the address book, and on the labels and quick replies that the phone and its devices share. */
import type { ChatChange, ChatEnd, Label, QuickReply, ReadKey } from '../model.ts';

// Operations on chats.

export type TypingState = 'composing' | 'recording' | 'paused';

/** The platform's answer about a number. */
export interface LookedUp {
  /** The chat id of the account; '' if the number has no account. The id may differ from the ids in the request. */
  readonly chatId: string;
  /** The name of a verified business; '' for none. */
  readonly businessName: string;
}

/** The identity of a chat. Unknown fields are ''. */
export interface Identified {
  /** The id under which the chat is stored: the phone jid if it is known. */
  readonly id: string;
  /** `lid`: a person with a known LID only; `other`: channels and status posts. */
  readonly kind: 'person' | 'lid' | 'group' | 'other';
  readonly lid: string;
  readonly groupName: string;
}

export interface ChatOperations {
  /** Shows typing or recording in a chat. Resolves when the stanza is written, because the platform does not answer it. */
  'chat.typing': {
    readonly input: { readonly chatId: string; readonly state: TypingState };
    readonly answer: null;
  };
  /** Sends read receipts for messages of one chat and records the chat as read. */
  'chat.markRead': { readonly input: { readonly chatId: string; readonly messages: readonly ReadKey[] }; readonly answer: null };
  /** Sends read receipts for messages of one chat and records these messages as read. */
  'chat.markMessagesRead': { readonly input: { readonly chatId: string; readonly messages: readonly ReadKey[] }; readonly answer: null };
  /**
   * Changes a chat on the phone and all devices. `last`: the newest stored message of the chat, or null. The change does not affect later messages.
   * `unread`: messages whose authors get a receipt if the chat is marked as read.
   */
  'chat.change': {
    readonly input: {
      readonly chatId: string;
      readonly change: ChatChange;
      readonly last: ChatEnd | null;
      readonly unread: readonly ReadKey[];
    };
    readonly answer: null;
  };
  /** Blocks or unblocks a person. Returns the ids of all blocked people, as phone jids if they are known. */
  'chat.block': { readonly input: { readonly chatId: string; readonly block: boolean }; readonly answer: readonly string[] };
  /** Asks for the ids of all blocked people, as phone jids if they are known. */
  'chat.blocked': { readonly input: null; readonly answer: readonly string[] };
  /** Sets the time after which new messages of a chat disappear; 0 for never. In seconds. */
  'chat.timer': { readonly input: { readonly chatId: string; readonly seconds: number }; readonly answer: null };
  /** Reloads the notes about all chats. */
  'chat.reloadNotes': { readonly input: null; readonly answer: null };
  /** Returns the id under which a chat is stored, for any spelling: the phone jid if it is known. Reads storage if necessary, and never asks the platform. */
  'chat.resolve': { readonly input: { readonly number: string }; readonly answer: string };
  /**
   * Asks the platform, in one request, which numbers have accounts. Each number is a list of the chat ids under which its account may exist. Returns
   * one answer for each number; null if the platform gave none.
   */
  'chat.lookUp': { readonly input: { readonly numbers: readonly (readonly string[])[] }; readonly answer: readonly (LookedUp | null)[] };
  /**
   * Identifies chats: their kind, their alternative ids, and the names of groups in which the account is a member. Reads storage if necessary, and
   * never asks the platform.
   */
  'chat.identify': { readonly input: { readonly ids: readonly string[] }; readonly answer: readonly Identified[] };
}

/** Operations on the address book. Contacts are identified by their phone jid. */
export interface ContactOperations {
  /** Saves a person under a name, on the phone and all devices. */
  'contact.save': { readonly input: { readonly chatId: string; readonly name: string }; readonly answer: null };
  'contact.remove': { readonly input: { readonly chatId: string }; readonly answer: null };
}

/** Operations on labels and quick replies, which the phone and its devices share. */
export interface DefinitionOperations {
  /** Creates or changes a label. A label with `deleted: true` is deleted. */
  'label.define': { readonly input: { readonly label: Label }; readonly answer: null };
  /** Adds and removes labels of a chat as one change. The ids of labels are those of the phone. */
  'label.mark': {
    readonly input: { readonly chatId: string; readonly add: readonly string[]; readonly remove: readonly string[] };
    readonly answer: null;
  };
  /** Reloads labels, their chats, and quick replies: all of them with `whole`, else only missed changes. The link records the changes. */
  'label.reload': { readonly input: { readonly whole: boolean }; readonly answer: null };
  /** Creates, changes or deletes a quick reply on the phone. */
  'quickReply.define': { readonly input: { readonly reply: QuickReply; readonly deleted: boolean }; readonly answer: null };
}
