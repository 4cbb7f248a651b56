/** What the gateway offers on leads: what integrators keep about a chat, and the counts of a board of chats. */
import type { Chat, ChatStats, InstanceId, Result } from '../model.ts';

export interface LeadFace {
  /** Counts over all chats of the instance. */
  chatStats(id: InstanceId): Promise<ChatStats>;
  /**
   * Changes lead fields of a stored chat, which is named in any form of its id. Fields are named as in `Chat.extra`; null takes one away. Makes a `chats`
   * event when something changed. Refused with `notFound` for a chat that is not stored.
   */
  editLead(id: InstanceId, chat: string, fields: Readonly<Record<string, unknown>>): Promise<Result<Chat>>;
}
