/** What the platform can be asked about chats. */
import type { ReadKey } from '../model.ts';

export interface ChatOperations {
  /** Shows typing or recording in a chat. Resolves when the stanza is written: the platform does not answer it. */
  'chat.typing': {
    readonly input: { readonly chatId: string; readonly state: 'composing' | 'recording' | 'paused' };
    readonly answer: null;
  };
  /** Sends read receipts for messages of one chat and records the chat as read. */
  'chat.markRead': { readonly input: { readonly chatId: string; readonly messages: readonly ReadKey[] }; readonly answer: null };
  /** The id under which a chat is kept, for any spelling of it: the phone jid where it is known. Asks storage at most, never the platform. */
  'chat.resolve': { readonly input: { readonly number: string }; readonly answer: string };
}
