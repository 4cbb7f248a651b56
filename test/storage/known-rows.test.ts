/** Tests the journal's cache of a send: hits that spare a query, and cases that must read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Chat, Entry, Message } from '#actors/model.ts';
import { reduceEntries } from '#src/storage/journal/ledger.ts';
import type { Known } from '#src/storage/journal/outcome.ts';
import { JournalCache } from '#src/storage/journal/known-rows.ts';
import { chat as sampleChat, message as sample, owner } from '#test/contract/samples.ts';

const of = { id: 'r1', epoch: 1 };
const chat: Chat = { ...sampleChat, unreadCount: 3 };
const own: Message = { ...sample, messageId: 'OWN', chatId: chat.chatId, fromMe: true, wasSentByApi: true, status: 'Queued' };
const queued: Entry = { kind: 'queued', message: own, chat: { chatId: own.chatId } };
const arrived: Entry = {
  kind: 'message',
  message: { ...sample, messageId: 'IN', chatId: chat.chatId, fromMe: false },
  chat: { chatId: chat.chatId },
  unread: true,
};
const status = (to: 'Sent' | 'Delivered' | 'Read'): Entry => ({
  kind: 'status',
  messageIds: [own.messageId],
  chatId: own.chatId,
  status: to,
  sender: '',
  senderPn: '',
  senderLid: '',
  fromMe: true,
  at: 1,
});

/** Uses the cache as the journal does. Returns true if the database has to be read. */
const setup = () => {
  let now = 0;
  const recent = new JournalCache(() => now);
  const commit = (entries: readonly Entry[], stored: Known, instance = of): boolean => {
    const remembered = recent.known(instance, entries);
    const known = remembered ?? stored;
    recent.keep(
      instance,
      known,
      reduceEntries(known, owner, entries, () => 'rnew'),
    );
    return remembered === null;
  };
  return { recent, commit, pass: (ms: number) => void (now += ms) };
};

const empty: Known = { messages: [], chats: [] };
const withChat: Known = { messages: [], chats: [chat] };

test('recent: the first text to a chat reads the database, and its later steps do not', () => {
  const { commit } = setup();
  assert.deepEqual([commit([queued], withChat), commit([status('Sent')], empty)], [true, false]);
  assert.equal(commit([{ ...queued, message: { ...own, messageId: 'OWN2' } }], empty), false);
  assert.deepEqual([commit([status('Delivered')], empty), commit([status('Read')], empty)], [false, false], 'nor do the receipts');
});

test('recent: a receipt of a sent message updates the cache', () => {
  const { recent, commit } = setup();
  commit([queued], withChat);
  commit([{ kind: 'composed', message: { ...own, text: 'composed', raw: Buffer.alloc(100) } }], empty);
  commit([status('Sent'), status('Delivered')], empty);
  const [known] = recent.known(of, [status('Read')])?.messages ?? [];
  assert.deepEqual([known?.status, known?.text, known?.raw], ['Delivered', 'composed', null]);
});

test('recent: a sent message that is edited, or is large in its encoded form, is read again', () => {
  const { recent, commit } = setup();
  const deleted: Entry = { ...status('Sent'), kind: 'deleted', messageId: own.messageId, byAdmin: false } as Entry;
  const sent = { ...own, status: 'Sent', unread: false, deletedAt: 0 } as const;
  commit([queued], withChat);
  commit([status('Sent')], empty);
  commit([deleted], { messages: [sent], chats: [chat] });
  assert.equal(recent.known(of, [status('Read')]), null);
  commit([{ ...queued, message: { ...own, raw: Buffer.alloc(10_000) } }], empty);
  assert.notEqual(recent.known(of, [status('Sent')]), null);
  commit([status('Sent')], empty);
  assert.equal(recent.known(of, [status('Read')]), null);
});

test('recent: an arriving message updates the cached chat', () => {
  const { recent, commit } = setup();
  commit([queued], withChat);
  assert.equal(commit([arrived, status('Sent')], empty), false);
  assert.equal(recent.known(of, [queued])?.chats[0]?.unreadCount, 4);
});

test('recent: the first message of a chat reads the database, and later ones do not', () => {
  const { commit } = setup();
  assert.equal(commit([arrived], withChat), true);
  assert.equal(commit([{ ...arrived, message: { ...sample, messageId: 'IN2', chatId: chat.chatId } }], empty), false);
  assert.equal(commit([queued], empty), false);
});

test('recent: a chat that only got receipts is not cached', () => {
  const { recent, commit } = setup();
  commit([status('Read')], { messages: [{ ...own, unread: false, deletedAt: 0 }], chats: [chat] });
  assert.equal(recent.known(of, [arrived]), null);
});

test('recent: a chat is cached for minutes, a waiting message for seconds, a sent one for a minute', () => {
  const { recent, commit, pass } = setup();
  commit([queued], withChat);
  pass(5_000);
  assert.equal(recent.known(of, [status('Sent')]), null);
  commit([{ ...queued, message: { ...own, messageId: 'OWN2' } }, { ...status('Sent'), messageIds: ['OWN2'] } as Entry], empty);
  pass(59_999);
  assert.notEqual(recent.known(of, [{ ...status('Read'), messageIds: ['OWN2'] } as Entry]), null);
  pass(1);
  assert.equal(recent.known(of, [{ ...status('Read'), messageIds: ['OWN2'] } as Entry]), null);
  assert.notEqual(recent.known(of, [arrived]), null);
  pass(600_000);
  assert.equal(recent.known(of, [arrived]), null);
});

test('recent: entries are separate for each instance and epoch, and dropped after a lost reply', () => {
  const { recent, commit } = setup();
  commit([queued], withChat);
  assert.equal(recent.known({ id: 'r2', epoch: 1 }, [queued]), null);
  assert.equal(recent.known({ id: 'r1', epoch: 2 }, [queued]), null, 'another owner may have changed the chat in between');
  recent.forget('another');
  assert.notEqual(recent.known(of, [queued]), null, 'a doubt about one instance costs no other its copies');
  recent.forget(of.id);
  assert.equal(recent.known(of, [queued]), null);
});
