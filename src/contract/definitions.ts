/** The API representation of labels, lead tags and quick replies. */
import { Type } from 'typebox';
import { quickReplyTypes } from '#actors/gateway.ts';
import type { Chat, Kept, Label } from '#actors/model.ts';
import { fieldsOf } from './fields.ts';
import { Flag, OneOf } from './shapes.ts';
import { timeText } from './formats.ts';

/** A record with the number of the account that owns it. */
type Owned<T> = T & { readonly owner: string };

const text = Type.String();

const timeRows = {
  created: [text, ({ created }: { readonly created: number }) => timeText(created)],
  updated: [text, ({ updated }: { readonly updated: number }) => timeText(updated)],
} as const;

const leadTag = fieldsOf<Owned<Kept<'leadTag'>>>()({
  id: [text, ({ id }) => id],
  name: [text, ({ name }) => name],
  kanban: [Flag('A column of the board'), ({ kanban }) => kanban],
  kanbanOrder: [Type.Integer({ description: 'Place among the columns' }), ({ kanbanOrder }) => kanbanOrder],
  owner: [text, ({ owner }) => owner],
  ...timeRows,
});

export const leadTagFields = leadTag.schemas;
export const leadTagView = (tag: Kept<'leadTag'>, owner: string) => leadTag.view({ ...tag, owner });

const quickReply = fieldsOf<Owned<Kept<'quickReply'>>>()({
  id: [text, ({ id }) => id],
  onWhatsApp: [Flag('It is kept on the phone'), ({ onPhone }) => onPhone],
  shortCut: [text, ({ shortcut }) => shortcut],
  type: [OneOf(quickReplyTypes), ({ type }) => type],
  text: [text, (reply) => reply.text],
  file: [text, ({ file }) => file],
  docName: [text, ({ docName }) => docName],
  owner: [text, ({ owner }) => owner],
  ...timeRows,
});

export const quickReplyFields = quickReply.schemas;
export const quickReplyView = (reply: Kept<'quickReply'>, owner: string) => quickReply.view({ ...reply, owner });

/** Returns the lead fields that change if a tag is renamed; null if the lead does not have the tag. A lead that already has the new tag gets no second one. */
export const retagged = ({ lead_tags: tags }: Chat['extra'], from: string, to: string): Chat['extra'] | null => {
  if (!Array.isArray(tags) || !tags.includes(from)) return null;
  return { lead_tags: [...new Set(tags.map((tag: unknown) => (tag === from ? to : tag)))] };
};

// The API representation of labels.

/** The colours of labels. A label has the index of its colour in this list. */
export const labelColors = [
  '#ff9484',
  '#64c4ff',
  '#fed428',
  '#dfaef0',
  '#9ab6c1',
  '#56ccb4',
  '#fe9dfe',
  '#d3a91f',
  '#6f7bcf',
  '#d8e651',
  '#01d0e2',
  '#ffc5c7',
  '#92ceac',
  '#f64847',
  '#00a1f2',
  '#83e421',
  '#ffae04',
  '#b4ebff',
  '#9ba6ff',
  '#9568cf',
] as const;

/** Returns `<owner>:<labelid>`, the form of label ids in a chat. */
export const fullLabelId = (owner: string, labelId: string): string => `${owner}:${labelId}`;

/** Returns the id of a label on the phone, from a stored id with or without the owner. */
export const bareLabelId = (id: string): string => id.slice(id.indexOf(':') + 1);

/** Returns the phone's id of a label, from an id with or without the owner. Returns null if the id cannot belong to this account. */
export const givenLabelId = (text: string, owner: string): string | null => {
  const own = `${owner}:`;
  const id = owner !== '' && text.startsWith(own) ? text.slice(own.length) : text;
  return /^\d{1,9}$/.test(id) ? id : null;
};

const label = fieldsOf<Owned<Label>>()({
  id: [text, ({ owner, id }) => fullLabelId(owner, id)],
  labelid: [text, ({ id }) => id],
  name: [text, ({ name }) => name],
  color: [Type.Integer({ description: 'Index of the colour' }), ({ color }) => color],
  colorHex: [OneOf(labelColors), ({ color }) => labelColors[color % labelColors.length] ?? labelColors[0]],
  owner: [text, ({ owner }) => owner],
});

/** Makes the view of a label for events, without the times of its creation and change. */
export const labelView = (one: Label, owner: string) => label.view({ ...one, owner });

const keptLabel = fieldsOf<Owned<Kept<'label'>>>()({ ...label.rows, ...timeRows });

export const labelFields = keptLabel.schemas;
export const keptLabelView = (one: Kept<'label'>, owner: string) => keptLabel.view({ ...one, owner });
