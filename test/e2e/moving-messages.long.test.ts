/**
 * Tests the move of chats and messages to another server in an archive. After a kill the session is complete, and the same import adds the missing messages.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { Account } from '#test/support/account.ts';
import { launchCommand, runCommand, type Ran } from '#test/support/commands.ts';
import { quietLog } from '#test/support/database.ts';
import { embeddedUrl } from '#test/support/embedded-url.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const chatId = `${contact}@s.whatsapp.net`;
const folder = temporaryFolder();
const [archive, secret] = [join(folder, 'sessions.dormouse'), join(folder, 'passphrase')];
/** The number of copied messages in the database, which makes an import long enough for a kill. */
const copies = 30_000;
let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  await writeFile(secret, 'correct horse battery staple\n');
});
after(async () => {
  await scene?.close();
  await removeFolder(folder);
});

const inDatabase = async <T>(gateway: GatewayProcess, text: string): Promise<readonly T[]> => {
  const database = await openDatabase({
    url: embeddedUrl(gateway.dataDir),
    log: quietLog,
    poolSize: 1,
    limits: { statement: 60_000, connection: 10_000 },
  });
  try {
    return await database.rows<T>({ name: '', text }, []);
  } finally {
    await database.close();
  }
};

const countsOf = async (gateway: GatewayProcess): Promise<Readonly<Record<string, number>>> => {
  const text = `select (select count(*)::int from message) as messages, (select count(*)::int from chat) as chats,
    (select count(*)::int from credential) as credentials, (select count(*)::int from signal_key) as keys,
    (select count(*)::int from instance where jid <> '' and not removed) as instances, (select count(*)::int from outbox) as outbox`;
  return (await inDatabase<Record<string, number>>(gateway, text))[0] ?? {};
};

const importArgs = ['--from', 'dormouse', '--path', archive, '--secret-file', secret];
const exportTo = (out: string, more: readonly string[]): Promise<Ran> =>
  runCommand(scene.gateway, 'export.ts', ['--out', out, '--passphrase-file', secret, '--stop', ...more]);

const shown = ({ fileURL: _file, ...message }: Readonly<Record<string, unknown>>) => message;
const foundBy = async (at: Account): Promise<readonly unknown[]> => {
  const { body } = await at.call('POST', '/message/find', { chatid: chatId, limit: 1_000 });
  return (body['messages'] as readonly Readonly<Record<string, unknown>>[]).map(shown);
};

test('export: messages move with their chats, and the conversation continues on the new server', async () => {
  const { sandbox } = scene.platform;
  const ids = [await scene.write(account, 'first'), await scene.write(account, 'second')];
  await scene.stored(account, ids);
  await account.sends(contact, 'an answer');
  await account.call('POST', '/chat/editLead', { id: contact, lead_name: 'Ana', lead_tags: ['vip'] });
  const unread = (await account.chatOf(chatId))?.['wa_unreadCount'];
  assert.equal(unread, 2);
  const ran = await exportTo(archive, ['--with', 'messages']);
  assert.equal(ran.code, 0, ran.output);
  const [messages, chat] = [await foundBy(account), await account.chatOf(chatId)];

  const other = scene.another({});
  try {
    await other.start();
    const moved = await runCommand(other, 'import.ts', importArgs);
    assert.equal(moved.code, 0, moved.output);
    assert.match(moved.output, /imported, 3 messages and 1 chats added/);
    const there = Account.of(other, account.number, account.token);
    assert.deepEqual(await foundBy(there), messages);
    assert.deepEqual(await there.chatOf(chatId), chat);
    assert.equal((await countsOf(other))['outbox'], 0);
    const again = await runCommand(other, 'import.ts', importArgs);
    assert.match(again.output, /already here$/m);
    await there.connect();
    await there.reaches('connected');
    const { id } = await sandbox.send(contact, account.number, { kind: 'text', text: 'after the move' });
    await until(async () => (await there.messages(contact)).some(({ messageid }) => messageid === id), 'one more text is in the chat');
    const now = await there.chatOf(chatId);
    assert.deepEqual(
      [now?.['wa_unreadCount'], now?.['wa_lastMessageTextVote'], now?.['lead_name'], now?.['id']],
      [3, 'after the move', 'Ana', chat?.['id']],
    );
    assert.equal((await there.messages(contact)).length, 4);
  } finally {
    await other.close();
  }
});

test('export: an archive that is made without messages contains none', async () => {
  const plain = join(folder, 'plain.dormouse');
  assert.equal((await exportTo(plain, [])).code, 0);
  assert.match((await exportTo(join(folder, 'x'), ['--with', 'stars'])).output, /--with must be messages/);
  const other = scene.another({});
  try {
    await other.start();
    const moved = await runCommand(other, 'import.ts', ['--from', 'dormouse', '--path', plain, '--secret-file', secret]);
    assert.match(moved.output, /imported$/m);
    const { messages, chats, instances } = await countsOf(other);
    assert.deepEqual([messages, chats, instances], [0, 0, 1]);
  } finally {
    await other.close();
  }
});

test('import: after a kill between messages the session is complete, and the same import adds the missing messages', async (t) => {
  await inDatabase(
    scene.gateway,
    `insert into message select copy.*
     from (select to_jsonb(message) as whole from message where status <> 'Queued' limit 1) as one, generate_series(1, ${copies}) as n,
       jsonb_populate_record(null::message, whole || jsonb_build_object(
         'message_id', 'copy' || n, 'id', 'r' || lpad(to_hex(n), 7, '0'), 'seq', 1000000 + n)) as copy`,
  );
  const large = join(folder, 'large.dormouse');
  assert.equal((await exportTo(large, ['--with', 'messages'])).code, 0);
  const expected = await countsOf(scene.gateway);
  const other = scene.another({});
  try {
    await other.start();
    // A trigger slows each batch, so the kill comes before the last batch.
    await inDatabase(
      other,
      'create function hold() returns trigger language plpgsql as $$ begin perform pg_sleep(0.2); return null; end $$',
    );
    await inDatabase(other, 'create trigger hold after insert on message for each statement execute function hold()');
    const args = ['--from', 'dormouse', '--path', large, '--secret-file', secret];
    const { ended } = launchCommand(other, 'import.ts', args);
    await until(async () => ((await countsOf(other))['messages'] ?? 0) > 1_000 || undefined, 'some messages are stored', 120_000);
    await other.end('SIGKILL');
    assert.match((await ended).output, /has gone/);
    await other.start();
    const half = await countsOf(other);
    assert.deepEqual([half['credentials'], half['instances'], half['chats']], [1, 1, expected['chats']]);
    assert.ok((half['messages'] ?? 0) > 1_000 && (half['messages'] ?? 0) < (expected['messages'] ?? 0), JSON.stringify(half));
    await inDatabase(other, 'drop trigger hold on message');
    const ran = await runCommand(other, 'import.ts', args);
    assert.equal(ran.code, 0, ran.output);
    const whole = await countsOf(other);
    assert.deepEqual({ ...whole, keys: 0 }, { ...expected, keys: 0 });
    assert.equal(whole['keys'], half['keys']);
    t.diagnostic(`messages after the kill: ${half['messages']} of ${expected['messages']}`);
  } finally {
    await other.close();
  }
});
