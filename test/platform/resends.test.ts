/** Tests messages that phones could not decrypt. The phones request them again, and get the complete message. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AnswerOf, InputOf, OperationName, Outcome } from '#actors/ports.ts';
import type { Message, SendContent } from '#actors/model.ts';
import type { ReceivedMessage } from '#src/sandbox/interface.ts';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

let bench: Bench;
let instance: Instance;
let group = '';
const own = '5511900000971';
const friend = '5511900000972';
const other = '5511900000973';

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own);
  const { sandbox } = bench.running;
  group = (await sandbox.createGroup({ subject: 'Again', creator: own, participants: [friend, other], addressing: 'lid' })).jid;
});
after(() => bench.stop());

const performed = async <N extends OperationName>(name: N, input: InputOf<N>): Promise<AnswerOf<N>> => {
  const answer: Outcome<AnswerOf<N>> = await instance.link.perform(
    { name, input },
    { signal: new AbortController().signal, deadline: Date.now() + 60_000 },
  );
  assert.ok(answer.ok, answer.ok ? '' : answer.refusal.message);
  return answer.value;
};

const transmit = async (message: Message): Promise<Message> => {
  instance.entries.add({ kind: 'queued', message: { ...message, status: 'Sent' }, chat: { chatId: message.chatId } });
  await performed('message.transmit', { message });
  return message;
};

const compose = (number: string, content: SendContent): Promise<Message> =>
  performed('message.compose', { send: { number, replyTo: '', mentions: [], forward: false, content }, draft: null });

const breakNext = (times: number) => bench.running.sandbox.fault({ kind: 'garble', number: own, times });
const readBy = (number: string, id: string): ReceivedMessage | undefined =>
  bench.running.sandbox.received(number).find((one) => one.id === id && one.error === undefined);
const counts = () => bench.running.sandbox.stats().messages;

const buttons: SendContent = {
  kind: 'buttons',
  head: null,
  text: 'Well?',
  footer: '',
  legacy: false,
  buttons: [{ kind: 'reply', text: 'Yes', id: 'y' }],
};
const contents: readonly (readonly [title: string, content: SendContent, shown: (received: ReceivedMessage) => unknown])[] = [
  ['a text', { kind: 'text', text: 'hello', preview: null }, ({ text }) => text === 'hello'],
  ['buttons', buttons, ({ interactive }) => interactive?.buttons[0]?.id === 'y'],
  ['a payment', { kind: 'pix', pix: { type: 'EMAIL', key: 'a@b.example', name: 'Shop' } }, ({ interactive }) => interactive],
  ['a poll', { kind: 'poll', question: 'When?', options: ['now', 'later'], selectable: 1 }, ({ text }) => text === 'When?'],
];

for (const [title, content, shown] of contents) {
  test(`resends: ${title} is shown whole by the contact's phone and the own one, which both asked again`, async () => {
    const before = counts();
    await breakNext(1);
    const { messageId } = await transmit(await compose(friend, content));
    const received = await until(() => readBy(friend, messageId), `${title} arrives`);
    assert.ok(shown(received) && received.hidden === undefined, JSON.stringify(received));
    await until(() => counts().decrypted === before.decrypted + 2, 'the own phone can read it too');
    assert.equal(counts().undecryptable, before.undecryptable + 2);
  });

  test(`resends: ${title} to a group is sent again to those who asked`, async () => {
    const before = counts();
    await breakNext(1);
    const { messageId } = await transmit(await compose(group, content));
    for (const number of [friend, other]) {
      const received = await until(() => readBy(number, messageId), `${title} arrives at ${number}`);
      assert.ok(shown(received) && received.hidden === undefined, JSON.stringify(received));
    }
    await until(() => counts().decrypted === before.decrypted + 3, 'everybody can read it');
    // The group gets one stanza, and each phone gets one.
    assert.equal(counts().fromClients, before.fromClients + 4);
  });
}

/** Waits until the phone of the contact and the own one can read so many messages more. A phone that still asks again takes the fault of the next test. */
const bothCanRead = (before: ReturnType<typeof counts>, messages: number) =>
  until(
    () => counts().decrypted >= before.decrypted + 2 * messages,
    () => `${messages} messages can be read by both phones; ${counts().decrypted - before.decrypted} were`,
  );

test('resends: an edit stays an edit', async () => {
  const before = counts();
  const { messageId } = await transmit(await compose(friend, { kind: 'text', text: 'first', preview: null }));
  await breakNext(1);
  const edited = await performed('message.edit', { id: messageId, text: 'second' });
  const received = await until(() => readBy(friend, edited.messageId), 'the edit arrives');
  assert.deepEqual([received.kind, received.text, received.hidden], ['protocolMessage', 'second', undefined]);
  await bothCanRead(before, 2);
});

test('resends: a deletion, which is stored nowhere, is sent again', async () => {
  const before = counts();
  const { messageId } = await transmit(await compose(friend, { kind: 'text', text: 'to be deleted', preview: null }));
  await until(() => readBy(friend, messageId), 'the text arrives');
  const known = new Set(bench.running.sandbox.received(friend).map(({ id }) => id));
  await breakNext(1);
  await performed('message.delete', { id: messageId });
  const received = await until(
    () => bench.running.sandbox.received(friend).find(({ id, error }) => !known.has(id) && error === undefined),
    'the deletion arrives',
  );
  assert.deepEqual([received.kind, received.hidden], ['protocolMessage', undefined]);
  await bothCanRead(before, 2);
});

test('resends: a phone that asks several times gets new keys, until it gives up', async () => {
  const { decrypted } = counts();
  // The first failure is for both phones, and two more follow for each.
  await breakNext(5);
  const first = await transmit(await compose(friend, buttons));
  await until(() => readBy(friend, first.messageId) && counts().decrypted === decrypted + 2, 'both phones can read it');
  await breakNext(1_000);
  const { fromClients } = counts();
  const second = await transmit(await compose(friend, buttons));
  await until(() => counts().fromClients === fromClients + 9, 'one stanza for both phones, and four more for each');
  await breakNext(0);
  const third = await transmit(await compose(friend, buttons));
  await until(() => readBy(friend, third.messageId), 'a later message arrives');
  assert.equal(readBy(friend, second.messageId), undefined);
  assert.equal(counts().fromClients, fromClients + 10);
});

test('resends: a message to a group is sent again to members alone', async () => {
  const stranger = '5511900000974';
  const { messageId } = await transmit(await compose(group, { kind: 'text', text: 'for the group', preview: null }));
  await until(() => readBy(friend, messageId) && readBy(other, messageId), 'the text arrives');
  const { fromClients } = counts();
  await bench.running.sandbox.askAgain(stranger, own, messageId, group);
  await bench.running.sandbox.askAgain(friend, own, messageId, group);
  await until(() => counts().fromClients > fromClients, 'the member is answered');
  await transmit(await compose(stranger, { kind: 'text', text: 'after it', preview: null }));
  await until(() => bench.running.sandbox.received(stranger).some(({ text }) => text === 'after it'), 'a later text arrives');
  assert.equal(readBy(stranger, messageId), undefined);
  assert.equal(counts().fromClients, fromClients + 2);
});

test('resends: a message is sent again only to its receivers', async () => {
  const { messageId } = await transmit(await compose(friend, { kind: 'text', text: 'for the friend', preview: null }));
  await until(() => readBy(friend, messageId), 'the text arrives');
  const { fromClients } = counts();
  await bench.running.sandbox.askAgain(other, own, messageId);
  await bench.running.sandbox.askAgain(other, own, '3EB0000000000000000000');
  await transmit(await compose(other, { kind: 'text', text: 'after it', preview: null }));
  await until(() => bench.running.sandbox.received(other).some(({ text }) => text === 'after it'), 'a later text arrives');
  assert.equal(readBy(other, messageId), undefined);
  assert.equal(counts().fromClients, fromClients + 1);
});

test('resends: after an absence of the gateway, only receivers that asked meanwhile get the message again', async () => {
  const { messageId } = await transmit(await compose(friend, { kind: 'text', text: 'for the friend alone', preview: null }));
  await until(() => readBy(friend, messageId), 'the text arrives');
  await instance.link.close();
  const { fromClients } = counts();
  await bench.running.sandbox.askAgain(other, own, messageId);
  await bench.running.sandbox.askAgain(friend, own, messageId);
  instance.open();
  await instance.fact('platform.opened');
  await until(() => counts().fromClients > fromClients, 'the friend is answered');
  await transmit(await compose(other, { kind: 'text', text: 'after the absence', preview: null }));
  await until(() => bench.running.sandbox.received(other).some(({ text }) => text === 'after the absence'), 'a later text arrives');
  assert.equal(readBy(other, messageId), undefined);
  assert.equal(counts().fromClients, fromClients + 2);
});

test('resends: a contact that requests its privacy token gets it with messages, with repeated ones, and in groups', async () => {
  const { sandbox } = bench.running;
  const shy = '5511900000975';
  await sandbox.putPerson({ number: shy, needsTokens: true });
  const early = await compose(shy, { kind: 'text', text: 'too early', preview: null });
  const refused = await instance.link.perform(
    { name: 'message.transmit', input: { message: early } },
    { signal: new AbortController().signal, deadline: Date.now() + 60_000 },
  );
  assert.ok(!refused.ok && refused.refusal.code === 463, JSON.stringify(refused));

  const { id } = await sandbox.send(shy, own, { kind: 'text', text: 'here is my token' });
  await instance.entries.wait((entry) => entry.kind === 'message' && entry.message.messageId === id && entry, 'the text with the token');
  await breakNext(1);
  const { messageId } = await transmit(await compose(shy, { kind: 'text', text: 'with your token', preview: null }));
  const received = await until(() => readBy(shy, messageId), 'the text is sent again');
  assert.equal(received.text, 'with your token');

  const { group: made } = await performed('group.create', { name: 'Trusted', people: [shy, friend] });
  assert.ok(
    made.members.some(({ pn }) => pn === `${shy}@s.whatsapp.net`),
    JSON.stringify(made.members),
  );
});

test('resends: a token that a contact issues by itself is stored', async () => {
  const { sandbox } = bench.running;
  const peer = await connected(bench, '5511900000976');
  await sandbox.putPerson({ number: '5511900000976', needsTokens: true });
  // The first message of the peer also delivers a notice of its token.
  const composed = await peer.link.perform(
    {
      name: 'message.compose',
      input: {
        send: { number: own, replyTo: '', mentions: [], forward: false, content: { kind: 'text', text: 'hi', preview: null } },
        draft: null,
      },
    },
    { signal: new AbortController().signal, deadline: Date.now() + 60_000 },
  );
  assert.ok(composed.ok);
  const noted = () => [...instance.vault.stored.keys.keys()].filter((key) => /^tctoken \d/.test(key)).length;
  const before = noted();
  const sent = await peer.link.perform(
    { name: 'message.transmit', input: { message: composed.value } },
    { signal: new AbortController().signal, deadline: Date.now() + 60_000 },
  );
  assert.ok(sent.ok, JSON.stringify(sent));
  await until(() => noted() > before, 'the token is stored');
  const { messageId } = await transmit(await compose('5511900000976', { kind: 'text', text: 'an answer', preview: null }));
  await until(() => readBy('5511900000976', messageId), 'the answer is read');
});
