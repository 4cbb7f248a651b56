/** Tests credentials, keys and stanzas in the database: encrypted, set aside or deleted. `ports/` tests the contract. */
import assert from 'node:assert/strict';
import { createDecipheriv, hkdfSync } from 'node:crypto';
import { test } from 'node:test';
import type { Log } from '#actors/ports.ts';
import { createSealer, sealedIdOf } from '#src/storage/vault/sealing.ts';
import { instance, owner, message } from '#test/contract/samples.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const lines: (readonly [string, object])[] = [];
const log: Log = { ...quietLog, error: (fields, event) => void lines.push([event, fields]) };
const storage = await database.storage({ now: () => 7_000, log });
const { vault } = storage;
const id = instance.record.id;
await storage.instances.insert({ ...instance.record, token: 'secret-token-xyz', aiApikey: 'secret-apikey-xyz' });
const run = (text: string, values: readonly unknown[] = []) => database.admin.rows({ name: '', text }, values);

await vault.write(id, 1, {
  credentials: '{"secret-creds-xyz":1}',
  keys: [
    { type: 'session', id: '1', value: 'secret-key-xyz' },
    { type: 'pre-key', id: '1', value: 'secret-pre-xyz' },
  ],
});
await vault.log(id, 1, [{ seq: 9, stanza: Buffer.from('secret-stanza-xyz') }]);

test('vault: no token, key or credential is readable in any table', async () => {
  await storage.journal.commit(
    { id, owner, epoch: 1 },
    [{ kind: 'message', message, chat: { chatId: message.chatId }, unread: true }],
    () => [],
  );
  const tables = await run(`select table_name as name from information_schema.tables where table_schema = 'public'`);
  assert.ok(tables.length >= 10);
  for (const { name } of tables) {
    for (const row of await run(`select * from "${String(name)}"`)) {
      const dump = Object.values(row).map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value)));
      assert.doesNotMatch(dump.join('\n'), /secret-\w+-xyz/, `table ${String(name)}`);
    }
  }
});

test('vault: an encrypted value that was moved, changed or cut cannot be decrypted', async () => {
  const [row] = await run(`select sealed from signal_key where instance_id = $1 and type = 'session' and id = '1'`, [id]);
  const sealed = row?.['sealed'] as Buffer;
  await run(`insert into signal_key values ($1, 'session', 'moved', $2), ($1, 'session', 'cut', $3)`, [id, sealed, sealed.subarray(0, 20)]);
  for (const key of ['moved', 'cut']) await assert.rejects(vault.keys(id, 'session', [key]), { name: 'CorruptCredentials' });
  await run(`delete from signal_key where id in ('moved', 'cut')`);
});

test('vault: no two values are encrypted with the same nonce', () => {
  const sealer = createSealer(Buffer.alloc(32, 7));
  const numbers = Array.from({ length: 1_000 }, () => sealer.seal(sealedIdOf('credential', id), 'value').toString('hex', 1, 13));
  assert.equal(new Set(numbers).size, numbers.length);
});

test('vault: the key of an instance is the one that HKDF-SHA256 derives from the encryption key', () => {
  const sealedId = sealedIdOf('credential', id);
  const sealed = createSealer(Buffer.alloc(32, 7)).seal(sealedId, 'value');
  const derived = Buffer.from(hkdfSync('sha256', Buffer.alloc(32, 7), '', `dormouse sealed values|${id}`, 32));
  const decipher = createDecipheriv('aes-256-gcm', derived, sealed.subarray(1, 13), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(sealedId.name)).setAuthTag(sealed.subarray(-16));
  assert.equal(Buffer.concat([decipher.update(sealed.subarray(13, -16)), decipher.final()]).toString(), 'value');
});

test('vault: damaged credentials and those without JSON are corrupt, and the error contains none of them', async () => {
  const [row] = await run(`select sealed from credential where instance_id = $1`, [id]);
  const put = (sealed: Buffer) => run(`update credential set sealed = $2 where instance_id = $1`, [id, sealed]);
  const sealed = row?.['sealed'] as Buffer;
  const changed = Buffer.from(sealed);
  changed[20]! ^= 1;
  for (const bad of [changed, Buffer.alloc(0), createSealer(Buffer.alloc(32, 7)).seal(sealedIdOf('credential', id), 'secret')]) {
    await put(bad);
    const error = await vault.credentials(id).then(
      () => null,
      (reason: Error) => reason,
    );
    assert.equal(error?.name, 'CorruptCredentials');
    assert.doesNotMatch(String(error?.message), /secret/);
  }
  await put(sealed);
});

test('vault: a logged stanza whose row is damaged is set aside and counted, and the others are read', async () => {
  const other = { ...instance.record, id: 'r-damaged', token: 'another token' };
  await storage.instances.insert(other);
  await vault.log(
    other.id,
    1,
    [1, 2, 3].map((seq) => ({ seq, stanza: Buffer.from(`stanza ${seq}`) })),
  );
  await run(`update inbound set sealed = '\\x00' where instance_id = $1 and seq = 1`, [other.id]);
  await run(`update inbound set seq = 9223372036854775807 where instance_id = $1 and seq = 3`, [other.id]);
  lines.length = 0;
  const stanzas = [{ seq: 2, tries: 0, stanza: Buffer.from('stanza 2') }];
  assert.deepEqual(await vault.logged(other.id, 5), { stanzas, aside: 2 });
  assert.deepEqual(lines, [['storage.unreadable', { id: other.id, field: 'inbound', rows: 2 }]]);
  assert.deepEqual(
    await run(`select tries from inbound where instance_id = $1 order by seq`, [other.id]),
    [5, 0, 5].map((tries) => ({ tries })),
  );
  assert.deepEqual(await vault.logged(other.id, 5), { stanzas, aside: 2 });
  assert.equal(lines.length, 1);
  await run(`delete from inbound where instance_id = $1`, [other.id]);
});

test('vault: credentials that are set aside are kept with time and reason, and replaced by the next', async () => {
  await vault.discard(id, 1, 'setAside', '401: logged out');
  assert.equal(await vault.credentials(id), null);
  assert.deepEqual(await vault.logged(id, 9), { stanzas: [], aside: 0 });
  assert.deepEqual(await vault.allKeys(id, ['session', 'pre-key']), []);
  const kept = () =>
    run(`select reason, at::int as at, (select count(*)::int from retired_key) as keys from retired_credential where instance_id = $1`, [
      id,
    ]);
  assert.deepEqual(await kept(), [{ reason: '401: logged out', at: 7_000, keys: 0 }]);
  await vault.discard(id, 1, 'setAside', 'nothing to set aside');
  assert.deepEqual(await kept(), [{ reason: '401: logged out', at: 7_000, keys: 0 }]);
  await vault.write(id, 1, { credentials: '{}', keys: [{ type: 'session', id: '5', value: 'v' }] });
  await vault.discard(id, 1, 'setAside', 'again');
  assert.deepEqual(await kept(), [{ reason: 'again', at: 7_000, keys: 0 }]);
});

test('vault: deleted credentials are gone', async () => {
  await vault.write(id, 1, { credentials: '{}', keys: [{ type: 'session', id: '5', value: 'v' }] });
  await vault.log(id, 1, [{ seq: 1, stanza: Buffer.of(1) }]);
  await vault.discard(id, 1, 'delete', '');
  assert.equal(await vault.credentials(id), null);
  assert.deepEqual(await run(`select 1 from signal_key`), []);
  assert.deepEqual(await run(`select 1 from inbound`), []);
});

test('storage: a start with another encryption key fails with that reason', async () => {
  await assert.rejects(database.storage({ encryptionKey: Buffer.alloc(32, 8) }), /encryption key is not the one/);
  await assert.rejects(database.storage({ encryptionKey: Buffer.alloc(31) }), /32 bytes/);
});
