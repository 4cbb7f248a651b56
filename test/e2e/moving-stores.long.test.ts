/** Tests that sessions from stores of Evolution API, WAHA and baileys-api connect without a scan, with their names, tokens, webhooks and proxies. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { quietLog, testDatabase } from '#test/support/database.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { MovingScene, type Used } from '#test/support/moving-scene.ts';
import {
  addEvolution,
  evolutionHash,
  fazerHash,
  makeEvolution,
  writeEvolutionFiles,
  writeWaha,
  writeWahaTable,
} from '#test/support/other-stores.ts';

const database = await testDatabase();
let moving: MovingScene;
before(async () => {
  moving = await MovingScene.open({ ALLOW_PRIVATE_PROXIES: 'loopback' });
});
after(() => moving.close());

interface WebhookRow {
  readonly url: string;
  readonly events: readonly string[];
  readonly excludeMessages: readonly string[];
}

/** Imports and connects one session, and checks that it continues with its old contacts and groups. */
const connects = async (args: readonly string[], name: string, used: Used): Promise<string> => {
  const ran = await moving.import([...args, '--only', name, '--connect']);
  assert.equal(ran.code, 0, ran.output);
  assert.match(ran.output, new RegExp(`${name}: connected`), ran.output);
  await moving.goesOn(await moving.accountNamed(name), used);
  return ran.output;
};

const webhooksOf = async (name: string): Promise<readonly WebhookRow[]> => {
  const { body } = await (await moving.accountNamed(name)).call('GET', '/webhook');
  return body as unknown as readonly WebhookRow[];
};

test('evolution: an import of PostgreSQL rows, with keys in files and in Redis, makes sessions with their settings', async () => {
  await makeEvolution(database.admin);
  const instances = join(moving.folder, 'instances');
  const [files, redis] = [await moving.used('5511911120001'), await moving.used('5511911120002')];
  const token = 'B6D711FC-DE4D-4FD5-9365-44120E713976';
  const webhook = {
    url: 'http://127.0.0.1:9/hook',
    events: ['MESSAGES_UPSERT', 'CALL', 'TYPEBOT_START'],
    headers: { authorization: 'Bearer x' },
    base64: true,
  };
  const proxy = { host: '127.0.0.1', port: '9', protocol: 'http', username: 'user', password: 'a@b' };
  await addEvolution(
    database.admin,
    { id: 'c1', name: 'evo-files', token, status: 'open', webhook, setting: { groupsIgnore: true, alwaysOnline: true } },
    files.bare,
  );
  await writeEvolutionFiles(instances, 'c1', files.bare);
  await addEvolution(database.admin, { id: 'c2', name: 'evo-redis', proxy }, null);
  await addEvolution(database.admin, { id: 'c3', name: 'evo-cloud', integration: 'WHATSAPP-BUSINESS' }, null);
  await addEvolution(database.admin, { id: 'c4', name: 'evo-out', code: 401 }, files.bare);
  await addEvolution(database.admin, { id: 'c5', name: 'evo-empty' }, null);
  const url = ['--from', 'evolution', '--url', database.url, '--keys', instances];
  const dry = await moving.import([...url, '--dry-run']);
  assert.match(dry.output, /evo-cloud .*refused: it is an instance of WHATSAPP-BUSINESS/);
  assert.match(dry.output, /evo-out .*refused: the platform ended this session/);
  assert.match(dry.output, /evo-empty .*refused: the store has no credentials of the session/);
  assert.match(dry.output, /evo-files: the source says that it is connected there: stop it there/);
  assert.match(dry.output, /evo-files: webhook: no events are like TYPEBOT_START/);
  assert.match(dry.output, /evo-files: webhookBase64: /);
  assert.match(dry.output, /evo-files: alwaysOnline: /);

  await connects(url, 'evo-files', files);
  assert.equal((await moving.accountNamed('evo-files')).token, token);
  const [hook] = await webhooksOf('evo-files');
  assert.deepEqual([hook?.url, hook?.events, hook?.excludeMessages], [webhook.url, ['messages', 'call'], ['isGroupYes']]);

  const dump = join(moving.folder, 'redis.json');
  await writeFile(
    dump,
    JSON.stringify({ 'evolution_prod:instance:c2': evolutionHash(redis.bare, true), 'evolution_prod:other': { a: '1' } }),
  );
  const plain = await moving.import(['--from', 'evolution', '--url', database.url, '--keys', dump, '--only', 'evo-redis']);
  assert.match(plain.output, /evo-redis +5511911120002 +\w+ +\d+ +imported/);
  const account = await moving.accountNamed('evo-redis');
  const { body } = await account.call('GET', '/instance/proxy');
  assert.match(JSON.stringify(body), /\*\*\*:\*\*\*@127\.0\.0\.1:9/);
  await account.call('DELETE', '/instance/proxy');
  await account.connect();
  await account.reaches('connected');
  await moving.goesOn(account, redis);
  assert.deepEqual(await database.admin.rows({ name: '', text: 'select count(*)::int as count from "Session"' }, []), [{ count: 2 }]);
});

test('waha: an import of folders of the engine NOWEB and of PostgreSQL tables makes sessions with their settings', async () => {
  const [folders, table] = [await moving.used('5511911120003'), await moving.used('5511911120004')];
  const sessions = join(moving.folder, '.sessions');
  const config = {
    webhooks: [
      {
        url: 'http://127.0.0.1:9/waha',
        events: ['message', 'session.status', 'engine.event'],
        hmac: { key: 'k' },
        retries: { attempts: 3 },
      },
    ],
    metadata: { customer: '7' },
  };
  await writeWaha(sessions, 'waha-shop', folders.bare, config);
  const output = await connects(['--from', 'waha', '--path', sessions], 'waha-shop', folders);
  assert.match(output, /signature of the webhook: its key has less than 24 or more than 64 bytes/);
  assert.match(output, /no events are like engine\.event/);
  assert.deepEqual(
    (await webhooksOf('waha-shop')).map(({ url, events }) => [url, events]),
    [['http://127.0.0.1:9/waha', ['messages', 'connection']]],
  );

  const name = `waha_noweb_t${process.pid}`;
  await database.admin.rows({ name: '', text: `create database ${name}` }, []);
  const url = new URL(database.url);
  const own = database.url.replace(url.pathname, `/${name}`);

  const there = await openDatabase({ url: own, log: quietLog, poolSize: 1 });
  try {
    await writeWahaTable(there, table.bare);
    await connects(['--from', 'waha', '--url', own], `t${process.pid}`, table);
  } finally {
    await there.close();
    await database.admin.rows({ name: '', text: `drop database ${name} with (force)` }, []);
  }
});

test('baileys-api: an import of Redis hashes makes sessions, and refuses a session that baileys-api is still importing itself', async () => {
  const used = await moving.used('5511911120005');
  const dump = join(moving.folder, 'fazer.json');
  const hash = fazerHash(used.bare, { webhookUrl: 'http://127.0.0.1:9/fazer', webhookVerifyToken: 'secret', groupsEnabled: false });
  await writeFile(
    dump,
    JSON.stringify({
      '@baileys-api:connections:5511911120005:authState': hash,
      '@baileys-api:connections:5511911120006:authState': { ...hash, 'import-candidates': '[]' },
    }),
  );
  const dry = await moving.import(['--from', 'fazer-ai', '--path', dump, '--dry-run']);
  assert.match(dry.output, /5511911120006 .*refused: its own import has not ended/);
  await connects(['--from', 'fazer-ai', '--path', dump], '5511911120005', used);
  const { messages, logins } = moving.scene.platform.sandbox.stats();
  assert.deepEqual([messages.undecryptable, logins.double], [0, 0]);
});
