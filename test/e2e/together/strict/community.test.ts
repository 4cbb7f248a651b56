/** Tests communities that the API and phones create, fill and empty: the state of the platform, the events, and the chats of their groups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroupView } from '#src/sandbox/interface.ts';
import { bia, groupBench, isPart, type Json } from '#test/support/group-bench.ts';
import { picked } from '#test/support/operation-rows.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const bench = groupBench();
const unknown = '120363000000000001@g.us';
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
let community = '';

const call = async (path: string, body: Json, status = 200): Promise<Json> => {
  const answered = await bench.account.call('POST', `/community/${path}`, body);
  assert.equal(answered.status, status, JSON.stringify(answered.body));
  return answered.body;
};

const edit = (action: string, groupjids: readonly string[], status = 200): Promise<Json> =>
  call('editgroups', { community, action, groupjids }, status);

const subgroups = (): readonly GroupView[] => bench.scene.platform.sandbox.groups().filter(({ parent }) => parent === community);
const announcements = (): string => subgroups().find(({ role }) => role === 'announcement')?.jid ?? '';

/** Returns the community that the chat of the group names. */
const parentOf = async (group: string): Promise<Json | undefined> => (await bench.chatOf(group))?.['parent_community'] as Json | undefined;

test('community create: the platform adds a group of announcements, and the account lists the community and the group', async () => {
  const answer = await call('create', { name: 'Neighbours' });
  const group = answer['group'] as Json;
  community = String(group['JID']);
  assert.deepEqual(picked(group, { Name: 0, IsParent: 0, OwnerIsAdmin: 0 }), { Name: 'Neighbours', IsParent: true, OwnerIsAdmin: true });
  assert.deepEqual(answer['failed'], []);
  assert.deepEqual(picked(bench.stateOf(community), { isCommunity: 0, approval: 0 }), { isCommunity: true, approval: true });
  assert.deepEqual(
    subgroups()
      .map(({ role }) => role)
      .toSorted(),
    ['announcement', 'general'],
  );
  await until(async () => (await bench.listed(announcements())) !== undefined, 'the group of announcements is stored');
  const listed = await bench.listed(announcements());
  assert.deepEqual(picked(listed, { LinkedParentJID: 0, IsDefaultSubGroup: 0, IsAnnounce: 0 }), {
    LinkedParentJID: community,
    IsDefaultSubGroup: true,
    IsAnnounce: true,
  });
  assert.deepEqual(picked(await bench.chatOf(community), { wa_isGroup_community: 0, name: 0 }), {
    wa_isGroup_community: true,
    name: 'Neighbours',
  });
  const parent = { jid: community, name: 'Neighbours', image_url: '', image_preview_url: '', default_subgroup_jid: announcements() };
  await until(async () => isPart(await parentOf(announcements()), parent), 'its chat shows the community');
});

test('community editgroups: groups are added, and the answer names those that the platform refuses', async () => {
  assert.equal((await bench.account.send(bench.led, 'so that there is a chat')).status, 200);
  const added = await edit('add', [bench.led, bench.joined, unknown, community]);
  assert.deepEqual(added, { message: 'community updated', success: [bench.led], failed: [bench.joined, unknown, community] });
  assert.equal(bench.stateOf(bench.led).parent, community);
  assert.equal(bench.stateOf(bench.joined).parent, undefined);
  await bench.told(bench.led, { Link: { Type: 'parent_group', Group: { JID: community, Name: 'Neighbours' } } });
  await bench.told(community, { Link: { Type: 'sub_group', Group: { JID: bench.led } } });
  assert.equal((await bench.listed(bench.led))?.['LinkedParentJID'], community);
  const shown = { jid: community, name: 'Neighbours', default_subgroup_jid: announcements() };
  await until(async () => isPart(await parentOf(bench.led), shown), 'the chat of the group shows its community');
  const members = bench.stateOf(community).participants.map(({ number }) => number);
  assert.deepEqual(
    members.toSorted(),
    [bench.account.number, contact, bia].toSorted(),
    'members of the group are members of the community',
  );
  assert.deepEqual((await edit('add', [bench.led]))['failed'], [bench.led], 'it is in the community already');
});

test('community: the event of a message in a group has a chat that names the community, without a query', async () => {
  const { sandbox } = bench.scene.platform;
  const before = sandbox.stats().groups;
  const { id } = await sandbox.send(contact, bench.led, { kind: 'text', text: 'hello, neighbours' });
  const posted = await until(
    () => bench.scene.receiver.posted.find(({ body }) => (body['message'] as Json | undefined)?.['messageid'] === id),
    'the event of the message',
  );
  assert.equal(((posted.body['chat'] as Json)['parent_community'] as Json)['jid'], community);
  assert.deepEqual(sandbox.stats().groups, before);
});

test('community: a name and a picture that change on a phone are shown in the chats of its groups', async () => {
  const { sandbox } = bench.scene.platform;
  await sandbox.updateGroup(community, bench.account.number, { action: 'subject', text: 'Good neighbours' });
  await until(async () => isPart(await parentOf(bench.led), { name: 'Good neighbours' }), 'the new name');
  await bench.call('updateImage', { groupjid: community, image: png });
  await until(async () => (await parentOf(bench.led))?.['image_preview_url'] !== '', 'the address of the picture');
});

test('community of others: the account becomes a member when a phone links one of its groups', async () => {
  const { sandbox } = bench.scene.platform;
  const theirs = await sandbox.createCommunity({ subject: 'Theirs', creator: contact, addressing: 'lid' });
  await sandbox.send(contact, bench.joined, { kind: 'text', text: 'so that there is a chat' });
  assert.deepEqual(await sandbox.editCommunity(theirs.jid, contact, { action: 'link', groups: [bench.joined] }), [{ jid: bench.joined }]);
  await bench.told(bench.joined, { Link: { Type: 'parent_group', Group: { JID: theirs.jid, Name: 'Theirs' } } });
  await until(async () => isPart(await parentOf(bench.joined), { jid: theirs.jid, name: 'Theirs' }), 'the chat of the group shows it');
  const default_subgroup_jid = sandbox.groups().find(({ parent, role }) => parent === theirs.jid && role === 'announcement')?.jid;
  await until(async () => isPart(await parentOf(bench.joined), { default_subgroup_jid }), 'and its group of announcements');
  const refused = await bench.account.call('POST', '/community/editgroups', {
    community: theirs.jid,
    action: 'remove',
    groupjids: [bench.joined],
  });
  assert.deepEqual([refused.status, refused.body['error']], [403, 'User is not an admin of this community']);
  await sandbox.editCommunity(theirs.jid, contact, { action: 'unlink', groups: [bench.joined] });
  await bench.told(bench.joined, { Unlink: { Type: 'parent_group', UnlinkReason: 'unlink_group' } });
  await until(async () => (await parentOf(bench.joined)) === undefined, 'the chat of the group shows none');
});

test('community editgroups: a group is removed, and the answer names groups that are not in the community', async () => {
  const removed = await edit('remove', [bench.led, bench.joined, announcements()]);
  assert.deepEqual([removed['success'], removed['failed']], [[bench.led], [bench.joined, announcements()]]);
  assert.equal(bench.stateOf(bench.led).parent, undefined);
  await bench.told(bench.led, { Unlink: { Type: 'parent_group', Group: { JID: community } } });
  await until(async () => (await parentOf(bench.led)) === undefined, 'the chat of the group shows none');
  assert.equal((await bench.listed(bench.led))?.['LinkedParentJID'], '');
});

test('community: parent_community is known after a restart, before any group is listed', async () => {
  await edit('add', [bench.led]);
  const lists = bench.scene.platform.sandbox.stats().groups.lists;
  await bench.scene.gateway.end('SIGTERM');
  await bench.scene.gateway.start();
  await bench.account.reaches('connected');
  await bench.scene.platform.sandbox.send(contact, bench.led, { kind: 'text', text: 'after the restart' });
  await until(async () => isPart(await parentOf(bench.led), { jid: community, name: 'Good neighbours' }), 'the chat shows it');
  assert.equal(bench.scene.platform.sandbox.stats().groups.lists, lists);
});

const refusals: readonly (readonly [path: string, body: () => Json, status: number, error: string])[] = [
  ['create', () => ({}), 400, 'invalid payload'],
  ['create', () => ({ name: '' }), 400, 'invalid payload'],
  ['create', () => ({ name: 7 }), 400, 'invalid payload'],
  ['editgroups', () => ({ action: 'add', groupjids: [bench.led] }), 400, 'community is required'],
  ['editgroups', () => ({ community, groupjids: [bench.led] }), 400, 'action is required'],
  ['editgroups', () => ({ community, action: 'add' }), 400, 'groupjids is required'],
  ['editgroups', () => ({ community, action: 'add', groupjids: [] }), 400, 'groupjids must have at least 1 entries'],
  ['editgroups', () => ({ community, action: 'swap', groupjids: [bench.led] }), 400, 'action must be one of add, remove'],
  ['editgroups', () => ({ community: bench.led, action: 'add', groupjids: [bench.joined] }), 400, 'The group is not a community'],
  ['editgroups', () => ({ community: unknown, action: 'add', groupjids: [bench.led] }), 404, 'Community not found'],
];
for (const [path, body, status, error] of refusals)
  test(`community ${path}: an invalid request is refused with ${status}, "${error}"`, async () =>
    assert.equal((await call(path, body(), status))['error'], error));

for (const [path, body, query] of [
  ['create', () => ({ name: 'Refused' }), 'w:g2/set/create'],
  ['editgroups', () => ({ community, action: 'remove', groupjids: [bench.led] }), 'w:g2/set/unlink'],
] as const)
  test(`community ${path}: a refusal by the platform is returned, and a wrong token gets a 401`, async () => {
    await bench.scene.platform.sandbox.fault({ kind: 'refuseQuery', number: bench.account.number, query, code: 429 });
    const refused = await bench.account.call('POST', `/community/${path}`, body());
    assert.deepEqual([refused.status, refused.body['provider_code']], [500, 429]);
    const stranger = await bench.scene.gateway.call('POST', `/community/${path}`, { token: 'wrong', body: body() });
    assert.equal(stranger.status, 401);
    const fresh = await bench.scene.create();
    assert.equal((await fresh.call('POST', `/community/${path}`, body())).status, 409);
  });

test('communities: the gateway sends the platform no unknown request', () => {
  assert.deepEqual(bench.scene.platform.sandbox.stats().unknown, {});
});
