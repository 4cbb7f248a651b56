/** Tests the ledger's events about chats, labels, members and the past: entries in, events out, without a database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call, ChatLabel, Entry, Message, MessageStatus, Past } from '#actors/model.ts';
import { historyView } from '#src/contract/views.ts';
import { reduceEntries } from '#src/storage/journal/ledger.ts';
import { isProgress } from '#src/storage/journal/message-ledger.ts';
import { chat as sampleChat, message as sample, owner } from '#test/contract/samples.ts';

const chatId = '5511900000001@s.whatsapp.net';
const fresh = (change: Partial<Message> = {}): Message => ({ ...sample, messageId: 'M', chatId, ...change });
const past = (part: Past): Entry => ({ kind: 'history', past: part, number: 1, total: 1 });

const label = (labelId: string, labeled = true): ChatLabel => ({ chatId, labelId, labeled });

const caller = { id: '1000000001@lid', pn: chatId, lid: '1000000001@lid' };
const call = (status: string, at: number, change: Partial<Call> = {}): Call => ({
  id: 'CALL',
  chatId,
  isGroup: false,
  caller,
  status,
  isVideo: true,
  at,
  ...change,
});
/** The title, the entries, and the expected events of the chat. */
const changes: readonly (readonly [string, readonly Entry[], readonly (readonly [string, object])[]])[] = [
  [
    'a mark that changes is told with the whole chat, and not again',
    [
      { kind: 'chat', chat: { chatId, archived: true }, create: false, tell: 'chats' },
      { kind: 'chat', chat: { chatId, archived: true }, create: false, tell: 'chats' },
    ],
    [['chats', { wa_chatid: chatId, wa_archived: true }]],
  ],
  [
    'other keys of the phone of a contact are told, at each change',
    [5_000, 5_000, 6_000].map((at) => ({
      kind: 'chat',
      chat: { chatId, extra: { identityChangedAt: at } },
      create: false,
      tell: 'chats',
    })),
    [
      ['chats', { wa_chatid: chatId, wa_identityChangedAt: 5_000 }],
      ['chats', { wa_chatid: chatId, wa_identityChangedAt: 6_000 }],
    ],
  ],
  [
    'what was unread and is read now is told',
    [
      { kind: 'chat', chat: { chatId, unreadCount: 3 }, create: false },
      { kind: 'chatRead', chatId },
      { kind: 'chatRead', chatId },
    ],
    [['chats', { wa_unreadCount: 0 }]],
  ],
  [
    'a name of the address book is told',
    [{ kind: 'chat', chat: { chatId, contactName: 'Ana Book' }, create: false, tell: 'contacts' }],
    [['contacts', { jid: chatId, contact_name: 'Ana Book', phone: '+55 11 90000 0001' }]],
  ],
  [
    'a name of the address book is told without a chat, what somebody calls itself is not',
    [
      { kind: 'chat', chat: { chatId: 'x@lid', contactName: 'Book' }, create: false, tell: 'contacts' },
      { kind: 'chat', chat: { chatId: 'y@lid', pushName: 'Me' }, create: false, tell: 'contacts' },
    ],
    [['contacts', { jid: 'x@lid', contact_name: 'Book' }]],
  ],
  [
    'labels are told with all that the chat has, and only when they change',
    [
      { kind: 'chatLabel', ...label('9') },
      { kind: 'chatLabel', ...label('4') },
      { kind: 'chatLabel', ...label('4') },
      { kind: 'chatLabel', ...label('9', false) },
    ],
    [`${owner}:9`, `${owner}:4 ${owner}:9`, `${owner}:4`].map((all) => [
      'chat_labels',
      { wa_chatid: chatId, phone: '+55 11 90000 0001', wa_label: all.split(' ') },
    ]),
  ],
  [
    'labels and marks of the past are batches',
    [
      past({ of: 'labels', items: [{ id: '4', name: 'New', color: 3, deleted: false }] }),
      past({ of: 'chat_labels', items: [label('4'), label('5')] }),
      past({ of: 'chats', items: [{ chatId, pinned: true }] }),
      past({ of: 'chats', items: [{ chatId, pinned: true }] }),
      past({ of: 'calls', items: [call('missed', 5, { id: 'C' })] }),
      past({ of: 'status', items: [fresh({ messageId: 'S' })] }),
    ],
    [
      ['history labels', { id: `${owner}:4`, labelid: '4', name: 'New', color: 3, colorHex: '#dfaef0', owner }],
      ['history chat_labels', { wa_chatid: chatId, wa_label: [`${owner}:4`, `${owner}:5`] }],
      ['history chats', { wa_chatid: chatId, wa_isPinned: true }],
      ['history calls', { id: 'C', chatid: chatId, sender_pn: chatId, status: 'missed', timestamp: 5 }],
      ['history status', { messageid: 'S' }],
    ],
  ],
];

for (const [title, entries, expected] of changes) {
  test(`ledger: ${title}`, () => {
    const chat = { ...sampleChat, chatId, labels: [], phone: '+5511900000001', archived: false, pinned: false, contactName: '' };
    const { events } = reduceEntries({ messages: [], chats: [chat] }, owner, entries, () => 'r0');
    const told = events.map(({ type, payload }): readonly [string, Record<string, unknown>] => {
      if (type !== 'history') return [type, (payload['chat'] ?? payload['contact']) as Record<string, unknown>];
      const kind = String(payload['event']);
      return [`history ${kind}`, (payload[kind] as Record<string, unknown>[])[0] ?? {}];
    });
    assert.deepEqual(
      told.map(([type, view], at) => [type, Object.fromEntries(Object.keys(expected[at]?.[1] ?? {}).map((name) => [name, view[name]]))]),
      expected,
    );
  });
}

const live = (status: string, at: number): Entry => ({ kind: 'news', lane: chatId, news: { type: 'call', call: call(status, at) } });
const afterCall = (entries: readonly Entry[]) => {
  const ana = {
    ...sampleChat,
    chatId,
    name: 'Ana Lima',
    pushName: 'ana',
    imagePreview: 'https://example.com/ana.jpg',
    lastMessageTimestamp: 1,
  };
  return reduceEntries({ messages: [], chats: [ana] }, owner, entries, () => 'r0123456789abcd');
};

test('ledger: a call is stored as one message of its chat, without a messages event, and has its call events', () => {
  const { events, freshMessages, chats } = afterCall([live('offer', 5_000), live('accept', 6_000), live('terminate', 9_000)]);
  assert.deepEqual(
    events.map(({ type, payload }) => [type, (payload['call'] as { status: string }).status]),
    [
      ['call', 'offer'],
      ['call', 'accept'],
      ['call', 'terminate'],
    ],
  );
  const [stored, ...more] = freshMessages;
  assert.equal(more.length, 0);
  assert.deepEqual(
    [stored?.id, stored?.messageId, stored?.chatId, stored?.sender, stored?.senderName, stored?.messageType, stored?.timestamp],
    ['r0123456', 'CALL', chatId, caller.id, 'ana', 'call', 5_000],
  );
  assert.deepEqual(stored?.peer, { chatId, name: 'Ana Lima', image: 'https://example.com/ana.jpg' });
  const content = stored?.content as Record<string, unknown> | undefined;
  assert.deepEqual([content?.['status'], content?.['timestamp'], content?.['isVideo']], ['accept', 5_000, true]);
  assert.deepEqual(
    [chats[0]?.after.lastMessageType, chats[0]?.after.lastMessageTimestamp, chats[0]?.after.unreadCount],
    ['call', 5_000, 2],
  );
});

test('ledger: later steps of a stored call change its content, and a step with less information does not', () => {
  const { freshMessages } = afterCall([live('offer', 5_000)]);
  const next = (status: string) => reduceEntries({ messages: freshMessages, chats: [] }, owner, [live(status, 7_000)], () => 'r0');
  const { content } = next('timeout').revisedMessages[0] ?? {};
  assert.equal((content as { status: string } | undefined)?.status, 'timeout');
  assert.deepEqual([next('offer').revisedMessages, next('offer').freshMessages], [[], []]);
});

test('ledger: past calls are stored with their chat, and reported', () => {
  const missed = call('missed', 8_000, { id: 'PAST', fromMe: false, seconds: 0 });
  const { events, freshMessages, chats } = reduceEntries(
    { messages: [], chats: [] },
    owner,
    [past({ of: 'calls', items: [missed] })],
    () => 'r0',
  );
  assert.deepEqual(
    events.map(({ type, payload }) => [type, (payload['calls'] as { id: string }[]).map(({ id }) => id)]),
    [['history', ['PAST']]],
  );
  assert.deepEqual([freshMessages[0]?.messageId, freshMessages[0]?.peer?.name], ['PAST', '+55 11 90000 0001']);
  assert.deepEqual([chats[0]?.before, chats[0]?.after.phone, chats[0]?.after.chatId], [null, '+55 11 90000 0001', chatId]);
});

const group = '123@g.us';
/** Returns the receipt of a member for messages of the account. */
const confirmed = (messageIds: readonly string[], status: 'Delivered' | 'Read'): Entry => ({
  kind: 'status',
  messageIds,
  chatId: group,
  status,
  sender: 'a@lid',
  senderPn: 'a@s.whatsapp.net',
  senderLid: 'a@lid',
  fromMe: false,
  at: 1_000,
});

test('ledger: in a group the receipt of every member counts, also for messages that others confirmed before', () => {
  const known = {
    messages: [{ ...fresh({ chatId: group, fromMe: true, status: 'Sent' }), messageId: 'G', unread: false, deletedAt: 0 }],
    chats: [],
  };
  const entries = [confirmed(['G', 'unknown'], 'Read'), confirmed(['G'], 'Delivered')];
  const { events, changedMessages } = reduceEntries(known, owner, entries, () => 'r0');
  assert.deepEqual(
    events.map(({ payload }) => [payload['type'], payload['state']]),
    [
      ['GroupReceipts', 'Read'],
      ['GroupReceipts', 'Delivered'],
    ],
  );
  assert.equal(changedMessages[0]?.status, 'Read');
});

test('ledger: a post of a channel is an event of its own type', () => {
  const message = fresh({ chatId: '120363000000000001@newsletter' });
  const entry: Entry = { kind: 'message', message, chat: { chatId: message.chatId }, unread: true };
  const { events } = reduceEntries({ messages: [], chats: [] }, owner, [entry], () => 'r0');
  assert.equal(events[0]?.type, 'newsletter_messages');
});

test('history: a body stays below its limit for any items, and cut items are still named', () => {
  const huge = 'x'.repeat(300_000);
  const items = Array.from({ length: 200 }, (_, at) => ({
    messageid: `M${at}`,
    text: 'hi',
    content: at % 50 === 0 ? { deep: huge } : 'hi',
  }));
  const view = historyView('messages', items, 1, 1);
  const messages = view['messages'] as readonly { readonly messageid: string; readonly content: unknown }[];
  assert.ok(Buffer.byteLength(JSON.stringify(view)) <= 256 * 1024);
  assert.deepEqual([messages.length, messages[50]?.messageid, messages[50]?.content, messages[51]?.content], [200, 'M50', '', 'hi']);
});

const moves: readonly (readonly [MessageStatus, MessageStatus, boolean])[] = [
  ['', 'Sent', true],
  ['Queued', 'Sent', true],
  ['Queued', 'Failed', true],
  ['Queued', 'Canceled', true],
  ['Sent', 'Failed', false],
  ['Failed', 'Sent', true],
  ['Failed', 'Failed', false],
  ['Sent', 'Queued', false],
  ['Sent', 'Delivered', true],
  ['Queued', 'Read', true],
  ['Read', 'Delivered', false],
  ['Read', 'Read', false],
  ['Read', 'Played', true],
];
for (const [from, to, expected] of moves) {
  test(`ledger: a status ${expected ? 'goes' : 'does not go'} from '${from}' to '${to}'`, () =>
    assert.equal(isProgress(from, to), expected));
}
