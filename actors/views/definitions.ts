/** Gateway methods for labels and quick replies. */
import type { InstanceId, Kept, Label, QuickReplyType, Result } from '../model.ts';

/** A change of a label. Absent fields keep their values. `labelId`: the phone's id; '' creates a label. */
export interface LabelDraft {
  readonly labelId: string;
  readonly name?: string;
  readonly color?: number;
  readonly delete: boolean;
}

/** A change of a chat's labels. Ids are the phone's. */
export type LabelChange =
  | { readonly kind: 'set'; readonly labelIds: readonly string[] }
  | { readonly kind: 'add' | 'remove'; readonly labelIds: readonly string[] };

/** Labels that were put on a chat, and labels that were removed. */
export interface LabelsChanged {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** A change of a quick reply. `id`: '' creates one. If `onPhone` is absent, the quick reply stays in its place, or a new one gets the usual place. */
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
export interface DefinitionFace {
  /** Returns the labels that are not deleted. */
  labels(id: InstanceId): Promise<readonly Kept<'label'>[]>;
  /** Creates, changes or deletes a label, also on the phone. `made` is true for a new label. Refuses the deletion of an unknown label with `notFound`. */
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
   * Creates, changes or deletes a quick reply, and returns all of them. Texts of business accounts are stored on the phone, all others in the
   * gateway. Refuses with `notFound` for an unknown id, or `conflict` if another quick reply has the shortcut. `invalid`: the quick reply would have
   * to move between phone and gateway. `notSupported`: a text on the phone of an account that is no business.
   */
  editQuickReply(id: InstanceId, edit: QuickReplyEdit): Promise<Result<readonly Kept<'quickReply'>[]>>;
}
