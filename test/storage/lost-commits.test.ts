/** Tests the journal on a database that lost its last commits, as after a failover. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrived, Bench, chatId, fresh } from '#test/ports/entries.ts';
import { testDatabase } from '#test/support/database.ts';
import { testNetwork } from '#test/support/network.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();

test('lost commits: after an outage the journal updates no chat from its cache', async (t) => {
  const network = await testNetwork(t, database.url);
  const limits = { statement: 500, connection: 2_000 };
  const storage = await database.storage({ databaseUrl: network.url, limits });
  const [one, other] = [await new Bench(storage, 'rlost01').store(), await new Bench(storage, 'rlost02').store()];
  await one.commit(arrived(fresh({ text: 'first' })));
  network.pause();
  await assert.rejects(other.commit(arrived(fresh())), { name: 'StorageUnavailable' });
  network.resume();
  await database.admin.rows({ name: '', text: 'delete from chat where instance_id = $1' }, [one.record.id]);
  await until(() => storage.healthy(), 'the outage is over');
  await one.commit(arrived(fresh({ text: 'second' })));
  assert.equal((await one.chat(chatId))?.lastMessageText, 'second');
});

test('lost commits: a repeated commit returns the events of its stored messages, and no delivery', async () => {
  const storage = await database.storage();
  const { record, webhookId } = await new Bench(storage, 'rlost03').store();
  const entries = [{ kind: 'chatRead', chatId } as const, arrived(fresh())];
  const commit = (again: boolean) => storage.journal.commit(record, entries, () => [webhookId], again);
  const [first, repeated, plain] = [await commit(false), await commit(true), await commit(false)];
  assert.deepEqual(
    [first, repeated, plain].map(({ events, deliveries }) => [events.length, deliveries.length]),
    [
      [1, 1],
      [1, 0],
      [1, 1],
    ],
  );
  assert.deepEqual(repeated.events[0]?.message, first.events[0]?.message);
  assert.deepEqual(
    plain.events.map(({ type }) => type),
    ['chats'],
    'a first commit reads the chat, and finds the message stored',
  );
});
