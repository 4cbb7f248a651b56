/** Tests settings of groups: the request, its answer, the state of the platform, the event, the list, changes on phones, and refusals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroupView } from '#src/sandbox/interface.ts';
import type { Scene } from '#test/support/scene.ts';
import { contact } from '#test/support/scene.ts';
import { bia, carl, groupBench, isPart, jid, type Json } from '#test/support/group-bench.ts';
import { picked } from '#test/support/operation-rows.ts';
import { until } from '#test/support/until.ts';

const bench = groupBench();
const unknown = '120363000000000001@g.us';

interface SettingRow {
  readonly path: string;
  readonly body: Json;
  readonly response: string;
  readonly state: Partial<GroupView>;
  readonly group: Json;
  readonly event: Json;
  readonly chat?: Json;
}

const settings: readonly SettingRow[] = [
  {
    path: 'updateName',
    body: { name: 'New name' },
    response: 'Group name updated successfully',
    state: { subject: 'New name' },
    group: { Name: 'New name' },
    event: { Name: { Name: 'New name' } },
  },
  {
    path: 'updateDescription',
    body: { description: 'About' },
    response: 'Group description updated successfully',
    state: { description: 'About' },
    group: { Topic: 'About' },
    event: { Topic: { Topic: 'About' } },
  },
  {
    path: 'updateDescription',
    body: { description: 'More about' },
    response: 'Group description updated successfully',
    state: { description: 'More about' },
    group: { Topic: 'More about' },
    event: { Topic: { Topic: 'More about' } },
  },
  {
    path: 'updateAnnounce',
    body: { announce: true },
    response: 'Group announce enabled successfully',
    state: { announce: true },
    group: { IsAnnounce: true, OwnerCanSendMessage: true },
    event: { Announce: { IsAnnounce: true } },
  },
  {
    path: 'updateAnnounce',
    body: { announce: false },
    response: 'Group announce disabled successfully',
    state: { announce: false },
    group: { IsAnnounce: false },
    event: { Announce: { IsAnnounce: false } },
  },
  {
    path: 'updateLocked',
    body: { locked: true },
    response: 'Group lock status changed successfully',
    state: { locked: true },
    group: { IsLocked: true },
    event: { Locked: { IsLocked: true } },
  },
  {
    path: 'updateLocked',
    body: { locked: false },
    response: 'Group lock status changed successfully',
    state: { locked: false },
    group: { IsLocked: false },
    event: { Locked: { IsLocked: false } },
  },
  {
    path: 'updateJoinApproval',
    body: { IsJoinApprovalRequired: true },
    response: 'Group join approval enabled successfully',
    state: { approval: true },
    group: { IsJoinApprovalRequired: true },
    event: { MembershipApprovalMode: { IsJoinApprovalRequired: true } },
  },
  {
    path: 'updateJoinApproval',
    body: { IsJoinApprovalRequired: false },
    response: 'Group join approval disabled successfully',
    state: { approval: false },
    group: { IsJoinApprovalRequired: false },
    event: { MembershipApprovalMode: { IsJoinApprovalRequired: false } },
  },
  {
    path: 'updateMemberAddMode',
    body: { MemberAddMode: 'admin_add' },
    response: 'Group member add mode set to admin_add successfully',
    state: { adminAdd: true },
    group: { MemberAddMode: 'admin_add' },
    event: { UnknownChanges: [{ Tag: 'member_add_mode', Attrs: {}, Content: 'admin_add' }] },
  },
  {
    path: 'ephemeral',
    body: { duration: '7d' },
    response: 'Ephemeral timer updated successfully',
    state: { ephemeral: 604_800 },
    group: { IsEphemeral: true, DisappearingTimer: 604_800 },
    event: { Ephemeral: { IsEphemeral: true, DisappearingTimer: 604_800 } },
  },
  {
    path: 'ephemeral',
    body: { duration: 0 },
    response: 'Ephemeral timer updated successfully',
    state: { ephemeral: 0 },
    group: { IsEphemeral: false },
    event: { Ephemeral: { IsEphemeral: false, DisappearingTimer: 0 } },
  },
];
for (const { path, body, response, state, group, event } of settings)
  test(`group ${path}: ${JSON.stringify(body)} changes the group on the platform, in the list and in the event`, async () => {
    const answer = await bench.call(path, { groupjid: bench.led, ...body });
    assert.deepEqual([answer['response'], answer['needs_refresh']], [response, false]);
    assert.deepEqual(picked(answer['group'] as Json, group), group);
    assert.deepEqual(picked(bench.stateOf(bench.led), state), state);
    await bench.told(bench.led, event);
    assert.deepEqual(picked(await bench.listed(bench.led), group), group);
  });

test('group ephemeral: the timer is reported by an event of its own, and with the chat', async () => {
  await bench.scene.platform.sandbox.send(contact, bench.led, { kind: 'text', text: 'so that there is a chat' });
  await until(() => bench.chatOf(bench.led), 'the chat');
  const answer = await bench.call('ephemeral', { groupjid: bench.led, duration: 86_400 });
  assert.deepEqual(answer['ephemeral'], { enabled: true, seconds: 86_400, label: '1d' });
  assert.equal((answer['chat'] as Json)['wa_ephemeralExpiration'], 86_400);
  await bench.call('ephemeral', { groupjid: bench.led, duration: 'off' });
});

const manyEmoji = '🙂'.repeat(100);
const tooLong = 'The platform did not accept the text: it may be too long, since an emoji can count as two characters';
const groupRefused = 'The platform did not accept the group: its name may be too long, or one of the people cannot be put into groups';
const refusals: readonly (readonly [path: string, body: () => Json, status: number, error: string])[] = [
  ['updateName', () => ({ groupjid: bench.led, name: '' }), 400, 'Name cannot be empty'],
  ['updateDescription', () => ({ groupjid: bench.led, description: '' }), 400, 'Description cannot be empty'],
  ['updateName', () => ({ groupjid: bench.led, name: manyEmoji }), 400, tooLong],
  ['create', () => ({ name: manyEmoji, participants: [contact] }), 400, groupRefused],
  ['updateName', () => ({ groupjid: unknown, name: 'x' }), 404, 'Group not found'],
  ['updateAnnounce', () => ({ groupjid: bench.joined, announce: true }), 403, 'User is not an admin of this group'],
  ['ephemeral', () => ({ groupjid: bench.led, duration: '2d' }), 400, 'invalid duration. Allowed values: 0, off, 1d, 7d, 90d'],
  ['resetInviteCode', () => ({ groupjid: 'nonsense' }), 400, 'Could not parse Group JID'],
  ['resetInviteCode', () => ({ groupjid: bench.joined }), 403, 'User is not an admin of this group'],
  ['info', () => ({ groupjid: unknown }), 404, 'Group not found'],
  ['inviteInfo', () => ({ invitecode: 'not a code at all' }), 400, 'Invalid invite code'],
  ['inviteInfo', () => ({ invitecode: 'AAAAAAAAAAAAAAAA' }), 404, 'Group invite link is invalid or has expired'],
  ['join', () => ({ invitecode: 'AAAAAAAAAAAAAAAA' }), 400, 'Invalid invite code'],
  ['create', () => ({ name: 'x', participants: [] }), 400, 'participants must have at least 1 entries'],
  [
    'create',
    () => ({ name: 'x', participants: [bench.account.number] }),
    400,
    'participants must name at least one person beside the account',
  ],
  ['create', () => ({ name: 'x', participants: ['abc'] }), 400, 'Could not parse phone'],
  [
    'updateParticipants',
    () => ({ groupjid: unknown, action: 'add', participants: [bia] }),
    500,
    'the platform refused to change the members of the group: the group does not exist, or the account is not a member of it (404 item-not-found)',
  ],
  [
    'updateParticipants',
    () => ({ groupjid: bench.joined, action: 'promote', participants: [bia] }),
    500,
    'the platform refused to change the members of the group: only admins of the group may do it, and the account is none (403 forbidden)',
  ],
  [
    'updateParticipants',
    () => ({ groupjid: bench.led, action: 'kick', participants: [bia] }),
    400,
    'action must be one of add, remove, promote, demote, approve, reject',
  ],
];
for (const [path, body, status, error] of refusals)
  test(`group ${path}: an invalid request is refused with ${status}, "${error}"`, async () =>
    assert.equal((await bench.call(path, body(), status))['error'], error));

test('group: a header names an invalid entry in a list of people', async () => {
  const people = [bia, '123'];
  const calls = [
    ['create', { name: 'x', participants: people }],
    ['updateParticipants', { groupjid: bench.led, action: 'add', participants: people }],
  ] as const;
  for (const [path, body] of calls) {
    const { status, headers, body: answer } = await bench.account.call('POST', `/group/${path}`, body);
    assert.deepEqual([status, answer], [400, { error: 'Could not parse phone' }]);
    assert.equal(headers.get('x-error-hint'), 'participants.1 must be the digits of a phone number or the id of a person');
  }
});

const phoneChanges: readonly (readonly [change: Parameters<Scene['platform']['sandbox']['updateGroup']>[2], event: Json, group: Json])[] = [
  [{ action: 'subject', text: 'By phone' }, { Name: { Name: 'By phone' } }, { Name: 'By phone' }],
  [{ action: 'description', text: 'Told' }, { Topic: { Topic: 'Told' } }, { Topic: 'Told' }],
  [{ action: 'announce', on: true }, { Announce: { IsAnnounce: true } }, { IsAnnounce: true, OwnerCanSendMessage: false }],
  [{ action: 'announce', on: false }, { Announce: { IsAnnounce: false } }, { IsAnnounce: false, OwnerCanSendMessage: true }],
  [{ action: 'locked', on: true }, { Locked: { IsLocked: true } }, { IsLocked: true }],
  [{ action: 'ephemeral', seconds: 86_400 }, { Ephemeral: { IsEphemeral: true } }, { DisappearingTimer: 86_400 }],
  [{ action: 'add', participants: [carl] }, { Join: [jid(carl)] }, { ParticipantCount: 4 }],
  [{ action: 'remove', participants: [carl] }, { Leave: [jid(carl)] }, { ParticipantCount: 3 }],
];
for (const [change, event, group] of phoneChanges)
  test(`group of others: ${JSON.stringify(change)} on a phone is reported as an event and stored in fields`, async () => {
    await bench.scene.platform.sandbox.updateGroup(bench.joined, contact, change);
    await bench.told(bench.joined, event);
    await until(async () => isPart(await bench.listed(bench.joined), group), 'the list has it');
  });

test('group of others: fields of the chat show the rank and the removal of the account, and a removed account cannot send', async () => {
  const { sandbox } = bench.scene.platform;
  await sandbox.send(contact, bench.joined, { kind: 'text', text: 'so that there is a chat' });
  await until(() => bench.chatOf(bench.joined), 'the chat');
  await sandbox.updateGroup(bench.joined, contact, { action: 'promote', participants: [bench.account.number] });
  await until(async () => isPart(await bench.chatOf(bench.joined), { wa_isGroup_admin: true }), 'an admin');
  await sandbox.updateGroup(bench.joined, contact, { action: 'remove', participants: [bench.account.number] });
  await until(async () => isPart(await bench.chatOf(bench.joined), { wa_isGroup_member: false, wa_isGroup_admin: false }), 'no member');
  assert.equal(await bench.listed(bench.joined), undefined);
  const sent = await bench.account.send(bench.joined, 'too late');
  assert.notEqual(sent.status, 200, JSON.stringify(sent.body));
  await sandbox.updateGroup(bench.joined, contact, { action: 'add', participants: [bench.account.number] });
  await until(() => bench.listed(bench.joined), 'a member again');
});

test('groups: the gateway sends the platform no unknown request', () => assert.deepEqual(bench.scene.platform.sandbox.stats().unknown, {}));
