/** What the platform can be asked about chats. */
import type { ChatChange, ChatEnd, ReadKey } from '../model.ts';

export type TypingState = 'composing' | 'recording' | 'paused';

/** What the platform says of a number. */
export interface LookedUp {
  /** The id of the account, which need not be one of the forms that were asked for; '' when there is none. */
  readonly chatId: string;
  /** The name of a verified business; '' for none. */
  readonly businessName: string;
}

/** '' for what is not known. */
export interface Identified {
  /** The id under which the chat is kept: the phone jid where it is known. */
  readonly id: string;
  /** `lid`: a person of whom only the LID is known; `other`: channels and status posts. */
  readonly kind: 'person' | 'lid' | 'group' | 'other';
  readonly lid: string;
  readonly groupName: string;
}

export interface ChatOperations {
  /** Shows typing or recording in a chat. Resolves when the stanza is written: the platform does not answer it. */
  'chat.typing': {
    readonly input: { readonly chatId: string; readonly state: TypingState };
    readonly answer: null;
  };
  /** Sends read receipts for messages of one chat and records the chat as read. */
  'chat.markRead': { readonly input: { readonly chatId: string; readonly messages: readonly ReadKey[] }; readonly answer: null };
  /** Sends read receipts for messages of one chat and records these messages as read. */
  'chat.markMessagesRead': { readonly input: { readonly chatId: string; readonly messages: readonly ReadKey[] }; readonly answer: null };
  /**
   * Changes a chat on the phone and all devices. `last`: the newest stored message of the chat, null when none is; what came after it stays unread,
   * or in its place. `unread`: messages whose authors get a receipt, when the chat is marked as read.
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
  /** Blocks a person, or ends that. Answers with all blocked people: their ids, of the number where it is known. */
  'chat.block': { readonly input: { readonly chatId: string; readonly block: boolean }; readonly answer: readonly string[] };
  /** All blocked people: their ids, of the number where it is known. */
  'chat.blocked': { readonly input: null; readonly answer: readonly string[] };
  /** Sets after how many seconds new messages of a chat disappear; 0: they stay. */
  'chat.timer': { readonly input: { readonly chatId: string; readonly seconds: number }; readonly answer: null };
  /** Reads the notes about all chats anew. */
  'chat.reloadNotes': { readonly input: null; readonly answer: null };
  /** The id under which a chat is kept, for any spelling of it: the phone jid where it is known. Asks storage at most, never the platform. */
  'chat.resolve': { readonly input: { readonly number: string }; readonly answer: string };
  /**
   * Asks the platform, in one request, which numbers have accounts; each is given by the ids of the chat as the number may be written. One answer for each
   * number; null when the platform did not say.
   */
  'chat.lookUp': { readonly input: { readonly numbers: readonly (readonly string[])[] }; readonly answer: readonly (LookedUp | null)[] };
  /** What chats are, their other ids, and names of groups that the account is in. Asks storage at most, never the platform. */
  'chat.identify': { readonly input: { readonly ids: readonly string[] }; readonly answer: readonly Identified[] };
}
