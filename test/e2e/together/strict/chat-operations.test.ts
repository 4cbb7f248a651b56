/** Tests reading and typing as the other side sees them, in direct chats and in groups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorldEvent } from '#src/sandbox/interface.ts';
import { type Json, type Row, tryRows } from '#test/support/operation-rows.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const success = (id: string): Json => ({ message_id: id, status: 'success' });

const rows: readonly Row[] = [
  {
    title: 'marks a message of a direct chat as read',
    call: 'POST /message/markread',
    body: ({ theirs }) => ({ id: [theirs] }),
    answer: ({ theirs }) => ({ results: [success(theirs)] }),
    event: ({ theirs }) => ['messages_update', { MessageIDs: [theirs], IsFromMe: true, Type: 'read' }],
  },
  {
    title: 'marks a message of a group as read',
    call: 'POST /message/markread',
    in: 'joined',
    body: ({ theirs }) => ({ id: [theirs] }),
    answer: ({ theirs }) => ({ results: [success(theirs)] }),
    event: ({ theirs }) => ['messages_update', { MessageIDs: [theirs], IsFromMe: true, IsGroup: true, Type: 'read' }],
  },
  {
    title: 'reports messages that cannot be marked',
    call: 'POST /message/markread',
    body: ({ own, theirs }) => ({ id: [own, 'NOTHING', theirs] }),
    answer: ({ own, theirs }) => ({
      results: [
        { message_id: own, status: 'error', error: 'own messages are not marked as read' },
        { message_id: 'NOTHING', status: 'error', error: 'Message not found' },
        success(theirs),
      ],
    }),
  },
  {
    title: 'refuses a request without messages',
    call: 'POST /message/markread',
    body: () => ({ id: [] }),
    status: 400,
    answer: () => ({ error: 'Missing Id in Payload' }),
  },
  {
    title: 'refuses an unknown state',
    call: 'POST /message/presence',
    body: () => ({ number: contact, presence: 'sleeping' }),
    status: 400,
    answer: () => ({ error: 'presence must be one of composing, recording, paused' }),
  },
  {
    title: 'refuses an invalid number',
    call: 'POST /message/presence',
    body: () => ({ number: 'nobody', presence: 'composing' }),
    status: 400,
    answer: () => ({}),
  },
  {
    title: 'refuses a duration above five minutes',
    call: 'POST /message/presence',
    body: () => ({ number: contact, presence: 'composing', delay: 300_001 }),
    status: 400,
    answer: () => ({ error: 'delay must be at most 300000' }),
  },
];

const bench = tryRows(rows);

/** Returns a list that collects the events of the simulated platform from now on. */
const watched = (): WorldEvent[] => {
  const events: WorldEvent[] = [];
  bench.scene.platform.sandbox.subscribe((event) => void events.push(event));
  return events;
};

const unread = async (chat: string): Promise<unknown> => (await bench.account.chatOf(chat))?.['wa_unreadCount'];

test('markread: messages of several chats are marked by any form of id, each author gets a receipt, and the counts decrease', async () => {
  const direct = await bench.stand();
  const group = await bench.stand('joined');
  const [person, room] = [`${contact}@s.whatsapp.net`, bench.joined];
  const [before, roomBefore] = [Number(await unread(person)), Number(await unread(room))];
  const events = watched();
  const short = String((await bench.found(direct.theirs))?.['id']);
  const marked = await bench.account.call('POST', '/message/markread', { id: [short, `${bench.account.number}:${group.theirs}`] });
  assert.deepEqual(
    (marked.body['results'] as readonly Json[]).map(({ status }) => status),
    ['success', 'success'],
  );
  for (const id of [direct.theirs, group.theirs])
    await until(
      () => events.some((event) => event.type === 'receipt' && event.id === id && event.kind === 'read' && event.to === contact),
      `the receipt for ${id}`,
    );
  await until(async () => (await unread(person)) === before - 1 && (await unread(room)) === roomBefore - 1, 'the counts');
  const isRead = () => bench.scene.platform.sandbox.shown(bench.account.number, contact).find(({ id }) => id === direct.theirs)?.read;
  await until(isRead, 'the own phone shows it as read');
});

test('markread: an account without read receipts reports the reading to its own phone only', async () => {
  const { sandbox } = bench.scene.platform;
  const quiet = await bench.scene.create();
  await sandbox.putPerson({ number: quiet.number, readReceipts: false });
  await quiet.pair(bench.scene.platform);
  const events = watched();
  const { id } = await sandbox.send(contact, quiet.number, { kind: 'text', text: 'secret' });
  await bench.scene.stored(quiet, [id]);
  assert.equal((await quiet.call('POST', '/message/markread', { id: [id] })).status, 200);
  await until(() => sandbox.shown(quiet.number, contact).some((one) => one.id === id && one.read), 'the own phone knows');
  assert.deepEqual(
    events.filter((event) => event.type === 'receipt' && event.kind === 'read'),
    [],
  );
});

test('presence: a typing request is answered at once, and typing is shown until its delay ends, in a chat and in a group', async () => {
  for (const [number, chat, presence] of [
    [contact, `${contact}@s.whatsapp.net`, 'recording'],
    [bench.joined, bench.joined, 'composing'],
  ] as const) {
    const events = watched();
    const answered = await bench.account.call('POST', '/message/presence', { number, presence, delay: 4_000 });
    assert.deepEqual([answered.status, answered.body], [200, { response: 'Chat presence sent successfully' }]);
    const states = (): readonly string[] =>
      events.flatMap((event) =>
        event.type === 'presence' && event.chat === chat && event.of === bench.account.number ? [event.state] : [],
      );
    assert.ok(!states().includes('paused'), 'nobody waits for the delay');
    await until(
      () => states().length === 2,
      () => `both states in ${chat}; there were ${states().join(', ')}`,
    );
    assert.deepEqual(states(), [presence, 'paused']);
  }
});

test('status: the members of a group who received, read and played a message are listed in pages', async () => {
  const { sandbox } = bench.scene.platform;
  const { own } = await bench.stand('joined');
  const asked = async (body: Json): Promise<readonly Json[]> => {
    const answered = await bench.account.call('POST', '/message/status', { id: own, ...body });
    assert.equal(answered.status, 200, JSON.stringify(answered.body));
    return answered.body['receipts'] as readonly Json[];
  };
  await until(async () => (await asked({})).length === 2, 'both members got it');
  await sandbox.receipt(contact, { type: 'read', ids: [own] });
  await sandbox.receipt(contact, { type: 'played', ids: [own] });
  const [first] = await until(async () => {
    const played = await asked({ state: 'Played' });
    return played.length > 0 && played;
  }, 'one played it');
  assert.equal(first?.['sender_pn'], `${contact}@s.whatsapp.net`);
  assert.ok(Number(first?.['deliveredAt']) > 0 && Number(first?.['readAt']) > 0 && Number(first?.['playedAt']) > 0, JSON.stringify(first));
  assert.deepEqual([(await asked({ state: 'Read' })).length, (await asked({ state: 'Delivered' })).length], [1, 2]);
  const page = await bench.account.call('POST', '/message/status', { id: own, limit: 1 });
  assert.deepEqual(page.body['pagination'], { limit: 1, offset: 0, nextOffset: 1, hasMore: true });
  assert.equal((await asked({ limit: 1, offset: 1 })).length, 1);
  await bench.told('messages_update', { MessageIDs: [own], IsGroup: true, Type: 'Played' });
});

const refusals: readonly (readonly [title: string, body: (own: string) => Json, status: number, error: string])[] = [
  ['an own message of a direct chat', (own) => ({ id: own }), 400, 'receipts of members are kept for own messages in groups'],
  ['an unknown message', () => ({ id: 'NOTHING' }), 404, 'Message not found'],
  ['no message', () => ({}), 400, 'Missing Id in Payload'],
  ['an unknown state', (own) => ({ id: own, state: 'Sent' }), 400, 'state must be one of Delivered, Read, Played'],
];
for (const [title, body, status, error] of refusals)
  test(`status: ${title} is refused`, async () => {
    const { own } = await bench.stand();
    const answered = await bench.account.call('POST', '/message/status', body(own));
    assert.deepEqual([answered.status, answered.body['error']], [status, error]);
  });

test('chats: the gateway sends the platform no unknown request', () => assert.deepEqual(bench.scene.platform.sandbox.stats().unknown, {}));
