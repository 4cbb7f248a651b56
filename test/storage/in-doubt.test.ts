/** Tests a statement whose reply was lost. It may still reach the server after later writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Entry, progress } from '#actors/model.ts';
import { instance, message, owner } from '#test/contract/samples.ts';
import { ChatCounts } from '#src/storage/journal/chat-counts.ts';
import { createJournal } from '#src/storage/journal/journal.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';
import { testNetwork } from '#test/support/network.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
const { id } = instance.record;
const writer = { id, owner, epoch: 1 };
await (await database.storage()).instances.insert(instance.record);
const chatId = () => 'r00000000000000';
const eventId = () => 'e';

const stored = (messageId: string) =>
  database.admin.rows<{ status: string }>({ name: '', text: 'select status from message where message_id = $1' }, [messageId]);

test('in doubt: a late statement cannot requeue a message that was given up after a lost reply', async (t) => {
  const network = await testNetwork(t, database.url);
  const limits = { statement: 2_000, connection: 10_000 };
  const behind = await openDatabase({ url: network.url, log: quietLog, poolSize: 2, limits });
  t.after(() => behind.close());
  const journal = createJournal(behind, { chatId, eventId, messageId: chatId }, () => 0, new ChatCounts(() => 0));
  const commit = (entry: Entry) => journal.commit(writer, [entry], () => []);
  const queued = (messageId: string): Entry => ({
    kind: 'queued',
    message: { ...message, messageId, fromMe: true, wasSentByApi: true, status: 'Queued' },
    chat: { chatId: message.chatId },
  });
  await commit(queued('BEFORE'));

  const open = network.hold();
  assert.equal(open(), 1);
  await assert.rejects(commit(queued('LATE')), { name: 'StorageUnavailable' });
  await commit(progress({ ...message, messageId: 'LATE' }, 'Failed', 1, 'it could not be stored'));
  network.resume();
  await until(
    async () => open() === 0 || (await stored('LATE')).length > 0,
    'the held statement reaches the server, or its connection was ended',
  );
  assert.deepEqual(await stored('LATE'), []);
  assert.deepEqual(await stored('BEFORE'), [{ status: 'Queued' }]);
});

test('in doubt: a late change of an instance or a setting cannot overwrite a later one after a lost reply', async (t) => {
  const network = await testNetwork(t, database.url);
  const limits = { statement: 2_000, connection: 10_000 };
  const { instances, settings } = await database.storage({ databaseUrl: network.url, limits });
  const [before] = await instances.all();
  assert.ok(before);
  const change = (profileName: string) => instances.update(before.id, before.epoch, { profileName, fieldsMap: { profileName } });
  await Promise.all([change('first'), settings.set('late', 'first')]);
  const open = network.hold();
  const held = open();
  assert.ok(held > 1);
  const lost = await Promise.allSettled([change('late'), settings.set('late', 'late')]);
  assert.deepEqual(
    lost.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await change('second');
  await settings.set('late', 'second');
  const shown = async () => [(await instances.all())[0]?.profileName, (await instances.all())[0]?.fieldsMap, await settings.get('late')];
  network.resume();
  await until(
    async () => open() <= held - 2 || (await shown())[0] !== 'second',
    'the held statement reaches the server, or its connection was ended',
  );
  assert.deepEqual(await shown(), ['second', { profileName: 'second' }, 'second']);
});
