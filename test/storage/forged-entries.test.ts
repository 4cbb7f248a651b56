/** Tests that entries change nothing in the ledger if their author has no right to the change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, Message } from '#actors/model.ts';
import { reduceEntries } from '#src/storage/journal/ledger.ts';
import { message as sample, owner } from '#test/contract/samples.ts';

const group = '120363000000000001@g.us';
const person = (number: number) => ({ sender: `${number}@lid`, senderPn: `${number}@s.whatsapp.net`, senderLid: `${number}@lid` });
const [author, other] = [person(1), person(2)];

const inGroup: Message = {
  ...sample,
  ...author,
  messageId: 'M',
  chatId: group,
  chatLid: '',
  isGroup: true,
  fromMe: false,
  edited: '',
  text: 'mine',
};
const apply = (known: Message, ...entries: readonly Entry[]) =>
  reduceEntries({ messages: [{ ...known, unread: false, deletedAt: 0 }], chats: [] }, owner, entries, () => 'r0');

const deletion = (change: Partial<Extract<Entry, { kind: 'deleted' }>>): Entry => ({
  kind: 'deleted',
  messageId: 'M',
  chatId: group,
  fromMe: false,
  at: 5,
  ...other,
  ...change,
});

const deletions: readonly (readonly [string, Message, Entry, boolean])[] = [
  ['its author', inGroup, deletion({ ...author }), true],
  ['another member', inGroup, deletion({}), false],
  ['an admin', inGroup, deletion({ byAdmin: true }), true],
  ['an admin of another group', inGroup, deletion({ byAdmin: true, chatId: '120363000000000002@g.us' }), false],
  ['the account itself', inGroup, deletion({ fromMe: true }), true],
  [
    'the other side of a direct chat',
    { ...inGroup, isGroup: false, chatId: other.sender },
    deletion({ chatId: other.sender, byAdmin: true }),
    false,
  ],
  ['a channel', { ...inGroup, isGroup: false, chatId: 'c@newsletter' }, deletion({ chatId: 'c@newsletter' }), true],
];
for (const [who, known, entry, expected] of deletions) {
  test(`deletion: by ${who} ${expected ? 'counts' : 'changes nothing and is not told'}`, () => {
    const { revisedMessages, events } = apply(known, entry);
    assert.deepEqual([revisedMessages.map(({ status }) => status), events.length], expected ? [['Deleted'], 1] : [[], 0]);
  });
}

const edit = (by: typeof author): Entry => {
  const message: Message = { ...inGroup, ...by, messageId: 'E', edited: 'M', text: 'forged' };
  return { kind: 'message', message, chat: { chatId: group }, unread: false, revises: { messageId: 'M', text: 'forged' } };
};

test('edit: an edit by the author changes the message, and its event names the edited message', () => {
  const { revisedMessages, freshMessages } = apply(inGroup, edit(author));
  assert.deepEqual([revisedMessages.map(({ text }) => text), freshMessages.map(({ edited }) => edited)], [['forged'], ['M']]);
});

test('edit: by somebody else changes nothing, and its event names no edited message', () => {
  const { revisedMessages, freshMessages, events } = apply(inGroup, edit(other));
  assert.deepEqual([revisedMessages, freshMessages.map(({ edited }) => edited)], [[], ['']]);
  assert.deepEqual(
    events.map(({ type, payload }) => [type, (payload['message'] as { edited: string }).edited]),
    [['messages', '']],
  );
});

/** Edits message M in the chat with `other`. Returns the `edited` field of its event and the number of changed messages. */
const editInDirectChat = (known: Message, by: Partial<Message>): readonly [edited: unknown, revised: number] => {
  const { senderPn: chatId, senderLid: chatLid } = other;
  const message: Message = { ...inGroup, ...other, isGroup: false, chatId, chatLid, messageId: 'E', edited: 'M', text: 'forged', ...by };
  const { events, revisedMessages } = apply(known, {
    kind: 'message',
    message,
    chat: { chatId },
    unread: false,
    revises: { messageId: 'M', text: 'forged' },
  });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['messages'],
  );
  const [told] = events.map(({ payload }) => payload['message'] as { readonly edited: string });
  return [told?.edited, revisedMessages.length];
};
const directTo = (person: typeof author): Partial<Message> => ({ isGroup: false, chatId: person.senderPn, chatLid: person.senderLid });

const edits: readonly (readonly [string, Message, Partial<Message>, readonly [string, number]])[] = [
  ['of a message of another chat', { ...inGroup, ...directTo(author) }, {}, ['', 0]],
  ['of a message of a group', inGroup, {}, ['', 0]],
  ['of an own message of another chat', { ...inGroup, ...directTo(author), fromMe: true }, {}, ['', 0]],
  ['of a message that is not stored', { ...inGroup, messageId: 'N' }, {}, ['', 0]],
  ['of its own message', { ...inGroup, ...other, ...directTo(other) }, {}, ['M', 1]],
  [
    'of its own message under the other address of the chat',
    { ...inGroup, ...other, ...directTo(other), chatLid: '' },
    { chatId: other.senderLid, chatLid: other.senderPn },
    ['M', 1],
  ],
];
for (const [what, known, by, expected] of edits)
  test(`edit: ${what} ${expected[1] === 0 ? 'changes nothing, and its event names no edited message' : 'counts'}`, () => {
    assert.deepEqual(editInDirectChat(known, by), expected);
  });

test('edit: one by another device of the account counts, also if the message is not stored', () => {
  assert.deepEqual(editInDirectChat({ ...inGroup, messageId: 'N' }, { fromMe: true }), ['M', 0]);
});

const direct: Message = {
  ...sample,
  messageId: 'M',
  chatId: author.senderPn,
  chatLid: author.senderLid,
  isGroup: false,
  fromMe: true,
  status: 'Sent',
  wasSentByApi: true,
};
const receipt = (by: typeof author, chatId: string): Entry => ({
  kind: 'status',
  messageIds: ['M'],
  chatId,
  status: 'Played',
  fromMe: false,
  at: 5,
  ...by,
});

const receipts: readonly (readonly [string, Message, Entry, boolean])[] = [
  ['the chat', direct, receipt(author, author.senderPn), true],
  ['the other address of the chat', direct, receipt({ ...author, senderPn: '' }, author.senderLid), true],
  ['an address whose number is the chat', { ...direct, chatLid: '' }, receipt(author, author.senderLid), true],
  ['a stranger', direct, receipt(other, other.senderPn), false],
  ['a stranger by LID', { ...direct, chatLid: '' }, receipt(other, other.senderLid), false],
  ['a group', direct, receipt(author, group), false],
  ['a stranger, for a message to a group', { ...direct, chatId: group, chatLid: '', isGroup: true }, receipt(other, other.senderPn), false],
];
for (const [from, known, entry, expected] of receipts) {
  test(`receipt: from ${from} ${expected ? 'counts' : 'changes nothing and is not told'}`, () => {
    const { changedMessages, events, receipts: kept } = apply(known, entry);
    assert.deepEqual([changedMessages.map(({ status }) => status), events.length], expected ? [['Played'], 1] : [[], 0]);
    if (!expected) assert.deepEqual(kept, []);
  });
}
