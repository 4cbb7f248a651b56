/** Tags of leads and quick replies as the interface spells them. */
import type { Chat, Kept } from '#actors/model.ts';
import { timeText } from './time.ts';

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
