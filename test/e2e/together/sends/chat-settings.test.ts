/** Tests changes of chats by the owner: from the call to the phone's state, and from the phone to fields and events. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChatSettings, Setting } from '#src/sandbox/interface.ts';
import type { Account } from '#test/support/account.ts';
import { type Json, picked, same } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
let group = '';
const contactJid = `${contact}@s.whatsapp.net`;
const stranger = '5511988880009';

before(async () => {
  scene = await Scene.open();
  account = await scene.create();
  await scene.platform.sandbox.putPerson({ number: account.number, business: true });
  await account.pair(scene.platform);
  const webhook = { url: scene.receiver.url, enabled: true, events: ['chats', 'messages'] };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
  group = (await scene.platform.sandbox.createGroup({ subject: 'Room', creator: contact, participants: [account.number] })).jid;
  for (const to of [account.number, group]) await written(to);
});
after(() => scene.close());

/** Sends a message of the contact, and waits until the gateway has stored it. */
const written = async (to: string): Promise<string> => {
  const { id } = await scene.platform.sandbox.send(contact, to, { kind: 'text', text: 'hello' });
  await until(async () => (await stored(id)) !== undefined, 'the message is stored');
  return id;
};

const stored = async (id: string): Promise<Json | undefined> =>
  ((await account.call('POST', '/message/find', { id })).body['messages'] as readonly Json[])[0];

const chat = async (id = contactJid): Promise<Json> => (await account.chatOf(id)) ?? {};

const onPhone = (of = contact): ChatSettings =>
  scene.platform.sandbox.settings(account.number).chats.find((one) => one.chat === of) ?? { chat: of };

/** Waits for a `chats` event with these fields. Ignores the first `from` events. */
const told = (from: number, fields: Json): Promise<unknown> =>
  until(
    () =>
      scene.receiver.posted.slice(from).some(({ body }) => body['EventType'] === 'chats' && same(body['chat'] as Json | undefined, fields)),
    `the event chats ${JSON.stringify(fields)}`,
  );

interface Row {
  readonly title: string;
  readonly path: string;
  readonly body: Json;
  readonly of?: 'group';
  readonly answer: Json;
  /** True if the phone shows the chat as expected. */
  readonly phone: (chat: ChatSettings) => boolean;
  /** The expected fields of the chat in the gateway and in the event. */
  readonly fields?: Json;
}

const soon = (ms: number, hours: number): boolean => Math.abs(ms - Date.now() - hours * 3_600_000) < 60_000;

const rows: readonly Row[] = [
  {
    title: 'a pin',
    path: 'pin',
    body: { pin: true },
    answer: { response: 'Chat pinned' },
    phone: ({ pinnedAt = 0 }) => pinnedAt > 0,
    fields: { wa_isPinned: true },
  },
  {
    title: 'the archive, which ends the pin',
    path: 'archive',
    body: { archive: true },
    answer: { response: 'Chat updated successfully' },
    phone: ({ archived, pinnedAt }) => archived === true && pinnedAt === undefined,
    fields: { wa_archived: true },
  },
  {
    title: 'a pin, which ends the archive',
    path: 'pin',
    body: { pin: true },
    answer: { response: 'Chat pinned' },
    phone: ({ archived, pinnedAt = 0 }) => archived === false && pinnedAt > 0,
    fields: { wa_archived: false, wa_isPinned: true },
  },
  {
    title: 'the archive again',
    path: 'archive',
    body: { archive: true },
    answer: {},
    phone: ({ archived }) => archived === true,
    fields: { wa_archived: true, wa_isPinned: false },
  },
  {
    title: 'the end of archiving',
    path: 'archive',
    body: { archive: false },
    answer: {},
    phone: ({ archived }) => archived === false,
    fields: { wa_archived: false, wa_isPinned: false },
  },
  {
    title: 'a pin of a group',
    path: 'pin',
    of: 'group',
    body: { pin: true },
    answer: { response: 'Chat pinned' },
    phone: ({ pinnedAt = 0 }) => pinnedAt > 0,
    fields: { wa_isPinned: true, wa_isGroup: true },
  },
  {
    title: 'the end of a pin of a group',
    path: 'pin',
    of: 'group',
    body: { pin: false },
    answer: { response: 'Chat unpinned' },
    phone: ({ pinnedAt }) => pinnedAt === undefined,
    fields: { wa_isPinned: false, wa_isGroup: true },
  },
  {
    title: 'mute for a week',
    path: 'mute',
    body: { muteEndTime: 168 },
    answer: { response: 'Chat mute settings updated successfully' },
    phone: ({ mutedUntil = 0 }) => soon(mutedUntil, 168),
  },
  {
    title: 'mute for ever',
    path: 'mute',
    body: { muteEndTime: -1 },
    answer: {},
    phone: ({ mutedUntil }) => mutedUntil === -1,
    fields: { wa_muteEndTime: -1 },
  },
  {
    title: 'the end of muting',
    path: 'mute',
    body: { muteEndTime: 0 },
    answer: {},
    phone: ({ mutedUntil }) => mutedUntil === undefined,
    fields: { wa_muteEndTime: 0 },
  },
  {
    title: 'a chat as read',
    path: 'read',
    body: { read: true },
    answer: { response: 'Chat read status updated successfully' },
    phone: ({ markedUnread }) => markedUnread === false,
    fields: { wa_unreadCount: 0 },
  },
  {
    title: 'a chat as unread',
    path: 'read',
    body: { read: false },
    answer: {},
    phone: ({ markedUnread }) => markedUnread === true,
    fields: { wa_unreadCount: 1 },
  },
  {
    title: 'disappearing messages',
    path: 'ephemeral',
    body: { duration: '7d' },
    answer: { response: 'Ephemeral timer updated successfully', ephemeral: { enabled: true, seconds: 604_800, label: '7d' } },
    phone: ({ disappearing }) => disappearing === 604_800,
    fields: { wa_ephemeralExpiration: 604_800 },
  },
  {
    title: 'the end of disappearing messages, given in seconds',
    path: 'ephemeral',
    body: { duration: 0 },
    answer: { ephemeral: { enabled: false, seconds: 0, label: 'off' } },
    phone: ({ disappearing }) => disappearing === 0,
    fields: { wa_ephemeralExpiration: 0 },
  },
  {
    title: 'a note',
    path: 'notes/edit',
    body: { notes: 'likes tea' },
    answer: { response: 'Chat notes updated', wa_notes: 'likes tea', source: 'api' },
    phone: ({ note }) => note === 'likes tea',
    fields: { wa_notes: 'likes tea' },
  },
  {
    title: 'the removal of a note',
    path: 'notes/edit',
    body: { notes: '' },
    answer: { wa_notes: '' },
    phone: ({ note }) => note === undefined,
    fields: { wa_notes: '' },
  },
  {
    title: 'the removal of all messages on the phone',
    path: 'delete',
    body: { clearChatWhatsApp: true },
    answer: { actions: ['Chat cleared on WhatsApp'], errors: [] },
    phone: ({ clearedUntil = 0 }) => clearedUntil > Date.now() - 3_600_000,
  },
  {
    title: 'the removal of the chat on the phone',
    path: 'delete',
    body: { deleteChatWhatsApp: true },
    answer: { response: 'Chat deletion process completed', actions: ['Chat deleted from WhatsApp'], errors: [] },
    phone: ({ deletedUntil = 0 }) => deletedUntil > Date.now() - 3_600_000,
  },
];

for (const { title, path, body, of, answer, phone, fields } of rows)
  test(`chat setting: ${title} reaches the phone, the chat and the event`, async () => {
    const number = of === undefined ? contact : group;
    const from = scene.receiver.posted.length;
    const answered = await account.call('POST', `/chat/${path}`, { number, ...body });
    assert.equal(answered.status, 200, JSON.stringify(answered.body));
    assert.deepEqual(picked(answered.body, answer), answer);
    await until(
      () => phone(onPhone(number)),
      () => `the phone shows ${JSON.stringify(onPhone(number))}`,
    );
    if (!fields) return;
    assert.deepEqual(picked(await chat(of === undefined ? contactJid : group), fields), fields);
    await told(from, fields);
  });

const phoneRows: readonly (readonly [title: string, setting: Setting, fields: Json])[] = [
  ['a pin', { kind: 'pin', chat: contact, on: true }, { wa_isPinned: true }],
  ['the archive', { kind: 'archive', chat: contact, on: true }, { wa_archived: true }],
  ['muting', { kind: 'mute', chat: contact, until: 1_900_000_000_000 }, { wa_muteEndTime: 1_900_000_000_000 }],
  ['reading', { kind: 'read', chat: contact, on: true }, { wa_unreadCount: 0 }],
  ['marking as unread', { kind: 'read', chat: contact, on: false }, { wa_unreadCount: 1 }],
  ['a note', { kind: 'note', chat: contact, text: 'of the phone' }, { wa_notes: 'of the phone' }],
  ['a removed note', { kind: 'note', chat: contact, text: '' }, { wa_notes: '' }],
];

for (const [title, setting, fields] of phoneRows)
  test(`chat setting: ${title} on the phone arrives as a field and an event`, async () => {
    const from = scene.receiver.posted.length;
    await scene.platform.sandbox.change(account.number, setting);
    await told(from, fields);
    assert.deepEqual(picked(await chat(), fields), fields);
  });

test('chat setting: a timer that the contact sets is stored', async () => {
  const from = scene.receiver.posted.length;
  const message = { protocolMessage: { type: 3, ephemeralExpiration: 86_400 } };
  await scene.platform.sandbox.send(contact, account.number, { kind: 'message', message });
  await told(from, { wa_ephemeralExpiration: 86_400 });
});

test('chat setting: marking a chat as read sends receipts for its unread messages', async () => {
  const id = await written(account.number);
  assert.ok(Number((await chat())['wa_unreadCount']) > 0);
  assert.equal((await account.call('POST', '/chat/read', { number: contact, read: true })).status, 200);
  await until(() => scene.platform.sandbox.shown(account.number, contact).some((one) => one.id === id && one.read), 'it is read');
});

test('notes: a note is shown as stored, and can be read again from the platform', async () => {
  await account.call('POST', '/chat/notes/edit', { number: contact, notes: 'VIP' });
  const shown = await account.call('POST', '/chat/notes', { number: contact });
  assert.deepEqual([shown.body['wa_notes'], shown.body['source']], ['VIP', 'local']);
  const fresh = await account.call('POST', '/chat/notes/refresh', { number: contact });
  assert.deepEqual([fresh.status, fresh.body['wa_notes'], fresh.body['source']], [200, 'VIP', 'appstate_reload']);
});

test('block: platform, chat, list and event agree after a change over the API and on the phone', async () => {
  const blocked = (): readonly string[] => scene.platform.sandbox.account(account.number).blocked;
  const list = async (): Promise<unknown> => (await account.call('GET', '/chat/blocklist')).body['blockList'];
  const from = scene.receiver.posted.length;
  const answered = await account.call('POST', '/chat/block', { number: contact, block: true });
  assert.deepEqual([answered.status, answered.body], [200, { response: 'Blocked successfully', blockList: [contactJid] }]);
  assert.deepEqual([blocked(), await list(), (await chat())['wa_isBlocked']], [[contact], [contactJid], true]);
  await told(from, { wa_isBlocked: true });
  // The stranger has no messages yet, so the gateway looks up its LID.
  assert.equal((await account.call('POST', '/chat/block', { number: stranger, block: true })).status, 200);
  assert.deepEqual([...blocked()].toSorted(), [contact, stranger]);
  const freed = await account.call('POST', '/chat/block', { number: contact, block: false });
  assert.deepEqual(freed.body, { response: 'Unblocked successfully', blockList: [`${stranger}@s.whatsapp.net`] });
  const second = scene.receiver.posted.length;
  await scene.platform.sandbox.changeAccount(account.number, { blocked: [contact] });
  await told(second, { wa_isBlocked: true });
  await scene.platform.sandbox.changeAccount(account.number, { blocked: [] });
  await told(second, { wa_isBlocked: false });
  assert.deepEqual(await list(), []);
});

test('block: an account cannot block itself', async () => {
  const answered = await account.call('POST', '/chat/block', { number: account.number, block: true });
  assert.deepEqual([answered.status, answered.body], [400, { error: 'an account cannot block itself' }]);
  assert.deepEqual(scene.platform.sandbox.account(account.number).blocked, []);
});

test('block: after a login the marked chats are those of the list that the platform has, whoever changed it meanwhile', async () => {
  const { sandbox } = scene.platform;
  const late = await scene.create();
  await sandbox.send(contact, late.number, { kind: 'text', text: 'long ago' });
  await sandbox.changeAccount(late.number, { blocked: [contact] });
  await late.pair(scene.platform);
  await scene.write(late, 'and now');
  const find = async () => (await late.call('POST', '/chat/find', { wa_isBlocked: true })).body['chats'] as readonly Json[];
  await until(async () => (await find()).length === 1, 'the chat is marked');
  assert.equal((await find())[0]?.['wa_chatid'], contactJid);
  assert.equal((await late.call('POST', '/instance/disconnect')).status, 200);
  await sandbox.changeAccount(late.number, { blocked: [] });
  await late.pair(scene.platform);
  await until(async () => (await find()).length === 0, 'the chat is not marked any more');
});

test('delete: messages and the chat are deleted in the gateway, and a new message creates the chat again', async () => {
  const old = await written(account.number);
  const both = { number: contact, deleteMessagesDB: true, deleteChatDB: true };
  const gone = await account.call('POST', '/chat/delete', both);
  assert.deepEqual(gone.body['actions'], ['Messages deleted from the database', 'Chat deleted from the database']);
  assert.deepEqual([await stored(old), (await chat())['id']], [undefined, undefined]);
  assert.equal((await account.call('POST', '/chat/delete', both)).status, 404);
  const fresh = await written(account.number);
  assert.ok((await chat())['id']);
  // Only the messages are deleted. The chat stays, without its last message.
  await account.call('POST', '/chat/delete', { number: contact, deleteMessagesDB: true });
  assert.equal(await stored(fresh), undefined);
  const { wa_lastMessageTextVote: text, wa_unreadCount: unread } = await chat();
  assert.deepEqual([text, unread], ['', 0]);
  await written(account.number);
});

const refused = 'the number 5511900009999@s.whatsapp.net is not on WhatsApp';
const bad: readonly (readonly [path: string, body: Json, status: number, error: RegExp])[] = [
  ['read', { read: true }, 400, /^number is required$/],
  ['read', { number: contact }, 400, /^read is required$/],
  ['read', { number: contact, read: 'perhaps' }, 400, /^read must be true or false$/],
  ['read', { number: stranger, read: true }, 404, /^chat not found$/],
  ['archive', { number: contact, archive: 7 }, 400, /^archive must be true or false$/],
  ['pin', { number: 'nobody', pin: true }, 404, /^chat not found$/],
  ['mute', { number: contact, muteEndTime: 9 }, 400, /^muteEndTime must be one of 0, 8, 168, -1$/],
  ['ephemeral', { number: contact, duration: '8d' }, 400, /^invalid duration\. Allowed values: 0, off, 1d, 7d, 90d$/],
  ['ephemeral', { number: 'nobody', duration: '7d' }, 400, /digits with the country code/],
  ['ephemeral', { number: 'status@broadcast', duration: '7d' }, 400, /^only chats with people and groups have a timer$/],
  ['ephemeral', { number: '120363040000000000@newsletter', duration: '7d' }, 400, /^only chats with people and groups have a timer$/],
  ['block', { number: contact }, 400, /^block is required$/],
  ['block', { number: '5511900009999', block: true }, 404, new RegExp(refused)],
  ['notes', {}, 400, /^number is required$/],
  ['notes', { number: stranger }, 404, /^chat not found$/],
  ['notes/edit', { number: contact }, 400, /^notes is required$/],
  ['notes/edit', { number: contact, notes: 'x'.repeat(5_001) }, 400, /at most 5000 characters/],
  ['delete', {}, 400, /^Missing number in payload$/],
  ['delete', { number: contact }, 400, /is required$/],
];

for (const [path, body, status, error] of bad)
  test(`chat setting: ${path} with ${JSON.stringify(body).slice(0, 60)} is refused with ${status}`, async () => {
    await scene.platform.sandbox.putPerson({ number: '5511900009999', absent: true });
    const answered = await account.call('POST', `/chat/${path}`, body);
    assert.equal(answered.status, status, JSON.stringify(answered.body));
    assert.match(String(answered.body['error']), error);
  });

const states = 'w:sync:app:state/set/sync';
const platformSays: readonly (readonly [path: string, body: Json, query: string])[] = [
  ['read', { read: false }, states],
  ['archive', { archive: true }, states],
  ['pin', { pin: true }, states],
  ['mute', { muteEndTime: 8 }, states],
  ['notes/edit', { notes: 'x' }, states],
  ['block', { block: true }, 'blocklist/set'],
];

for (const [path, body, query] of platformSays)
  test(`chat setting: a refusal of ${path} by the platform changes nothing, and is returned with its code`, async () => {
    const [before, phone] = [await chat(), onPhone()];
    await scene.platform.sandbox.fault({ kind: 'refuseQuery', number: account.number, query, code: 403 });
    const answered = await account.call('POST', `/chat/${path}`, { number: contact, ...body });
    assert.deepEqual([answered.status, answered.body['provider_code']], [500, 403], JSON.stringify(answered.body));
    assert.deepEqual([await chat(), onPhone()], [before, phone]);
  });

test('notes: an account without the business app is refused, and a disconnected session gets a 409', async () => {
  const person = await scene.paired();
  await scene.write(person, 'hi');
  await until(async () => (await person.messages(contact)).length > 0, 'the message is stored');
  const note = await person.call('POST', '/chat/notes/edit', { number: contact, notes: 'x' });
  assert.deepEqual([note.status, note.body['error']], [501, 'notes about chats are a feature of business accounts']);
  await person.call('POST', '/instance/disconnect', {});
  for (const [path, body] of [
    ['pin', { pin: true }],
    ['block', { block: true }],
  ] as const)
    assert.equal((await person.call('POST', `/chat/${path}`, { number: contact, ...body })).status, 409);
  // Changes that affect only the database work without a session.
  const local = await person.call('POST', '/chat/delete', { number: contact, deleteChatDB: true, clearChatWhatsApp: true });
  assert.deepEqual(local.body['actions'], ['Chat deleted from the database']);
  assert.match(String((local.body['errors'] as string[])[0]), /not connected/);
  assert.equal((await person.gateway.call('POST', '/chat/pin', { token: 'wrong', body: { number: contact, pin: true } })).status, 401);
});

test('chat settings: the platform accepts every patch, and gets no unknown request', () => {
  const { settings, unknown } = scene.platform.sandbox.stats();
  assert.deepEqual([settings.refused, unknown], [{}, {}]);
  assert.deepEqual(scene.platform.sandbox.settings(account.number).ignored, []);
});
