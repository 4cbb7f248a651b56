/** Tags of leads as the interface spells them. */
import type { Kept } from '#actors/model.ts';
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
