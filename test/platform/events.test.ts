/** Tests the conversion of events of the library that the simulated platform does not cause. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import type { Entry } from '#actors/model.ts';
import type { Directory } from '#src/platform/wire/jid.ts';
import { type BaileysEvent, fromBaileys } from '#src/platform/events/from-baileys.ts';

const friend = '5511900000002@s.whatsapp.net';
const directory: Directory = {
  me: { pn: '5511900000001@s.whatsapp.net', lid: '111@lid', name: 'Ana' },
  pn: (lid) => (lid === '222@lid' ? friend : ''),
  lid: (pn) => (pn === friend ? '222@lid' : ''),
  groupName: () => '',
  community: () => null,
  newId: () => 'r0000000',
  now: () => 1_000,
};
const convert = (event: BaileysEvent): Entry[] => fromBaileys(event, directory, new Map());
const { Status } = proto.WebMessageInfo;

const key = (id: string, fromMe: boolean, remoteJid = '222@lid') => ({ id, fromMe, remoteJid });
const message = (id: string, text: string, seconds: number, fromMe = false): WAMessage => ({
  key: key(id, fromMe),
  message: { conversation: text },
  messageTimestamp: seconds,
});

const status = (messageIds: string[], state: string, at: number) => ({
  kind: 'status',
  messageIds,
  chatId: friend,
  status: state,
  sender: '222@lid',
  senderPn: friend,
  senderLid: '222@lid',
  fromMe: false,
  at,
});

const own = '5511900000001@s.whatsapp.net';
const stranger = '5511900000003@s.whatsapp.net';

const cases: readonly (readonly [string, BaileysEvent, readonly object[]])[] = [
  [
    'the address book tells the LID of somebody whom the directory does not know yet',
    { name: 'contacts.upsert', data: [{ id: stranger, name: 'Eva', lid: '333@lid', phoneNumber: stranger }] },
    [
      {
        kind: 'chat',
        chat: { chatId: stranger, chatLid: '333@lid', contactName: 'Eva', name: 'Eva' },
        create: false,
        tell: 'contacts',
      },
    ],
  ],
  [
    'one receipt for many messages is one entry',
    {
      name: 'messages.update',
      data: [
        { key: key('A', true), update: { status: Status.READ, messageTimestamp: 5 } },
        { key: key('B', true), update: { status: Status.READ, messageTimestamp: 5 } },
        { key: key('C', true), update: { status: Status.PLAYED, messageTimestamp: 5 } },
      ],
    },
    [status(['A', 'B'], 'Read', 5_000), status(['C'], 'Played', 5_000)],
  ],
  [
    'what the account read on another device is a read chat, once',
    {
      name: 'messages.update',
      data: [
        { key: key('A', false), update: { status: Status.READ } },
        { key: key('B', false), update: { status: Status.READ } },
      ],
    },
    [{ kind: 'chatRead', chatId: friend }],
  ],
  [
    'a star is no receipt',
    { name: 'messages.update', data: [{ key: key('C', true), update: { starred: true } }] },
    [{ kind: 'starred', messageId: 'C', chatId: friend, starred: true, sender: own, senderPn: own, senderLid: '111@lid', at: 1_000 }],
  ],
  [
    'refusals, changed content and own devices are no receipts',
    {
      name: 'messages.update',
      data: [
        { key: key('A', true), update: { status: Status.ERROR } },
        { key: key('B', true), update: { status: Status.SERVER_ACK } },
        { key: key('D', false), update: { message: null, messageStubType: proto.WebMessageInfo.StubType.REVOKE } },
        { key: key('E', false), update: { status: Status.DELIVERY_ACK } },
      ],
    },
    [],
  ],
  [
    'a member confirms, and the account itself read',
    {
      name: 'message-receipt.update',
      data: [
        { key: key('A', true, '1@g.us'), receipt: { userJid: '222@lid', readTimestamp: 6 } },
        { key: key('B', true, '1@g.us'), receipt: { userJid: '111@lid', readTimestamp: 6 } },
        { key: key('B', true, '1@g.us'), receipt: { userJid: '111@lid', receiptTimestamp: 6 } },
      ],
    },
    [
      { ...status(['A'], 'Read', 6_000), chatId: '1@g.us' },
      { kind: 'chatRead', chatId: '1@g.us' },
    ],
  ],
  [
    "the library's echo of a message is left out, marks of a chat are kept",
    {
      name: 'chats.update',
      data: [
        { id: friend, unreadCount: 1, conversationTimestamp: 5, messages: [{ message: message('A', 'hi', 5) }] },
        { id: '222@lid', archived: true, pinned: null, muteEndTime: 1_700_000_000_000, unreadCount: 0 },
        { id: friend, unreadCount: -1 },
        { id: friend, unreadCount: 1, archived: false, readOnly: false, messages: [{ message: message('B', 'hi', 5) }] },
        { id: '1@g.us', readOnly: true },
      ],
    },
    [
      {
        kind: 'chat',
        chat: { chatId: friend, chatLid: '222@lid', archived: true, pinned: false, muteEndTime: 1_700_000_000_000 },
        create: false,
        tell: 'chats',
      },
      { kind: 'chatRead', chatId: friend },
      { kind: 'chat', chat: { chatId: friend, chatLid: '222@lid' }, create: false, tell: 'chats' },
      { kind: 'chatUnread', chatId: friend },
      { kind: 'chat', chat: { chatId: friend, archived: false }, create: false, tell: 'chats' },
      { kind: 'chat', chat: { chatId: '1@g.us', groupMember: false }, create: false, tell: 'chats' },
    ],
  ],
  [
    'names of the address book and of contacts themselves',
    {
      name: 'contacts.update',
      data: [{ id: friend, name: 'Eva Book' }, { id: '222@lid', notify: 'Eva' }, { id: '111@lid', notify: 'me' }, { id: '333@lid' }],
    },
    [
      {
        kind: 'chat',
        chat: { chatId: friend, chatLid: '222@lid', contactName: 'Eva Book', name: 'Eva Book' },
        create: false,
        tell: 'contacts',
      },
      { kind: 'chat', chat: { chatId: friend, chatLid: '222@lid', pushName: 'Eva' }, create: false, tell: 'contacts' },
    ],
  ],
  [
    'blocked and unblocked',
    { name: 'blocklist.update', data: { blocklist: ['222@lid'], type: 'remove' } },
    [{ kind: 'chat', chat: { chatId: friend, blocked: false }, create: false, tell: 'chats' }],
  ],
  [
    'the whole list of blocked people',
    { name: 'blocklist.set', data: { blocklist: ['222@lid', '999@lid'] } },
    [
      {
        kind: 'blocklist',
        people: [
          { chatId: friend, chatLid: '222@lid' },
          { chatId: '999@lid', chatLid: '999@lid' },
        ],
      },
    ],
  ],
  [
    'a label',
    { name: 'labels.edit', data: { id: '7', name: 'New', color: 3, deleted: false } },
    [
      {
        kind: 'news',
        lane: 'labels',
        news: { type: 'labels', label: { id: '7', name: 'New', color: 3, deleted: false } },
      },
    ],
  ],
  [
    'a call',
    {
      name: 'call',
      data: [{ id: 'C', chatId: '222@lid', from: '222@lid', date: new Date(9), status: 'offer', offline: false, isVideo: true }],
    },
    [
      {
        kind: 'news',
        lane: friend,
        news: {
          type: 'call',
          call: {
            id: 'C',
            chatId: friend,
            isGroup: false,
            caller: { id: '222@lid', pn: friend, lid: '222@lid' },
            status: 'offer',
            isVideo: true,
            offline: false,
            at: 9,
          },
        },
      },
    ],
  ],
  [
    'placeholders and notices are no messages',
    {
      name: 'messages.upsert',
      data: {
        type: 'notify',
        messages: [
          { key: key('A', false), messageStubType: proto.WebMessageInfo.StubType.CIPHERTEXT },
          {
            key: key('B', false, '1@g.us'),
            messageStubType: proto.WebMessageInfo.StubType.GROUP_PARTICIPANT_ADD,
            messageStubParameters: ['{}'],
          },
          { key: key('C', true), message: { protocolMessage: { type: proto.Message.ProtocolMessage.Type.APP_STATE_SYNC_KEY_SHARE } } },
        ],
      },
    },
    [],
  ],
];

for (const [title, event, expected] of cases) test(`events: ${title}`, () => assert.deepEqual(convert(event), expected));

test('events: a disappearing message edited by the account on its phone', () => {
  const edited: WAMessage = {
    key: key('NEW', true),
    messageTimestamp: 9,
    message: {
      editedMessage: {
        message: {
          protocolMessage: {
            key: { id: 'OLD' },
            type: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT,
            editedMessage: { conversation: 'better' },
          },
        },
      },
    },
  };
  const [entry, ...more] = convert({ name: 'messages.upsert', data: { type: 'append', messages: [edited] } });
  assert.equal(more.length, 0);
  assert.ok(entry?.kind === 'message');
  assert.deepEqual(
    [entry.message.messageId, entry.message.edited, entry.message.text, entry.message.fromMe],
    ['NEW', 'OLD', 'better', true],
  );
  assert.deepEqual([entry.unread, entry.chat.lastMessageText], [false, undefined]);
});

test('events: history is a batch of chats and one of messages, and only the newest message is the last of its chat', () => {
  const entries = convert({
    name: 'messaging-history.set',
    data: {
      chats: [{ id: '222@lid', pnJid: friend, unreadCount: 3, archived: true, displayName: 'Eva Book', muteEndTime: 1_700_000_000 }],
      contacts: [
        { id: friend, notify: 'Eva' },
        { id: '333@lid', notify: 'Stranger' },
      ],
      messages: [message('NEW', 'newest', 9), message('OLD', 'older', 5, true)],
    },
  });
  const [stranger, chats, messages, ...more] = entries;
  assert.deepEqual([stranger?.kind, more], ['chat', []]);
  assert.ok(chats?.kind === 'history' && chats.past.of === 'chats');
  assert.deepEqual([chats.number, chats.total], [1, 1]);
  assert.deepEqual(chats.past.items, [
    {
      chatId: friend,
      chatLid: '222@lid',
      name: 'Eva Book',
      contactName: 'Eva Book',
      pushName: 'Eva',
      archived: true,
      muteEndTime: 1_700_000_000_000,
      isGroup: false,
      unreadCount: 3,
      lastMessageSender: '222@lid',
      lastMessageText: 'newest',
      lastMessageTimestamp: 9_000,
      lastMessageType: 'Conversation',
    },
  ]);
  assert.ok(messages?.kind === 'history' && messages.past.of === 'messages');
  assert.deepEqual(
    messages.past.items.map((item) => [item.message.messageId, item.message.status, item.chat.lastMessageText]),
    [
      ['NEW', '', 'newest'],
      ['OLD', 'Sent', undefined],
    ],
  );
});

const batchesOf = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.kind === 'history' ? [[entry.past.of, entry.past.items.length, entry.number, entry.total]] : []));

const pastOf = (messages: WAMessage[]) => convert({ name: 'messaging-history.set', data: { chats: [], contacts: [], messages } });

test('events: a batch of history has at most 200 items', () => {
  const messages = Array.from({ length: 450 }, (_, at) => message(`M${at}`, 'hi', at + 1));
  assert.deepEqual(batchesOf(pastOf(messages)), [
    ['messages', 200, 1, 3],
    ['messages', 200, 2, 3],
    ['messages', 50, 3, 3],
  ]);
});

test('events: a batch of history stays below its limit of bytes', () => {
  const messages = Array.from({ length: 10 }, (_, at) => message(`M${at}`, 'x'.repeat(30_000), at + 1));
  const batches = batchesOf(pastOf(messages));
  assert.ok(batches.length >= 3 && batches.every(([, items]) => Number(items) <= 4), JSON.stringify(batches));
});

test('events: past calls and status posts are neither messages nor chats', () => {
  const { StubType } = proto.WebMessageInfo;
  const entries = pastOf([
    { key: key('V', false), messageTimestamp: 5, messageStubType: StubType.CALL_MISSED_VIDEO },
    { key: key('L', true), messageTimestamp: 6, message: { callLogMesssage: { isVideo: false, callOutcome: 0, durationSecs: 61 } } },
    { key: { ...key('S', false, 'status@broadcast'), participant: '222@lid' }, messageTimestamp: 7, message: { conversation: 'my day' } },
  ]);
  const call = { chatId: friend, isGroup: false };
  const theirs = { caller: { id: '222@lid', pn: friend, lid: '222@lid' }, fromMe: false };
  const mine = { caller: { id: directory.me.pn, pn: directory.me.pn, lid: '' }, fromMe: true };
  const [calls, status] = entries;
  assert.deepEqual(batchesOf(entries), [
    ['calls', 2, 1, 1],
    ['status', 1, 1, 1],
  ]);
  assert.deepEqual(calls?.kind === 'history' && calls.past.items, [
    { id: 'V', ...call, ...theirs, status: 'missed', isVideo: true, seconds: 0, at: 5_000 },
    { id: 'L', ...call, ...mine, status: 'connected', isVideo: false, seconds: 61, at: 6_000 },
  ]);
  assert.ok(status?.kind === 'history' && status.past.of === 'status');
  assert.deepEqual([status.past.items[0]?.senderPn, status.past.items[0]?.text], [friend, 'my day']);
});

test('events: steps of a call that only matter to devices are not reported', () => {
  const call = { id: 'C', chatId: '222@lid', from: '222@lid', date: new Date(9), offline: false };
  const steps = (['ringing', 'preaccept', 'transport', 'relaylatency'] as const).map((status) => ({ ...call, status }));
  assert.deepEqual(convert({ name: 'call', data: steps }), []);
});
