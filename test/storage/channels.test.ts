/** Tests channels in PostgreSQL. Facts are merged into stored ones, and only followed channels are stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channelOf, type Channel, type ChannelPatch, type Entry } from '#actors/model.ts';
import { channel, instance } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const { instances, journal, definitions } = await database.storage();
const { epoch } = instance.record;
for (const id of ['r1', 'r2']) await instances.insert({ ...instance.record, id, token: id });

const commit = (...entries: readonly Entry[]) => journal.commit({ id: 'r1', owner: '', epoch }, entries, () => []);
const facts = (patch: ChannelPatch, create = false): Entry => ({ kind: 'channel', channel: patch, create });
const gone = (id: string): Entry => ({ kind: 'definitionGone', definition: { of: 'channel', value: channelOf({ id }) } });
const stored = async (): Promise<readonly Channel[]> =>
  (await definitions.all('r1', 'channel')).map(({ created: _made, updated: _changed, ...one }) => one);
const { id } = channel;

test('channels: a followed one is stored completely, for its instance only', async () => {
  await commit(facts(channel, true));
  assert.deepEqual(await stored(), [channel]);
  assert.deepEqual(await definitions.all('r2', 'channel'), []);
});

const changes: readonly (readonly [what: string, entries: readonly Entry[], after: Partial<Channel>])[] = [
  ['a change keeps what it does not name', [facts({ id, role: 'admin' })], { role: 'admin' }],
  [
    'a list that lacks the number of followers keeps it',
    [facts({ id, state: 'suspended', muted: true }, true)],
    { state: 'suspended', muted: true },
  ],
  ['the last of several changes counts', [facts({ id, reactions: 'none' }), facts({ id, reactions: 'basic' })], { reactions: 'basic' }],
  ['a picture is taken away', [facts({ id, picture: null })], { picture: null }],
  ['another channel is not made by a change', [facts({ id: '1@newsletter', role: 'owner' })], {}],
];
for (const [what, entries, after] of changes)
  test(`channels: ${what}`, async () => {
    await commit(gone(id));
    await commit(facts(channel, true));
    await commit(...entries);
    assert.deepEqual(await stored(), [{ ...channel, ...after }]);
  });

test('channels: an unfollowed one is deleted, and a later change does not restore it', async () => {
  await commit(gone(id), facts({ id, role: 'admin' }));
  assert.deepEqual(await stored(), []);
});

test('channels: the time of the last list is stored, and forgotten for another account', async () => {
  const listing = (at: number) => ({ of: 'channelListing', value: { id: 'all', at } }) as const;
  await commit({ kind: 'definition', definition: listing(5) });
  assert.deepEqual(
    (await definitions.all('r1', 'channelListing')).map(({ at }) => at),
    [5],
  );
  await commit({ kind: 'definitionGone', definition: listing(0) });
  assert.deepEqual(await definitions.all('r1', 'channelListing'), []);
});
