/** Shapes of labels and quick replies. */
import { Type } from 'typebox';
import { quickReplyTypes } from '#actors/gateway.ts';
import { labelColors, labelFields, quickReplyFields } from '#src/contract/views.ts';
import { Count, fields, Flag, LooseText, OneOf, optional, ref, Text } from './common.ts';

const times = { created: '2026-08-19 17:36:34.345Z', updated: '2026-08-19 17:36:34.345Z' };

export const Label = Type.Object(labelFields, {
  $id: 'Label',
  examples: [{ id: '5511988887777:7', labelid: '7', name: 'VIP', owner: '5511988887777', ...times, color: 2, colorHex: labelColors[2] }],
});

export const LabelsAnswer = Type.Array(ref(Label));

/** Largest length of a name in characters. Phones accept no longer name. */
const longestName = 100;
const labelId = 'The phone’s id of a label, also in the form of `id`';

export const EditLabelBody = Type.Object({
  labelid: LooseText(60, `${labelId}; new, or nothing, makes one`),
  name: optional(Text(longestName, 'Name of the label; required for a new label')),
  color: optional(Count(0, labelColors.length - 1, 'Index of the colour')),
  delete: optional(Flag('Deletes the label, and takes it off all chats')),
});

export const EditLabelAnswer = Type.Object({
  response: OneOf(['Label created', 'Label edited']),
  labelid: Type.String({ description: 'The phone’s id, also of a label that was made' }),
});

export const ReloadLabelsBody = Type.Object({
  force: optional(Flag('Reads all labels again; otherwise only what was missed')),
});

export const ReloadLabelsAnswer = Type.Object({
  success: Type.Boolean(),
  status: OneOf(['started', 'in_progress']),
  message: Type.String(),
  ...fields('force fullSync', Type.Boolean()),
});

const LabelId = LooseText(60, labelId);

export const LabelChatBody = Type.Object({
  number: LooseText(100, 'The chat: its number, its jid or its LID', 1),
  labelids: optional(Type.Array(LabelId, { maxItems: 100, description: 'All labels that the chat shall have' })),
  add_labelid: optional(LabelId),
  remove_labelid: optional(LabelId),
});

export const LabelChatAnswer = Type.Object({
  response: Type.String(),
  editions: Type.Array(Type.String(), { description: 'A sentence for each label that was put on the chat or taken off' }),
});

export const QuickReply = Type.Object(quickReplyFields, {
  $id: 'QuickReply',
  examples: [
    {
      id: 'rb9da9c03637452',
      shortCut: 'catalogue',
      text: 'All that we have',
      file: 'https://example.com/catalogue.pdf',
      docName: 'catalogue.pdf',
      owner: '5511988887777',
      ...times,
      onWhatsApp: false,
      type: 'document',
    },
  ],
});

export const QuickRepliesAnswer = Type.Array(ref(QuickReply));

export const EditQuickReplyBody = Type.Object({
  id: optional(LooseText(60, 'The quick reply; without it one is made')),
  delete: optional(Flag('Deletes it')),
  shortCut: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', description: 'Shortcut that people type', examples: ['hello'] }),
  type: OneOf(quickReplyTypes, { description: 'text, or the kind of the file' }),
  text: optional(Text(10_000, 'The text, or the caption of the file')),
  file: optional(Text(2_000, 'Address of the file, for every other type than text')),
  docName: optional(Text(255, 'Name of a document')),
  onWhatsApp: optional(
    Flag('Keeps it on the phone, which takes texts of business accounts alone; when it is left out those are kept there'),
  ),
});

export const EditQuickReplyAnswer = Type.Object({ message: Type.String(), quickReplies: QuickRepliesAnswer });
