/** The way from the library's events to entries: what is gathered, and what is looked up where nothing is stored yet. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { BaileysEventMap, proto } from '@whiskeysockets/baileys';
import type { Entry } from '#actors/model.ts';
import type { AuthState } from '#src/platform/keys/auth-state.ts';
import type { Directory } from '#src/platform/directory.ts';
import type { BaileysEvent } from '#src/platform/events/baileys-event.ts';
import { createEventPipeline } from '#src/platform/events/event-pipeline.ts';
import { encryptVote } from '#src/sandbox/polls.ts';
import { quietLog } from './setup.ts';

const friend = '5511900000002@s.whatsapp.net';
const directory: Directory = {
  me: { pn: '5511900000001@s.whatsapp.net', lid: '111@lid', name: 'Ana' },
  pn: () => '',
  lid: () => '',
  groupName: () => '',
  newId: () => 'r0000000',
  now: () => 1_000,
};

/** Nothing is stored, and every address is known; `synchronised`: how often the shared state was seen. */
const recorderWith = (synchronised: number) => {
  const recorded: Entry[][] = [];
  const auth = { state: { creds: { accountSyncCounter: synchronised } }, peek: () => null, learn: async () => undefined };
  const recorder = createEventPipeline({
    instance: 'r0',
    // The part of it that a recorder uses.
    auth: auth as unknown as AuthState,
    directory,
    log: quietLog,
    quoted: async () => null,
    record: (entries) => void recorded.push([...entries]),
    surprise: (error) => assert.fail(String(error)),
  });
  return { recorder, recorded };
};

const arrived = (id: string, message: proto.IMessage): BaileysEvent => ({
  name: 'messages.upsert',
  data: { type: 'append', messages: [{ key: { id, remoteJid: friend, fromMe: false }, message }] },
});

test('recorder: a vote right behind its poll is read, though the poll is not stored yet', async () => {
  const { recorder, recorded } = recorderWith(1);
  const secret = randomBytes(32);
  const options = ['now', 'later'].map((optionName) => ({ optionName }));
  recorder.push(arrived('POLL', { pollCreationMessageV3: { name: 'When?', options }, messageContextInfo: { messageSecret: secret } }));
  const vote = encryptVote(['later'], { pollId: 'POLL', creator: friend, voter: friend, secret }, randomBytes(12));
  recorder.push(arrived('VOTE', { pollUpdateMessage: { pollCreationMessageKey: { id: 'POLL', remoteJid: friend, fromMe: false }, vote } }));
  await recorder.drain();
  const votes = recorded.flat().map((entry) => (entry.kind === 'message' ? entry.message.vote : entry.kind));
  assert.deepEqual(votes, ['', 'later']);
});

const shared: readonly BaileysEvent[] = [
  { name: 'labels.edit', data: { id: '7', name: 'New', color: 3, deleted: false } },
  {
    name: 'labels.association',
    data: {
      type: 'add',
      association: { type: 'label_jid', chatId: friend, labelId: '7' } as BaileysEventMap['labels.association']['association'],
    },
  },
  { name: 'chats.update', data: [{ id: friend, archived: true }] },
];

test('recorder: the shared state that is seen for the first time is gathered, later changes are told one by one', async () => {
  for (const [synchronised, expected] of [
    [0, [['history', 'history', 'history']]],
    [1, [['news'], ['chatLabel'], ['chat']]],
  ] as const) {
    const { recorder, recorded } = recorderWith(synchronised);
    for (const event of shared) recorder.push(event);
    await recorder.drain();
    assert.deepEqual(
      recorded.map((entries) => entries.map(({ kind }) => kind)),
      expected,
    );
  }
});
