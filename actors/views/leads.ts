/** Gateway methods for leads: the notes of integrators about a chat, and the counts of a chat board. */
import type { Chat, ChatStats, InstanceId, Kept, Result } from '../model.ts';

/** A change of a lead tag. Absent fields keep their values. An `id` of '' creates a tag. */
export interface LeadTagEdit {
  readonly id: string;
  readonly name?: string;
  readonly kanban?: boolean;
  readonly kanbanOrder?: number;
  readonly delete: boolean;
}

export interface LeadFace {
  /** Returns counts over all chats of the instance. */
  chatStats(id: InstanceId): Promise<ChatStats>;
  /**
   * Changes lead fields of a stored chat. `chat` is any form of its id. Fields are named as in `Chat.extra`; null removes a field. Makes a `chats`
   * event if a field changed. Refuses with `notFound` if the chat is not stored.
   */
  editLead(id: InstanceId, chat: string, fields: Readonly<Record<string, unknown>>): Promise<Result<Chat>>;
  /** Returns the lead tags. Columns of the board come first, in their order. */
  leadTags(id: InstanceId): Promise<readonly Kept<'leadTag'>[]>;
  /**
   * Creates, changes or deletes a tag, and returns all tags. Chats store tags by name: a rename updates the chats with the tag, and a deleted tag
   * stays in its chats. Refuses with `notFound` for an unknown id, `conflict` for a name in use, or `limited` beyond the limit of tags.
   */
  editLeadTag(id: InstanceId, edit: LeadTagEdit): Promise<Result<readonly Kept<'leadTag'>[]>>;
}
