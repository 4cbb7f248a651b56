/** Tests that forged messages are dropped and counted, and that their sender gets no answer. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { proto } from '@whiskeysockets/baileys';
import { until } from '#test/support/until.ts';
import { pair } from '#test/sandbox/client.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

let bench: Bench;
let instance: Instance;
const own = '5511900000921';
const friend = '5511900000922';
const friendJid = `${friend}@s.whatsapp.net`;

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
  await bench.running.sandbox.putPerson({ number: friend, name: 'Friend' });
});
after(() => bench.stop());

const now = (): string => String(Math.floor(Date.now() / 1000));

/** Sends a text. Returns the texts that arrived before it. */
const arrivedBefore = async (text: string): Promise<readonly string[]> => {
  const { id } = await bench.running.sandbox.send(friend, own, { kind: 'text', text });
  await instance.message(({ messageId }) => messageId === id, text);
  return instance.entries.all.flatMap((entry) => (entry.kind === 'message' ? [entry.message.text] : []));
};

const unsealed = (id: string, attrs: Record<string, string>, message: proto.IMessage) =>
  bench.running.sandbox.inject(own, {
    tag: 'message',
    attrs: { id, t: now(), type: 'text', ...attrs },
    content: [{ tag: 'plaintext', attrs: {}, content: proto.Message.encode(message).finish() }],
  });

test('unsealed: texts without encryption are dropped in chats and groups, confirmed and counted', async () => {
  const forged = { conversation: 'send me the money' };
  await unsealed('A1', { from: friendJid, notify: 'Friend' }, forged);
  await unsealed('A2', { from: '120363000000000009@g.us', participant: friendJid }, forged);
  await unsealed(
    'A3',
    { from: `${own}@s.whatsapp.net`, category: 'peer' },
    { protocolMessage: { type: 6, appStateSyncKeyShare: { keys: [] } } },
  );
  assert.equal((await arrivedBefore('after the forged ones')).includes('send me the money'), false);
  assert.deepEqual(instance.forged, ['unsealed', 'unsealed', 'unsealed']);
  const { messages } = bench.running.sandbox.stats();
  await until(() => messages.toClients === 0 || bench.running.sandbox.stats().messages.acknowledged >= messages.toClients, 'the receipts');
});

/** Contents that only the phone sends to its own devices. */
const history = { historySyncNotification: { syncType: 3, chunkOrder: 1, directPath: '/v/nowhere', mediaKey: Buffer.alloc(32) } };
const keyShare = {
  appStateSyncKeyShare: { keys: [{ keyId: { keyId: Buffer.from('forged') }, keyData: { keyData: Buffer.alloc(32) } }] },
};

/** Messages of the phone to its own devices, by their name in the protocol. The library reads some contents whatever their type is. */
const phoneOnly: readonly (readonly [string, proto.IMessage])[] = [
  ['a part of the history', { protocolMessage: { type: 5, ...history } }],
  ['keys of the shared settings', { protocolMessage: { type: 6, ...keyShare } }],
  ['an answer of the phone', { protocolMessage: { type: 17, peerDataOperationRequestResponseMessage: { stanzaId: 'A' } } }],
  ['a part of the history under the type of a timer', { protocolMessage: { type: 3, ...history } }],
  ['a part of the history without a type', { protocolMessage: history }],
  ['keys of the shared settings under the type of a deletion', { protocolMessage: { type: 0, ...keyShare } }],
  ['keys of the shared settings without a type', { protocolMessage: keyShare }],
  ['a part of the history in a wrapper', { ephemeralMessage: { message: { protocolMessage: { type: 3, ...history } } } }],
  [
    'keys of the shared settings beside a wrapper',
    { protocolMessage: keyShare, ephemeralMessage: { message: { conversation: 'a text' } } },
  ],
];

const forgedKeys = (): readonly string[] =>
  [...instance.vault.stored.keys.keys()].filter((key) => key.includes(Buffer.from('forged').toString('base64')));

for (const [what, message] of phoneOnly) {
  test(`phone: ${what} from a contact is dropped, and leaves the log`, async () => {
    const before = instance.forged.length;
    const json = proto.Message.toObject(proto.Message.fromObject(message), { bytes: String }) as Record<string, unknown>;
    for (let n = 0; n < 20; n += 1) await bench.running.sandbox.send(friend, own, { kind: 'message', message: json });
    await arrivedBefore(`after ${what}`);
    assert.deepEqual(
      instance.forged.slice(before),
      Array.from({ length: 20 }, () => 'phoneOnly'),
    );
    await until(() => instance.vault.inbound.size === 0, 'an empty log');
    assert.deepEqual(forgedKeys(), []);
  });
}

test('groups: admins delete messages of others, members only their own', async () => {
  const { sandbox } = bench.running;
  const [admin, member] = [friend, '5511900000923'];
  const { jid } = await sandbox.createGroup({ subject: 'Rights', creator: admin, participants: [own, member] });
  const written = async (from: string) => (await sandbox.send(from, jid, { kind: 'text', text: 'mine' })).id;
  const deleted = async (by: string, messageId: string) => {
    await sandbox.send(by, jid, { kind: 'delete', messageId });
    return instance.entries.wait((entry) => entry.kind === 'deleted' && entry.messageId === messageId && entry, 'the deletion');
  };
  assert.equal((await deleted(member, await written(admin))).byAdmin, false);
  assert.equal((await deleted(admin, await written(member))).byAdmin, true);
  await sandbox.updateGroup(jid, admin, { action: 'promote', participants: [member] });
  assert.equal((await deleted(member, await written(admin))).byAdmin, true);
});

test('groups: members pin, unless only admins may change the group', async () => {
  const { sandbox } = bench.running;
  const [admin, member] = [friend, '5511900000924'];
  const { jid } = await sandbox.createGroup({ subject: 'Pins', creator: admin, participants: [own, member] });
  const { id: messageId } = await sandbox.send(admin, jid, { kind: 'text', text: 'pin me' });
  const pins = async (by: string): Promise<boolean> => {
    const { id } = await sandbox.send(by, jid, { kind: 'pin', messageId, seconds: 3_600 });
    const entry = await instance.entries.wait((one) => one.kind === 'message' && one.message.messageId === id && one, 'the pin');
    return entry.revises?.pinnedUntil !== undefined;
  };
  assert.deepEqual([await pins(member), await pins(admin)], [true, true]);
  await sandbox.updateGroup(jid, admin, { action: 'locked', on: true });
  assert.deepEqual([await pins(member), await pins(admin)], [false, true]);
});

/** Returns the recorded timers of a chat, in order. */
const timersOf = (chatId: string): readonly (number | undefined)[] =>
  instance.entries.all.flatMap((entry) => {
    if (entry.kind === 'chat' && entry.chat.chatId === chatId) return entry.chat.ephemeralExpiration ?? [];
    const change = entry.kind === 'news' && entry.news.type === 'groups' && entry.news.group.groupId === chatId && entry.news.group.change;
    return change && change.kind === 'settings' ? (change.settings.ephemeral ?? []) : [];
  });

const timer = (seconds: number) => ({ kind: 'message', message: { protocolMessage: { type: 3, ephemeralExpiration: seconds } } }) as const;

test('timers: a message of a member sets none in a group, the notification of the platform does', async () => {
  const { sandbox } = bench.running;
  const { jid } = await sandbox.createGroup({ subject: 'Timers', creator: friend, participants: [own] });
  for (const seconds of [5, 86_400]) await sandbox.send(friend, jid, timer(seconds));
  await arrivedBefore('after the timers');
  // The group itself has no timer.
  assert.deepEqual([...new Set(timersOf(jid))], [0]);
  await sandbox.updateGroup(jid, friend, { action: 'ephemeral', seconds: 86_400 });
  await until(() => timersOf(jid).includes(86_400), 'the timer');
});

test('timers: a contact can set only the durations that the apps offer', async () => {
  for (const seconds of [5, 86_400, 86_401, 604_800, -1, 7_776_000, 0]) await bench.running.sandbox.send(friend, own, timer(seconds));
  await arrivedBefore('after the last timer');
  assert.deepEqual(timersOf(friendJid), [86_400, 604_800, 7_776_000, 0]);
});

test('phone: keys from another device of the account are dropped', async () => {
  const other = await pair(bench.running as never, { number: own });
  const before = instance.forged.length;
  const [, message = {}] = phoneOnly[1] ?? [];
  await other.sock.relayMessage(`${own}@s.whatsapp.net`, message, {});
  await until(() => instance.forged.length > before, 'the refusal');
  assert.ok(instance.forged.slice(before).every((what) => what === 'phoneOnly'));
  assert.deepEqual(forgedKeys(), []);
  await other.end();
});
