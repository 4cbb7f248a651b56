/** Tests shared settings. The phone decrypts, checks and shows changes by the real client, and its own changes reach every device. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  encodeSyncdPatch,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  newLTHashState,
  proto,
  type BinaryNode,
  type ChatModification,
  type LTHashState,
  type WAPatchCreate,
  type WAPatchName,
} from '@whiskeysockets/baileys';
import type { ChatSettings, Setting, SettingsView } from '#src/sandbox/interface.ts';
import { connect, eventually, opened, openSandbox, pair, type Client, type TestSandbox } from './client.ts';

const owner = '5511999990041';
const friend = '5511988880041';
const friendJid = `${friend}@s.whatsapp.net`;
/** The LID under which phones index the chat with the friend. */
let friendLid = '';
const strict = { appStateMacVerification: { patch: true, snapshot: true } };

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;
let twin: Client;
let inbound = '';
let outbound = '';

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number: owner, name: 'Ana' }, strict);
  twin = await pair(sandbox, { number: owner }, strict);
  for (const one of [client, twin]) await eventually(() => one.auth.creds.myAppStateKeyId, 'the key of the settings');
  ({ id: inbound } = await sandbox.sandbox.send(friend, owner, { kind: 'text', text: 'hello' }));
  await client.wait('messages.upsert', ({ messages }) => messages.some(({ key }) => key.id === inbound));
  friendLid = `${sandbox.sandbox.people().find(({ number }) => number === friend)?.lid}@lid`;
  outbound = (await client.sock.sendMessage(friendJid, { text: 'hi' }))?.key.id ?? '';
  await eventually(() => sandbox.sandbox.received(friend).some(({ id }) => id === outbound), 'the answer');
});
after(() => cleanUp());

const settings = (): SettingsView => sandbox.sandbox.settings(owner);
const chat = (): ChatSettings => settings().chats.find((one) => one.chat === friend) ?? { chat: friend };
const now = (): number => Math.floor(Date.now() / 1000);

type Shown = (view: SettingsView) => unknown;
const ofChat = (): Shown => () => chat();
const ofMessage =
  (id: () => string): Shown =>
  ({ messages }) =>
    messages.find((one) => one.id === id());

const fromClient: readonly (readonly [title: string, change: () => Promise<void>, shown: Shown, expected: (value: never) => boolean])[] = [
  ['archive', () => modify({ archive: true, lastMessages: [] }), ofChat(), ({ archived }: ChatSettings) => archived === true],
  ['unarchive', () => modify({ archive: false, lastMessages: [] }), ofChat(), ({ archived }: ChatSettings) => archived === false],
  ['pin', () => modify({ pin: true }), ofChat(), ({ pinnedAt }: ChatSettings) => (pinnedAt ?? 0) > Date.now() - 60_000],
  ['unpin', () => modify({ pin: false }), ofChat(), ({ pinnedAt }: ChatSettings) => pinnedAt === undefined],
  ['mute', () => modify({ mute: 1_900_000_000_000 }), ofChat(), ({ mutedUntil }: ChatSettings) => mutedUntil === 1_900_000_000_000],
  ['unmute', () => modify({ mute: null }), ofChat(), ({ mutedUntil }: ChatSettings) => mutedUntil === undefined],
  [
    'mark as unread',
    () => modify({ markRead: false, lastMessages: [] }),
    ofChat(),
    ({ markedUnread }: ChatSettings) => markedUnread === true,
  ],
  [
    'mark as read',
    () => modify({ markRead: true, lastMessages: [] }),
    ofChat(),
    ({ markedUnread }: ChatSettings) => markedUnread === false,
  ],
  [
    'a label',
    () => client.sock.addLabel('', { id: '7', name: 'VIP', color: 4 }),
    ({ labels }) => labels,
    (labels: unknown) => JSON.stringify(labels) === '[{"id":"7","name":"VIP","color":4}]',
  ],
  ['the label of a chat', () => client.sock.addChatLabel(friendLid, '7'), ofChat(), ({ labels }: ChatSettings) => labels?.join() === '7'],
  [
    'a chat without its label',
    () => client.sock.removeChatLabel(friendLid, '7'),
    ofChat(),
    ({ labels }: ChatSettings) => labels?.join() === '',
  ],
  [
    'the label of a message',
    () => client.sock.addMessageLabel(friendLid, inbound, '7'),
    ofMessage(() => inbound),
    (message: { labels?: string[] } | undefined) => message?.labels?.join() === '7',
  ],
  [
    'a contact',
    () => client.sock.addOrEditContact(friendJid, { fullName: 'Best Friend', saveOnPrimaryAddressbook: true }),
    ({ contacts }) => contacts,
    (contacts: unknown) => JSON.stringify(contacts) === `[{"number":"${friend}","name":"Best Friend","onPhone":true}]`,
  ],
  [
    'a contact that is removed',
    () => client.sock.removeContact(friendJid),
    ({ contacts }) => contacts,
    (contacts: readonly unknown[]) => contacts.length === 0,
  ],
  [
    'a quick reply',
    () => client.sock.addOrEditQuickReply({ timestamp: '11', shortcut: 'hi', message: 'Hello!' }),
    ({ quickReplies }) => quickReplies,
    (replies: unknown) => JSON.stringify(replies) === '[{"id":"11","shortcut":"hi","message":"Hello!"}]',
  ],
  [
    'a quick reply that is removed',
    () => client.sock.removeQuickReply('11'),
    ({ quickReplies }) => quickReplies,
    (replies: readonly unknown[]) => replies.length === 0,
  ],
  ['the push name', () => client.sock.updateProfileName('Ana Maria'), ({ pushName }) => pushName, (name: string) => name === 'Ana Maria'],
  [
    'a message that is deleted for me',
    () => modify({ deleteForMe: { deleteMedia: false, key: { id: inbound, fromMe: false }, timestamp: now() } }),
    ofMessage(() => inbound),
    (message: { deletedForMe?: boolean } | undefined) => message?.deletedForMe === true,
  ],
];

const modify = (change: ChatModification): Promise<void> => client.sock.chatModify(change, friendLid);

for (const [title, change, shown, expected] of fromClient) {
  test(`the client changes ${title}: the phone shows it`, async () => {
    const { patches } = sandbox.sandbox.stats().settings;
    await change();
    assert.ok(expected(shown(settings()) as never), JSON.stringify(settings()));
    assert.equal(sandbox.sandbox.stats().settings.patches, patches + 1);
  });
}

test('settings: a change by a client reaches the other device, and a message that was deleted for me is not shown', async () => {
  await twin.wait('labels.edit', ({ id, name }) => id === '7' && name === 'VIP');
  await twin.wait('messages.delete', (gone) => 'keys' in gone && gone.keys.some(({ id }) => id === inbound));
  assert.equal(sandbox.sandbox.people().find(({ number }) => number === owner)?.name !== '', true);
  assert.deepEqual(
    sandbox.sandbox.shown(owner, friend).map(({ id }) => id),
    [outbound],
  );
});

const fromFriend = async (text: string): Promise<string> => (await sandbox.sandbox.send(friend, owner, { kind: 'text', text })).id;

test('clear and delete: up to the last message that the client names, later ones stay', async () => {
  const range = (): { key: proto.IMessageKey; messageTimestamp: number }[] => [
    { key: { id: outbound, fromMe: true, remoteJid: friendJid }, messageTimestamp: now() },
  ];
  await modify({ clear: true, lastMessages: range() });
  assert.deepEqual(sandbox.sandbox.shown(owner, friend), []);
  assert.ok((chat().clearedUntil ?? 0) > Date.now() - 60_000);
  await modify({ delete: true, lastMessages: range() });
  assert.ok((chat().deletedUntil ?? 0) > Date.now() - 60_000);
  await twin.wait('chats.delete', (chats) => chats.includes(friendLid));
  const [last, next] = [await fromFriend('last'), await fromFriend('in the same second, mostly')];
  const clearTo = (id: string): Promise<void> =>
    modify({ clear: true, lastMessages: [{ key: { id, fromMe: false, remoteJid: friendJid }, messageTimestamp: now() }] });
  await clearTo(last);
  assert.deepEqual(
    sandbox.sandbox.shown(owner, friend).map(({ id }) => id),
    [next],
    'the range names the last message that goes',
  );
  await clearTo(next);
  const fresh = await pair(sandbox, { number: owner }, strict);
  await eventually(() => fresh.auth.creds.accountSyncCounter === 1, 'the first sync');
  assert.equal(
    fresh.seen('messaging-history.set').some(({ messages }) => messages.some(({ key }) => key.id === outbound)),
    false,
  );
  await fresh.sock.logout();
});

const fromPhone: readonly (readonly [setting: Setting, heard: (device: Client) => Promise<unknown>])[] = [
  [{ kind: 'pushName', name: 'Anita' }, (device) => device.wait('creds.update', ({ me }) => me?.name === 'Anita')],
  [
    { kind: 'contact', number: friend, name: 'Old Friend' },
    (device) => device.wait('contacts.upsert', (contacts) => contacts.some(({ name }) => name === 'Old Friend')),
  ],
  [
    { kind: 'mute', chat: friend, until: 1_900_000_000_001 },
    (device) => device.wait('chats.update', (chats) => chats.some(({ muteEndTime }) => Number(muteEndTime) === 1_900_000_000_001)),
  ],
  [{ kind: 'lock', chat: friend, on: true }, (device) => device.wait('chats.lock', ({ id, locked }) => id === friendLid && locked)],
  [{ kind: 'label', labelId: '9', name: 'New', color: 1 }, (device) => device.wait('labels.edit', ({ id }) => id === '9')],
];

test('the phone changes a setting of each collection: every device gets it, and a new one reads it from a snapshot', async () => {
  for (const [setting] of fromPhone) await sandbox.sandbox.change(owner, setting);
  for (const device of [client, twin]) await Promise.all(fromPhone.map(([, heard]) => heard(device)));
  const fresh = await pair(sandbox, { number: owner }, strict);
  // A new device gets the name and no chats yet, because those are events of the other collections.
  for (const [, heard] of fromPhone.slice(1).filter(([{ kind }]) => kind !== 'mute')) await heard(fresh);
  const { versions } = settings();
  const synced = (name: string): unknown => (fresh.auth.values.get(`app-state-sync-version ${name}`) as LTHashState | undefined)?.version;
  for (const [name, version] of Object.entries(versions)) await eventually(() => synced(name) === version, `${name} at ${version}`);
  assert.equal(Object.keys(versions).length, 5);
  await fresh.sock.logout();
});

test('settings that only the phone can change: notes, favourites, order of labels, muted status posts, stars', async () => {
  const rows: readonly Setting[] = [
    { kind: 'note', chat: friend, text: 'likes tea' },
    { kind: 'favorites', chats: [friend] },
    { kind: 'labelOrder', labelIds: ['9', '7'] },
    { kind: 'statusMute', number: friend, on: true },
    { kind: 'locale', locale: 'pt_BR' },
    { kind: 'star', chat: friend, messageId: outbound, on: true },
  ];
  for (const setting of rows) await sandbox.sandbox.change(owner, setting);
  const { labelOrder, mutedStatuses, locale, messages } = settings();
  assert.deepEqual([chat().note, chat().favorite, labelOrder, mutedStatuses, locale], ['likes tea', true, ['9', '7'], [friend], 'pt_BR']);
  assert.equal(messages.find(({ id }) => id === outbound)?.starred, true);
  await client.wait('messages.update', (updates) => updates.some(({ key, update }) => key.id === outbound && update.starred === true));
  await assert.rejects(sandbox.sandbox.change(owner, { kind: 'star', chat: friend, messageId: 'none', on: true }), /no message none/);
});

test('settings: a malformed record is stored, and the phone ignores it', async () => {
  // The library stores stars in another collection than phones do.
  await client.sock.star(friendLid, [{ id: outbound, fromMe: true }], false);
  assert.equal(settings().messages.find(({ id }) => id === outbound)?.starred, true);
  const action = { type: 'regular', syncAction: {}, apiVersion: 1, operation: 0 } as const;
  await client.sock.appPatch({ ...action, index: ['paint', friendLid] });
  await client.sock.chatModify({ pin: true }, friendJid);
  await twin.sock.appPatch({ ...action, type: 'critical_unblock_low', index: ['contact', '199999999999999@lid'], apiVersion: 2 });
  assert.deepEqual(
    settings().ignored.map(({ index, reason }) => [index[0], reason]),
    [
      ['contact', 'a contact is named by its number'],
      ['star', 'belongs to regular_high'],
      ['pin_v1', 'a chat with a person is named by its LID'],
      ['paint', 'an unknown action'],
    ],
  );
});

test('settings: after a contact is removed and added again, a client with a wrong hash is refused', async () => {
  // The library counts the removed record as existing, and does not notice the refusal.
  await client.sock.addOrEditContact(friendJid, { fullName: 'Again', saveOnPrimaryAddressbook: true });
  assert.deepEqual(sandbox.sandbox.stats().settings.refused, { 'wrong snapshot mac': 1 });
  assert.equal(settings().contacts[0]?.name, 'Old Friend');
});

const stateOf = (name: WAPatchName): LTHashState =>
  (client.auth.values.get(`app-state-sync-version ${name}`) as LTHashState | undefined) ?? newLTHashState();

const pinning = (): WAPatchCreate => ({
  type: 'regular_low',
  index: ['pin_v1', friendLid],
  syncAction: { pinAction: { pinned: true }, timestamp: Date.now() },
  apiVersion: 5,
  operation: 0,
});

/** Returns a patch of the library on the given state. */
const patchOn = async (state: LTHashState): Promise<proto.ISyncdPatch> => {
  const keyId = client.auth.creds.myAppStateKeyId ?? '';
  const keyOf = async (id: string) => client.auth.values.get(`app-state-sync-key ${id}`) as proto.Message.IAppStateSyncKeyData;
  return (await encodeSyncdPatch(pinning(), keyId, state, keyOf)).patch;
};

const send = async (name: string, version: number, patch: Uint8Array | undefined): Promise<BinaryNode> => {
  const attrs = { name, version: String(version), return_snapshot: 'false' };
  const content = patch ? [{ tag: 'patch', attrs: {}, content: patch }] : undefined;
  const sync = { tag: 'sync', attrs: {}, content: [{ tag: 'collection', attrs, ...(content ? { content } : {}) }] };
  const answer = await client.sock.query({
    tag: 'iq',
    attrs: { to: 's.whatsapp.net', type: 'set', xmlns: 'w:sync:app:state' },
    content: [sync],
  });
  const found = getBinaryNodeChild(getBinaryNodeChild(answer, 'sync'), 'collection');
  assert.ok(found);
  return found;
};

const codeOf = (collection: BinaryNode): string | undefined => getBinaryNodeChild(collection, 'error')?.attrs['code'];
const flipped = (bytes: Uint8Array | null | undefined, at: number): Uint8Array => {
  const copy = Buffer.from(bytes ?? []);
  copy.writeUInt8(copy.readUInt8(copy.length + at) ^ 1, copy.length + at);
  return copy;
};

test('a patch on an old version: it is a conflict, and the answer has the missed patches', async () => {
  const before = settings().versions['regular_low'] ?? 0;
  const patch = proto.SyncdPatch.encode(await patchOn({ ...stateOf('regular_low'), version: before - 2 })).finish();
  const answer = await send('regular_low', before - 2, patch);
  assert.deepEqual([answer.attrs['type'], codeOf(answer)], ['error', '409']);
  assert.equal(getBinaryNodeChildren(getBinaryNodeChild(answer, 'patches'), 'patch').length, 2);
  assert.equal(settings().versions['regular_low'], before);
  assert.equal(sandbox.sandbox.stats().settings.conflicts, 1);
});

const recordOf = (patch: proto.ISyncdPatch): proto.ISyncdRecord => patch.mutations?.[0]?.record ?? {};
const broken: readonly (readonly [why: string, change: (patch: proto.ISyncdPatch) => void])[] = [
  ['wrong value mac', (patch) => (recordOf(patch).value = { blob: flipped(recordOf(patch).value?.blob, -1) })],
  ['wrong value mac', (patch) => (recordOf(patch).value = { blob: flipped(recordOf(patch).value?.blob, -40) })],
  ['wrong index mac', (patch) => (recordOf(patch).index = { blob: flipped(recordOf(patch).index?.blob, -1) })],
  ['wrong snapshot mac', (patch) => (patch.snapshotMac = flipped(patch.snapshotMac, -1))],
  ['wrong patch mac', (patch) => (patch.patchMac = flipped(patch.patchMac, -1))],
  ['an unknown key', (patch) => (patch.keyId = { id: Buffer.from('other') })],
  ['no mutations, or too many', (patch) => (patch.mutations = [])],
];

test('settings: a patch that is not authentic is refused with 400, and nothing of it is stored', async () => {
  const { version } = stateOf('regular_low');
  const counts: Record<string, number> = { ...sandbox.sandbox.stats().settings.refused };
  for (const [why, change] of broken) {
    const patch = await patchOn(stateOf('regular_low'));
    change(patch);
    const answer = await send('regular_low', version, proto.SyncdPatch.encode(patch).finish());
    assert.deepEqual([answer.attrs['type'], codeOf(answer)], ['error', '400'], why);
    counts[why] = (counts[why] ?? 0) + 1;
  }
  assert.equal(codeOf(await send('regular_low', version, Buffer.from([1, 2, 3]))), '400');
  assert.equal(codeOf(await send('regular_low', version + 1, Buffer.from([1]))), '400');
  assert.equal(codeOf(await send('no_such_collection', 0, undefined)), '400');
  assert.deepEqual(sandbox.sandbox.stats().settings.refused, { ...counts, malformed: 1, 'a version of the future': 1 });
  assert.equal(chat().pinnedAt, undefined);
  const good = proto.SyncdPatch.encode(await patchOn(stateOf('regular_low'))).finish();
  assert.equal((await send('regular_low', version, good)).attrs['type'], undefined);
  assert.ok(chat().pinnedAt);
});

test('settings: a restart keeps them, and many patches come in pages', async () => {
  await client.end();
  await twin.end();
  for (let index = 0; index < 120; index += 1) await sandbox.sandbox.change(owner, { kind: 'archive', chat: friend, on: index % 2 === 0 });
  const shown = settings();
  await sandbox.restart();
  assert.deepEqual(settings(), shown);
  client = connect(sandbox, client.auth, strict);
  await opened(client);
  const { version } = stateOf('regular_low');
  const answer = await send('regular_low', version, undefined);
  assert.equal(answer.attrs['has_more_patches'], 'true');
  assert.equal(getBinaryNodeChildren(getBinaryNodeChild(answer, 'patches'), 'patch').length, 100);
  await eventually(() => stateOf('regular_low').version === shown.versions['regular_low'], 'all patches');
  await client.sock.chatModify({ pin: true }, friendLid);
  assert.ok(chat().pinnedAt);
});

test('counters: there was no unknown request', () => assert.deepEqual(sandbox.sandbox.stats().unknown, {}));
