/** Tests the state that a phone shares with its devices: several collections in one notification, keys that come late, and keys without a history. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());

const friend = '5511988870001';
const friendId = `${friend}@s.whatsapp.net`;

test('shared state: a notification of several collections updates all of them', async () => {
  const account = await scene.paired();
  const { sandbox } = scene.platform;
  await sandbox.send(friend, account.number, { kind: 'text', text: 'hello' });
  await until(async () => (await account.chatOf(friendId)) !== undefined, 'the chat is stored');
  const muted = Date.now() + 3_600_000;
  await sandbox.change(
    account.number,
    { kind: 'archive', chat: friend, on: true },
    { kind: 'mute', chat: friend, until: muted },
    { kind: 'contact', number: friend, name: 'Bia' },
  );
  let seen: unknown;
  await until(
    async () => {
      const { wa_archived, wa_muteEndTime, wa_contactName } = (await account.chatOf(friendId)) ?? {};
      seen = [wa_archived, wa_muteEndTime, wa_contactName];
      return wa_archived === true && wa_muteEndTime === muted && wa_contactName === 'Bia';
    },
    () => `the changes of three collections are stored: ${JSON.stringify(seen)}`,
  );
  assert.equal(sandbox.stats().settings.conflicts, 0);
});

/** Links an account whose phone has pinned a chat, and withholds its keys or its history from the new device. */
const linked = async (withheld: 'keys' | 'history') => {
  const account = await scene.create();
  const { sandbox } = scene.platform;
  await sandbox.send(friend, account.number, { kind: 'text', text: 'from before' });
  await sandbox.change(account.number, { kind: 'pin', chat: friend, on: true });
  await account.scan(scene.platform, { history: { chats: 0, messages: 0, withheld } });
  await account.reaches('connected');
  await sandbox.send(friend, account.number, { kind: 'text', text: 'hello' });
  return account;
};

const isPinned = (account: Awaited<ReturnType<typeof linked>>) => async () => (await account.chatOf(friendId))?.['wa_isPinned'] === true;

test('shared state: the gateway requests a missing key from the phone', async () => {
  await until(isPinned(await linked('keys')), 'the chat is pinned');
});

test('shared state: the gateway fetches the state when keys arrive without a history', async () => {
  // The library waits 20 s for the history.
  await until(isPinned(await linked('history')), 'the chat is pinned', 120_000);
});
