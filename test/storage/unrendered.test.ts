/** Tests entries that cannot become an event: they are stored all the same, and other entries keep their events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '#actors/model.ts';
import { instance, message, owner, webhook } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const { instances, webhooks, journal, messages } = await database.storage();
const { id, epoch } = instance.record;
await instances.insert(instance.record);
await webhooks.save({ ...webhook, instanceId: id }, 1);

const arrived = (messageId: string, content: unknown): Entry => ({
  kind: 'message',
  message: { ...message, messageId, content } as typeof message,
  chat: { chatId: message.chatId },
  unread: true,
});
const circle: Record<string, unknown> = {};
circle['self'] = circle;
const throwing = {
  get text(): string {
    throw new Error('no text');
  },
};

const contents: readonly (readonly [what: string, content: unknown])[] = [
  ['holds itself', circle],
  ['holds a bigint', { n: 1n }],
  ['throws when it is read', throwing],
  ['throws when it becomes JSON', { toJSON: () => assert.fail('no JSON') }],
];
for (const [n, [what, content]] of contents.entries())
  test(`journal: a message whose content ${what} is stored, and the events around it are made`, async () => {
    const ids = [`a${n}`, `bad${n}`, `z${n}`];
    const entries = ids.map((messageId) => arrived(messageId, messageId.startsWith('bad') ? content : { text: 'fine' }));
    const committed = await journal.commit({ id, owner, epoch }, entries, () => [webhook.id, 'unknown']);
    assert.deepEqual(
      committed.events.map(({ payload }) => (payload['message'] as { messageid: string }).messageid),
      [ids[0], ids[2]],
    );
    assert.equal(committed.deliveries.length, 2);
    assert.deepEqual(
      committed.unrendered?.map(({ type, webhooks: wanting }) => [type, wanting]),
      [['messages', [webhook.id, 'unknown']]],
    );
    for (const messageId of ids) assert.equal((await messages.byId(id, messageId))?.messageId, messageId);
    const again = await journal.commit({ id, owner, epoch }, entries, () => [webhook.id]);
    assert.deepEqual(again, { events: [], deliveries: [] });
  });
