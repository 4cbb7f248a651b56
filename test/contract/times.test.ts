/** Tests times of damaged rows. Any number in a record gives a view, so that one damaged row cannot break a whole list. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentView, triggerView } from '#src/contract/chatbot.ts';
import { folderView, optOutView } from '#src/contract/campaign.ts';
import { keptLabelView, leadTagView, quickReplyView } from '#src/contract/definitions.ts';
import {
  chatView,
  deliveryErrorView,
  deliveryPageView,
  groupView,
  instanceView,
  isoTime,
  messageView,
  postView,
  timeText,
} from '#src/contract/views.ts';
import { root } from '../source-tree.ts';
import { chat, deliveryError, group, instance, message, owner } from './samples.ts';

/** The limits of the bigint of PostgreSQL as JavaScript reads them, the limits of `Date`, and values beyond them. */
const extremes = [2 ** 63, -(2 ** 63), 8.64e15, -8.64e15, 8.64e15 + 1, -8.64e15 - 1, Number.NaN, Infinity, -Infinity, 0, -1];

/** Returns the value with every number in it replaced. */
const replaced = <T>(value: T, number: number): T => {
  if (typeof value === 'number') return number as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one: unknown) => replaced(one, number)) as T;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one as unknown, number)])) as T;
};

const kept = { id: 'k1', created: 1, updated: 1 };
const delivery = {
  ...deliveryError,
  webhookId: 'w1',
  instanceId: 'r1',
  eventId: 'e1',
  state: 'dead',
  at: 1,
  nextAttempt: 1,
  endedAt: 1,
  status: 1,
  reason: '',
};
const campaign = {
  id: 'c1',
  info: '',
  status: 'done',
  reason: '',
  remainingMs: 1,
  scheduledFor: 1,
  delayMin: 1,
  delayMax: 1,
  created: 1,
  updated: 1,
  startedAt: 1,
  finishedAt: 1,
};

/** Functions that create a view of a record in which every number is replaced. The last five records need only fields with times. */
const views: Readonly<Record<string, (number: number) => unknown>> = {
  instanceView: (number) => instanceView(replaced({ ...instance, record: { ...instance.record, lastDisconnect: 1 } }, number), number),
  messageView: (number) => messageView(replaced(message, number), owner),
  chatView: (number) => chatView(replaced(chat, number), owner),
  groupView: (number) => groupView(replaced(group, number)),
  deliveryErrorView: (number) => deliveryErrorView(replaced(deliveryError, number)),
  deliveryPageView: (number) =>
    deliveryPageView(
      { deliveries: [replaced(delivery, number)], more: false, queues: [] } as unknown as Parameters<typeof deliveryPageView>[0],
      true,
    ),
  postView: (number) =>
    postView(
      replaced({ serverId: 1, messageId: '1', type: '', at: 1, views: 1, reactions: {}, content: null }, number) as Parameters<
        typeof postView
      >[0],
    ),
  folderView: (number) => folderView(replaced(campaign, number) as unknown as Parameters<typeof folderView>[0], owner, number),
  optOutView: (number) => optOutView({ chatId: '1', at: number, by: 'api' } as unknown as Parameters<typeof optOutView>[0]),
  keptLabelView: (number) => keptLabelView(replaced(kept, number) as unknown as Parameters<typeof keptLabelView>[0], owner),
  leadTagView: (number) => leadTagView(replaced(kept, number) as unknown as Parameters<typeof leadTagView>[0], owner),
  quickReplyView: (number) =>
    quickReplyView(replaced({ ...kept, onWhatsApp: false }, number) as unknown as Parameters<typeof quickReplyView>[0], owner),
  agentView: (number) => agentView(replaced({ ...kept, media: [] }, number) as unknown as Parameters<typeof agentView>[0], false, owner),
  triggerView: (number) => triggerView(replaced(kept, number) as unknown as Parameters<typeof triggerView>[0], owner),
};

for (const [name, view] of Object.entries(views))
  test(`${name}: it is made from a record with any number in it`, () => {
    for (const number of extremes) assert.doesNotThrow(() => JSON.stringify(view(number)), String(number));
  });

test('isoTime, timeText: an impossible time becomes the nearest one with a year of four digits', () => {
  assert.deepEqual([2 ** 63, -(2 ** 63), Number.NaN].map(isoTime), [
    '9999-12-31T23:59:59.999Z',
    '0001-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.000Z',
  ]);
  assert.equal(timeText(2 ** 63), '9999-12-31 23:59:59.999Z');
});

test('views: they use only time formats that accept every number', () => {
  const files = globSync('src/{contract,http}/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('contract/formats.ts'));
  assert.ok(files.length > 50);
  assert.deepEqual(
    files.filter((file) => readFileSync(join(root, file), 'utf8').includes('toISOString')),
    [],
  );
});
