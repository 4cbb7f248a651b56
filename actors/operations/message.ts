/** What the platform can be asked about messages. */
import type { Message, Send, TakenFile } from '../model.ts';

export interface MessageOperations {
  /**
   * Prepares a message: its id and its record exist before any frame. Nothing is written. The answer has status `Queued`, wasSentByApi, and `raw`.
   * `draft`: the message as it was accepted, whose ids the composed one keeps.
   */
  'message.compose': { readonly input: { readonly send: Send; readonly draft: Message | null }; readonly answer: Message };
  /**
   * Writes a composed message and waits for the platform's ack. Messages leave in the order of the calls. `at`: Unix milliseconds;
   * `serverId`: the number that a post got in its channel.
   * The same message may be transmitted again after `unknown`: its id stays the same. `to`: another id of its chat, to which it is addressed.
   */
  'message.transmit': {
    readonly input: { readonly message: Message; readonly to?: string };
    readonly answer: { readonly at: number; readonly serverId?: number };
  };
  /** Reacts to a message, named by any form of its id; an empty text takes the reaction back. Answers with the reaction. */
  'message.react': { readonly input: { readonly id: string; readonly text: string }; readonly answer: Message };
  /** Replaces the text of an own message. Answers with the edit, which is a message of its own. */
  'message.edit': { readonly input: { readonly id: string; readonly text: string }; readonly answer: Message };
  /**
   * Pins a message in its chat for so many seconds; 0 takes the pin away. Answers with the message that says so, and the platform id of the one that it
   * is about.
   */
  'message.pin': {
    readonly input: { readonly id: string; readonly seconds: number };
    readonly answer: { readonly pin: Message; readonly messageId: string };
  };
  /**
   * Asks the phone for messages of a chat before another one. Answers with the id of the request; the messages come as entries of history, whose last one
   * names that id. `at`: Unix milliseconds.
   */
  'message.history': {
    readonly input: {
      readonly chatId: string;
      readonly before: { readonly messageId: string; readonly fromMe: boolean; readonly at: number };
      readonly count: number;
    };
    readonly answer: { readonly requestId: string };
  };
  /** Deletes a message for everybody: an own one, or in a group as its admin. `at`: Unix milliseconds. */
  'message.delete': { readonly input: { readonly id: string }; readonly answer: { readonly messageId: string; readonly at: number } };
  /**
   * Fetches the file of a message, or with `quoted` of the one that it quotes, checks it and puts it on the disk. The caller keeps or discards it.
   * The phone is asked to hand in again what the platform has dropped. Bounded in time and bytes by itself.
   */
  'message.download': { readonly input: { readonly message: Message; readonly quoted: boolean }; readonly answer: TakenFile };
}
