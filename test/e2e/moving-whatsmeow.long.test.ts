/** Tests that sessions from stores of whatsmeow connect without a scan and continue with old contacts and groups. The simulated phones are the oracle. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { testDatabase } from '#test/support/database.ts';
import { MovingScene, type Used } from '#test/support/moving-scene.ts';
import { storeOf } from '#test/support/whatsmeow/reading.ts';
import { createTables, postgresTarget, sqliteTarget, writeDevice } from '#test/support/whatsmeow/writer.ts';

const database = await testDatabase();
let moving: MovingScene;
before(async () => {
  moving = await MovingScene.open();
});
after(async () => {
  assert.equal(moving.scene.platform.sandbox.stats().messages.undecryptable, 0);
  await moving.close();
});

const jidOf = ({ bare }: Used): string => bare.creds.me?.id ?? '';

/** Imports and connects sessions, and checks that they continue with their old contacts and groups. */
const connects = async (args: readonly string[], sessions: Readonly<Record<string, Used>>): Promise<string> => {
  const ran = await moving.import([...args, '--connect']);
  for (const [name, used] of Object.entries(sessions)) {
    assert.match(ran.output, new RegExp(`${name}: connected`), ran.output);
    await moving.goesOn(await moving.accountNamed(name), used);
  }
  return ran.output;
};

const newFolder = async (name: string): Promise<string> => {
  const path = join(moving.folder, name);
  await mkdir(path, { recursive: true });
  return path;
};

test('waha-gows: sessions are imported from one database for each session', async () => {
  const used = await moving.used('5511911130001');
  const folder = await newFolder('.sessions/gows/gows-shop');
  await storeOf(join(folder, 'gows.db'), [used.bare]);
  const config = { webhooks: [{ url: 'http://127.0.0.1:9/waha', events: ['message'] }] };
  await writeFile(join(folder, '.waha.session.config.json'), JSON.stringify(config));
  await connects(['--from', 'waha-gows', '--path', join(moving.folder, '.sessions')], { 'gows-shop': used });
  const { body } = await (await moving.accountNamed('gows-shop')).call('GET', '/webhook');
  assert.match(JSON.stringify(body), /127\.0\.0\.1:9\/waha/);
});

test('wuzapi: users and their devices are imported, and a broken device does not stop the others', async () => {
  const [shop, bar] = [await moving.used('5511911130002'), await moving.used('5511911130003')];
  const folder = await newFolder('dbdata');
  await storeOf(join(folder, 'main.db'), [shop.bare, bar.bare], async (target) => {
    await target.run(`update whatsmeow_device set adv_device_sig = x'00' where jid = $1`, [jidOf(bar)]);
    await target.run('insert into whatsmeow_sessions values ($1, $2, $3)', [jidOf(shop), '5511900000000:0', Buffer.from('x')]);
  });
  const users = sqliteTarget(join(folder, 'users.db'));
  await users.run(
    'create table users (id integer primary key, name text, token text, webhook text, jid text, connected integer, events text)',
  );
  for (const [name, token, used] of [
    ['wuz-shop', 'token-of-the-user-shop', shop],
    ['wuz-bar', 'token-of-the-user-bar', bar],
  ] as const)
    await users.run(`insert into users (name, token, webhook, jid, connected, events) values ($1, $2, '', $3, 1, '')`, [
      name,
      token,
      jidOf(used),
    ]);
  await users.close();
  const output = await connects(['--from', 'wuzapi', '--path', folder], { 'wuz-shop': shop });
  assert.match(output, /wuz-bar .*refused: its row of whatsmeow_device cannot be used: the column adv_device_sig holds 1 bytes/);
  assert.match(output, /wuz-shop: 1 row is left out of whatsmeow_sessions, because the record is not in the JSON form of whatsmeow/);
  assert.match(output, /wuz-shop: the source says that it is connected there/);
  assert.equal((await moving.accountNamed('wuz-shop')).token, 'token-of-the-user-shop');
  assert.doesNotMatch(output, /token-of-the-user/);
  const again = await moving.import(['--from', 'wuzapi', '--path', folder]);
  assert.match(again.output, /wuz-shop .*already here/);
  assert.equal((await (await moving.accountNamed('wuz-shop')).seen()).status, 'connected');
});

test('multidevice: a session is imported whose Signal keys are in a separate database', async () => {
  const used = await moving.used('5511911130004');
  const folder = await newFolder('storages');
  const [main, keys] = ['whatsapp.db', 'keys.db'].map((name) => sqliteTarget(join(folder, name)));
  assert.ok(main && keys);
  for (const target of [main, keys]) await createTables(target, 15);
  await writeDevice(main, used.bare, { keys });
  for (const target of [main, keys]) await target.close();
  await connects(['--from', 'multidevice', '--path', folder, '--keys', join(folder, 'keys.db')], { '5511911130004': used });
});

test('whatsmeow: sessions are imported from a PostgreSQL database with several devices, and from a file that is older than LIDs', async () => {
  const [first, second, old] = [await moving.used('5511911130005'), await moving.used('5511911130006'), await moving.used('5511911130007')];
  const target = await postgresTarget(database.url);
  await createTables(target, 15);
  for (const { bare } of [first, second]) await writeDevice(target, bare);
  await target.close();
  await connects(['--from', 'whatsmeow', '--url', database.url], { '5511911130005': first, '5511911130006': second });
  const path = await storeOf(join(moving.folder, 'old.db'), [old.bare], undefined, 4);
  await connects(['--from', 'whatsmeow', '--path', path], { '5511911130007': old });
});

test('whatsmeow: after the import of a store without Signal sessions and group keys, retries create them again', async () => {
  const used = await moving.used('5511911130008');
  const path = await storeOf(join(moving.folder, 'bare.db'), [used.bare], async (target) => {
    await target.run('delete from whatsmeow_sessions');
    await target.run('delete from whatsmeow_sender_keys');
  });
  await connects(['--from', 'whatsmeow', '--path', path], { '5511911130008': used });
});

test('whatsmeow: Signal sessions that are stored under numbers continue under LIDs', async () => {
  const used = await moving.used('5511911130009');
  const path = await storeOf(join(moving.folder, 'numbers.db'), [used.bare], async (target) => {
    for (const table of ['whatsmeow_sessions', 'whatsmeow_identity_keys'])
      await target.run(`update ${table} set their_id = (select pn from whatsmeow_lid_map where their_id like lid || '%') || substr(their_id, instr(their_id, ':'))
        where exists (select 1 from whatsmeow_lid_map where their_id like lid || '_1:%')`);
  });
  await connects(['--from', 'whatsmeow', '--path', path], { '5511911130009': used });
});
