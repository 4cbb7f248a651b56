/** Tests the store of credentials, keys and logged stanzas, for the real store and its fake. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Vault, VaultChange } from '#src/platform/wire/vault-port.ts';
import { implementations, type Implementation } from './implementations.ts';

const stanza = (seq: number) => ({ seq, stanza: Buffer.from(`stanza ${seq} \u0000\u00ff`, 'latin1') });
const full: VaultChange = {
  credentials: '{"a":1}',
  keys: [
    { type: 'session', id: '1 a', value: 'one' },
    { type: 'session', id: '2', value: 'two' },
    { type: 'pre-key', id: '1 a', value: 'pre' },
  ],
};

/** Returns all stored values in a fixed order. */
const content = async (vault: Vault, id: string) => ({
  credentials: await vault.credentials(id),
  keys: (await vault.allKeys(id, ['session', 'pre-key'])).map(({ type, id: key, value }) => `${type} ${key}: ${value}`).toSorted(),
  log: (await vault.logged(id, 99)).stanzas.map(({ seq, tries, stanza: bytes }) => [seq, tries, Buffer.from(bytes).toString('latin1')]),
});
const nothing = { credentials: null, keys: [], log: [] };

const filled = async (open: () => Promise<Implementation>) => {
  const { vault, record } = await open();
  await vault.write(record.id, 1, full);
  await vault.log(record.id, 1, [stanza(5)]);
  return { vault, id: record.id };
};

/** All methods that write. */
const writes: readonly (readonly [title: string, write: (vault: Vault, id: string, epoch: number) => Promise<void>])[] = [
  ['write credentials', (vault, id, epoch) => vault.write(id, epoch, { credentials: '{"b":2}', keys: [] })],
  ['write keys', (vault, id, epoch) => vault.write(id, epoch, { keys: [{ type: 'session', id: '2', value: null }] })],
  ['write what is handled', (vault, id, epoch) => vault.write(id, epoch, { keys: [], handled: [5] })],
  ['log', (vault, id, epoch) => vault.log(id, epoch, [stanza(6)])],
  ['count tries', (vault, id, epoch) => vault.tried(id, epoch, [5])],
  ['set aside', (vault, id, epoch) => vault.discard(id, epoch, 'setAside', 'why')],
  ['delete', (vault, id, epoch) => vault.discard(id, epoch, 'delete', '')],
];

for (const [name, open] of await implementations()) {
  test(`vault, ${name}: a new instance has no values`, async () => {
    const { vault, record } = await open();
    assert.deepEqual(await content(vault, record.id), nothing);
    assert.deepEqual(await vault.keys(record.id, 'session', ['1']), new Map());
    assert.deepEqual(await vault.logged(record.id, 5), { stanzas: [], aside: 0 });
  });

  test(`vault, ${name}: written values are read back, and only the requested ones`, async () => {
    const { vault, id } = await filled(open);
    assert.equal(await vault.credentials(id), '{"a":1}');
    assert.deepEqual(await vault.keys(id, 'session', ['1 a', '3']), new Map([['1 a', 'one']]));
    assert.deepEqual(
      (await vault.allKeys(id, ['pre-key'])).map(({ type, id: key, value }) => [type, key, value]),
      [['pre-key', '1 a', 'pre']],
    );
    assert.deepEqual(await vault.allKeys(id, []), []);
  });

  test(`vault, ${name}: ids are found by their prefix, also with characters that have a meaning in patterns`, async () => {
    const { vault, record } = await open();
    const ids = ['1@g.us::7::0', '1@g.us::8_1::3', '1@g_us::9::0', '11@g.us::7::0', '1@g.us:', '%', ''];
    const keys = ids.map((one) => ({ type: 'sender-key', id: one, value: 'key' }));
    await vault.write(record.id, 1, { keys: [...keys, { type: 'session', id: '1@g.us::7::0', value: 'other' }] });
    const found = async (prefix: string) => (await vault.idsWithPrefix(record.id, 'sender-key', prefix)).toSorted();
    assert.deepEqual(await found('1@g.us::'), ['1@g.us::7::0', '1@g.us::8_1::3']);
    assert.deepEqual(await found('%'), ['%']);
    assert.deepEqual(await found(''), ids.toSorted());
  });

  test(`vault, ${name}: keys are replaced and removed, the last change of a key wins, and other keys stay`, async () => {
    const { vault, id } = await filled(open);
    await vault.write(id, 1, {
      keys: [
        { type: 'session', id: '1 a', value: null },
        { type: 'session', id: '2', value: 'first' },
        { type: 'session', id: '2', value: 'last' },
        { type: 'session', id: '1 a', value: 'back' },
        { type: 'session', id: '9', value: null },
        { type: 'pre-key', id: '1 a', value: 'used' },
        { type: 'pre-key', id: '1 a', value: null },
      ],
    });
    assert.deepEqual((await content(vault, id)).keys, ['session 1 a: back', 'session 2: last']);
    assert.equal(await vault.credentials(id), '{"a":1}');
  });

  test(`log, ${name}: stanzas are read in order until they are handled, and an existing one is not replaced`, async () => {
    const { vault, record } = await open();
    const { id } = record;
    await vault.log(id, 1, [stanza(2), stanza(10)]);
    await vault.tried(id, 1, [2]);
    await vault.log(id, 1, [stanza(9), stanza(2)]);
    const seqs = async (): Promise<readonly unknown[]> => (await vault.logged(id, 5)).stanzas.map(({ seq, tries }) => [seq, tries]);
    assert.deepEqual(await seqs(), [
      [2, 1],
      [9, 0],
      [10, 0],
    ]);
    await vault.write(id, 1, { keys: [], handled: [2, 10, 77] });
    assert.deepEqual((await content(vault, id)).log, [[9, 0, stanza(9).stanza.toString('latin1')]]);
  });

  test(`log, ${name}: a stanza with too many tries is set aside and only counted, and an unknown one is not counted`, async () => {
    const { vault, id } = await filled(open);
    await vault.tried(id, 1, [5, 77]);
    await vault.tried(id, 1, []);
    assert.deepEqual(await vault.logged(id, 1), { stanzas: [], aside: 1 });
    assert.deepEqual(
      (await vault.logged(id, 2)).stanzas.map(({ seq, tries }) => [seq, tries]),
      [[5, 1]],
    );
  });

  for (const [title, write] of writes)
    test(`vault, ${name}: another epoch may not ${title}`, async () => {
      const { vault, id } = await filled(open);
      const before = await content(vault, id);
      await assert.rejects(write(vault, id, 2), { name: 'EpochLost' });
      assert.deepEqual(await content(vault, id), before);
      await write(vault, id, 1);
      assert.notDeepEqual(await content(vault, id), before);
    });

  for (const how of ['delete', 'setAside'] as const)
    test(`vault, ${name}: after ${how} no value is left, a repetition is harmless, and the next session starts empty`, async () => {
      const { vault, id } = await filled(open);
      await vault.discard(id, 1, how, 'why');
      assert.deepEqual(await content(vault, id), nothing);
      await vault.discard(id, 1, how, 'again');
      await vault.write(id, 1, full);
      assert.equal((await content(vault, id)).keys.length, 3);
    });
}
