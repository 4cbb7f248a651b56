/** Tests groups of clients and simulated people: creating, changing, writing, leaving. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { WAMessageStubType, type WAMessage } from '@whiskeysockets/baileys';
import { eventually, openSandbox, pair, type Client, type TestSandbox } from './client.ts';

const ana = '5511999990003';
const bia = '5511999990004';
const carl = '5511988880003';
const dora = '5511988880004';
const jid = (number: string): string => `${number}@s.whatsapp.net`;

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let first: Client;
let second: Client;
let group = '';

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  first = await pair(sandbox, { number: ana, name: 'Ana' });
  second = await pair(sandbox, { number: bia, name: 'Bia' });
});
after(() => cleanUp());

const lid = (number: string): string => `${sandbox.sandbox.people().find((one) => one.number === number)?.lid}@lid`;

const heard = (client: Client, id: string | null | undefined): Promise<WAMessage> =>
  client.wait('messages.upsert', ({ messages }) => messages.find(({ key, message }) => key.id === id && message));

test('a client creates a group: clients of the members are sent its metadata', async () => {
  const made = await first.sock.groupCreate('Friends', [jid(bia), jid(carl)]);
  group = made.id;
  assert.equal(made.participants.length, 3);
  assert.equal(made.addressingMode, 'lid');
  const told = await second.wait('groups.upsert', (groups) => groups.find(({ id }) => id === group));
  assert.equal(told.subject, 'Friends');
  const all = await second.sock.groupFetchAllParticipating();
  assert.equal(all[group]?.subject, 'Friends');
  assert.deepEqual(
    sandbox.sandbox.groups().map(({ creator }) => creator),
    [ana],
  );
});

test('a client writes to the group: phones and clients of the members decrypt it', async () => {
  const sent = await first.sock.sendMessage(group, { text: 'to all' });
  const got = await eventually(() => sandbox.sandbox.received(carl).find(({ id }) => id === sent?.key.id), 'the text');
  assert.deepEqual([got.text, got.chat, got.envelope], ['to all', group, 'skmsg']);
  const message = await heard(second, sent?.key.id);
  assert.equal(message.message?.extendedTextMessage?.text, 'to all');
  assert.equal(message.key.remoteJid, group);
  assert.deepEqual([message.key.participant, message.key.participantAlt], [lid(ana), jid(ana)]);
  assert.equal(message.pushName, 'Ana');
  await first.wait('message-receipt.update', (updates) =>
    updates.some(({ key, receipt }) => key.id === sent?.key.id && receipt.userJid === lid(carl)),
  );
});

test('groups: a second text needs no new key, and the other client answers', async () => {
  const sent = await first.sock.sendMessage(group, { text: 'again' });
  assert.equal((await heard(second, sent?.key.id)).message?.extendedTextMessage?.text, 'again');
  const answer = await second.sock.sendMessage(group, { text: 'back' });
  assert.equal((await heard(first, answer?.key.id)).message?.extendedTextMessage?.text, 'back');
});

test('groups: a contact writes to the group, by LID, and to an old one by number', async () => {
  for (const text of ['one', 'two']) {
    const { id } = await sandbox.sandbox.send(carl, group, { kind: 'text', text });
    assert.equal((await heard(first, id)).message?.conversation, text);
    assert.equal((await heard(second, id)).key.participant, lid(carl));
  }
  const old = await sandbox.sandbox.createGroup({ subject: 'By number', creator: carl, participants: [ana, dora], addressing: 'pn' });
  const { id } = await sandbox.sandbox.send(carl, old.jid, { kind: 'text', text: 'by number' });
  const message = await heard(first, id);
  assert.deepEqual([message.key.participant, message.key.participantAlt], [jid(carl), lid(carl)]);
  const sent = await first.sock.sendMessage(old.jid, { text: 'answer' });
  await eventually(() => sandbox.sandbox.received(dora).find((one) => one.id === sent?.key.id && one.text === 'answer'), 'the answer');
});

test('add and remove: new members get the whole group and others a notification, and removed members get nothing more', async () => {
  assert.deepEqual(
    (await first.sock.groupParticipantsUpdate(group, [jid(dora)], 'add')).map(({ status }) => status),
    ['200'],
  );
  await second.wait(
    'group-participants.update',
    ({ action, participants }) => action === 'add' && participants.some(({ id }) => id === lid(dora)),
  );
  const sent = await first.sock.sendMessage(group, { text: 'welcome' });
  await eventually(() => sandbox.sandbox.received(dora).find(({ id }) => id === sent?.key.id), 'the welcome');
  await first.sock.groupParticipantsUpdate(group, [jid(dora)], 'remove');
  const last = await first.sock.sendMessage(group, { text: 'gone' });
  await eventually(() => sandbox.sandbox.received(carl).find(({ id }) => id === last?.key.id), 'the last');
  assert.equal(
    sandbox.sandbox.received(dora).some(({ id }) => id === last?.key.id),
    false,
  );
});

test('groups: promote, demote, subject, description and settings reach the other client', async () => {
  await first.sock.groupParticipantsUpdate(group, [jid(bia)], 'promote');
  await second.wait('group-participants.update', ({ action }) => action === 'promote');
  await second.sock.groupUpdateSubject(group, 'Best friends');
  await first.wait('groups.update', (updates) => updates.some(({ subject }) => subject === 'Best friends'));
  await first.sock.groupUpdateDescription(group, 'About us');
  await second.wait('groups.update', (updates) => updates.some(({ desc }) => desc === 'About us'));
  await first.sock.groupSettingUpdate(group, 'announcement');
  await second.wait('groups.update', (updates) => updates.some(({ announce }) => announce === true));
  await first.sock.groupSettingUpdate(group, 'locked');
  const metadata = await second.sock.groupMetadata(group);
  assert.deepEqual([metadata.desc, metadata.announce, metadata.restrict], ['About us', true, true]);
  await first.sock.groupParticipantsUpdate(group, [jid(bia)], 'demote');
  await second.wait('group-participants.update', ({ action }) => action === 'demote');
});

test('rights: ordinary members change nothing in a locked group and do not write in an announcement group', async () => {
  await assert.rejects(second.sock.groupUpdateSubject(group, 'mine'), /forbidden/);
  await assert.rejects(sandbox.sandbox.send(carl, group, { kind: 'text', text: 'hm' }), /only admins/);
  const sent = await second.sock.sendMessage(group, { text: 'hm' });
  await second.wait('messages.update', (updates) =>
    updates.some(({ key, update }) => key.id === sent?.key.id && update.messageStubParameters?.[0] === '403'),
  );
  await assert.rejects(first.sock.groupMetadata('120363999999999999@g.us'), /item-not-found/);
});

test('invitation codes: shown to admins, joined by others, revoked', async () => {
  const code = await first.sock.groupInviteCode(group);
  assert.ok(code);
  const third = await pair(sandbox, { number: '5511999990005', name: 'Eva' });
  assert.equal((await third.sock.groupGetInviteInfo(code)).subject, 'Best friends');
  assert.equal(await third.sock.groupAcceptInvite(code), group);
  assert.notEqual(await first.sock.groupRevokeInvite(group), code);
  await third.end();
});

test('groups: the control side changes a group as a member would', async () => {
  const view = await sandbox.sandbox.createGroup({ subject: 'Theirs', creator: carl, participants: [ana] });
  await first.wait('groups.upsert', (groups) => groups.some(({ id }) => id === view.jid));
  await sandbox.sandbox.updateGroup(view.jid, carl, { action: 'subject', text: 'Ours' });
  await first.wait('groups.update', (updates) => updates.some(({ subject }) => subject === 'Ours'));
  await assert.rejects(sandbox.sandbox.updateGroup(view.jid, ana, { action: 'remove', participants: [carl] }), /no admin/);
  await sandbox.sandbox.updateGroup(view.jid, carl, { action: 'remove', participants: [ana] });
  await first.wait('group-participants.update', ({ id, action }) => id === view.jid && action === 'remove');
});

test('leaving: the other members are notified, and the group is gone for the one who left', async () => {
  await second.sock.groupLeave(group);
  const left = await first.wait('messages.upsert', ({ messages }) =>
    messages.find((one) => one.messageStubType === WAMessageStubType.GROUP_PARTICIPANT_LEAVE),
  );
  assert.match(left.messageStubParameters?.[0] ?? '', new RegExp(bia));
  assert.equal((await second.sock.groupFetchAllParticipating())[group], undefined);
});

test('counters: every message was decrypted, and there was no unknown request', () => {
  const { messages, unknown } = sandbox.sandbox.stats();
  assert.equal(messages.undecryptable, 0);
  assert.deepEqual(unknown, {});
});
