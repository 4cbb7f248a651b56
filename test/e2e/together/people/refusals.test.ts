/** Tests requests that the platform refuses. For any code the answer names the request and a reason. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { wishes } from '#src/platform/operations/refusal-words.ts';
import type { OperationName } from '#actors/ports.ts';
import type { Account } from '#test/support/account.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
let group = '';
before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  const { sandbox } = scene.platform;
  await sandbox.putPerson({ number: contact, name: 'Contact' });
  // The phone shares the keys of its settings after the pairing.
  const rename = () => account.call('POST', '/profile/name', { name: 'Shop' });
  await until(async () => (await rename()).status === 200, 'settings can be changed');
  group = (await sandbox.createGroup({ subject: 'Led', creator: account.number, participants: [contact] })).jid;
});
after(() => scene.close());

const rows: readonly (readonly [name: OperationName, call: string, query: string, body: () => object | undefined])[] = [
  ['account.picture', 'POST /profile/image', 'w:profile:picture/set', () => ({ image: 'remove' })],
  ['account.privacy', 'GET /instance/privacy', 'privacy/get', () => undefined],
  ['account.changePrivacy', 'POST /instance/privacy', 'privacy/set/privacy', () => ({ last: 'contacts' })],
  ['account.rename', 'POST /profile/name', 'w:sync:app:state', () => ({ name: 'Shop' })],
  ['contact.save', 'POST /contact/add', 'w:sync:app:state', () => ({ number: contact, name: 'Other' })],
  ['chat.block', 'POST /chat/block', 'blocklist/set', () => ({ number: contact, block: true })],
  ['chat.blocked', 'GET /chat/blocklist', 'blocklist/get', () => undefined],
  ['chat.timer', 'POST /chat/ephemeral', 'w:g2/set', () => ({ number: group, duration: '7d' })],
  ['group.members', 'POST /group/updateParticipants', 'w:g2/set', () => ({ groupjid: group, action: 'promote', participants: [contact] })],
  ['group.leave', 'POST /group/leave', 'w:g2/set', () => ({ groupjid: group })],
];

for (const [name, call, query, body] of rows)
  for (const code of [400, 401, 403, 404, 429])
    // The platform answers in the same way for a group that the account is not in.
    if (name !== 'group.leave' || code !== 404)
      test(`refusals: ${call} that is refused with ${code} names the request and the reason`, async () => {
        const { sandbox } = scene.platform;
        await sandbox.fault({ kind: 'refuseQuery', number: account.number, query, code, times: 9 });
        const [method = '', path = ''] = call.split(' ');
        const answer = await account.call(method, path, body());
        await sandbox.fault({ kind: 'refuseQuery', number: account.number, times: 0 });
        assert.deepEqual([answer.status, answer.body['provider_code']], [500, code], JSON.stringify(answer.body));
        const error = String(answer.body['error']);
        const wish = name === 'account.changePrivacy' ? 'change "last"' : wishes[name];
        assert.ok(error.startsWith(`the platform refused to ${wish}: `), error);
        assert.match(error, new RegExp(`\\(${code} `), error);
        assert.doesNotMatch(error, /info query/);
      });

test('refusals: a refused change of a message names the change and the reason', async () => {
  const sent = await account.send(contact, 'first');
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await scene.platform.sandbox.fault({ kind: 'ackError', number: account.number, code: 403, times: 1 });
  const { status, body } = await account.call('POST', '/message/edit', { id: sent.body['messageid'], text: 'second' });
  assert.deepEqual(
    [status, body['provider_code'], body['error']],
    [500, 403, 'the platform refused to edit the message: not allowed to write here (403)'],
  );
});
