/** Tests the store of instances and the server-wide values, for the real store and its fake. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noProxy } from '#actors/model.ts';
import type { InstancePatch, InstanceRecord } from '#actors/model.ts';
import { freshRecord, implementations, now, type Implementation } from './implementations.ts';

/** Returns the stored records of these instances, in the order of the store. */
const stored = async ({ instances }: Implementation, ...records: readonly InstanceRecord[]): Promise<readonly InstanceRecord[]> =>
  (await instances.all()).filter(({ id }) => records.some((record) => record.id === id));

const patches: readonly InstancePatch[] = [
  { token: 'another token', aiApikey: 'sk-1', wanted: 'asleep', lastActiveAt: 77 },
  { fieldsMap: { a: [1] }, lastDisconnect: 7, lastDisconnectReason: '401: logged out', lastDisconnectCause: 'loggedOut' },
  { proxy: { ...noProxy, mode: 'custom', url: 'http://user:pass@host:1' } },
  { proxy: null },
  { fieldsMap: null, lastDisconnect: null, isBusiness: true, chatbotStopMinutes: 5 },
  {},
];

for (const [name, open] of await implementations()) {
  test(`instances, ${name}: a record is read back as it was stored`, async () => {
    const stores = await open();
    assert.deepEqual(await stored(stores, stores.record), [stores.record]);
  });

  test(`instances, ${name}: they are read in the order of creation, and those of the same moment in the order of their ids`, async () => {
    const stores = await open();
    const records = [
      stores.record,
      ...['c', 'a', 'b'].map((id, n) => ({ ...freshRecord(), id: `r${stores.record.id}${id}`, created: 9e12 - Math.floor(n / 2) })),
    ];
    for (const record of records.slice(1)) await stores.instances.insert(record);
    const [first, c, a, b] = records;
    assert.deepEqual(
      (await stored(stores, ...records)).map(({ id }) => id),
      [first, b, a, c].map((record) => record?.id),
    );
  });

  test(`instances, ${name}: an update changes the named fields and the time of change`, async () => {
    const stores = await open();
    let expected = stores.record;
    for (const patch of patches) {
      assert.equal(await stores.instances.update(stores.record.id, 1, patch), true);
      expected = { ...expected, ...patch, updated: now };
      assert.deepEqual(await stored(stores, stores.record), [expected]);
    }
  });

  test(`instances, ${name}: an update of a removed one returns false`, async () => {
    const { instances } = await open();
    assert.equal(await instances.update('r99999999999999', 1, { name: 'x' }), false);
  });

  test(`instances, ${name}: under another epoch nothing is changed or removed`, async () => {
    const stores = await open();
    await assert.rejects(stores.instances.update(stores.record.id, 2, { name: 'late' }), { name: 'EpochLost' });
    await assert.rejects(stores.instances.remove(stores.record.id, 2), { name: 'EpochLost' });
    assert.deepEqual(await stored(stores, stores.record), [stores.record]);
  });

  for (const [what, same] of [
    ['id', ({ id }: InstanceRecord) => ({ ...freshRecord(), id })],
    ['token', ({ token }: InstanceRecord) => ({ ...freshRecord(), token })],
  ] as const)
    test(`instances, ${name}: a second one with the ${what} of another is refused, and the first one stays`, async () => {
      const stores = await open();
      const second = same(stores.record);
      await assert.rejects(stores.instances.insert(second), (error: Error) => !['EpochLost', 'StorageUnavailable'].includes(error.name));
      assert.deepEqual(await stored(stores, stores.record, second), [stores.record]);
    });

  test(`instances, ${name}: a removed one is gone, its token is free, and a second removal does nothing`, async () => {
    const stores = await open();
    const { id, token } = stores.record;
    await stores.instances.remove(id, 1);
    assert.deepEqual(await stored(stores, stores.record), []);
    assert.equal(await stores.instances.update(id, 1, { name: 'x' }), false);
    await stores.instances.remove(id, 1);
    const next = { ...freshRecord(), token };
    await stores.instances.insert(next);
    assert.deepEqual(await stored(stores, next), [next]);
  });

  test(`settings, ${name}: absent, set, replaced`, async () => {
    const { settings, record } = await open();
    assert.equal(await settings.get(record.id), null);
    await settings.set(record.id, 'one');
    await settings.set(record.id, '');
    assert.equal(await settings.get(record.id), '');
    assert.equal(await settings.get(`${record.id} other`), null);
  });

  test(`settings, ${name}: of simultaneous swaps of a value one succeeds`, async () => {
    const { settings, record } = await open();
    const swaps = async (before: string | null, values: readonly string[]): Promise<string> => {
      const taken = await Promise.all(values.map((value) => settings.swap(record.id, before, value)));
      assert.equal(taken.filter(Boolean).length, 1);
      const now = await settings.get(record.id);
      assert.equal(now, values[taken.indexOf(true)]);
      return now ?? '';
    };
    const first = await swaps(null, ['one', 'two', 'three']);
    await swaps(first, ['four', 'five', 'six']);
    assert.equal(await settings.swap(record.id, first, 'late'), false);
    assert.equal(await settings.swap(record.id, null, 'later'), false);
  });
}
