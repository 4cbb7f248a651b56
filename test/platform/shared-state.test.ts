/** Tests changes of the shared state with the simulated platform, which checks every authentication code and answers conflicts as the real one does. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ALL_WA_PATCH_NAMES, type LTHashState, type WAPatchName } from '@whiskeysockets/baileys';
import type { Entry } from '#actors/model.ts';
import type { Directory } from '#src/platform/wire/jid.ts';
import { type Mutation, removeAction, setAction } from '#src/platform/app-state/actions.ts';
import type { PatchNotes } from '#src/platform/keys/patch-notes.ts';
import { createSharedState, type SharedState } from '#src/platform/app-state/shared-state.ts';
import { unreadActionOf } from '#src/platform/events/library-values.ts';
import type { ChatSettings, SettingsView } from '#src/sandbox/interface.ts';
import { type Client, eventually, openSandbox, pair, type TestSandbox } from '#test/sandbox/client.ts';

const owner = '5511999990071';
const friend = '5511988880071';
const friendJid = `${friend}@s.whatsapp.net`;
const strict = { appStateMacVerification: { patch: true, snapshot: true } };

const directory: Directory = {
  me: { pn: `${owner}@s.whatsapp.net`, lid: '', name: 'Ana' },
  pn: (lid) => (lid === friendLid ? friendJid : ''),
  lid: () => '',
  groupName: () => '',
  community: () => null,
  newId: () => 'r1',
  now: () => Date.now(),
};

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;
let twin: Client;
let shared: SharedState;
let other: SharedState;
const recorded: Entry[] = [];
const noNotes: PatchNotes = { begin: () => Promise.resolve(() => undefined), open: [], settled: () => undefined };

const stateOn = (sock: Client['sock'], patches = noNotes): SharedState =>
  createSharedState({
    sock,
    directory,
    loadMappings: () => Promise.resolve(),
    record: async (entries) => void recorded.push(...entries),
    recorded: () => Promise.resolve(),
    patches,
    stumbled: (error) => assert.fail(String(error)),
  });

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number: owner, name: 'Ana' }, strict);
  twin = await pair(sandbox, { number: owner }, strict);
  for (const one of [client, twin]) await eventually(() => one.auth.creds.myAppStateKeyId, 'the key of the settings');
  friendLid = `${(await sandbox.sandbox.putPerson({ number: friend })).lid}@lid`;
  [shared, other] = [stateOn(client.sock), stateOn(twin.sock)];
});
after(() => cleanUp());

const settings = (): SettingsView => sandbox.sandbox.settings(owner);
const chat = (): ChatSettings => settings().chats.find((one) => one.chat === friend) ?? { chat: friend };
const counts = () => sandbox.sandbox.stats().settings;
const refusals = (): number => Object.values(counts().refused).reduce((sum, count) => sum + count, 0);

let friendLid = '';
const pin = (pinned: boolean): Mutation => setAction('pin_v1', [friendLid], { pinAction: { pinned } });
const archive = (archived: boolean): Mutation => setAction('archive', [friendLid], { archiveChatAction: { archived } });
const contact = (fullName: string): Mutation => setAction('contact', [friendJid], { contactAction: { fullName } });
const reply = (id: string, shortcut: string): Mutation =>
  setAction('quick_reply', [id], { quickReplyAction: { shortcut, message: 'Hello!', keywords: [], count: 0, deleted: false } });

const taken = async (state: SharedState, ...mutations: [Mutation, ...Mutation[]]): Promise<void> => {
  const outcome = await state.patch(mutations);
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.refusal.message);
};

const stateOf = (of: Client, name: WAPatchName): LTHashState | undefined =>
  of.auth.values.get(`app-state-sync-version ${name}`) as LTHashState | undefined;

test('shared state: several mutations are one patch, and the changes are recorded', async () => {
  const before = settings().versions['regular_low'] ?? 0;
  recorded.length = 0;
  await taken(shared, archive(true), pin(false));
  assert.deepEqual(
    recorded.map((entry) => entry.kind === 'chat' && entry.chat),
    [
      { chatId: friendJid, chatLid: friendLid, archived: true },
      { chatId: friendJid, chatLid: friendLid, pinned: false },
    ],
  );
  assert.deepEqual([chat().archived, chat().pinnedAt, settings().versions['regular_low']], [true, undefined, before + 1]);
});

test('shared state: after a contact is set, removed and set again the hash is right, and the library continues from it', async () => {
  for (const change of [contact('One'), removeAction('contact', [friendJid], { contactAction: {} }), contact('Two')])
    await taken(shared, change);
  assert.deepEqual(settings().contacts[0]?.name, 'Two');
  await client.sock.chatModify({ contact: { fullName: 'Three', saveOnPrimaryAddressbook: true } }, friendJid);
  assert.deepEqual([settings().contacts[0]?.name, refusals()], ['Three', 0]);
});

test('shared state: a patch follows those of the library, and reaches another device of the library', async () => {
  await client.sock.chatModify({ pin: true }, friendLid);
  await taken(shared, archive(false));
  await twin.wait('chats.update', (chats) => chats.some(({ archived }) => archived === false));
  await twin.sock.chatModify({ pin: false }, friendLid);
  assert.deepEqual([chat().archived, chat().pinnedAt, refusals()], [false, undefined, 0]);
});

test('two devices write at the same time: every change arrives, conflicts are resolved, and missed changes are reported', async () => {
  const { conflicts } = counts();
  const names = Array.from({ length: 4 }, (_, at) => at);
  await Promise.all(names.flatMap((at) => [taken(shared, reply(`a${at}`, `A${at}`)), taken(other, reply(`b${at}`, `B${at}`))]));
  assert.equal(settings().quickReplies.length, 8);
  assert.ok(counts().conflicts > conflicts);
  assert.equal(refusals(), 0);
  await taken(shared, setAction('label_edit', ['7'], { labelEditAction: { name: 'VIP', color: 3 } }));
  await twin.wait('labels.edit', ({ id }) => id === '7');
});

test('shared state: a wrong local state is read again, and the change is applied to the right one', async () => {
  await taken(shared, pin(true));
  const right = stateOf(client, 'regular_low');
  assert.ok(right);
  client.auth.values.set('app-state-sync-version regular_low', { ...right, hash: Buffer.alloc(128) });
  await taken(shared, pin(false));
  assert.deepEqual([chat().pinnedAt, counts().refused], [undefined, { 'wrong snapshot mac': 1 }]);
  assert.equal(stateOf(client, 'regular_low')?.version, settings().versions['regular_low']);
});

test('shared state: a patch that is refused twice is a refusal with its code, and the local state does not advance', async () => {
  const version = stateOf(client, 'regular_low')?.version;
  const tooMany = Array.from({ length: 1_001 }, () => pin(true)) as unknown as [Mutation, ...Mutation[]];
  const outcome = await shared.patch(tooMany);
  assert.deepEqual([outcome.ok, !outcome.ok && outcome.refusal.reason, !outcome.ok && outcome.refusal.code], [false, 'refused', 400]);
  assert.equal(stateOf(client, 'regular_low')?.version, version);
  await taken(shared, pin(true));
});

test('shared state: a reload reports the whole collection again', async () => {
  const seen = client.seen('labels.edit').length;
  await shared.reload(['regular']);
  await eventually(() => client.seen('labels.edit').length > seen, 'the label once more');
  assert.equal(stateOf(client, 'regular')?.version, settings().versions['regular']);
});

test('shared state: mutations of two collections in one call are an error', async () => {
  await assert.rejects(shared.patch([pin(true), contact('X')]), /two collections/);
});

test('shared state: without a key from the phone nothing is sent', async () => {
  const { myAppStateKeyId = '' } = client.auth.creds;
  delete client.auth.creds.myAppStateKeyId;
  const outcome = await shared.patch([pin(false)]);
  client.auth.creds.myAppStateKeyId = myAppStateKeyId;
  assert.ok(myAppStateKeyId);
  assert.equal(!outcome.ok && outcome.refusal.reason, 'notSent');
  assert.ok(chat().pinnedAt);
});

/** Waits until work that needs no answer of the platform has ended. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
};

/** Opens the shared state of the client again, and notes which collections it fetches. */
const reopened = (patches: PatchNotes = noNotes) => {
  const fetched: (readonly WAPatchName[])[] = [];
  const resyncAppState = (names: readonly WAPatchName[]): Promise<void> => Promise.resolve(void fetched.push(names));
  const sock: Client['sock'] = Object.assign(Object.create(client.sock), { resyncAppState });
  return { fetched, state: stateOn(sock, patches) };
};

test('shared state: credentials that the library reports as a whole cause no synchronisation', async () => {
  const { fetched, state } = reopened();
  state.opened();
  state.credentialsChanged(client.auth.creds);
  state.credentialsChanged({ lastPropHash: 'new' });
  await turns();
  assert.deepEqual(fetched, []);
});

test('shared state: a key that the phone shares causes one synchronisation of all collections', async () => {
  const { fetched, state } = reopened();
  state.credentialsChanged({ myAppStateKeyId: client.auth.creds.myAppStateKeyId ?? '' });
  await turns();
  assert.deepEqual(fetched, [ALL_WA_PATCH_NAMES]);
});

test('shared state: a login fetches each collection with an open note, and removes exactly this note', async () => {
  const ended: unknown[] = [];
  const open = [['regular', 3] as const, ['regular_low', 4] as const];
  const { fetched, state } = reopened({ ...noNotes, open, settled: (note) => void ended.push(note) });
  state.opened();
  await turns();
  assert.deepEqual([fetched, ended], [[['regular'], ['regular_low']], open]);
});

test('shared state: records are found in only one line of the log of the library', () => {
  const syncAction = { syncAction: { value: { quickReplyAction: { shortcut: 'hi' } } }, index: ['quick_reply', '1'] };
  assert.deepEqual(unreadActionOf({ syncAction, id: '1' }, 'unprocessable update')?.index, ['quick_reply', '1']);
  for (const [fields, message] of [
    [{ syncAction }, 'processing sync action'],
    [null, 'unprocessable update'],
    [{ syncAction: { index: [1] } }, 'unprocessable update'],
  ] as const)
    assert.equal(unreadActionOf(fields, message), undefined);
});
