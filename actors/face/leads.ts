/** What the gateway offers on leads: what integrators keep about a chat, and the counts of a board of chats. */
import type { Chat, ChatStats, InstanceId, Kept, Result } from '../model.ts';

/** What is absent stays as it is. Without an `id` a tag is made. */
export interface LeadTagEdit {
  readonly id: string;
  readonly name?: string;
  readonly kanban?: boolean;
  readonly kanbanOrder?: number;
  readonly delete: boolean;
}

export interface LeadFace {
  /** Counts over all chats of the instance. */
  chatStats(id: InstanceId): Promise<ChatStats>;
  /**
   * Changes lead fields of a stored chat, which is named in any form of its id. Fields are named as in `Chat.extra`; null takes one away. Makes a `chats`
   * event when something changed. Refused with `notFound` for a chat that is not stored.
   */
  editLead(id: InstanceId, chat: string, fields: Readonly<Record<string, unknown>>): Promise<Result<Chat>>;
  /** Tags that leads may have, columns of a board first and in its order. */
  leadTags(id: InstanceId): Promise<readonly Kept<'leadTag'>[]>;
  /**
   * Makes, changes or deletes a tag; answers with all of them. Chats carry tags by name: a new name replaces the old one in the chats that carry it, and a
   * deleted tag stays in its chats. Refused: `notFound` for an unknown id, `conflict` for a name that another tag has, `limited` beyond the most tags.
   */
  editLeadTag(id: InstanceId, edit: LeadTagEdit): Promise<Result<readonly Kept<'leadTag'>[]>>;
}
