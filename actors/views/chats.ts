/** Gateway methods for single chats: the actions that the owner of an account has on a phone. */
import type { Chat, ChatChange, InstanceId, Result } from '../model.ts';

/** The parts of a chat to remove, in storage and on the phone. */
export interface ChatRemoval {
  readonly chat: boolean;
  readonly messages: boolean;
  readonly deleteOnPhone: boolean;
  readonly clearOnPhone: boolean;
}

/** The outcome of one part of a removal. `error`: '' if the part was done. */
export interface RemovalStep {
  readonly of: keyof ChatRemoval;
  readonly error: string;
}

/** Methods for one chat. `number` is any form of the chat id. The methods refuse with `notFound` if the chat is not stored. */
export interface ChatFace {
  /** Returns the stored chat, or refuses with `notFound`. */
  chat(id: InstanceId, number: string): Promise<Result<Chat>>;
  /** Changes the chat on the phone and in storage, and returns the changed chat. Refuses notes (`notSupported`) for accounts that are no business. */
  changeChat(id: InstanceId, number: string, change: ChatChange): Promise<Result<Chat>>;
  /** Sets the time after which new messages disappear. In seconds; 0 for never. Returns the changed chat; null if the chat is not stored. */
  setChatTimer(id: InstanceId, number: string, seconds: number): Promise<Result<Chat | null>>;
  /** Blocks or unblocks a person, and returns the ids of all blocked people. */
  block(id: InstanceId, number: string, block: boolean): Promise<Result<readonly string[]>>;
  /** Reloads the notes about all chats, and returns the chat. */
  reloadNotes(id: InstanceId, number: string): Promise<Result<Chat>>;
  /** Performs the wanted parts of a removal. A failed part does not stop the others. Parts that concern the database alone need no session. */
  removeChat(id: InstanceId, number: string, wanted: ChatRemoval): Promise<Result<readonly RemovalStep[]>>;
}
