/** What the gateway offers on labels and quick replies. */
import type { InstanceId, Kept, Label, QuickReplyType, Result } from '../model.ts';

/** What is absent stays as it is. `labelId`: the phone's id; '' makes a label. */
export interface LabelDraft {
  readonly labelId: string;
  readonly name?: string;
  readonly color?: number;
  readonly delete: boolean;
}

/** What of a chat's labels is to change; ids are the phone's. */
export type LabelChange =
  | { readonly kind: 'set'; readonly labelIds: readonly string[] }
  | { readonly kind: 'add' | 'remove'; readonly labelIds: readonly string[] };

/** Labels that were put on a chat, and those that were taken off. */
export interface LabelsChanged {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** `id`: '' makes one. `onPhone` absent: as it is, or where it belongs. */
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

/** Labels are a feature of business accounts: what changes them is refused (`notSupported`) for others. */
export interface DefinitionFace {
  /** Labels that are not deleted. */
  labels(id: InstanceId): Promise<readonly Kept<'label'>[]>;
  /** Makes, changes or deletes a label, on the phone too. `made`: it is new. `notFound` for a deletion of one that there is not. */
  editLabel(id: InstanceId, edit: LabelDraft): Promise<Result<{ readonly label: Label; readonly made: boolean }>>;
  /** Changes the labels of a stored chat, on the phone too. Refused: `notFound` for a chat that is not stored, `invalid` for a label that there is not. */
  labelChat(id: InstanceId, number: string, change: LabelChange): Promise<Result<LabelsChanged>>;
  /**
   * Begins to read the labels again: what was missed, or with `whole` all of them. What changed comes as events. `conflict` while the phone hands over
   * its past.
   */
  reloadLabels(id: InstanceId, whole: boolean): Promise<Result<'started' | 'underWay'>>;
  quickReplies(id: InstanceId): Promise<readonly Kept<'quickReply'>[]>;
  /**
   * Makes, changes or deletes a quick reply; answers with all of them. Texts of business accounts are kept on the phone, everything else here. Refused:
   * `notFound` for an unknown id, `conflict` for a shortcut that another one has, `invalid` for one that would have to move, `notSupported` for a text on
   * the phone of an account that is no business.
   */
  editQuickReply(id: InstanceId, edit: QuickReplyEdit): Promise<Result<readonly Kept<'quickReply'>[]>>;
}
