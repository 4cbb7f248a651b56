/** Answers of operations on groups and communities. */
import type { AnswerOf, OperationName } from '#actors/gateway.ts';
import { group, now } from '#test/contract/samples.ts';

export const groupAnswers: Readonly<Partial<{ [N in OperationName]: AnswerOf<N> }>> = {
  'group.create': { group, outcomes: [{ person: group.owner, error: 403, invitation: { code: 'CODE', expiresAt: now } }] },
  'group.get': { group: { ...group, inviteCode: 'IYnl5Zg9bUcJD32rJrDzO7' }, requests: [group.owner] },
  'group.refresh': null,
  'group.preview': group,
  'group.join': { groupId: group.id, group, waits: false },
  'group.leave': null,
  'group.link': { code: 'IYnl5Zg9bUcJD32rJrDzO7', group },
  'group.change': group,
  'group.picture': group,
  'group.members': { group, outcomes: [{ person: group.owner, error: 0, invitation: null }] },
  'community.create': { group },
  'community.edit': { done: [group.id], failed: ['120363000000000001@g.us'] },
};
