/** Operations on messages. */
import type { Message, Send, TakenFile } from '../model.ts';

export interface MessageOperations {
  /**
   * Composes a message without writing a frame, so that its id and record exist before any frame. The answer has the status `Queued`, `wasSentByApi`
   * and `raw`. `draft`: the accepted message, whose ids the composed message keeps; null for new ids.
   */
  'message.compose': { readonly input: { readonly send: Send; readonly draft: Message | null }; readonly answer: Message };
  /**
   * Writes a composed message and waits for the platform's ack. Messages leave in the order of the calls. After a refusal with `unknown`, the same
   * message may be transmitted again with the same id. `to`: an alternative id of the message's chat, to which the frame is addressed. `at`: Unix
   * milliseconds. `serverId`: the number of a post in its channel.
   */
  'message.transmit': {
    readonly input: { readonly message: Message; readonly to?: string };
    readonly answer: { readonly at: number; readonly serverId?: number };
  };
  /** Reacts to a message. An empty text removes the reaction. The id may have any form. Returns the reaction. */
  'message.react': { readonly input: { readonly id: string; readonly text: string }; readonly answer: Message };
  /** Replaces the text of an own message. Returns the edit, which is a message of its own. */
  'message.edit': { readonly input: { readonly id: string; readonly text: string }; readonly answer: Message };
  /** Pins a message in its chat for a number of seconds; 0 removes the pin. Returns the pin message, and the platform id of the pinned message. */
  'message.pin': {
    readonly input: { readonly id: string; readonly seconds: number };
    readonly answer: { readonly pin: Message; readonly messageId: string };
  };
  /** Stars a message on the phone and all devices, or removes the star. The id may have any form. Returns the message as it is afterwards. */
  'message.star': { readonly input: { readonly id: string; readonly on: boolean }; readonly answer: Message };
  /**
   * Asks the phone for the messages of a chat that precede a given message. Returns the id of the request. The messages arrive as history entries,
   * and the last entry names the id of the request. `at`: Unix milliseconds.
   */
  'message.history': {
    readonly input: {
      readonly chatId: string;
      readonly before: { readonly messageId: string; readonly fromMe: boolean; readonly at: number };
      readonly count: number;
    };
    readonly answer: { readonly requestId: string };
  };
  /** Deletes a message for everyone: an own message, or any message of a group if the account is its admin. `at`: the time in Unix milliseconds. */
  'message.delete': { readonly input: { readonly id: string }; readonly answer: { readonly messageId: string; readonly at: number } };
  /**
   * Downloads the file of a message, or of the message that it quotes, checks the file, and stores it in a temporary folder. The caller keeps or
   * discards the stored file. If the platform has dropped the file, the phone is asked to upload it again. Time and bytes are bounded.
   */
  'message.download': { readonly input: { readonly message: Message; readonly quoted: boolean }; readonly answer: TakenFile };
}
