/** Messages both ways through the real protocol: what arrives becomes entries, what is composed arrives and is acknowledged. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TextSend } from '#actors/ports.ts';
import type { Content } from '#src/sandbox/face.ts';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

let bench: Bench;
let instance: Instance;
const own = '5511900000101';
const friend = '5511900000102';
const other = '5511900000103';
const friendJid = `${friend}@s.whatsapp.net`;
const ownJid = `${own}@s.whatsapp.net`;

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
  await bench.running.sandbox.putPerson({ number: friend, name: 'Friend' });
  await bench.running.sandbox.putPerson({ number: other, name: 'Other' });
});
after(() => bench.stop());

const text: TextSend = { number: friend, text: '', preview: null, replyTo: '', mentions: [], forward: false };

/** Composes, transmits and answers with what was composed. */
const sent = async (send: Partial<TextSend>) => {
  const composition = await instance.link.compose({ ...text, ...send });
  assert.ok(composition.ok, composition.ok ? '' : composition.message);
  assert.deepEqual((await composition.composed.transmit()).ok, true);
  return composition.composed.message;
};

const receivedBy = (number: string, id: string) => bench.running.sandbox.received(number).find((message) => message.id === id);

const arrival = async (content: Content, from = friend, to = own, addressing?: 'pn' | 'lid') => {
  const { id } = await bench.running.sandbox.send(from, to, content, addressing === undefined ? {} : { addressing });
  return instance.message(({ messageId }) => messageId === id, content.kind);
};

test('inbound: a text by phone number and one by LID stand in the same chat', async () => {
  const byNumber = await arrival({ kind: 'text', text: 'hi' });
  assert.equal(byNumber.chatId, friendJid);
  assert.equal(byNumber.sender, friendJid);
  const byLid = await arrival({ kind: 'text', text: 'hi again' }, friend, own, 'lid');
  assert.equal(byLid.chatId, friendJid);
  assert.match(byLid.sender, /@lid$/);
  assert.equal(byLid.senderPn, friendJid);
  assert.equal(byLid.senderLid, byNumber.senderLid);
  assert.equal(byLid.senderName, 'Friend');
});

test('outbound: a text is acknowledged, decrypted, delivered and read', async () => {
  const message = await sent({ text: 'hello' });
  assert.equal(message.status, 'Queued');
  assert.equal(message.wasSentByApi, true);
  assert.equal(receivedBy(friend, message.messageId)?.text, 'hello');
  await bench.running.sandbox.receipt(friend, { type: 'read', ids: [message.messageId] });
  for (const status of ['Delivered', 'Read'] as const) {
    const entry = await instance.entries.wait(
      (one) => one.kind === 'status' && one.status === status && one.messageIds.includes(message.messageId) && one,
      status,
    );
    assert.equal(entry.kind === 'status' && entry.chatId, friendJid);
    assert.equal(entry.kind === 'status' && entry.senderPn, friendJid);
  }
});

test('outbound: texts leave in the order in which they were handed over, without waiting for one another', async () => {
  const composed = [];
  for (let index = 0; index < 20; index += 1) {
    const composition = await instance.link.compose({ ...text, text: `in order ${index}` });
    if (composition.ok) composed.push(composition.composed);
  }
  const answers = await Promise.all(composed.map((one) => one.transmit()));
  assert.ok(answers.every(({ ok }) => ok));
  const texts = bench.running.sandbox.received(friend).map((message) => message.text);
  assert.deepEqual(
    texts.filter((one) => one.startsWith('in order')),
    composed.map(({ message }) => message.text),
  );
});

test('outbound: quotes, mentions, forwards and previews', async () => {
  const question = await arrival({ kind: 'text', text: 'which one?' });
  const answer = await sent({ text: 'that one', replyTo: `${own}:${question.messageId}`, mentions: [other], forward: true });
  assert.equal(answer.quoted, question.messageId);
  type Sent = { readonly extendedTextMessage: { readonly contextInfo: Record<string, unknown> } };
  const received = receivedBy(friend, answer.messageId);
  assert.ok(received);
  const { contextInfo } = (received.content as Sent).extendedTextMessage;
  assert.equal(contextInfo['stanzaId'], question.messageId);
  assert.equal(contextInfo['participant'], friendJid);
  assert.deepEqual(contextInfo['quotedMessage'], { conversation: 'which one?' });
  assert.deepEqual(contextInfo['mentionedJid'], [`${other}@s.whatsapp.net`]);
  assert.equal(contextInfo['isForwarded'], true);

  const linked = await sent({ text: 'see https://example.org/a and more', preview: 'auto' });
  const content = linked.content as Record<string, unknown>;
  assert.equal(content['title'], 'Title of https://example.org/a');
  assert.equal(content['matchedText'], 'https://example.org/a');
  assert.equal(content['JPEGThumbnail'], '/9g=');
});

test('outbound: nonsense is refused before anything is sent', async () => {
  for (const [send, message] of [
    [{ number: 'me' }, /digits/],
    [{ number: '' }, /missing/],
    [{ number: 'x@g.us' }, /group/],
    [{ number: '5511@example.org' }, /suffix/],
    [{ text: 'x', replyTo: 'ABCDEF' }, /ABCDEF is unknown/],
  ] as const) {
    const composition = await instance.link.compose({ ...text, ...send });
    assert.equal(composition.ok, false);
    assert.match(composition.ok ? '' : composition.message, message);
  }
});

test('outbound: a refusal of the platform comes with its code, a missing answer as a time-out', async () => {
  const { sandbox } = bench.running;
  await sandbox.fault({ kind: 'ackError', code: 463, number: own });
  const first = await instance.link.compose({ ...text, text: 'refused' });
  const refusal = first.ok ? await first.composed.transmit() : null;
  assert.ok(refusal?.ok === false);
  assert.deepEqual([refusal.reason, refusal.code], ['refused', 463]);
  await sandbox.fault({ kind: 'ackError', number: own, times: 0 });

  const hasty = await connected(bench, '5511900000104', { send: 300 });
  await sandbox.fault({ kind: 'noAck', number: '5511900000104' });
  const second = await hasty.link.compose({ ...text, text: 'unanswered' });
  const silence = second.ok ? await second.composed.transmit() : null;
  assert.deepEqual(silence?.ok === false && silence.reason, 'unknown');

  const third = await hasty.link.compose({ ...text, text: 'cut off' });
  await sandbox.fault({ kind: 'noAck', number: '5511900000104' });
  const pending = third.ok ? third.composed.transmit() : null;
  await hasty.link.close();
  const cut = await pending;
  assert.deepEqual(cut?.ok === false && cut.reason, 'closed');
});

test('outbound: what was stored as queued goes again under the same id', async () => {
  const composition = await instance.link.compose({ ...text, text: 'from the queue' });
  assert.ok(composition.ok);
  const again = instance.link.recompose({ ...composition.composed.message });
  assert.equal((await again.transmit()).ok, true);
  assert.equal(receivedBy(friend, again.message.messageId)?.text, 'from the queue');
});

const kinds: readonly (readonly [Content, string, string, string])[] = [
  [{ kind: 'image', data: 'AAAA', caption: 'a picture' }, 'ImageMessage', 'image', 'a picture'],
  [{ kind: 'gif', data: 'AAAA' }, 'VideoMessage', 'gif', ''],
  [{ kind: 'ptt', data: 'AAAA', seconds: 3 }, 'AudioMessage', 'ptt', ''],
  [{ kind: 'document', data: 'AAAA', fileName: 'a.pdf', caption: 'a file' }, 'DocumentMessage', 'document', 'a file'],
  [{ kind: 'location', latitude: 1.5, longitude: 2.5, name: 'Here' }, 'LocationMessage', 'location', ''],
  [{ kind: 'contact', displayName: 'Eva', vcard: 'BEGIN:VCARD\nTEL;waid=55:+55 11\nEND:VCARD' }, 'ContactMessage', 'vcard', 'Eva\n+55 11'],
];

for (const [content, messageType, mediaType, words] of kinds) {
  test(`inbound: ${content.kind} is a ${messageType}`, async () => {
    const message = await arrival(content);
    assert.deepEqual([message.messageType, message.type, message.mediaType, message.text], [messageType, 'media', mediaType, words]);
    assert.ok(message.raw !== null && message.raw.length > 0);
  });
}

test('inbound: reactions, edits and deletions name the message that they are about', async () => {
  const message = await arrival({ kind: 'text', text: 'first' });
  const reaction = await arrival({ kind: 'reaction', messageId: message.messageId, emoji: '👍' });
  assert.deepEqual([reaction.type, reaction.text, reaction.reaction], ['reaction', '👍', message.messageId]);
  const edit = await arrival({ kind: 'edit', messageId: message.messageId, text: 'second' });
  assert.deepEqual([edit.text, edit.edited, edit.type], ['second', message.messageId, 'text']);
  await bench.running.sandbox.send(friend, own, { kind: 'delete', messageId: message.messageId });
  const deleted = await instance.entries.wait((entry) => entry.kind === 'deleted' && entry, 'deletion');
  assert.ok(deleted.kind === 'deleted');
  assert.deepEqual([deleted.messageId, deleted.chatId, deleted.fromMe], [message.messageId, friendJid, false]);
});

test('inbound: a vote names the options of the stored poll', async () => {
  const poll = await arrival({ kind: 'poll', name: 'When?', options: ['today', 'tomorrow'], selectable: 1 });
  assert.deepEqual([poll.type, poll.text, poll.convertOptions], ['poll', 'When?', 'today|tomorrow']);
  const vote = await arrival({ kind: 'pollVote', messageId: poll.messageId, options: ['tomorrow'] });
  assert.deepEqual([vote.type, vote.vote, vote.quoted, vote.messageType], ['poll', 'tomorrow', poll.messageId, 'PollUpdateMessage']);
});

test('groups: names, mentions of everybody, receipts of members and removal', async () => {
  const { sandbox } = bench.running;
  const group = await sandbox.createGroup({ subject: 'Team', creator: friend, participants: [own, other] });
  const joined = await instance.entries.wait(
    (entry) => entry.kind === 'news' && entry.news.type === 'groups' && entry.news.group.change.kind === 'entered' && entry,
    'the group that the account came into',
  );
  assert.equal(joined.lane, group.jid);
  const message = await arrival({ kind: 'text', text: 'welcome' }, friend, group.jid);
  assert.deepEqual([message.isGroup, message.groupName, message.chatId, message.senderPn], [true, 'Team', group.jid, friendJid]);

  const answer = await sent({ number: group.jid, text: 'thanks', mentions: ['all'] });
  assert.equal(answer.groupName, 'Team');
  const { contextInfo } = answer.content as { contextInfo: { mentionedJID: string[] } };
  assert.equal(contextInfo.mentionedJID.length, 3);
  assert.equal(
    receivedBy(other, answer.messageId)?.envelope,
    'pkmsg' === receivedBy(other, answer.messageId)?.envelope ? 'pkmsg' : 'skmsg',
  );
  await sandbox.receipt(other, { type: 'read', ids: [answer.messageId] });
  const read = await instance.entries.wait(
    (entry) => entry.kind === 'status' && entry.status === 'Read' && entry.messageIds.includes(answer.messageId) && entry,
    'read in a group',
  );
  assert.equal(read.kind === 'status' && read.senderPn, `${other}@s.whatsapp.net`);

  await sandbox.updateGroup(group.jid, friend, { action: 'subject', text: 'Crew' });
  await instance.entries.wait(
    (entry) => entry.kind === 'chat' && entry.chat.chatId === group.jid && entry.chat.name === 'Crew' && entry,
    'new name',
  );
  await sandbox.updateGroup(group.jid, friend, { action: 'remove', participants: [own] });
  await instance.entries.wait(
    (entry) => entry.kind === 'chat' && entry.chat.chatId === group.jid && entry.chat.groupMember === false && entry,
    'removal',
  );
});

test('inbound: what arrived while the instance was away comes with the next connection, once', async () => {
  await instance.link.close();
  const { id } = await bench.running.sandbox.send(friend, own, { kind: 'text', text: 'while you were out' });
  instance.open();
  const message = await instance.message(({ messageId }) => messageId === id);
  assert.equal(message.text, 'while you were out');
  await instance.fact('platform.opened');
  const times = instance.entries.all.filter((entry) => entry.kind === 'message' && entry.message.messageId === id).length;
  assert.equal(times, 1);
});

test('presence: of contacts is an event, own states and read receipts are told', async () => {
  const { sandbox } = bench.running;
  assert.equal(await instance.link.presence('available'), true);
  assert.equal(await instance.link.chatState(friendJid, 'composing'), true);
  const message = await arrival({ kind: 'text', text: 'read me' });
  assert.equal(await instance.link.markRead([{ chatId: message.chatId, messageId: message.messageId, sender: message.sender }]), true);
  await sandbox.presence(friend, { state: 'recording', to: own });
  const { chatId, state, recording, fromMe } = await instance.entries.wait(
    (entry) => entry.kind === 'news' && entry.news.type === 'presence' && entry.news.presence,
    'presence',
  );
  assert.deepEqual([chatId, state, recording, fromMe], [friendJid, 'composing', true, false]);
});

test('another device: what it sends stands in the same chat as sent by the account, not by the API', async () => {
  const second = await connected(bench, own);
  const composition = await second.link.compose({ ...text, text: 'from the other device' });
  assert.ok(composition.ok);
  await composition.composed.transmit();
  const message = await instance.message((one) => one.text === 'from the other device' && !one.wasSentByApi);
  assert.deepEqual([message.chatId, message.fromMe, message.senderPn, message.status], [friendJid, true, ownJid, 'Sent']);
  const entry = instance.entries.all.find((one) => one.kind === 'message' && one.message === message);
  assert.equal(entry?.kind === 'message' && entry.unread, false);
});

test('outbound: with a text it is noted that the person was given a privacy token', async () => {
  await sent({ number: '5511900000104', text: 'first' });
  const notes = () => [...instance.vault.stored.keys].filter(([key]) => key.startsWith('tctoken ')).map(([, value]) => value);
  await until(() => notes().some((note) => /"senderTimestamp":\d{10}/.test(note)), 'the note');
});

test('adapter: the platform was asked nothing that it does not know, and nothing surprised the adapter', () => {
  const stats = bench.running.sandbox.stats();
  assert.deepEqual(stats.unknown, {});
  assert.equal(stats.messages.undecryptable, 0);
  assert.equal(stats.signatures.rejected, 0);
  assert.deepEqual(instance.surprises, []);
});
