/** What the platform can be asked about chats. */
import type { ReadKey } from '../model.ts';

export type TypingState = 'composing' | 'recording' | 'paused';

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
  /** The id under which a chat is kept, for any spelling of it: the phone jid where it is known. Asks storage at most, never the platform. */
  'chat.resolve': { readonly input: { readonly number: string }; readonly answer: string };
  /**
   * Asks the platform, in one request, whether a number has an account; `forms` are ids of the chat as the number may be written. Answers with the id
   * of the account, which need not be one of them; null when there is none.
   */
  'chat.lookUp': { readonly input: { readonly forms: readonly string[] }; readonly answer: string | null };
}
