/** Tests the pure parts of the chats of the dashboard: links in texts of strangers, and reactions and edits on their messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { itemsOf } from '#src/web/page/chats/fold.js';
import { piecesOf } from '#src/web/page/chats/links.js';
import type { Message } from '#src/web/page/chats/types.ts';

const message = (messageid: string, more: Partial<Message> = {}): Message => ({
  id: `r${messageid}`,
  messageid,
  chatid: '5511999999999@s.whatsapp.net',
  sender: '5511999999999@s.whatsapp.net',
  senderName: 'Ana',
  sender_pn: '5511999999999@s.whatsapp.net',
  isGroup: false,
  fromMe: false,
  messageType: 'Conversation',
  messageTimestamp: 1_770_146_178_000,
  status: '',
  text: messageid,
  quoted: '',
  edited: '',
  reaction: '',
  vote: '',
  error: '',
  content: '',
  fileURL: '',
  ...more,
});

const linksOf = (text: string): readonly string[] => piecesOf(text).flatMap((piece) => (typeof piece === 'string' ? [] : [piece.href]));

for (const [text, ...links] of [
  ['see https://example.com/a_b, please', 'https://example.com/a_b'],
  ['(HTTP://EXAMPLE.COM/x).', 'http://example.com/x'],
  ['https://a.example https://b.example!', 'https://a.example/', 'https://b.example/'],
  ['javascript:alert(1) data:text/html,x file:///etc/passwd //x.example'],
  ['https://bank.example@evil.example/'],
  ['https://'],
  ['https://example.com/"onmouseover=x', 'https://example.com/'],
  [`https://example.com/${'a'.repeat(3_000)}`],
] as const)
  test(`links: ${text.slice(0, 40)} has ${links.length}`, () => assert.deepEqual(linksOf(text), links));

test('links: the joined parts equal the text', () => {
  const text = 'a https://example.com/b. c https:// d https://x@y.example e';
  assert.equal(
    piecesOf(text)
      .map((piece) => (typeof piece === 'string' ? piece : piece.link))
      .join(''),
    text,
  );
});

test('links: a long text of punctuation takes linear time', () => {
  // The test measures processor time, which other load on the machine does not change.
  const before = process.threadCpuUsage();
  for (const pump of ['.', 'https://', 'https://a.', 'https://@', '\u202E']) piecesOf(pump.repeat(65_536 / pump.length));
  const { user, system } = process.threadCpuUsage(before);
  assert.ok(user + system < 1_000_000, `${(user + system) / 1_000} ms`);
});

test('messages: the last reaction of each author is shown, and an empty reaction removes it', () => {
  const reaction = { messageType: 'ReactionMessage', reaction: 'a' };
  const [item] = itemsOf([
    message('a'),
    message('1', { ...reaction, text: '👍' }),
    message('2', { ...reaction, text: '👍', fromMe: true }),
    message('3', { ...reaction, text: '❤️', sender_pn: '5511999990000@s.whatsapp.net' }),
    message('4', { ...reaction, text: '😂', sender_pn: '5511999990001@s.whatsapp.net' }),
    message('5', { ...reaction, text: '', sender_pn: '5511999990001@s.whatsapp.net' }),
  ]);
  assert.deepEqual(item?.reactions, [
    { emoji: '👍', count: 2, isOwn: true },
    { emoji: '❤️', count: 1, isOwn: false },
  ]);
});

test('messages: an edit changes its message, also if only the edit or only the message is loaded', () => {
  const [first, edit] = [message('a', { edited: 'e', text: 'new' }), message('e', { edited: 'a', text: 'new' })];
  const shown = (rows: readonly Message[]) => itemsOf(rows).map((item) => [item.message.messageid, item.text, item.isEdited]);
  assert.deepEqual(shown([first, edit]), [['a', 'new', true]]);
  assert.deepEqual(
    shown([{ ...first, edited: '', text: 'old' }, edit]),
    [['a', 'new', true]],
    'the event came before the message was read',
  );
  assert.deepEqual(shown([edit]), [], 'the message lies further back');
  assert.deepEqual(shown([{ ...first, edited: 'a' }]), [['a', 'new', true]], 'a post of a channel has the id of its edit');
});

test('messages: messages of an unknown type without a text are not shown', () => {
  assert.deepEqual(itemsOf([message('p', { messageType: 'UnknownMessageType', text: '' })]), []);
});
