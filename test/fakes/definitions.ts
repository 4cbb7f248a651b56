/** Labels, quick replies and tags of the gateway in memory: one of each. */
import { done, type Result } from '#actors/gateway.ts';
import { now } from '#test/contract/samples.ts';

/** Runs a command, unless a test makes the next call of the fake gateway fail. */
export type Attempt = <T>(run: () => Result<T>) => Promise<Result<T>>;

const label = { id: '7', name: 'VIP', color: 2, deleted: false, created: now, updated: now };
const quickReply = {
  id: 'r1a2b3c4d5e6f70',
  onPhone: false,
  shortcut: 'hello',
  type: 'text',
  text: 'Hello!',
  file: '',
  docName: '',
  keywords: [],
  count: 0,
  created: now,
  updated: now,
} as const;
const leadTag = { id: 'r1a2b3c4d5e6f70', name: 'vip', kanban: true, kanbanOrder: 1, created: now, updated: now };

export const definitionCommands = (attempt: Attempt) => ({
  labels: async () => {
    await attempt(() => done(null));
    return [label];
  },
  editLabel: () => attempt(() => done({ label, made: false })),
  labelChat: () => attempt(() => done({ added: ['7'], removed: ['8'] })),
  reloadLabels: () => attempt(() => done('started' as const)),
  quickReplies: async () => {
    await attempt(() => done(null));
    return [quickReply];
  },
  editQuickReply: () => attempt(() => done([quickReply])),
  leadTags: async () => {
    await attempt(() => done(null));
    return [leadTag];
  },
  editLeadTag: () => attempt(() => done([leadTag])),
});
