/** Tests the ways into groups: refusals of single people, approval, links, invitations; and the rules for members without a rank. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getBinaryNodeChild, getBinaryNodeChildren, type BinaryNode } from '@whiskeysockets/baileys';
import type { GroupView } from '#src/sandbox/interface.ts';
import { eventually, openSandbox, pair, type Client, type TestSandbox } from './client.ts';

const ana = '5511999990051';
const bia = '5511999990052';
const eva = '5511999990053';
const [carl, dora, finn, gil] = ['5511988880051', '5511988880052', '5511988880053', '5511988880054'] as const;
const jid = (number: string): string => `${number}@s.whatsapp.net`;

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let admin: Client;
let shy: Client;
let guest: Client;
let group = '';

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  admin = await pair(sandbox, { number: ana, name: 'Ana' });
  shy = await pair(sandbox, { number: bia, name: 'Bia' });
  guest = await pair(sandbox, { number: eva, name: 'Eva' });
  group = (await sandbox.sandbox.createGroup({ subject: 'Club', creator: ana, participants: [carl] })).jid;
});
after(() => cleanUp());

const view = (): GroupView => sandbox.sandbox.groups().find((one) => one.jid === group) ?? assert.fail('no group');
const lid = (number: string): string => `${sandbox.sandbox.people().find((one) => one.number === number)?.lid}@lid`;
const members = (): string[] => view().participants.map(({ number }) => number);

const add = async (...numbers: string[]): Promise<{ status: string; jid?: string | undefined; content: BinaryNode }[]> =>
  admin.sock.groupParticipantsUpdate(group, numbers.map(jid), 'add');

test('adding: each person has an answer of their own', async () => {
  await shy.sock.updateGroupsAddPrivacy('none' as never);
  await guest.sock.onWhatsApp(ana);
  await guest.sock.updateBlockStatus(jid(ana), 'block');
  const answers = await add(dora, carl, bia, eva, '99912345678');
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['200', '409', '403', '401', '404'],
  );
  assert.deepEqual(members(), [ana, carl, dora]);
  await guest.sock.updateBlockStatus(jid(ana), 'unblock');
  const request = getBinaryNodeChild(answers[2]?.content, 'add_request');
  const { code, expiration } = view().invited[0] ?? assert.fail('no invitation');
  assert.deepEqual(request?.attrs, { code, expiration: String(expiration) });
});

test('an invitation: its addressee reads and accepts it, and it is void for others, after its end and when revoked', async () => {
  const { code = '', expiration = 0 } = view().invited[0] ?? {};
  const invitation = { groupJid: group, inviteCode: code, inviteExpiration: expiration };
  await assert.rejects(guest.sock.groupAcceptInviteV4(jid(ana), invitation), /not-acceptable/);
  const query = {
    tag: 'query',
    attrs: {},
    content: [{ tag: 'add_request', attrs: { code, expiration: String(expiration), admin: jid(ana) } }],
  };
  const ask = (client: Client): Promise<BinaryNode> =>
    client.sock.query({ tag: 'iq', attrs: { to: group, type: 'get', xmlns: 'w:g2' }, content: [query] });
  assert.equal(getBinaryNodeChild(await ask(shy), 'group')?.attrs['subject'], 'Club');
  await assert.rejects(ask(guest), /forbidden/);
  await shy.sock.groupAcceptInviteV4(jid(ana), invitation);
  assert.ok(members().includes(bia));
  await admin.sock.groupParticipantsUpdate(group, [jid(bia)], 'remove');
  assert.equal((await add(bia))[0]?.status, '403');
  assert.equal(await admin.sock.groupRevokeInviteV4(group, jid(bia)), true);
  const later = { ...invitation, inviteCode: view().invited[0]?.code ?? 'gone' };
  await assert.rejects(shy.sock.groupAcceptInviteV4(jid(ana), later), /not-acceptable/);
});

test('privacy for contacts: those in the address book may add', async () => {
  await shy.sock.updateGroupsAddPrivacy('contacts');
  assert.equal((await add(bia))[0]?.status, '403');
  await sandbox.sandbox.change(bia, { kind: 'contact', number: ana, name: 'Ana' });
  assert.equal((await add(bia))[0]?.status, '200');
});

test('leaving: a member who left lately cannot be added, and a removed one cannot return by the link', async () => {
  await shy.sock.groupLeave(group);
  assert.equal((await add(bia))[0]?.status, '408');
  const code = (await admin.sock.groupInviteCode(group)) ?? '';
  assert.equal(await shy.sock.groupAcceptInvite(code), group);
  await assert.rejects(shy.sock.groupAcceptInvite(code), /not-modified/);
  await admin.sock.groupParticipantsUpdate(group, [jid(bia)], 'remove');
  await assert.rejects(shy.sock.groupAcceptInvite(code), /not-allowed/);
});

test('removing: the creator stays, and strangers are reported as absent', async () => {
  await admin.sock.groupParticipantsUpdate(group, [jid(carl)], 'promote');
  const answers = await admin.sock.groupParticipantsUpdate(group, [jid(ana), jid(gil)], 'remove');
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['406', '404'],
  );
});

test('links: a new link makes the old one void', async () => {
  const old = (await admin.sock.groupInviteCode(group)) ?? '';
  assert.equal((await guest.sock.groupGetInviteInfo(old)).subject, 'Club');
  const code = (await admin.sock.groupRevokeInvite(group)) ?? '';
  assert.equal(view().invite, code);
  for (const use of [guest.sock.groupGetInviteInfo, guest.sock.groupAcceptInvite]) await assert.rejects(use(old), /gone/);
  await assert.rejects(guest.sock.groupGetInviteInfo('neverACode'), /item-not-found/);
  await assert.rejects(sandbox.sandbox.joinGroup(finn, old), /gone/);
});

test('approval: requests wait for an admin, who is told of them, approves one and rejects another', async () => {
  await admin.sock.groupJoinApprovalMode(group, 'on');
  const code = view().invite;
  assert.equal(await guest.sock.groupAcceptInvite(code), undefined);
  assert.deepEqual(await sandbox.sandbox.joinGroup(finn, code), { jid: group, joined: false });
  assert.deepEqual(
    view().requests.map(({ number, method }) => [number, method]),
    [
      [eva, 'invite_link'],
      [finn, 'invite_link'],
    ],
  );
  const told = await admin.wait('messages.upsert', ({ messages }) =>
    messages.find(({ messageStubParameters }) => messageStubParameters?.[1] === 'created'),
  );
  assert.equal(told.messageStubParameters?.[2], 'invite_link');
  const listed = await admin.sock.groupRequestParticipantsList(group);
  assert.deepEqual(
    listed.map(({ jid: one }) => one),
    [lid(eva), lid(finn)],
  );
  await assert.rejects(guest.sock.groupRequestParticipantsList(group), /forbidden/);
  const approved = await admin.sock.groupRequestParticipantsUpdate(group, [jid(eva), jid(gil)], 'approve');
  assert.deepEqual(
    approved.map(({ status }) => status),
    ['200', '404'],
  );
  await guest.wait('groups.upsert', (groups) => groups.some(({ id }) => id === group));
  await admin.sock.groupRequestParticipantsUpdate(group, [jid(finn)], 'reject');
  assert.deepEqual([view().requests, members().includes(eva), members().includes(finn)], [[], true, false]);
  await sandbox.sandbox.joinGroup(finn, code);
  await sandbox.sandbox.updateGroup(group, ana, { action: 'approve', participants: [finn] });
  assert.ok(members().includes(finn));
});

test('members without a rank: with approval their additions wait, with the admins’ mode they are refused', async () => {
  const answers = await guest.sock.groupParticipantsUpdate(group, [jid(gil)], 'add');
  assert.equal(answers[0]?.status, '421');
  assert.deepEqual(
    view().requests.map(({ number, method }) => [number, method]),
    [[gil, 'non_admin_add']],
  );
  await admin.sock.groupJoinApprovalMode(group, 'off');
  await admin.sock.groupMemberAddMode(group, 'admin_add');
  assert.deepEqual([view().approval, view().adminAdd], [false, true]);
  await assert.rejects(guest.sock.groupParticipantsUpdate(group, [jid(gil)], 'add'), /forbidden/);
  await assert.rejects(guest.sock.groupJoinApprovalMode(group, 'on'), /forbidden/);
  await admin.sock.groupToggleEphemeral(group, 86_400);
  assert.equal(view().ephemeral, 86_400);
});

test('a new group: people who cannot be added are listed in the answer, and its first settings apply', async () => {
  await shy.sock.updateGroupsAddPrivacy('none' as never);
  const child = (tag: string, attrs = {}, content?: BinaryNode['content']): BinaryNode => ({ tag, attrs, ...(content ? { content } : {}) });
  const participants = [bia, dora, '99912345678'].map((number) => child('participant', { jid: jid(number) }));
  const settings = [
    child('description', { id: 'D1' }, [child('body', {}, Buffer.from('About'))]),
    child('locked'),
    child('announcement'),
    child('ephemeral', { expiration: '604800' }),
    child('member_add_mode', {}, Buffer.from('admin_add')),
    child('membership_approval_mode', {}, [child('group_join', { state: 'on' })]),
  ];
  const ask = (content: BinaryNode[]): Promise<BinaryNode> =>
    admin.sock.query({
      tag: 'iq',
      attrs: { to: '@g.us', type: 'set', xmlns: 'w:g2' },
      content: [child('create', { subject: 'New', key: 'k' }, content)],
    });
  const made = getBinaryNodeChild(await ask([...participants, ...settings]), 'group');
  assert.deepEqual(
    getBinaryNodeChildren(made, 'participant').map(({ attrs }) => [attrs['jid'], attrs['error']]),
    [
      [lid(ana), undefined],
      [lid(dora), undefined],
      [jid(bia), '403'],
      [jid('99912345678'), '404'],
    ],
  );
  const metadata = await admin.sock.groupMetadata(`${made?.attrs['id']}@g.us`);
  const { desc, descId, restrict, announce, ephemeralDuration, memberAddMode, joinApprovalMode } = metadata;
  assert.deepEqual(
    [desc, descId, restrict, announce, ephemeralDuration, memberAddMode, joinApprovalMode],
    ['About', 'D1', true, true, 604_800, false, true],
  );
  await assert.rejects(ask([child('paint')]), /feature-not-implemented/);
});

test('a member that is removed while it writes: its message is refused', async () => {
  await guest.sock.groupMetadata(group);
  await sandbox.sandbox.updateGroup(group, ana, { action: 'remove', participants: [eva] });
  const sent = await guest.sock.relayMessage(
    group,
    { conversation: 'am I here?' },
    { useCachedGroupMetadata: true, participant: { jid: jid(carl), count: 0 } },
  );
  await guest.wait('messages.update', (updates) =>
    updates.some(({ key, update }) => key.id === sent && update.messageStubParameters?.[0] === '403'),
  );
  assert.equal(
    sandbox.sandbox.received(carl).some(({ id }) => id === sent),
    false,
  );
});

test('description: a change that builds on an old description is a conflict', async () => {
  await admin.sock.groupUpdateDescription(group, 'One');
  const stale = { tag: 'description', attrs: { id: 'X', prev: 'old' }, content: [{ tag: 'body', attrs: {}, content: Buffer.from('Two') }] };
  await assert.rejects(admin.sock.query({ tag: 'iq', attrs: { to: group, type: 'set', xmlns: 'w:g2' }, content: [stale] }), /conflict/);
  await eventually(() => view().description === 'One', 'the description');
});
