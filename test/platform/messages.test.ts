/** Tests messages in both directions through the real protocol. Arriving messages become entries, and composed messages arrive and are acknowledged. */
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { downloadContentFromMessage } from '@whiskeysockets/baileys';
import { Agent, Dispatcher1Wrapper } from 'undici';
import type { AnswerOf, InputOf, OperationName, Outcome } from '#actors/ports.ts';
import type { Message, Send, TextContent } from '#actors/model.ts';
import type { Content } from '#src/sandbox/interface.ts';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, largePicture, startBench } from './setup.ts';

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

type Text = Partial<Omit<Send, 'content'>> & Partial<TextContent>;

const send = ({ text = '', preview = null, ...more }: Text): Send => ({
  number: friend,
  replyTo: '',
  mentions: [],
  forward: false,
  ...more,
  content: { kind: 'text', text, preview },
});

const performed = <N extends OperationName>(name: N, input: InputOf<N>, { link } = instance): Promise<Outcome<AnswerOf<N>>> =>
  link.perform({ name, input }, { signal: new AbortController().signal, deadline: Date.now() + 60_000 });

const composed = async (text: Text, on = instance): Promise<Message> => {
  const message = await performed('message.compose', { send: send(text), draft: null }, on);
  assert.ok(message.ok, message.ok ? '' : message.refusal.message);
  return message.value;
};

/** Composes and transmits a text. Returns the composed message. */
const sent = async (text: Text): Promise<Message> => {
  const message = await composed(text);
  assert.equal((await performed('message.transmit', { message })).ok, true);
  return message;
};

const receivedBy = (number: string, id: string) => bench.running.sandbox.received(number).find((message) => message.id === id);

const arrival = async (content: Content, from = friend, to = own, addressing?: 'pn' | 'lid') => {
  const { id } = await bench.running.sandbox.send(from, to, content, addressing === undefined ? {} : { addressing });
  return instance.message(({ messageId }) => messageId === id, content.kind);
};

test('inbound: a text by phone number and one by LID are in the same chat', async () => {
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

test('heard time: the platform sends its time at the login, with each acknowledgement and with each live message', async () => {
  const heard = () => {
    const time = instance.platform.heardTime();
    assert.ok(time);
    assert.ok(Math.abs(time.at - Date.now() + performance.now() - time.heardAt) < 30_000, 'the simulated platform has the same clock');
    return time.heardAt;
  };
  const login = heard();
  await sent({ text: 'what time is it' });
  const acknowledgement = heard();
  assert.ok(acknowledgement > login);
  await arrival({ kind: 'text', text: 'late' });
  assert.ok(heard() > acknowledgement);
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

test('outbound: texts leave in the order of the calls, without waiting for one another', async () => {
  const messages = [];
  for (let index = 0; index < 20; index += 1) messages.push(await composed({ text: `in order ${index}` }));
  const answers = await Promise.all(messages.map((message) => performed('message.transmit', { message })));
  assert.ok(answers.every(({ ok }) => ok));
  const texts = bench.running.sandbox.received(friend).map((message) => message.text);
  assert.deepEqual(
    texts.filter((one) => one.startsWith('in order')),
    messages.map(({ text }) => text),
  );
});

test('outbound: quotes, mentions, forwards and previews arrive', async () => {
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
  assert.equal(content['jpegThumbnail'], '/9g=');
});

const example = 'see https://example.org/a';
const words = { title: 'Mine', description: 'Words', large: false };

interface Linked {
  readonly extendedTextMessage: Readonly<Record<string, string | number>>;
}

const shownTo = async (preview: TextContent['preview']): Promise<Linked['extendedTextMessage']> => {
  const { messageId } = await sent({ text: example, preview });
  const received = receivedBy(friend, messageId);
  assert.ok(received);
  return (received.content as Linked).extendedTextMessage;
};

for (const [title, image] of [
  ['an address', 'https://example.org/picture.png'],
  ['base64', Buffer.from('bytes').toString('base64')],
  ['a data URL', `data:image/png;base64,${Buffer.from('bytes').toString('base64')}`],
] as const) {
  test(`previews: the picture may be ${title}`, async () => {
    const content = await shownTo({ ...words, image });
    assert.deepEqual([content['title'], content['description'], content['jpegThumbnail']], ['Mine', 'Words', '/9g=']);
    assert.equal(content['thumbnailDirectPath'], undefined);
  });
}

test('previews: a large one points at an uploaded picture that the contact can decrypt', async () => {
  const content = await shownTo({ ...words, image: 'https://example.org/picture.png', large: true });
  assert.deepEqual([content['thumbnailWidth'], content['thumbnailHeight'], content['jpegThumbnail']], [800, 418, '/9g=']);
  const media = { mediaKey: Buffer.from(String(content['mediaKey']), 'base64'), directPath: String(content['thumbnailDirectPath']) };
  const dispatcher = new Agent({ connect: { ca: bench.running.sandbox.trust().mediaAuthority } });
  const host = `127.0.0.1:${bench.running.port}`;
  const stream = await downloadContentFromMessage(media, 'thumbnail-link', {
    host,
    options: { dispatcher: new Dispatcher1Wrapper(dispatcher) } as object,
  });
  assert.deepEqual(await buffer(stream), largePicture);
  await dispatcher.close();
});

test('outbound: invalid messages are refused before anything is sent', async () => {
  for (const [text, message] of [
    [{ number: 'me' }, /digits/],
    [{ number: '' }, /missing/],
    [{ number: 'x@g.us' }, /group/],
    [{ number: '5511@example.org' }, /suffix/],
    [{ text: 'x', replyTo: 'ABCDEF' }, /ABCDEF is unknown/],
  ] as const) {
    const composition = await performed('message.compose', { send: send(text), draft: null });
    assert.ok(!composition.ok);
    assert.equal(composition.refusal.reason, 'invalid');
    assert.match(composition.refusal.message, message);
  }
});

test('outbound: a refusal has its code, a written message without an answer is unknown, and the others were not sent', async () => {
  const { sandbox } = bench.running;
  await sandbox.fault({ kind: 'ackError', code: 463, number: own });
  const refusal = await performed('message.transmit', { message: await composed({ text: 'refused' }) });
  assert.ok(!refusal.ok);
  assert.deepEqual([refusal.refusal.reason, refusal.refusal.code], ['refused', 463]);
  await sandbox.fault({ kind: 'ackError', number: own, times: 0 });

  const hasty = await connected(bench, '5511900000104', { send: 6_000 });
  await sandbox.fault({ kind: 'noAck', number: '5511900000104' });
  const silence = await performed('message.transmit', { message: await composed({ text: 'unanswered' }, hasty) }, hasty);
  assert.ok(!silence.ok && silence.refusal.reason === 'unknown' && !silence.refusal.connectionLost);

  const [message, late] = [await composed({ text: 'cut off' }, hasty), await composed({ text: 'too late' }, hasty)];
  await sandbox.fault({ kind: 'noAck', number: '5511900000104' });
  const pending = performed('message.transmit', { message }, hasty);
  await until(() => receivedBy(friend, message.messageId) !== undefined, 'the arrival at the contact');
  await hasty.link.close();
  const cut = await pending;
  assert.ok(!cut.ok && cut.refusal.reason === 'unknown' && cut.refusal.connectionLost, 'the frame had left');
  const after = await performed('message.transmit', { message: late }, hasty);
  assert.ok(!after.ok && after.refusal.reason === 'notSent');
});

test('outbound: a message that is not composed in time was not sent, so that a retry is safe', async () => {
  const never = new Promise<null>(() => undefined);
  const previews = { page: () => never, picture: () => never };
  const { link } = await connected(bench, '5511900000105', {}, undefined, { previews });
  const input = { send: send({ text: 'https://never.example', preview: 'auto' }), draft: null };
  const late = await link.perform({ name: 'message.compose', input }, { signal: new AbortController().signal, deadline: Date.now() });
  assert.ok(!late.ok);
  assert.deepEqual([late.refusal.reason, late.refusal.connectionLost], ['notSent', undefined]);
});

test('outbound: a stored queued message is sent again under the same id', async () => {
  const { messageId, ...message } = await composed({ text: 'from the queue' });
  const stored = { ...message, messageId, raw: Uint8Array.from(message.raw ?? []) };
  assert.equal((await performed('message.transmit', { message: stored })).ok, true);
  assert.equal(receivedBy(friend, messageId)?.text, 'from the queue');
});

test('outbound: a draft is made without a connection, and sent under its own id when it is composed', async () => {
  const resting = bench.instance();
  const account = { jid: `${own}:3@s.whatsapp.net`, lid: '', name: 'Me' };
  const plain = resting.link.draft(send({ text: 'drafted' }), account);
  assert.ok(plain.ok && plain.value.raw !== null, 'a plain text is complete');
  assert.deepEqual([plain.value.chatId, plain.value.text, plain.value.status], [friendJid, 'drafted', 'Queued']);
  const draft = resting.link.draft(send({ text: 'hello @5511900000103', mentions: [other] }), account);
  assert.ok(draft.ok && draft.value.raw === null, 'mentions have to be looked up');
  const whole = await performed('message.compose', { send: send({ text: 'hello @5511900000103', mentions: [other] }), draft: draft.value });
  assert.ok(whole.ok);
  assert.deepEqual([whole.value.id, whole.value.messageId, whole.value.raw === null], [draft.value.id, draft.value.messageId, false]);
  assert.equal((await performed('message.transmit', { message: whole.value })).ok, true);
  assert.equal(receivedBy(friend, draft.value.messageId)?.text, 'hello @5511900000103');
  assert.ok(!resting.link.draft(send({ number: 'me' }), account).ok);
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

test('inbound: reactions, edits and deletions name their message', async () => {
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

test('groups: names, mentions of all members, receipts of members and removal are reported', async () => {
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
  const { contextInfo } = answer.content as { contextInfo: { mentionedJid: string[] } };
  assert.equal(contextInfo.mentionedJid.length, 3);
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

test('inbound: messages that arrived while the instance was away come once with the next connection', async () => {
  await instance.link.close();
  const { id } = await bench.running.sandbox.send(friend, own, { kind: 'text', text: 'while you were out' });
  instance.open();
  const message = await instance.message(({ messageId }) => messageId === id);
  assert.equal(message.text, 'while you were out');
  await instance.fact('platform.opened');
  const times = instance.entries.all.filter((entry) => entry.kind === 'message' && entry.message.messageId === id).length;
  assert.equal(times, 1);
});

test('presence: that of contacts is an event, and own states and read receipts are sent', async () => {
  const { sandbox } = bench.running;
  assert.ok((await performed('account.presence', { presence: 'available' })).ok);
  assert.ok((await performed('chat.typing', { chatId: friendJid, state: 'composing' })).ok);
  const message = await arrival({ kind: 'text', text: 'read me' });
  const { chatId, messageId, sender } = message;
  const read = await performed('chat.markRead', { chatId, messages: [{ chatId, messageId, sender }] });
  assert.deepEqual(read, { ok: true, value: null, entries: [{ kind: 'chatRead', chatId }] });
  await sandbox.presence(friend, { state: 'recording', to: own });
  const presence = await instance.entries.wait(
    (entry) => entry.kind === 'news' && entry.news.type === 'presence' && entry.news.presence,
    'presence',
  );
  assert.deepEqual([presence.chatId, presence.state, presence.recording, presence.fromMe], [friendJid, 'composing', true, false]);
});

test('another device: its messages are in the same chat as sent by the account, not by the API', async () => {
  const second = await connected(bench, own);
  const composition = await composed({ text: 'from the other device' }, second);
  await performed('message.transmit', { message: composition }, second);
  const message = await instance.message((one) => one.text === 'from the other device' && !one.wasSentByApi);
  assert.deepEqual([message.chatId, message.fromMe, message.senderPn, message.status], [friendJid, true, ownJid, 'Sent']);
  const entry = instance.entries.all.find((one) => one.kind === 'message' && one.message === message);
  assert.equal(entry?.kind === 'message' && entry.unread, false);
});

test('outbound: the privacy token after a first text is stored under the LID, where the library looks for it', async () => {
  await sent({ text: 'one' });
  await sent({ text: 'two' });
  const noted = () => [...instance.vault.stored.keys.keys()].filter((key) => /^tctoken \d/.test(key));
  await until(() => noted().length > 0, 'the note is stored');
  assert.deepEqual(
    noted().filter((key) => !key.endsWith('@lid')),
    [],
  );
});

test('outbound: sending a text stores that the person was given a privacy token', async () => {
  await sent({ number: '5511900000104', text: 'first' });
  const notes = () => [...instance.vault.stored.keys].filter(([key]) => key.startsWith('tctoken ')).map(([, value]) => value);
  await until(() => notes().some((note) => /"senderTimestamp":\d{10}/.test(note)), 'the note');
});

test('adapter: the platform got no unknown request, and the adapter had no unexpected error', () => {
  const stats = bench.running.sandbox.stats();
  assert.deepEqual(stats.unknown, {});
  assert.equal(stats.messages.undecryptable, 0);
  assert.equal(stats.signatures.rejected, 0);
  assert.deepEqual(instance.surprises, []);
});
