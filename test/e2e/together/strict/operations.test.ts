/** Tests every operation on messages with one request to the platform: the request, its answer, the phones afterwards, the event. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contact } from '#test/support/scene.ts';
import { type Json, type Row, tryRows } from '#test/support/operation-rows.ts';
import { until } from '#test/support/until.ts';

interface Reaction {
  readonly reactionMessage: { readonly key: { readonly id: string } };
}

interface Protocol {
  readonly protocolMessage: { readonly key: { readonly id: string } };
}

const days = (count: number): number => count * 86_400_000;
/** Returns a check that a pin ends after the given time, within a tolerance of a minute. */
const pinnedFor =
  (ms: number) =>
  ({ pinnedUntil }: { readonly pinnedUntil: number }): boolean =>
    Math.abs(pinnedUntil - Date.now() - ms) < 60_000;

const deleted = { status: 'Deleted', text: '', content: '' };

const rows: readonly Row[] = [
  {
    title: 'sets the presence to available',
    call: 'POST /instance/presence',
    body: () => ({ presence: 'available' }),
    answer: () => ({ response: 'Presence updated successfully' }),
  },
  {
    title: 'reacts to a message',
    call: 'POST /message/react',
    body: ({ theirs }) => ({ id: theirs, text: '👍', number: contact }),
    answer: ({ theirs }) => ({ messageType: 'ReactionMessage', text: '👍', reaction: theirs, fromMe: true, status: 'Sent' }),
    phone: ({ kind, text, content }, { theirs }) =>
      assert.deepEqual([kind, text, (content as Reaction).reactionMessage.key.id], ['reactionMessage', '👍', theirs]),
    shows: ['theirs', ({ reactions }) => Object.values(reactions).join() === '👍'],
    event: ({ theirs }) => ['messages', { messageType: 'ReactionMessage', reaction: theirs, text: '👍', wasSentByApi: true }],
  },
  {
    title: 'reacts to a message of another person in a group',
    call: 'POST /message/react',
    in: 'joined',
    body: ({ theirs }) => ({ id: theirs, text: '👍' }),
    answer: ({ theirs }) => ({ reaction: theirs, isGroup: true }),
    shows: ['theirs', ({ reactions }) => Object.values(reactions).join() === '👍'],
  },
  {
    title: 'reacts to an own message',
    call: 'POST /message/react',
    body: ({ own }) => ({ id: own, text: '❤️' }),
    answer: ({ own }) => ({ reaction: own }),
    shows: ['own', ({ reactions }) => Object.values(reactions).join() === '❤️'],
  },
  {
    title: 'refuses an unknown message',
    call: 'POST /message/react',
    body: () => ({ id: 'NOTHING', text: '👍' }),
    status: 404,
    answer: () => ({ error: 'Message not found' }),
  },
  {
    title: 'edits an own message',
    call: 'POST /message/edit',
    body: ({ own }) => ({ id: `${bench.account.number}:${own}`, text: 'mended' }),
    answer: ({ own }) => ({ text: 'mended', edited: own, fromMe: true, status: 'Sent' }),
    phone: ({ text, content }, { own }) => assert.deepEqual([text, (content as Protocol).protocolMessage.key.id], ['mended', own]),
    shows: ['own', { text: 'mended', edited: true }],
    stored: ['own', { text: 'mended', content: { text: 'mended' } }],
    event: ({ own }) => ['messages', { edited: own, text: 'mended' }],
  },
  {
    title: 'edits an own message in a group',
    call: 'POST /message/edit',
    in: 'joined',
    body: ({ own }) => ({ id: own, text: 'mended' }),
    answer: ({ own }) => ({ text: 'mended', edited: own, isGroup: true }),
    shows: ['own', { text: 'mended', edited: true }],
    stored: ['own', { text: 'mended' }],
  },
  {
    title: 'refuses a message of another person',
    call: 'POST /message/edit',
    body: ({ theirs }) => ({ id: theirs, text: 'mended' }),
    status: 400,
    answer: () => ({ error: 'only own messages can be edited' }),
    stored: ['theirs', { text: 'theirs', edited: '' }],
  },
  {
    title: 'deletes an own message',
    call: 'POST /message/delete',
    body: ({ own }) => ({ id: own }),
    answer: ({ own }) => ({ id: own }),
    phone: ({ kind, content }, { own }) => assert.deepEqual([kind, (content as Protocol).protocolMessage.key.id], ['protocolMessage', own]),
    shows: ['own', { text: '', deleted: true }],
    stored: ['own', deleted],
    event: ({ own }) => ['messages_update', { MessageIDs: [own], IsFromMe: true, Type: 'deleted' }],
  },
  {
    title: 'refuses a message of another person in a direct chat',
    call: 'POST /message/delete',
    body: ({ theirs }) => ({ id: theirs }),
    status: 400,
    answer: () => ({ error: 'only own messages can be deleted for everybody' }),
  },
  {
    title: 'deletes a message of another person as an admin of the group',
    call: 'POST /message/delete',
    in: 'led',
    body: ({ theirs }) => ({ id: theirs }),
    answer: ({ theirs }) => ({ id: theirs }),
    shows: ['theirs', { text: '', deleted: true }],
    stored: ['theirs', deleted],
    event: ({ theirs }) => ['messages_update', { MessageIDs: [theirs], IsGroup: true, Type: 'deleted' }],
  },
  {
    title: 'refuses a message of another person to a plain member of the group',
    call: 'POST /message/delete',
    in: 'joined',
    body: ({ theirs }) => ({ id: theirs }),
    status: 400,
    answer: () => ({ error: 'only admins of the group can delete what others wrote' }),
    shows: ['theirs', { deleted: false }],
  },
  {
    title: 'pins a message for a week',
    call: 'POST /message/pin',
    body: ({ theirs }) => ({ id: theirs, duration: 7 }),
    answer: ({ theirs }) => ({ messageType: 'PinInChatMessage', targetMessageID: theirs, pinned: true, fromMe: true, status: 'Sent' }),
    shows: ['theirs', pinnedFor(days(7))],
    stored: ['theirs', { pinned: true }],
    event: () => ['messages', { messageType: 'UnknownMessageType', fromMe: true }],
  },
  {
    title: 'pins an own message in a group for the default time',
    call: 'POST /message/pin',
    in: 'joined',
    body: ({ own }) => ({ id: own }),
    answer: ({ own }) => ({ targetMessageID: own, pinned: true, isGroup: true }),
    shows: ['own', pinnedFor(days(30))],
    stored: ['own', { pinned: true }],
  },
  {
    title: 'refuses a time that phones do not offer',
    call: 'POST /message/pin',
    body: ({ own }) => ({ id: own, duration: 2 }),
    status: 400,
    answer: () => ({ error: 'duration must be one of 1, 7, 30' }),
  },
  {
    title: 'refuses an unknown message',
    call: 'POST /message/pin',
    body: () => ({ id: 'NOTHING' }),
    status: 404,
    answer: () => ({ error: 'Message not found' }),
  },
  {
    title: 'stars an own message',
    call: 'POST /message/star',
    body: ({ own }) => ({ id: own, star: true }),
    answer: ({ own }) => ({ messageid: own, starred: true, text: 'mine' }),
    shared: ['own', { chat: contact, starred: true }],
    stored: ['own', { starred: true }],
    event: ({ own }) => ['messages_update', { MessageIDs: [own], IsFromMe: true, Type: 'starred' }],
  },
  {
    title: 'stars a message of another person',
    call: 'POST /message/star',
    body: ({ theirs }) => ({ id: `${bench.account.number}:${theirs}`, star: true }),
    answer: ({ theirs }) => ({ messageid: theirs, starred: true, text: 'theirs' }),
    shared: ['theirs', { chat: contact, starred: true }],
    stored: ['theirs', { starred: true }],
    event: ({ theirs }) => ['messages_update', { MessageIDs: [theirs], IsFromMe: true, Type: 'starred' }],
  },
  {
    title: 'stars an own message in a group',
    call: 'POST /message/star',
    in: 'joined',
    body: ({ own }) => ({ id: own, star: true }),
    answer: ({ own }) => ({ messageid: own, starred: true, isGroup: true }),
    shared: ['own', { starred: true }],
    stored: ['own', { starred: true }],
  },
  {
    title: 'stars a message of another person in a group',
    call: 'POST /message/star',
    in: 'joined',
    body: ({ theirs }) => ({ id: theirs, star: true }),
    answer: ({ theirs }) => ({ messageid: theirs, starred: true, isGroup: true }),
    shared: ['theirs', { starred: true }],
    stored: ['theirs', { starred: true }],
  },
  {
    title: 'refuses an unknown message',
    call: 'POST /message/star',
    body: () => ({ id: 'NOTHING', star: true }),
    status: 404,
    answer: () => ({ error: 'Message not found' }),
  },
];

const bench = tryRows(rows);

const statusOf = async (id: string): Promise<unknown> => (await bench.found(id))?.['status'];

const call = async (path: string, body: Json): Promise<Json> => {
  const answered = await bench.account.call('POST', path, body);
  assert.equal(answered.status, 200, JSON.stringify(answered.body));
  return answered.body;
};

const shownOf = (id: string) => bench.shown().find((one) => one.id === id);

test('operations: a removed reaction and a removed pin disappear from the phone', async () => {
  const { theirs } = await bench.stand();
  await call('/message/react', { id: theirs, text: '👍' });
  await until(() => Object.keys(shownOf(theirs)?.reactions ?? {}).length === 1, 'the reaction');
  const removal = await call('/message/react', { id: theirs, text: '' });
  assert.deepEqual([removal['text'], removal['reaction']], ['', theirs]);
  await until(() => Object.keys(shownOf(theirs)?.reactions ?? {}).length === 0, 'no reaction');
  await call('/message/pin', { id: theirs, duration: 1 });
  await until(() => (shownOf(theirs)?.pinnedUntil ?? 0) > 0, 'the pin');
  assert.equal((await call('/message/pin', { id: theirs, pin: false }))['pinned'], false);
  await until(() => shownOf(theirs)?.pinnedUntil === 0, 'no pin');
  await until(async () => (await bench.found(theirs))?.['pinned'] === false, 'no pin is stored');
});

test('operations: a removed star disappears from the phone, which understands every record', async () => {
  const { own } = await bench.stand();
  await call('/message/star', { id: own, star: true });
  assert.equal((await call('/message/star', { id: own, star: false }))['starred'], false);
  assert.deepEqual([bench.sharedOf(own)?.starred, (await bench.found(own))?.['starred']], [false, false]);
  assert.deepEqual(bench.scene.platform.sandbox.settings(bench.account.number).ignored, []);
});

test('operations: a call cannot be starred, because phones offer no stars for calls', async () => {
  const { id } = await bench.scene.platform.sandbox.call(contact, bench.account.number, { step: 'offer' });
  await until(async () => (await bench.found(id)) !== undefined, 'the call is stored');
  const { status, body } = await bench.account.call('POST', '/message/star', { id, star: true });
  assert.deepEqual([status, body['error']], [400, 'only messages of chats with people and groups can be starred']);
});

test('operations: the id of an edit stands for the edited message, in its short form too', async () => {
  const { own } = await bench.stand();
  const first = await call('/message/edit', { id: String((await bench.found(own))?.['id']), text: 'one' });
  await call('/message/edit', { id: String(first['messageid']), text: 'two' });
  await until(() => shownOf(own)?.text === 'two', 'the second edit');
  const stored = await bench.found(own);
  assert.equal(stored?.['text'], 'two');
  await call('/message/delete', { id: String(first['messageid']) });
  await until(() => shownOf(own)?.deleted, 'the message is deleted');
  const again = await bench.account.call('POST', '/message/edit', { id: own, text: 'three' });
  assert.deepEqual([again.status, again.body['error']], [400, 'the message was deleted']);
});

test('operations: changes of messages by other people are stored and reported', async () => {
  const { sandbox } = bench.scene.platform;
  const { own, theirs } = await bench.stand();
  const to = bench.account.number;
  const said = async (content: Parameters<typeof sandbox.send>[2]): Promise<string> => (await sandbox.send(contact, to, content)).id;
  const first = await said({ kind: 'edit', messageId: theirs, text: 'plain' });
  await bench.told('messages', { messageid: first, text: 'plain', edited: theirs });
  assert.deepEqual([(await bench.found(theirs))?.['text'], (await bench.found(theirs))?.['edited']], ['plain', first]);
  const second = await said({ kind: 'edit', messageId: theirs, text: 'sealed', secret: true });
  await bench.told('messages', { messageid: second, text: 'sealed', edited: theirs });
  assert.equal((await bench.found(theirs))?.['text'], 'sealed');
  assert.equal(shownOf(theirs)?.text, 'sealed');
  const heart = await said({ kind: 'reaction', messageId: own, emoji: '❤️' });
  await bench.told('messages', { messageid: heart, reaction: own, text: '❤️' });
  const pin = await said({ kind: 'pin', messageId: own, seconds: 86_400 });
  await bench.told('messages', { messageid: pin, messageType: 'UnknownMessageType' });
  assert.equal((await bench.found(own))?.['pinned'], true);
  const kept = await said({ kind: 'keep', messageId: own, on: true });
  await bench.told('messages', { messageid: kept, messageType: 'UnknownMessageType' });
  await said({ kind: 'delete', messageId: theirs });
  await bench.told('messages_update', { MessageIDs: [theirs], IsFromMe: false, Type: 'Deleted' });
  assert.deepEqual([(await bench.found(theirs))?.['status'], (await bench.found(theirs))?.['text']], ['Deleted', '']);
});

test('operations: no receipt of a reaction or an edit is lost, even if the receipt arrives very soon', async () => {
  const { own, theirs } = await bench.stand();
  const sent: string[] = [];
  for (let n = 0; n < 15; n += 1) {
    const edited = await bench.account.call('POST', '/message/edit', { id: own, text: `edit ${n}` });
    const reacted = await bench.account.call('POST', '/message/react', { id: theirs, text: n % 2 === 0 ? '👍' : '' });
    sent.push(String(edited.body['messageid']), String(reacted.body['messageid']));
  }
  for (const id of sent) await until(async () => (await statusOf(id)) === 'Delivered', `the receipt of ${id}`);
});

test('operations: the gateway sends the platform no unknown request', () =>
  assert.deepEqual(bench.scene.platform.sandbox.stats().unknown, {}));
