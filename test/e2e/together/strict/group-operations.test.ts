/** Tests operations on groups: creation, lists, joining, leaving, members, links and pictures, and their cost at the platform. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contact } from '#test/support/scene.ts';
import { bia, carl, dora, groupBench, jid, type Json, missing, shy } from '#test/support/group-bench.ts';
import { picked } from '#test/support/operation-rows.ts';
import { until } from '#test/support/until.ts';

const bench = groupBench();
const unknown = '120363000000000001@g.us';

test('group create: names that every JavaScript object inherits are valid names', async () => {
  for (const name of ['constructor', '__proto__']) {
    const { group } = await bench.call('create', { name, participants: [contact] });
    const id = String((group as Json)['JID']);
    assert.deepEqual([(group as Json)['Name'], bench.stateOf(id).subject], [name, name]);
  }
});

test('group create: people who could not be added are listed with the reason, and with an invitation if the platform gives one', async () => {
  const answer = await bench.call('create', { name: 'Made', participants: [contact, bia, shy, missing] });
  const group = answer['group'] as Json;
  const id = String(group['JID']);
  assert.deepEqual(picked(group, { Name: '', OwnerIsAdmin: '', ParticipantCount: '' }), {
    Name: 'Made',
    OwnerIsAdmin: true,
    ParticipantCount: 3,
  });
  const failed = answer['failed'] as readonly Json[];
  assert.deepEqual(
    failed.map(({ JID, Error, Reason }) => [JID, Error, Reason]),
    [
      [jid(shy), 403, 'the privacy settings of the person allow it only by an invitation'],
      [jid(missing), 404, 'there is no account for this number'],
    ],
  );
  const [invited] = bench.stateOf(id).invited;
  assert.deepEqual(failed[0]?.['AddRequest'], {
    Code: invited?.code,
    Expiration: new Date(Number(invited?.expiration) * 1000).toISOString(),
  });
  assert.deepEqual(
    bench.stateOf(id).participants.map(({ number }) => number),
    [bench.account.number, contact, bia],
  );
  assert.equal((await bench.listed(id))?.['Name'], 'Made');
  assert.deepEqual(picked(await bench.chatOf(id), { wa_isGroup_admin: 0, wa_isGroup_member: 0, name: 0 }), {
    wa_isGroup_admin: true,
    wa_isGroup_member: true,
    name: 'Made',
  });
  const sent = await bench.account.send(id, 'welcome');
  assert.equal(sent.status, 200);
  await until(() => bench.scene.readBy(bia).has('welcome'), 'a member reads the text');
});

test('group updateParticipants: the answer has a result for each person, and the group changes accordingly', async () => {
  const added = await bench.call('updateParticipants', { groupjid: bench.led, action: 'add', participants: [carl, bia, shy, missing] });
  assert.deepEqual(
    (added['groupUpdated'] as readonly Json[]).map(({ JID, Error }) => [JID, Error]),
    [
      [jid(carl), 0],
      [jid(bia), 409],
      [jid(shy), 403],
      [jid(missing), 404],
    ],
  );
  assert.equal((added['group'] as Json)['ParticipantCount'], 4);
  await bench.told(bench.led, { Join: [jid(carl)] });
  const admins = () =>
    bench
      .stateOf(bench.led)
      .participants.filter(({ admin }) => admin !== null)
      .map(({ number }) => number);
  await bench.call('updateParticipants', { groupjid: bench.led, action: 'promote', participants: [carl] });
  assert.deepEqual(admins(), [bench.account.number, carl]);
  await bench.call('updateParticipants', { groupjid: bench.led, action: 'demote', participants: [jid(carl)] });
  assert.deepEqual(admins(), [bench.account.number]);
  const removed = await bench.call('updateParticipants', { groupjid: bench.led, action: 'remove', participants: [carl] });
  assert.deepEqual((removed['groupUpdated'] as readonly Json[])[0]?.['Error'], 0);
  assert.ok(!bench.stateOf(bench.led).participants.some(({ number }) => number === carl));
  await bench.told(bench.led, { Leave: [jid(carl)] });
  assert.equal((await bench.listed(bench.led))?.['ParticipantCount'], 3);
});

test('group updateParticipants: requests to join are listed, approved and rejected', async () => {
  const { sandbox } = bench.scene.platform;
  await bench.call('updateJoinApproval', { groupjid: bench.led, IsJoinApprovalRequired: true });
  for (const number of [dora, '5511988880007'])
    assert.equal((await sandbox.joinGroup(number, bench.stateOf(bench.led).invite)).joined, false);
  await until(
    () => bench.scene.receiver.posted.some(({ body }) => JSON.stringify(body).includes('created_membership_requests')),
    'the event of a request',
  );
  const info = await bench.call('info', { groupjid: bench.led, getInviteLink: true, getRequestsParticipants: true });
  assert.equal(info['invite_link'], `https://chat.whatsapp.com/${bench.stateOf(bench.led).invite}`);
  assert.equal(info['request_participants'], `${jid(dora)},${jid('5511988880007')}`);
  const approved = await bench.call('updateParticipants', { groupjid: bench.led, action: 'approve', participants: [dora, bia] });
  assert.deepEqual(
    (approved['groupUpdated'] as readonly Json[]).map(({ Error }) => Error),
    [0, 404],
  );
  await bench.call('updateParticipants', { groupjid: bench.led, action: 'reject', participants: ['5511988880007'] });
  assert.deepEqual(bench.stateOf(bench.led).requests, []);
  assert.ok(bench.stateOf(bench.led).participants.some(({ number }) => number === dora));
  await until(async () => (await bench.listed(bench.led))?.['ParticipantCount'] === 4, 'the new member is stored');
  await bench.call('updateJoinApproval', { groupjid: bench.led, IsJoinApprovalRequired: false });
});

test('group links: a link is shown, renewed, previewed and used to join, and the old link is void', async () => {
  const { sandbox } = bench.scene.platform;
  const shown = await bench.account.call('GET', `/group/invitelink/${bench.led}`);
  assert.equal(shown.body['InviteLink'], `https://chat.whatsapp.com/${bench.stateOf(bench.led).invite}`);
  const renewed = await bench.call('resetInviteCode', { groupjid: bench.led });
  assert.notEqual(renewed['InviteLink'], shown.body['InviteLink']);
  assert.equal(renewed['InviteLink'], `https://chat.whatsapp.com/${bench.stateOf(bench.led).invite}`);
  await bench.told(bench.led, { NewInviteLink: renewed['InviteLink'] as string });
  const theirs = await sandbox.createGroup({ subject: 'Theirs', creator: contact, participants: [bia] });
  const preview = await bench.call('inviteInfo', { invitecode: `https://chat.whatsapp.com/${theirs.invite}` });
  assert.deepEqual([preview['JID'], preview['Name']], [theirs.jid, 'Theirs']);
  assert.equal(await bench.listed(theirs.jid), undefined);
  for (const again of [false, true]) {
    const answer = await bench.call('join', { invitecode: theirs.invite });
    assert.deepEqual([answer['response'], (answer['group'] as Json)['JID']], ['Group join successful', theirs.jid], `again: ${again}`);
  }
  assert.ok(bench.stateOf(theirs.jid).participants.some(({ number }) => number === bench.account.number));
  await until(() => bench.listed(theirs.jid), 'the group is stored');
  assert.equal((await bench.call('leave', { groupjid: theirs.jid }))['response'], 'Group leave successful');
  assert.ok(!bench.stateOf(theirs.jid).participants.some(({ number }) => number === bench.account.number));
  assert.equal(await bench.listed(theirs.jid), undefined);
  assert.deepEqual(picked(await bench.chatOf(theirs.jid), { wa_isGroup_member: 0 }), { wa_isGroup_member: false });
  const late = await bench.account.send(theirs.jid, 'too late');
  assert.deepEqual([late.status, late.body['error']], [403, 'the account is not a member of this group']);
  assert.equal((await bench.call('leave', { groupjid: unknown }))['response'], 'Group leave successful');
  await sandbox.updateGroup(theirs.jid, contact, { action: 'approval', on: true });
  const waiting = await bench.call('join', { invitecode: theirs.invite });
  assert.deepEqual(
    [waiting['needs_refresh'], bench.stateOf(theirs.jid).requests.map(({ number }) => number)],
    [true, [bench.account.number]],
  );
  await sandbox.updateGroup(theirs.jid, contact, { action: 'invite' });
  assert.equal(
    (await bench.call('inviteInfo', { invitecode: theirs.invite }, 404))['error'],
    'Group invite link is invalid or has expired',
  );
  assert.equal((await bench.call('join', { invitecode: theirs.invite }, 400))['error'], 'Invalid invite code');
});

test('group updateImage: a picture from base64, a data URL or an address is set, and removed again', async () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  for (const image of [png, `data:image/png;base64,${png}`]) {
    const before = bench.stateOf(bench.led).picture;
    assert.equal((await bench.call('updateImage', { groupjid: bench.led, image }))['response'], 'Group image updated successfully');
    assert.ok(bench.stateOf(bench.led).picture !== undefined && bench.stateOf(bench.led).picture !== before);
  }
  assert.equal((await bench.call('updateImage', { groupjid: bench.led, image: 'remove' }))['response'], 'Group image removed successfully');
  assert.equal(bench.stateOf(bench.led).picture, undefined);
  const text = Buffer.from('no picture at all').toString('base64');
  assert.ok([400, 415].includes((await bench.account.call('POST', '/group/updateImage', { groupjid: bench.led, image: text })).status));
});

test('group list: groups are listed in pages and by search, with members and without', async () => {
  const page = await bench.account.call('POST', '/group/list', { limit: 1, noParticipants: true });
  const [first] = page.body['groups'] as readonly Json[];
  assert.ok(first && !('Participants' in first));
  const { totalRecords, limit, offset, nextOffset, hasMore } = page.body['pagination'] as Json;
  assert.deepEqual([limit, offset, nextOffset, hasMore], [1, 0, 1, true]);
  assert.equal((await bench.list({ limit: 100 })).length, totalRecords);
  assert.deepEqual(
    (await bench.list({ search: 'JOIN' })).map(({ JID }) => JID),
    [bench.joined],
  );
  const all = await bench.account.call('GET', '/group/list?noparticipants=true');
  assert.equal((all.body['groups'] as readonly Json[]).length, totalRecords);
});

test('groups: a login, messages and lists cause no query to the platform', async () => {
  const { sandbox } = bench.scene.platform;
  const before = sandbox.stats().groups;
  const logins = bench.scene.logins(bench.account);
  assert.equal((await bench.account.call('POST', '/instance/reset', {})).status, 200);
  await until(() => bench.scene.logins(bench.account) > logins, 'the next login');
  await bench.account.reaches('connected');
  assert.ok((await bench.list()).length > 0);
  for (let n = 0; n < 5; n += 1) {
    const { id } = await sandbox.send(contact, bench.led, { kind: 'text', text: `in ${n}` });
    await until(async () => {
      const { body } = await bench.account.call('POST', '/message/find', { id });
      return (body['messages'] as readonly Json[]).length === 1;
    }, 'the message is stored');
    assert.equal((await bench.account.send(bench.led, `out ${n}`)).status, 200);
    await bench.scene.told([id]);
  }
  const names = bench.scene.receiver.posted.flatMap(({ body }) => (body['message'] as Json | undefined)?.['groupName'] ?? []);
  assert.equal(names.at(-1), bench.stateOf(bench.led).subject);
  assert.deepEqual(sandbox.stats().groups, before);
});

test('group list: a refusal by the platform is returned, and a second `force` sends no query', async () => {
  const { sandbox } = bench.scene.platform;
  const before = sandbox.stats().groups.lists;
  await sandbox.fault({ kind: 'refuseQuery', number: bench.account.number, query: 'w:g2/get/participating', code: 429 });
  const refused = await bench.account.call('POST', '/group/list', { force: true });
  assert.deepEqual([refused.status, refused.body['provider_code']], [500, 429]);
  await bench.call('list', { force: true });
  assert.equal(sandbox.stats().groups.lists, before);
});

test('groups: the gateway sends the platform no unknown request', () => assert.deepEqual(bench.scene.platform.sandbox.stats().unknown, {}));

test('group create: a name with an @ that looks like an address is refused with an explanation, and can be set afterwards', async () => {
  for (const name of ['Meet 5:30@Bar', 'Shop@', 'a_b@c']) {
    const { status, body } = await bench.account.call('POST', '/group/create', { name, participants: [contact] });
    assert.deepEqual([status, body['error']], [400, 'This text cannot be sent with its @: the platform would read it as an address']);
  }
  const { group } = await bench.call('create', { name: 'Tom @ Home', participants: [contact] });
  const id = String((group as Json)['JID']);
  assert.equal(bench.stateOf(id).subject, 'Tom @ Home');
  await bench.call('updateName', { groupjid: id, name: 'Shop@' });
  assert.equal(bench.stateOf(id).subject, 'Shop@');
  assert.equal((await bench.account.seen()).status, 'connected');
});
