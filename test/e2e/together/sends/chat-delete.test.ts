/** Tests chats that are deleted while messages for them arrive. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '#test/support/account.ts';
import type { Json } from '#test/support/operation-rows.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
});
after(() => scene?.close());

const stored = async (id: string): Promise<Json | undefined> =>
  ((await account.call('POST', '/message/find', { id })).body['messages'] as readonly Json[])[0];

test('delete: a message that arrives during the deletion keeps its chat, with its text and as unread', async () => {
  const { sandbox } = scene.platform;
  const race = async (n: number): Promise<string> => {
    const writer = `55119777${String(n).padStart(5, '0')}`;
    const old = await sandbox.send(writer, account.number, { kind: 'text', text: 'old' });
    await until(async () => (await stored(old.id)) !== undefined, 'the old message is stored');
    const removed = account.call('POST', '/chat/delete', { number: writer, deleteMessagesDB: true, deleteChatDB: n % 2 === 0 });
    await wait(n);
    const late = await sandbox.send(writer, account.number, { kind: 'text', text: 'late' });
    assert.equal((await removed).status, 200);
    const isTold = () => scene.receiver.posted.some(({ body }) => (body['message'] as Json | undefined)?.['messageid'] === late.id);
    await until(isTold, 'the late message is told');
    // A message of the same second as the previous one counts as deleted if it was stored before the deletion.
    await wait(200);
    if ((await stored(late.id)) === undefined) return '';
    const { wa_lastMessageTextVote: text, wa_unreadCount: unread } = (await account.chatOf(`${writer}@s.whatsapp.net`)) ?? {};
    return text === 'late' && unread === 1 ? '' : `${n}: ${JSON.stringify([text, unread])}`;
  };
  const wrong = await Promise.all(Array.from({ length: 24 }, (_, n) => race(n)));
  assert.deepEqual(
    wrong.filter((one) => one !== ''),
    [],
  );
});
