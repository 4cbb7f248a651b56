/** Tests a race between a notice of a new phone and the first message of that phone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addTransactionCapability, type BinaryNode } from '@whiskeysockets/baileys';
import { createBaileysLogger } from '#src/platform/app-state/baileys-logger.ts';
import type { BaileysEvent } from '#src/platform/events/library-values.ts';
import { Identities, type IdentitiesParts } from '#src/platform/inbound/notices.ts';
import { GroupKeys } from '#src/platform/keys/group-keys.ts';
import { createFakeVault } from '#test/fakes/vault.ts';
import { startGateway } from './parties.ts';
import { plainDirectory } from './plain-directory.ts';
import { quietLog } from './setup.ts';

const me = { id: '551:3@s.whatsapp.net', lid: '1:3@lid', name: 'Me' };
const notice = (at: number): BinaryNode => ({
  tag: 'notification',
  attrs: { from: '2@lid', type: 'encrypt', id: 'N', t: String(at / 1_000), offline: '1' },
  content: [{ tag: 'identity', attrs: {}, content: [] }],
});

/** Creates sessions with the phone and with another device of the contact `2@lid`. */
const setUp = async () => {
  const { auth, repository } = await startGateway(createFakeVault());
  const keys = addTransactionCapability(auth.state.keys, createBaileysLogger(quietLog, 'r0'), {
    maxCommitRetries: 1,
    delayBetweenTriesMs: 1,
  });
  const sock = { authState: { creds: { ...auth.state.creds, me }, keys }, signalRepository: repository } as unknown as ReturnType<
    IdentitiesParts['sock']
  >;
  const groupKeys = new GroupKeys({
    sock: () => sock,
    auth,
    directory: () => plainDirectory,
    isMember: () => true,
    stumbled: () => undefined,
  });
  const told: BaileysEvent[] = [];
  let now = 100_000;
  const identities = new Identities({ sock: () => sock, keys: groupKeys, tell: (event) => told.push(event), now: () => (now += 1) });
  const handlers = { message: () => undefined, receipt: () => undefined, notification: () => undefined, call: () => undefined };
  await keys.set({
    session: { '2_1.0': Buffer.from('new'), '2_1.4': Buffer.from('old') },
    'identity-key': { '2_1.0': Buffer.from('new') },
    'device-list': { '2': ['0', '4'] },
  });
  const left = async () => Object.keys({ ...(await keys.get('session', ['2_1.0', '2_1.4'])) });
  return { keys, identities, told, left, notified: identities.withNotices(handlers).notification };
};

test('identity: the first message of the new phone arrives while a notice waits for an outgoing message', async () => {
  const { keys, identities, told, left, notified } = await setUp();
  const sent = Promise.withResolvers<void>();
  const sending = keys.transaction(() => sent.promise, me.id);
  const handled = notified(notice(100_000));
  await new Promise(setImmediate);
  const replaced = identities.replaced('2_1.0');
  sent.resolve();
  await Promise.all([sending, handled, replaced]);
  assert.deepEqual(told, [{ name: 'identity.changed', data: { jid: '2@lid', at: 100_000 } }]);
  assert.deepEqual(await left(), ['2_1.0'], 'the session of the message stays, that of the other device goes');
});

test('identity: a notice repeats the news of a message without effect, and a later one applies', async () => {
  const { identities, told, left, notified } = await setUp();
  await identities.replaced('2_1.0');
  assert.deepEqual([told.length, await left()], [1, ['2_1.0']]);
  await notified(notice(100_000));
  assert.deepEqual([told.length, await left()], [1, ['2_1.0']]);
  await notified(notice(200_000));
  assert.deepEqual([told.length, await left()], [2, []]);
  await identities.replaced('1_1.0');
  await identities.replaced('2_1.4');
  assert.equal(told.length, 2, 'neither the own account nor another device is told');
});
