/**
 * Gateway methods for single chats: the actions that the owner of an account has on a phone, lead fields and tags of integrators, labels and quick
 * replies.
 */
import type { Chat, ChatChange, ChatStats, InstanceId, Kept, Label, QuickReplyType, Result } from '../model.ts';

// Gateway methods for single chats: the actions that the owner of an account has on a phone.

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

/**
 * Methods for one chat. `number` is any form of the chat id. All methods except `setChatTimer` and `block` refuse with `notFound` if the chat is not
 * stored.
 */
export interface ChatMethods {
  /** Returns the stored chat, or refuses with `notFound`. */
  chat(id: InstanceId, number: string): Promise<Result<Chat>>;
  /** Changes the chat on the phone and in storage, and returns the changed chat. Refuses notes (`notSupported`) for accounts that are no business. */
  changeChat(id: InstanceId, number: string, change: ChatChange): Promise<Result<Chat>>;
  /**
   * Sets the time after which new messages disappear, in seconds; 0 for never. Stores the chat if it is not stored yet, and returns the chat. Refuses with
   * `notFound` for a number without an account, and if another call removed the chat meanwhile.
   */
  setChatTimer(id: InstanceId, number: string, seconds: number): Promise<Result<Chat>>;
  /** Blocks or unblocks a person, and returns the ids of all blocked people. */
  block(id: InstanceId, number: string, block: boolean): Promise<Result<readonly string[]>>;
  /** Reloads the notes about all chats, and returns the chat. */
  reloadNotes(id: InstanceId, number: string): Promise<Result<Chat>>;
  /** Performs the parts of a removal that `wanted` names. A failed part does not stop the other parts. Parts in storage alone need no session. */
  removeChat(id: InstanceId, number: string, wanted: ChatRemoval): Promise<Result<readonly RemovalStep[]>>;
}

// Gateway methods for leads: the fields and tags that integrators set on a chat, and the counts of a chat board.

/** A change of a lead tag. Absent fields keep their values. An `id` of '' creates a tag. */
export interface LeadTagEdit {
  readonly id: string;
  readonly name?: string;
  readonly kanban?: boolean;
  readonly kanbanOrder?: number;
  readonly delete: boolean;
}

export interface LeadMethods {
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
   * Creates, changes or deletes a tag, and returns all tags. Chats store tags by name. A rename updates the chats with the tag, and a deleted tag
   * stays in its chats. Refuses with `notFound` for an unknown id, `conflict` for a name in use, or `limited` beyond the limit of tags.
   */
  editLeadTag(id: InstanceId, edit: LeadTagEdit): Promise<Result<readonly Kept<'leadTag'>[]>>;
}

// Gateway methods for labels and quick replies.

/** A change of a label. Absent fields keep their values. `labelId`: the phone's id; '' creates a label. */
export interface LabelDraft {
  readonly labelId: string;
  readonly name?: string;
  readonly color?: number;
  readonly delete: boolean;
}

/** A change of a chat's labels. `labelIds` are the ids that the phone assigned. */
export type LabelChange =
  | { readonly kind: 'set'; readonly labelIds: readonly string[] }
  | { readonly kind: 'add' | 'remove'; readonly labelIds: readonly string[] };

/** Labels that were put on a chat, and labels that were removed. */
export interface LabelsChanged {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * A change of a quick reply. `id`: '' creates one. If `onPhone` is absent, a stored quick reply stays on the phone or in the gateway. A new quick reply is then
 * created on the phone if it is a text of a business account, else in the gateway.
 */
export interface QuickReplyEdit {
  readonly id: string;
  readonly delete: boolean;
  readonly shortcut: string;
  readonly type: QuickReplyType;
  readonly text: string;
  readonly file: string;
  readonly docName: string;
  readonly onPhone?: boolean;
}

/** Methods for labels and quick replies. Labels are a feature of business accounts. Changes of labels are refused (`notSupported`) for other accounts. */
export interface DefinitionMethods {
  /** Returns the labels that are not deleted. */
  labels(id: InstanceId): Promise<readonly Kept<'label'>[]>;
  /** Creates, changes or deletes a label, also on the phone. `made`: the label is new. Refuses the deletion of an unknown label with `notFound`. */
  editLabel(id: InstanceId, edit: LabelDraft): Promise<Result<{ readonly label: Label; readonly made: boolean }>>;
  /** Changes the labels of a stored chat, also on the phone. Refuses with `notFound` for an unknown chat, or with `invalid` for an unknown label. */
  labelChat(id: InstanceId, number: string, change: LabelChange): Promise<Result<LabelsChanged>>;
  /**
   * Starts to reload missed changes of labels, or all labels with `whole`. Changes arrive as events. Refuses with `conflict` while the phone
   * transfers its history.
   */
  reloadLabels(id: InstanceId, whole: boolean): Promise<Result<'started' | 'underWay'>>;
  quickReplies(id: InstanceId): Promise<readonly Kept<'quickReply'>[]>;
  /**
   * Creates, changes or deletes a quick reply, and returns all quick replies. Refuses with `notFound` for an unknown id, or with `conflict` if another quick
   * reply has the shortcut. `invalid`: a field is not valid, or the quick reply would move between phone and gateway. `limited`: the gateway stores too many.
   * `notSupported`: a text on the phone of an account that is no business.
   */
  editQuickReply(id: InstanceId, edit: QuickReplyEdit): Promise<Result<readonly Kept<'quickReply'>[]>>;
}
