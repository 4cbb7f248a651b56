/** Tests the places where programs on whatsmeow keep names, tokens, webhooks and keys. */
import assert from 'node:assert/strict';
import { createCipheriv, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gowsReader } from '#src/moving/whatsmeow/gows.ts';
import { multideviceReader } from '#src/moving/whatsmeow/multidevice.ts';
import { wuzapiReader } from '#src/moving/whatsmeow/wuzapi.ts';
import { madeDevice } from '#test/support/whatsmeow/made.ts';
import { keysOf, sessionOf } from '#test/support/whatsmeow/paired.ts';
import { options, readAll, openTestFolder, storeOf, told } from '#test/support/whatsmeow/reading.ts';
import { createTables, deviceRow, type Held, sqliteTarget, type Target, writeDevice } from '#test/support/whatsmeow/writer.ts';

const scratch = await openTestFolder();

const [ana, bia, carl] = ['5511999990061:3@s.whatsapp.net', '5511999990062:1@s.whatsapp.net', '5511999990063:2@s.whatsapp.net'] as const;

const identity = (fill: number): Buffer => Buffer.concat([Buffer.from([5]), Buffer.alloc(32, fill)]);

const usersTable = (columns: string): string =>
  `create table users (name text not null, token text not null, webhook text not null default '', jid text not null default '',
   connected integer, expiration integer, events text not null default '', proxy_url text default '', ${columns})`;

const sealedWith = (key: string, text: string): Buffer => {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
};
const globalKey = 'k'.repeat(32);
const hmacKey = 'a key of thirty-two characters ..';

const wuzapi = async (users: (target: Target) => Promise<void>, devices: readonly Held[] = [madeDevice(ana), madeDevice(bia)]) => {
  const path = await scratch.newFolder();
  await storeOf(join(path, 'main.db'), devices);
  const target = sqliteTarget(join(path, 'users.db'));
  await users(target);
  await target.close();
  return path;
};

test('wuzapi: a user is an instance with its name, token, proxy and webhook', async () => {
  const path = await wuzapi(async (target) => {
    await target.run(usersTable('id text primary key, hmac_key blob'));
    const row = `insert into users (id, name, token, webhook, jid, connected, events, proxy_url, hmac_key) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
    const url = 'https://example.com/hook';
    const proxy = 'socks5://user:word@proxy.example.com:1080';
    await target.run(row, [
      '1',
      'shop',
      'token of the shop',
      url,
      ana,
      1,
      'Message,ReadReceipt,QR,FBMessage',
      proxy,
      sealedWith(globalKey, hmacKey),
    ]);
    await target.run(row, ['2', 'bar', 'token of the bar', '', bia, 0, '', null, null]);
  });
  const [shop, bar] = (await readAll(wuzapiReader, { path, secret: globalKey })).map(sessionOf);
  assert.deepEqual([shop?.name, shop?.state, bar?.name, bar?.state], ['shop', 'connected', 'bar', 'stopped']);
  assert.deepEqual(shop?.settings, {
    token: 'token of the shop',
    proxy: 'socks5://user:word@proxy.example.com:1080',
    webhooks: [
      {
        url: 'https://example.com/hook',
        enabled: true,
        events: ['messages', 'messages_update', 'connection'],
        excludeMessages: [],
        addUrlEvents: false,
        addUrlTypesMessages: false,
        secret: `whsec_${Buffer.from(hmacKey).toString('base64')}`,
        headers: {},
      },
    ],
    lost: [
      'webhook: no events are like FBMessage',
      'signature of the webhook: the key is the same, and the form is that of Standard Webhooks',
    ],
  });
  assert.deepEqual(bar?.settings, { token: 'token of the bar', proxy: '', webhooks: [], lost: [] });
});

test('wuzapi: an encrypted signature key without its encryption key is reported, and all other data is read', async () => {
  const path = await wuzapi(async (target) => {
    await target.run(usersTable('id text primary key, hmac_key blob'));
    await target.run(
      `insert into users (id, name, token, webhook, jid, events, hmac_key) values ('1', 'shop', 't', 'https://example.com', $1, 'All', $2)`,
      [ana, sealedWith(globalKey, hmacKey)],
    );
  });
  for (const secret of [null, 'x'.repeat(32), 'short']) {
    const [shop] = (await readAll(wuzapiReader, { path, secret })).filter((one) => one.found === 'session');
    assert.deepEqual(
      shop?.settings.webhooks.map(({ events, secret }) => [events, secret]),
      [[['all'], '']],
    );
    assert.match(shop?.settings.lost.join() ?? '', /WUZAPI_GLOBAL_ENCRYPTION_KEY/);
    assert.doesNotMatch(JSON.stringify(shop?.settings), new RegExp(hmacKey));
  }
});

test('wuzapi: users without a phone, with a lost or shared device, and devices without a user are refused with a sentence', async () => {
  const path = await wuzapi(
    async (target) => {
      await target.run(usersTable('id integer primary key autoincrement'));
      for (const [name, jid] of [
        ['new', ''],
        ['gone', '5511999990069:4@s.whatsapp.net'],
        ['shop', ana],
        ['copy', ana],
        ['by number', '5511999990062@s.whatsapp.net'],
      ])
        await target.run(`insert into users (name, token, jid) values ($1, 't', $2)`, [name, jid]);
    },
    [madeDevice(ana), madeDevice(bia), madeDevice(carl)],
  );
  assert.deepEqual((await readAll(wuzapiReader, { path })).map(told), [
    'new: the user has no linked phone',
    'gone: the device of the user is gone: the phone ended it',
    'shop',
    'copy: another user of wuzapi has the same device',
    'by number',
    '5511999990063: no user of wuzapi has this device',
  ]);
});

test('wuzapi: a folder without users.db is refused with a sentence', async () => {
  const path = await scratch.newFolder();
  await storeOf(join(path, 'main.db'), [madeDevice(ana)]);
  await assert.rejects(readAll(wuzapiReader, { path }), { name: 'SourceFault', message: /users\.db, .* is missing beside main\.db/ });
  await assert.rejects(readAll(wuzapiReader, { path: await scratch.newFolder() }), {
    name: 'SourceFault',
    message: /holds none of the files/,
  });
});

test('multidevice: a slot has the name and the webhook, and keys may be in a separate database', async () => {
  const path = await scratch.newFolder();
  const [main, keys, slots] = ['whatsapp.db', 'keys.db', 'chatstorage.db'].map((name) => sqliteTarget(join(path, name)));
  assert.ok(main && keys && slots);
  for (const target of [main, keys]) await createTables(target, 15);
  const held = madeDevice(ana, new Map([['identity-key 5511988880061.0', identity(1)]]));
  await writeDevice(main, held, { keys });
  await writeDevice(main, madeDevice(bia), { keys });
  const { jid } = deviceRow(held, 15);
  assert.equal(jid, ana);
  await slots.run(`create table devices (device_id text primary key, display_name text, jid text, ad_jid text, webhook_url text,
    webhook_secret text, webhook_events text)`);
  const row = 'insert into devices values ($1, $2, $3, $4, $5, $6, $7)';
  await slots.run(row, ['org_1', 'Shop', '5511999990061@s.whatsapp.net', ana, 'https://example.com/hook', hmacKey, 'message,call.offer']);
  await slots.run(row, ['org_2', '', '5511999990062@s.whatsapp.net', '', null, '', '']);
  for (const target of [main, keys, slots]) await target.close();
  const [shop, other] = (await readAll(multideviceReader, { path, keys: join(path, 'keys.db') })).map(sessionOf);
  assert.deepEqual([shop?.name, other?.name], ['Shop', 'org_2']);
  assert.deepEqual(
    shop?.settings.webhooks.map(({ url, events, secret }) => [url, events, secret]),
    [['https://example.com/hook', ['messages', 'call'], `whsec_${Buffer.from(hmacKey).toString('base64')}`]],
  );
  assert.deepEqual(other?.settings.webhooks, []);
  for await (const one of multideviceReader.read(options({ path, keys: join(path, 'keys.db') }))) {
    assert.ok((await keysOf(sessionOf(one))).has('identity-key 5511988880061.0'));
    break;
  }
  const [without] = (await readAll(multideviceReader, { path })).map(sessionOf);
  assert.equal(without?.creds.nextPreKeyId, 1);
});

const gowsFolder = async (): Promise<string> => {
  const path = await scratch.newFolder();
  for (const [name, devices] of [
    ['shop', [madeDevice(ana)]],
    ['new', []],
    ['bar', [madeDevice(bia)]],
  ] as const) {
    const own = join(path, 'gows', name);
    await mkdir(own, { recursive: true });
    await storeOf(join(own, 'gows.db'), devices);
  }
  const config = {
    webhooks: [{ url: 'https://example.com/hook', events: ['message', 'session.status'], customHeaders: [{ name: 'X-Shop', value: '1' }] }],
    proxy: { server: 'proxy.example.com:3128', username: 'user', password: 'word' },
  };
  await writeFile(join(path, 'gows', 'shop', '.waha.session.config.json'), JSON.stringify(config));
  return path;
};

test('WAHA GOWS: a folder is a session with its configuration, and a broken one does not stop the others', async () => {
  const path = await gowsFolder();
  await mkdir(join(path, 'gows', 'half'));
  await writeFile(join(path, 'gows', 'half', 'gows.db'), 'SQLite');
  const found = await readAll(gowsReader, { path });
  assert.deepEqual(found.map(told), [
    'bar',
    'half: gows.db is not an SQLite database, or it is encrypted',
    'new: the session has no linked phone',
    'shop',
  ]);
  const { settings } = sessionOf(found[3]);
  assert.equal(settings.proxy, 'http://user:word@proxy.example.com:3128');
  assert.deepEqual(
    settings.webhooks.map(({ url, events, headers }) => [url, events, headers]),
    [['https://example.com/hook', ['messages', 'connection'], { 'X-Shop': '1' }]],
  );
});

test('WAHA GOWS: a file that was copied out of its folder is named after the number of its device', async () => {
  const path = await storeOf(scratch.newFile(), [madeDevice(ana), madeDevice(bia)]);
  assert.deepEqual((await readAll(gowsReader, { path })).map(told), ['5511999990061', '5511999990062']);
});

test('WAHA GOWS: the folder of one session, and its file, are read too', async () => {
  const path = await gowsFolder();
  for (const place of ['gows', 'gows/shop', 'gows/shop/gows.db'])
    assert.ok((await readAll(gowsReader, { path: join(path, place) })).map(told).includes('shop'));
  await assert.rejects(readAll(gowsReader, { path: await scratch.newFolder() }), {
    name: 'SourceFault',
    message: /No folder with a file gows\.db/,
  });
});
