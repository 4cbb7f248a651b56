/** Labels, tags of leads and quick replies as the interface spells them. */
import type { Chat, Kept, Label } from '#actors/model.ts';
import { timeText } from './formats.ts';

// Tags of leads and quick replies as the interface spells them.

export const leadTagView = ({ id, name, kanban, kanbanOrder, created, updated }: Kept<'leadTag'>, owner: string) => ({
  id,
  name,
  kanban,
  kanbanOrder,
  owner,
  created: timeText(created),
  updated: timeText(updated),
});

export const quickReplyView = (reply: Kept<'quickReply'>, owner: string) => ({
  id: reply.id,
  onWhatsApp: reply.onPhone,
  shortCut: reply.shortcut,
  type: reply.type,
  text: reply.text,
  file: reply.file,
  docName: reply.docName,
  owner,
  created: timeText(reply.created),
  updated: timeText(reply.updated),
});

/** Returns the lead fields that change if a tag gets another name; null if the lead does not carry the tag. A lead with both names keeps one. */
export const retagged = ({ lead_tags: tags }: Chat['extra'], from: string, to: string): Chat['extra'] | null => {
  if (!Array.isArray(tags) || !tags.includes(from)) return null;
  return { lead_tags: [...new Set(tags.map((tag: unknown) => (tag === from ? to : tag)))] };
};

// Labels as the interface spells them.

/** Colours by their index. */
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

/** `<owner>:<labelid>`, the form in which a chat names its labels. */
export const fullLabelId = (owner: string, labelId: string): string => `${owner}:${labelId}`;

/** The id of a label on the phone, of either form that is stored. */
export const bareLabelId = (id: string): string => id.slice(id.indexOf(':') + 1);

/** The phone's id of a label out of what a client sent, of either form; null when it cannot be one of this account. */
export const givenLabelId = (text: string, owner: string): string | null => {
  const own = `${owner}:`;
  const id = owner !== '' && text.startsWith(own) ? text.slice(own.length) : text;
  return /^\d{1,9}$/.test(id) ? id : null;
};

export const labelView = ({ id, name, color }: Label, owner: string) => ({
  id: fullLabelId(owner, id),
  labelid: id,
  name,
  color,
  colorHex: labelColors[color % labelColors.length] ?? labelColors[0],
  owner,
});

export const keptLabelView = ({ created, updated, ...label }: Kept<'label'>, owner: string) => ({
  ...labelView(label, owner),
  created: timeText(created),
  updated: timeText(updated),
});
