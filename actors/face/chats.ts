/** What the gateway offers on single chats: what the owner of an account can do with them on a phone. */
import type { Chat, ChatChange, InstanceId, Result } from '../model.ts';

/** What of a chat is to go: here, and on the phone. */
export interface ChatRemoval {
  readonly chat: boolean;
  readonly messages: boolean;
  readonly deleteOnPhone: boolean;
  readonly clearOnPhone: boolean;
}

/** One part of a removal. `error`: '' when it is done. */
export interface RemovalStep {
  readonly of: keyof ChatRemoval;
  readonly error: string;
}

/** `number`: any name of the chat. A chat that is not stored is refused with `notFound`. */
export interface ChatFace {
  /** The stored chat; `notFound` without one. */
  chat(id: InstanceId, number: string): Promise<Result<Chat>>;
  /** Changes the chat on the phone and here; answers with the chat afterwards. Notes are refused (`notSupported`) outside of business accounts. */
  changeChat(id: InstanceId, number: string, change: ChatChange): Promise<Result<Chat>>;
  /** Sets after how many seconds new messages disappear; 0: they stay. Answers with the chat afterwards, null for one that is not stored. */
  setChatTimer(id: InstanceId, number: string, seconds: number): Promise<Result<Chat | null>>;
  /** Blocks a person, or ends that; answers with the ids of all blocked people. */
  block(id: InstanceId, number: string, block: boolean): Promise<Result<readonly string[]>>;
  /** Reads the notes about all chats anew; answers with the chat afterwards. */
  reloadNotes(id: InstanceId, number: string): Promise<Result<Chat>>;
  /** Does what of it is wanted, each part whatever becomes of the others. What concerns the database alone needs no session. */
  removeChat(id: InstanceId, number: string, wanted: ChatRemoval): Promise<Result<readonly RemovalStep[]>>;
}
