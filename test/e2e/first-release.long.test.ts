/**
 * A database of the first release, with the platform that its sessions were paired with: the gateway opens it, answers as that release did, and goes on.
 * `test/e2e/first-release/make.ts` says how the fixture was made.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { EmbeddedServer, migrate } from '#src/storage/open.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { Account } from '#test/support/account.ts';
import { quietLog, testLimits } from '#test/support/database.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { openPlatform, type TestPlatform } from '#test/support/platform.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { openReceiver, type Receiver } from '#test/support/receivers.ts';
import { until } from '#test/support/until.ts';
import { insertRows, releasedSteps } from '#test/support/upgrade.ts';
import { answersOf, lostOf, readFixture, waitingOf } from './first-release/contents.ts';

const contact = '5511988880001';
const first = readFixture();

/** The age of the fixture in milliseconds. The gateway follows the clock of its database, so that its own clock cannot be set back. */
const age = Date.now() - first.madeAt;

/** The fixture is older than the default retention. Retries take a second, and circuits fractions of a second. */
const env = {
  MESSAGES_KEEP_DAYS: '0',
  RECEIPTS_KEEP_DAYS: '0',
  FILES_KEEP_DAYS: '0',
  CAMPAIGNS_PAUSED_KEEP_DAYS: '0',
  WEBHOOK_SLOW_RETRIES_MS: Array.from({ length: 600 }, () => 1000).join(','),
  CIRCUIT_MIN_MS: '200',
  CIRCUIT_MAX_MS: '400',
};

/** Makes the tables by the migrations of the first release, and fills them. */
const makeDatabase = async (dataDir: string): Promise<void> => {
  const server = await EmbeddedServer.start({ dataDir, log: quietLog, settings: { fsync: 'off' } });
  await migrate(server.url, quietLog, { steps: releasedSteps.filter(({ name }) => first.migrations.includes(name)) });
  const database = await openDatabase({ url: server.url, log: quietLog, poolSize: 1, limits: testLimits });
  await database.transaction(async (runner) => {
    const run = (text: string) => runner.rows({ name: '', text }, []);
    // Without triggers and foreign keys the rows stay as the release left them.
    await run('set local session_replication_role = replica');
    await insertRows(runner, first.tables);
    // Waiting rows would expire, so they get the age that they had.
    await run(`update outbox set at = at + ${age}`);
    await run(`update message set timestamp = timestamp + ${age} where status = 'Queued'`);
    for (const [name, last] of Object.entries(first.sequences)) await run(`select setval('${name}', ${last})`);
  });
  await database.close();
  await server.close(true);
};

let platform: TestPlatform;
let receiver: Receiver;
let gateway: GatewayProcess;
let accounts: readonly Account[];
const platformFolder = temporaryFolder();
before(async () => {
  writeFileSync(join(platformFolder, 'sandbox.sqlite'), Buffer.from(first.platform, 'base64'));
  platform = await openPlatform(undefined, platformFolder);
  receiver = await openReceiver();
  gateway = new GatewayProcess({ platformUrl: platform.url, env });
  for (const [path, content] of Object.entries(first.files)) {
    mkdirSync(dirname(join(gateway.dataDir, path)), { recursive: true });
    writeFileSync(join(gateway.dataDir, path), Buffer.from(content, 'base64'));
  }
  writeFileSync(join(gateway.dataDir, 'encryption.key'), first.encryptionKey, { mode: 0o600 });
  await makeDatabase(gateway.dataDir);
  await gateway.start();
  accounts = first.accounts.map(({ number, token }) => Account.of(gateway, number, token));
});
after(async () => {
  await gateway.close();
  await receiver.close();
  await platform.close();
  await removeFolder(platformFolder);
});

test('first release: sessions connect without a new pairing, under their old tokens', async () => {
  for (const account of accounts) {
    const { owner } = await account.reaches('connected');
    assert.equal(owner, account.number);
  }
});

test('first release: messages, chats, contacts, leads, labels, the chatbot and campaigns are unchanged', async () => {
  for (const account of accounts) {
    const old = first.answers[account.number] ?? {};
    const { messages } = old['/message/find'] as { readonly messages: readonly { status: string; messageTimestamp: number }[] };
    for (const message of messages) if (message.status === 'Queued') message.messageTimestamp += age;
    assert.ok(JSON.stringify(old).length > 2_000, 'the release answered something');
    assert.deepEqual(lostOf(old, await answersOf(account)), []);
  }
});

test('first release: the message in its queue waits for the pace, and is sent', async () => {
  const account = accounts[0]!;
  const { body } = await account.call('GET', '/message/async');
  assert.equal((body['queue'] as { readonly pending: number }).pending, first.queued.length);
  await account.call('POST', '/instance/updateDelaySettings', { msg_delay_min: 0, msg_delay_max: 0 });
  const texts = (): readonly string[] => platform.sandbox.received('5511988880002').map(({ text }) => text);
  await until(() => first.queued.every((text) => texts().filter((one) => one === text).length === 1), 'the queue is sent');
});

test('first release: groups have their members, and a kept file is read', async () => {
  const account = accounts[0]!;
  const { body } = await account.call('POST', '/group/list', { limit: 10 });
  const [group] = body['groups'] as readonly { readonly JID: string; readonly Participants: readonly unknown[] }[];
  assert.equal(group?.Participants.length, 3);
  const { body: found } = await account.call('POST', '/message/find', { chatid: `${contact}@s.whatsapp.net`, messageType: 'ImageMessage' });
  const [picture] = found['messages'] as readonly { readonly fileURL: string }[];
  const file = await fetch(`${gateway.address}${new URL(picture?.fileURL ?? '').pathname}`);
  assert.equal(file.status, 200);
  assert.ok((await file.arrayBuffer()).byteLength > 50);
});

test('first release: waiting deliveries still wait, and reach a receiver that is back, with their headers', async () => {
  const waits = new Set(await waitingOf(gateway, accounts));
  assert.ok(first.waiting.length > 10, `${first.waiting.length} waited`);
  assert.deepEqual(
    first.waiting.filter((one) => !waits.has(one)),
    [],
  );
  for (const account of accounts) {
    const { body } = await account.call('GET', '/webhook');
    const [{ id, events } = { id: '', events: [] }] = body as unknown as readonly { readonly id: string; readonly events: unknown }[];
    const changed = await account.call('POST', '/webhook', { action: 'update', id, url: receiver.url, events, enabled: true });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
  }
  const global = await gateway.call('POST', '/globalwebhook', { body: { ...first.globalWebhook, url: receiver.url } });
  assert.equal(global.status, 200, JSON.stringify(global.body));
  const posted = (): ReadonlySet<string> => new Set(receiver.posted.map(({ id }) => id));
  const ids = first.waiting.map((one) => one.split(' ')[1] ?? '');
  await until(
    () => ids.every((id) => posted().has(id)),
    () => `all are posted; ${ids.filter((id) => !posted().has(id)).length} are not`,
  );
  assert.ok(receiver.posted.some(({ headers }) => headers['x-own'] === 'value'));
});

test('first release: texts go both ways on the old Signal sessions', async () => {
  for (const account of accounts) {
    const text = `after the upgrade ${account.number}`;
    await account.sends(contact, text);
    await until(
      () => platform.sandbox.received(contact).some((one) => one.text === text && one.error === undefined),
      'the contact reads it',
    );
    const { id } = await platform.sandbox.send(contact, account.number, { kind: 'text', text: 'an answer' });
    await until(async () => (await account.messages(contact)).some(({ messageid }) => messageid === id), 'the answer is stored');
  }
});
