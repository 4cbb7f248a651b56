/** What the platform can be asked about labels and quick replies, which the phone and its devices share. */
import type { Label, QuickReply } from '../model.ts';

export interface DefinitionOperations {
  /** Makes a label, changes it, or deletes it by its mark. */
  'label.define': { readonly input: { readonly label: Label }; readonly answer: null };
  /** Puts labels on a chat and takes others off, as one change. Ids are those of the phone. */
  'label.mark': {
    readonly input: { readonly chatId: string; readonly add: readonly string[]; readonly remove: readonly string[] };
    readonly answer: null;
  };
  /** Reads labels, their chats and quick replies again: only what was missed, or with `whole` everything. What is new is recorded by the link. */
  'label.reload': { readonly input: { readonly whole: boolean }; readonly answer: null };
  /** Makes, changes or deletes a quick reply on the phone. */
  'quickReply.define': { readonly input: { readonly reply: QuickReply; readonly deleted: boolean }; readonly answer: null };
}
