/** Tests unusable rows of whatsmeow, files that are no store, and names that move to LIDs. */
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { whatsmeowReader } from '#src/moving/whatsmeow/found.ts';
import { madeDevice } from '#test/support/whatsmeow/made.ts';
import { keysOf, sessionOf } from '#test/support/whatsmeow/paired.ts';
import { options, readAll, openTestFolder, storeOf, told } from '#test/support/whatsmeow/reading.ts';
import { sqliteTarget } from '#test/support/whatsmeow/writer.ts';

const scratch = await openTestFolder();

const [ana, bia, carl] = ['5511999990061:3@s.whatsapp.net', '5511999990062:1@s.whatsapp.net', '5511999990063:2@s.whatsapp.net'] as const;
const jidsAre = (jid: string) => `jid = '${jid}'`;

const brokenDevices: readonly (readonly [title: string, change: string, reason: string])[] = [
  ['a key that is cut off', `adv_account_sig = x'0102'`, 'the column adv_account_sig holds 2 bytes in place of 64'],
  ['a text where bytes belong', `adv_device_sig = 'none'`, 'the column adv_device_sig holds no bytes'],
  ['a registration id that is no number', `registration_id = 'many'`, 'the column registration_id holds no whole number'],
  ['a registration id of more than 32 bits', 'registration_id = 4294967296', 'the column registration_id holds too large a number'],
  ['a jid without a device', `jid = '5511999990062@s.whatsapp.net'`, 'the column jid names no linked device'],
];
for (const [title, change, reason] of brokenDevices) {
  test(`whatsmeow rows: a device with ${title} is refused in words, and the others go on`, async () => {
    const path = await storeOf(scratch.newFile(), [madeDevice(ana), madeDevice(bia), madeDevice(carl)], (target) =>
      target.run(`update whatsmeow_device set ${change} where ${jidsAre(bia)}`),
    );
    assert.deepEqual((await readAll(whatsmeowReader, { path })).map(told), [
      '5511999990061',
      `5511999990062: its row of whatsmeow_device cannot be used: ${reason}`,
      '5511999990063',
    ]);
  });
}

test('whatsmeow rows: malformed, truncated and ownerless records are skipped and counted, and the session continues', async () => {
  const path = await storeOf(scratch.newFile(), [madeDevice(ana)], async (target) => {
    const session = 'insert into whatsmeow_sessions (our_jid, their_id, session) values ($1, $2, $3)';
    await target.run(session, [ana, '5511988880061:0', Buffer.from([0x0a, 0x10])]);
    await target.run(session, [ana, '5511988880061:1', Buffer.from([0x0a, 0x11])]);
    await target.run(session, [ana, '5511988880061:2', Buffer.from('{"SessionState":')]);
    await target.run(session, [ana, 'nobody', Buffer.from('{}')]);
    await target.run(session, [ana, '5511988880061:3', null]);
    await target.run('insert into whatsmeow_pre_keys (jid, key_id, key, uploaded) values ($1, $2, $3, 1)', [ana, 9, Buffer.alloc(3)]);
    await target.run('update whatsmeow_app_state_sync_keys set fingerprint = $1', [Buffer.from([0xff])]);
  });
  const [found] = await readAll(whatsmeowReader, { path });
  const later = 'contacts whose messages need them send them again';
  assert.deepEqual(sessionOf(found).notes, [
    `1 row is left out of whatsmeow_pre_keys, because the column key holds 3 bytes in place of 32; ${later}`,
    `1 row is left out of whatsmeow_app_state_sync_keys, because the column fingerprint cannot be read; ${later}`,
    `2 rows are left out of whatsmeow_sessions, because the record is not in the JSON form of whatsmeow; ${later}`,
    `1 row is left out of whatsmeow_sessions, because the record is broken; ${later}`,
    `1 row is left out of whatsmeow_sessions, because the column their_id names no device; ${later}`,
  ]);
});

test('whatsmeow rows: a device has only its own keys', async () => {
  const first = madeDevice(ana, new Map([['identity-key 5511988880061.0', Buffer.alloc(33, 5)]]));
  const path = await storeOf(scratch.newFile(), [first, madeDevice(bia)]);
  const names: (readonly string[])[] = [];
  for await (const one of whatsmeowReader.read(options({ path }))) names.push([...(await keysOf(sessionOf(one))).keys()].toSorted());
  const own = ['app-state-sync-key AAAAAQ==', 'pre-key 7'];
  assert.deepEqual(names, [[own[0], 'identity-key 5511988880061.0', own[1]], own]);
});

for (const [title, content, message] of [
  ['no SQLite file', 'a note of somebody', /1?\d*\.db is not an SQLite database, or it is encrypted/],
  ['an empty file', '', /is not an SQLite database, or it is encrypted/],
  ['a file that is cut off', `SQLite format 3\0${'x'.repeat(300)}`, /cannot be read/],
] as const) {
  test(`whatsmeow store: ${title} is refused in words`, async () => {
    const path = scratch.newFile();
    await writeFile(path, content);
    await assert.rejects(readAll(whatsmeowReader, { path }), { name: 'SourceFault', message });
  });
}

test('whatsmeow store: a database of another program is refused with a sentence', async () => {
  const path = scratch.newFile();
  const target = sqliteTarget(path);
  await target.run('create table notes (text)');
  await target.close();
  await assert.rejects(readAll(whatsmeowReader, { path }), { name: 'SourceFault', message: /no table whatsmeow_device/ });
});

test('whatsmeow store: a text that is neither a path nor an address is refused with a sentence', async () => {
  await assert.rejects(readAll(whatsmeowReader, {}), { name: 'SourceFault', message: /--path or --url is missing/ });
  await assert.rejects(readAll(whatsmeowReader, { path: join(scratch.folder, 'nowhere') }), {
    name: 'SourceFault',
    message: /names nothing/,
  });
  await assert.rejects(readAll(whatsmeowReader, { url: 'mysql://localhost/x' }), { name: 'SourceFault', message: /PostgreSQL/ });
});

test('whatsmeow store: copies of the source are deleted after it was read, and after a failure', async (t) => {
  // The test has its own temporary folder, because other test files import at the same time.
  const { TMPDIR: usual } = process.env;
  process.env['TMPDIR'] = await scratch.newFolder();
  t.after(() => (usual === undefined ? delete process.env['TMPDIR'] : (process.env['TMPDIR'] = usual)));
  const copies = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('dormouse-import-'));
  await readAll(whatsmeowReader, { path: await storeOf(scratch.newFile(), [madeDevice(ana)]) });
  const broken = scratch.newFile();
  await writeFile(broken, `SQLite format 3\0${'x'.repeat(300)}`);
  await assert.rejects(readAll(whatsmeowReader, { path: broken }));
  assert.deepEqual(await copies(), []);
});

const identity = (fill: number): Buffer => Buffer.concat([Buffer.from([5]), Buffer.alloc(32, fill)]);
const token = { token: Buffer.from([1]), timestamp: '1700000000', senderTimestamp: 1_700_000_001 };

test('whatsmeow LIDs: names move to the LID if the library looks there, and existing values of the LID stay', async () => {
  const values = new Map<string, unknown>([
    ['lid-mapping 5511988880061', '200000000000001'],
    ['lid-mapping 5511988880062', '200000000000002'],
    ['lid-mapping 5511977770000', '200000000000003'],
    ['identity-key 5511988880061.0', identity(1)],
    ['identity-key 5511988880062.0', identity(2)],
    ['identity-key 200000000000002_1.0', identity(3)],
    ['identity-key 5511988880063.0', identity(4)],
    ['identity-key 5511988880061_128.99', identity(5)],
    ['tctoken 5511988880061@s.whatsapp.net', { ...token, timestamp: '1600000000' }],
    ['tctoken 200000000000001@lid', token],
    ['tctoken 5511988880063@s.whatsapp.net', { token: Buffer.from([2]), timestamp: '1700000000' }],
  ]);
  const path = await storeOf(scratch.newFile(), [madeDevice(ana, values)]);
  for await (const one of whatsmeowReader.read(options({ path }))) {
    const keys = await keysOf(sessionOf(one));
    const named = (type: string) => [...keys.keys()].filter((name) => name.startsWith(type)).toSorted();
    assert.deepEqual(named('lid-mapping'), [
      'lid-mapping 200000000000001_reverse',
      'lid-mapping 200000000000002_reverse',
      'lid-mapping 5511988880061',
      'lid-mapping 5511988880062',
    ]);
    assert.deepEqual(named('identity-key'), [
      'identity-key 200000000000001_1.0',
      'identity-key 200000000000001_129.99',
      'identity-key 200000000000002_1.0',
      'identity-key 5511988880063.0',
    ]);
    assert.deepEqual(keys.get('identity-key 200000000000002_1.0'), identity(3));
    assert.deepEqual(keys.get('tctoken 200000000000001@lid'), token);
    assert.deepEqual(keys.get('tctoken 5511988880063@s.whatsapp.net'), { token: Buffer.from([2]), timestamp: '1700000000' });
    const index = keys.get('tctoken __index') as { readonly token: Buffer };
    assert.deepEqual(JSON.parse(index.token.toString()).toSorted(), ['200000000000001@lid', '5511988880063@s.whatsapp.net']);
  }
});
