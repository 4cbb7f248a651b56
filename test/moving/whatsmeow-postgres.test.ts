/** Tests programs on whatsmeow with tables in PostgreSQL. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { gowsReader } from '#src/moving/whatsmeow/gows.ts';
import { multideviceReader } from '#src/moving/whatsmeow/multidevice.ts';
import { wuzapiReader } from '#src/moving/whatsmeow/wuzapi.ts';
import { testDatabase } from '#test/support/database.ts';
import { madeDevice } from '#test/support/whatsmeow/made.ts';
import { sessionOf } from '#test/support/whatsmeow/paired.ts';
import { readAll, openTestFolder, storeOf, told } from '#test/support/whatsmeow/reading.ts';
import { createTables, postgresTarget, sqliteTarget, type Target, writeDevice } from '#test/support/whatsmeow/writer.ts';

const database = await testDatabase();
const scratch = await openTestFolder();
const [ana, bia] = ['5511999990071:3@s.whatsapp.net', '5511999990072:1@s.whatsapp.net'] as const;

/** A random name, so that parallel tests do not collide. */
const own = randomBytes(4).toString('hex');
/** Creates a database that is dropped after the test. */
const newDatabase = async (t: TestContext, name: string, fill: (target: Target) => Promise<void>): Promise<string> => {
  await database.admin.rows({ name: '', text: `create database ${name}` }, []);
  t.after(() => database.admin.rows({ name: '', text: `drop database ${name} with (force)` }, []));
  const url = database.url.replace(/\/[^/?]+\?/, `/${name}?`);
  const target = await postgresTarget(url);
  await fill(target);
  await target.close();
  return url;
};

test('wuzapi: one database holds the users and their devices', async (t) => {
  const url = await newDatabase(t, `wuzapi_${own}`, async (target) => {
    await createTables(target, 15);
    for (const id of [ana, bia]) await writeDevice(target, madeDevice(id));
    await target.run(`create table users (id text primary key, name text not null, token text not null, webhook text not null default '',
      jid text not null default '', connected integer, events text not null default '', proxy_url text default '', hmac_key bytea)`);
    await target.run(`insert into users (id, name, token, jid, connected, hmac_key) values ('1', 'shop', 'of the shop', $1, 1, '')`, [ana]);
  });
  const found = await readAll(wuzapiReader, { url });
  assert.deepEqual(found.map(told), ['shop', '5511999990072: no user of wuzapi has this device']);
  const { creds, settings, state } = sessionOf(found[0]);
  assert.deepEqual([creds.nextPreKeyId, settings.token, state], [8, 'of the shop', 'connected']);
});

test('wuzapi: a database without its users is refused with a sentence', async (t) => {
  const url = await newDatabase(t, `wuzapi_empty_${own}`, (target) => createTables(target, 15));
  await assert.rejects(readAll(wuzapiReader, { url }), { name: 'SourceFault', message: /no table users/ });
});

test('wuzapi: a database that refuses a statement is reported with a sentence', async (t) => {
  const url = await newDatabase(t, `wuzapi_bad_${own}`, async (target) => {
    await createTables(target, 15);
    await target.run(`create view users as select 1 / (random() * 0)::int as id, '' as jid`);
  });
  const message = /cannot be read any further: division by zero$/;
  await assert.rejects(readAll(wuzapiReader, { url }), { name: 'SourceFault', message });
});

test('WAHA GOWS: a database is a session, named and configured as in the database of WAHA', async (t) => {
  const config = { webhooks: [{ url: 'https://example.com/hook', events: ['message'] }] };
  await newDatabase(t, `waha_${own}`, async (target) => {
    await target.run('create table session_config (id text primary key, data text)');
    await target.run('insert into session_config values ($1, $2)', [`Shop-${own}`, JSON.stringify(config)]);
  });
  const url = await newDatabase(t, `waha_gows_shop_${own}`, async (target) => {
    await createTables(target, 15);
    await writeDevice(target, madeDevice(ana));
  });
  const found = await readAll(gowsReader, { url });
  assert.deepEqual(found.map(told), [`Shop-${own}`]);
  assert.deepEqual(
    sessionOf(found[0]).settings.webhooks.map(({ url }) => url),
    ['https://example.com/hook'],
  );
  const all = await readAll(gowsReader, { url: database.url });
  assert.ok(all.map(told).includes(`Shop-${own}`));
});

test('multidevice: devices in a database and slots in a file are read', async (t) => {
  const url = await newDatabase(t, `gowa_${own}`, async (target) => {
    await createTables(target, 15);
    await writeDevice(target, madeDevice(ana));
  });
  const path = await scratch.newFolder();
  const slots = sqliteTarget(`${path}/chatstorage.db`);
  await slots.run('create table devices (device_id text primary key, display_name text, jid text)');
  await slots.run('insert into devices values ($1, $2, $3)', ['org_1', 'Shop', '5511999990071@s.whatsapp.net']);
  await slots.close();
  assert.deepEqual((await readAll(multideviceReader, { url, path })).map(told), ['Shop']);
  assert.deepEqual((await readAll(multideviceReader, { url })).map(told), ['5511999990071']);
});

test('multidevice: Signal keys in a file beside a database are read from the file', async (t) => {
  const url = await newDatabase(t, `gowa_keys_${own}`, async (target) => {
    await createTables(target, 15);
    await writeDevice(target, { ...madeDevice(ana), values: new Map() });
  });
  const keys = await storeOf(scratch.newFile(), [madeDevice(ana)]);
  const [found] = await readAll(multideviceReader, { url, keys });
  assert.equal(sessionOf(found).creds.nextPreKeyId, 8);
});
