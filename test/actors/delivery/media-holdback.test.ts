/** Tests messages that wait for their files: order within a chat, independent chats, and a limit of every wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MediaHoldback } from '#actors/delivery/media-holdback.ts';
import type { Entry, Message } from '#actors/model.ts';
import type { KeptFile } from '#actors/ports.ts';
import { message } from '#test/contract/samples.ts';
import { FakeTime } from '#test/fakes/time.ts';

const file = { name: 'f', url: 'http://g/files/f', hash: '', size: 1, mimetype: '', filename: '' };

class Desk {
  readonly time = new FakeTime();
  readonly recorded: string[] = [];
  readonly late: string[] = [];
  /** Files that are being downloaded, by message. */
  readonly files = new Map<string, (file: KeptFile | null) => void>();
  readonly gate: MediaHoldback;

  constructor(wait = 1_000) {
    this.gate = new MediaHoldback({
      record: (entries) => void this.recorded.push(...entries.map(nameOf)),
      recorded: async () => true,
      fetch: ({ messageId, type }) => (type === 'media' ? new Promise((resolve) => void this.files.set(messageId, resolve)) : null),
      late: ({ messageId }, { url }) => void this.late.push(`${messageId} ${url}`),
      time: this.time,
      wait,
    });
  }

  take(...entries: readonly Entry[]): void {
    this.gate.record(entries);
  }

  async come(messageId: string, kept: KeptFile | null = file): Promise<void> {
    this.files.get(messageId)?.(kept);
    await this.time.pass(0);
  }
}

const nameOf = (entry: Entry): string => {
  if (entry.kind === 'message') return entry.message.messageId + (entry.message.fileUrl === '' ? '' : '+file');
  if (entry.kind === 'queued') return `queued ${entry.message.messageId}`;
  return entry.kind === 'status' ? `status of ${entry.messageIds[0]}` : entry.kind;
};
const arrived = (messageId: string, chatId: string, type: Message['type']): Entry => ({
  kind: 'message',
  message: { ...message, messageId, chatId, type, fileUrl: '' },
  chat: { chatId },
  unread: true,
});
const text = (id: string, chat = 'a'): Entry => arrived(id, chat, 'text');
const picture = (id: string, chat = 'a'): Entry => arrived(id, chat, 'media');
const status = (id: string, chatId = 'a'): Entry => ({
  kind: 'status',
  messageIds: [id],
  chatId,
  status: 'Read',
  sender: '',
  senderPn: '',
  senderLid: '',
  fromMe: false,
  at: 0,
});

test('media gate: a message leaves with its file, and later messages of its chat wait while other chats do not', async () => {
  const desk = new Desk();
  desk.take(text('1'), picture('2'), text('3'), status('3'), text('4', 'b'), { kind: 'chatRead', chatId: 'a' });
  assert.deepEqual(desk.recorded, ['1', '4']);
  await desk.come('2');
  assert.deepEqual(desk.recorded, ['1', '4', '2+file', '3', 'status of 3', 'chatRead']);
  desk.take(text('5'));
  assert.equal(desk.recorded.at(-1), '5', 'the chat is free again');
});

test('media gate: an own message that is about to leave is stored at once, also while its chat waits for a file', async () => {
  const desk = new Desk();
  desk.take(picture('1'), { kind: 'queued', message: { ...message, messageId: 'own', chatId: 'a' }, chat: { chatId: 'a' } });
  assert.deepEqual(desk.recorded, ['queued own']);
  await desk.come('1');
  assert.deepEqual(desk.recorded, ['queued own', '1+file']);
});

test('media gate: files of one chat may arrive in any order, and its messages leave in theirs', async () => {
  const desk = new Desk();
  desk.take(picture('1'), picture('2'), picture('3', 'b'));
  await desk.come('2');
  assert.deepEqual(desk.recorded, []);
  await desk.come('3');
  await desk.come('1');
  assert.deepEqual(desk.recorded, ['3+file', '1+file', '2+file']);
});

test('media gate: a file that is unavailable delays nothing', async () => {
  const desk = new Desk();
  desk.take(picture('1'));
  await desk.come('1', null);
  assert.deepEqual([desk.recorded, desk.late], [['1'], []]);
});

test('media gate: after the time-out a message leaves without its file, which is reported when it arrives', async () => {
  const desk = new Desk();
  desk.take(picture('1'), text('2'));
  await desk.time.pass(999);
  assert.deepEqual(desk.recorded, []);
  await desk.time.pass(1);
  assert.deepEqual(desk.recorded, ['1', '2']);
  await desk.come('1');
  assert.deepEqual(desk.late, [`1 ${file.url}`]);
});

test('media gate: recorded waits for the messages that were held at the call, and for no later ones', async () => {
  const desk = new Desk();
  desk.take(picture('1'));
  const state = { over: false };
  void desk.gate.recorded().then(() => (state.over = true));
  desk.take(picture('2'));
  await desk.time.pass(0);
  assert.equal(state.over, false);
  await desk.come('1');
  await desk.time.pass(0);
  assert.deepEqual([state.over, desk.recorded], [true, ['1+file']]);
});

test('media gate: a release hands on all messages in order, and reports their files later', async () => {
  const desk = new Desk();
  desk.take(picture('1'), text('2'), picture('3', 'b'));
  desk.gate.release();
  assert.deepEqual(desk.recorded, ['1', '2', '3']);
  await desk.come('3');
  await desk.time.pass(5_000);
  assert.deepEqual([desk.recorded.length, desk.late], [3, [`3 ${file.url}`]]);
});

test('media gate: without a wait, or beyond its bound, messages leave at once and their files are reported', async () => {
  const desk = new Desk(0);
  desk.take(picture('1'));
  await desk.come('1');
  assert.deepEqual([desk.recorded, desk.late], [['1'], [`1 ${file.url}`]]);
  const full = new Desk();
  full.take(...Array.from({ length: 600 }, (_, n) => picture(`m${n}`, `c${n}`)));
  assert.equal(full.recorded.length, 100);
  await full.come('m599');
  assert.deepEqual(full.late, [`m599 ${file.url}`]);
});
