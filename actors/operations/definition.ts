/** Operations on labels and quick replies, which the phone and its devices share. */
import type { Label, QuickReply } from '../model.ts';

export interface DefinitionOperations {
  /** Creates or changes a label. A label with its `deleted` mark is deleted. */
  'label.define': { readonly input: { readonly label: Label }; readonly answer: null };
  /** Adds and removes labels of a chat as one change. Ids are the phone's. */
  'label.mark': {
    readonly input: { readonly chatId: string; readonly add: readonly string[]; readonly remove: readonly string[] };
    readonly answer: null;
  };
  /** Reloads missed changes of labels, their chats and quick replies, or all of them with `whole`. The link records the changes. */
  'label.reload': { readonly input: { readonly whole: boolean }; readonly answer: null };
  /** Creates, changes or deletes a quick reply on the phone. */
  'quickReply.define': { readonly input: { readonly reply: QuickReply; readonly deleted: boolean }; readonly answer: null };
}
