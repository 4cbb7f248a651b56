/** Kills the gateway while receipts, changes of groups and calls are being stored. Each is stored and reported after the next start. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account, MessageSeen } from '#test/support/account.ts';
import { ExternalServer } from '#test/support/external-server.ts';
import { randomOf } from '#test/support/random.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const kills = 4;
const seed = Number(process.env['UNSTORED_SEED'] ?? Date.now() % 100_000);
const patience = 120_000;

let server: ExternalServer;
let scene: Scene;
before(async () => {
  server = await ExternalServer.open();
  scene = await Scene.open({ DATABASE_URL: server.url });
  const events = ['messages', 'messages_update', 'groups', 'call', 'connection'];
  const { status } = await scene.gateway.call('POST', '/globalwebhook', { body: { url: scene.receiver.url, events } });
  assert.equal(status, 200);
});
after(async () => {
  await scene?.close();
  await server?.close();
});

/** Returns the number of stanzas that the platform keeps for the account. */
const kept = ({ number }: Account): number => {
  const person = scene.platform.sandbox.people().find((one) => one.number === number);
  return person?.devices.reduce((sum, { queued }) => sum + queued, 0) ?? -1;
};

const stored = async (account: Account, id: string): Promise<MessageSeen | undefined> =>
  (await account.messages(contact)).find(({ messageid }) => messageid === id);

const told = (account: Account, type: string, text: string): boolean =>
  scene.receiver.posted.some(
    (posted) => posted.token === account.token && posted.type === type && JSON.stringify(posted.body).includes(text),
  );

const sent = async (account: Account, text: string): Promise<string> => {
  const { status, body } = await account.send(contact, text);
  assert.equal(status, 200, JSON.stringify(body));
  return String(body['messageid']);
};

test('unstored: a receipt, a new group name and a call that arrive while the storage is down survive a kill of the gateway', async () => {
  const { sandbox } = scene.platform;
  const account = await scene.paired();
  const { jid } = await sandbox.createGroup({ subject: 'Before', creator: contact, participants: [account.number] });
  const id = await sent(account, 'to be read');
  await until(async () => (await stored(account, id))?.status === 'Delivered' && kept(account) === 0, 'all is quiet');
  await server.kill();
  await until(async () => (await scene.gateway.call('GET', '/health/ready')).status === 503, 'the outage is noticed', patience);
  await sandbox.receipt(contact, { type: 'read', ids: [id] });
  await sandbox.updateGroup(jid, contact, { action: 'subject', text: 'After' });
  const call = await sandbox.call(contact, account.number, { step: 'offer' });
  await wait(500);
  assert.ok(kept(account) >= 3, 'the platform keeps them');
  assert.equal((await account.seen()).status, 'connected');
  await scene.gateway.end('SIGKILL');
  await server.start();
  await scene.gateway.start();
  await until(async () => (await stored(account, id))?.status === 'Read', 'the message is read', patience);
  for (const [type, text] of [
    ['messages_update', id],
    ['groups', 'After'],
    ['call', call.id],
  ] as const)
    await until(() => told(account, type, text), `${type} with ${text} is told`, patience);
  await until(() => kept(account) === 0, 'the platform keeps nothing', patience);
});

test(`unstored: messages that are read during repeated kills of the gateway have the status Read in the end (seed ${seed})`, async (t) => {
  const random = randomOf(seed);
  const { sandbox } = scene.platform;
  const account = await scene.paired();
  await sandbox.putPerson({ number: contact, autoDeliver: false });
  const all: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await sent(account, `${kill}.${n} to be read`));
    all.push(...ids);
    const reading = ids.map(async (id) => {
      await wait(random() * 150);
      for (const type of ['delivered', 'read'] as const) await sandbox.receipt(contact, { type, ids: [id] });
    });
    await wait(random() * 200);
    await scene.gateway.end('SIGKILL');
    await Promise.all(reading);
    await scene.gateway.start();
    await account.reaches('connected');
  }
  let unread: readonly string[] = all;
  await until(
    async () => {
      const messages = new Map((await account.messages(contact)).map(({ messageid, status }) => [messageid, status]));
      unread = all.filter((id) => messages.get(id) !== 'Read');
      return unread.length === 0;
    },
    () => `${all.length} messages are read; ${unread.length} are not`,
    patience,
  );
  await until(() => all.every((id) => told(account, 'messages_update', id)), 'every receipt is told', patience);
  t.diagnostic(`${all.length} messages over ${kills} kills`);
});
