/** Tests which kind of platform a database belongs to, and which starts are refused. The sessions are rows of a real database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPlatformKind } from '#src/wiring/platform-kind.ts';
import type { Storage } from '#src/storage/open.ts';
import { instance } from '#test/contract/samples.ts';
import { settingsWith } from '#test/support/constants.ts';
import { testDatabase } from '#test/support/database.ts';

const { record } = instance;
const row = 'platform.kind';
const simulated = ['ws://127.0.0.1:9/ws', 'ws://localhost:3001/ws/chat', 'ws://[::1]:1/'] as const;
const real = ['wss://web.whatsapp.com/ws/chat', 'wss://127.0.0.1:1/ws'] as const;

const start = (storage: Storage, url: string, env: Readonly<Record<string, string>> = {}): Promise<void> =>
  checkPlatformKind(settingsWith({ PLATFORM_URL: url, DATA_DIR: '/srv/data', ...env }), storage);

/** Opens an empty database with one instance, which is linked if `jid` has an account. */
const opened = async (jid: string): Promise<Storage> => {
  const storage = await (await testDatabase()).storage();
  await storage.instances.insert({ ...record, jid });
  return storage;
};

const linked = await opened('5511990000001@s.whatsapp.net');

test('platform kind: a database of an earlier release gets the kind of its first start', async () => {
  for (const [url, kind] of [
    [simulated[0], 'simulated'],
    [real[0], 'real'],
  ] as const) {
    const storage = await opened('5511990000001@s.whatsapp.net');
    assert.equal(await storage.settings.get(row), null);
    await start(storage, url);
    assert.equal(await storage.settings.get(row), kind);
  }
});

test('platform kind: only the kind counts, and the address may change', async () => {
  for (const [kind, urls] of [
    ['simulated', simulated],
    ['real', real],
  ] as const) {
    await linked.settings.set(row, kind);
    for (const url of urls) await start(linked, url);
    assert.equal(await linked.settings.get(row), kind);
  }
});

const refused = [
  [
    'simulated',
    real[1],
    {},
    'the sessions in the data folder /srv/data are linked with a simulated platform, and PLATFORM_URL names the real one, which would end them: ' +
      'start this data folder with `npm run sandbox`, or set DATA_DIR to another one. To use it with the real platform, first disconnect all its sessions in the sandbox',
  ],
  [
    'real',
    simulated[0],
    {},
    'the sessions in the data folder /srv/data are linked with the real platform, and PLATFORM_URL names a simulated one, which would end them: ' +
      'start this data folder with `npm start`, or set DATA_DIR to another one for `npm run sandbox`',
  ],
  [
    'real',
    simulated[0],
    { DATABASE_URL: 'postgres://shop:secret@db.example.com/messages' },
    'the sessions in the database postgres://shop@db.example.com/messages are linked with the real platform, and PLATFORM_URL names a simulated one, ' +
      'which would end them: start this database with `npm start`, or set DATABASE_URL to another one for `npm run sandbox`',
  ],
] as const;
for (const [kind, url, env, message] of refused)
  test(`platform kind: sessions of the ${kind} platform refuse a start with ${url}${'DATABASE_URL' in env ? ' and a given database' : ''}`, async () => {
    await linked.settings.set(row, kind);
    for (let times = 0; times < 2; times += 1) await assert.rejects(start(linked, url, env), { message });
    assert.equal(await linked.settings.get(row), kind);
  });

test('platform kind: a database without linked sessions belongs to the platform of its last start', async () => {
  const storage = await opened('');
  for (const [url, kind] of [
    [simulated[0], 'simulated'],
    [real[0], 'real'],
    [simulated[1], 'simulated'],
  ] as const) {
    await start(storage, url);
    assert.equal(await storage.settings.get(row), kind);
  }
  await storage.instances.update(record.id, 1, { jid: '5511990000001@s.whatsapp.net' });
  await assert.rejects(start(storage, real[0]), /linked with a simulated platform/);
  await storage.instances.remove(record.id, 1);
  await start(storage, real[0]);
  assert.equal(await storage.settings.get(row), 'real');
});

test('platform kind: a damaged row is replaced by the kind of the start', async () => {
  await linked.settings.set(row, 'neither');
  await start(linked, real[0]);
  assert.equal(await linked.settings.get(row), 'real');
});
