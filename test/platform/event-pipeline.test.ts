/** Tests the pipeline from events of the library to entries: batches, and lookups before anything is stored. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { BaileysEventMap, proto, WAMessageKey } from '@whiskeysockets/baileys';
import type { Entry, Group } from '#actors/model.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import type { AuthState } from '#src/platform/keys/auth-state.ts';
import type { Directory } from '#src/platform/wire/jid.ts';
import type { BaileysEvent } from '#src/platform/events/library-values.ts';
import { createEventPipeline } from '#src/platform/events/event-pipeline.ts';
import { GroupUnknown } from '#src/platform/wire/outcomes.ts';
import { group as sample } from '#test/contract/samples.ts';
import { encryptVote } from '#src/sandbox/messages/polls-and-events.ts';
import { quietLog } from './setup.ts';

const friend = '5511900000002@s.whatsapp.net';
const directory: Directory = {
  me: { pn: '5511900000001@s.whatsapp.net', lid: '111@lid', name: 'Ana' },
  pn: () => '',
  lid: () => '',
  groupName: () => '',
  community: () => null,
  newId: () => 'r0000000',
  now: () => 1_000,
};

interface Options {
  /** The number of synchronisations of the shared state. */
  readonly synchronised?: number;
  /** Looks up addresses; absent: every address is known. */
  readonly load?: () => Promise<void>;
  /** Waits for the next turn of the event loop. */
  readonly turned?: () => Promise<void>;
  /** Waits until the history that is being fetched has arrived. */
  readonly fetched?: () => Promise<void>;
  /** Waits until the names of groups are read. */
  readonly unread?: () => Promise<void> | null;
  /** Records entries. */
  readonly record?: (entries: readonly Entry[]) => void;
  /** Returns a group of the platform. */
  readonly group?: () => Promise<Group | null>;
}

/** Creates a pipeline on an empty storage. */
const pipelineWith = ({
  synchronised = 1,
  load,
  record,
  turned = () => setImmediate(),
  fetched = async () => undefined,
  unread = () => null,
  group = async () => null,
}: Options) => {
  const recorded: Entry[][] = [];
  const surprises: unknown[] = [];
  const logged: string[] = [];
  const auth = {
    state: { creds: { accountSyncCounter: synchronised } },
    peek: () => (load === undefined ? null : undefined),
    load: async () => load?.(),
  };
  const pipeline = createEventPipeline({
    instance: 'r0',
    followsDeletions: true,
    // These are the only parts that a pipeline uses.
    auth: auth as unknown as AuthState,
    directory,
    log: { ...quietLog, error: (_fields, event) => void logged.push(event) },
    quoted: async () => null,
    record: record ?? ((entries) => void recorded.push([...entries])),
    recorded: async () => true,
    turn: () => turned(),
    fetched,
    unread,
    group,
    pair: async () => undefined,
    surprise: (error) => void surprises.push(error),
  });
  const ids = (): readonly string[] => recorded.flat().flatMap((entry) => (entry.kind === 'message' ? [entry.message.messageId] : []));
  return { pipeline, recorded, surprises, logged, ids };
};

const messagesOf = (id: string, message: proto.IMessage = { conversation: id }) => [
  { key: { id, remoteJid: friend, fromMe: false }, message },
];

const arrived = (id: string, message: proto.IMessage): BaileysEvent => ({
  name: 'messages.upsert',
  data: { type: 'append', messages: messagesOf(id, message) },
});

test('pipeline: a vote right after its poll is read, although the poll is not stored yet', async () => {
  const { pipeline, recorded } = pipelineWith({});
  const secret = randomBytes(32);
  const options = ['now', 'later'].map((optionName) => ({ optionName }));
  pipeline.push(arrived('POLL', { pollCreationMessageV3: { name: 'When?', options }, messageContextInfo: { messageSecret: secret } }));
  const vote = encryptVote(['later'], { pollId: 'POLL', creator: friend, voter: friend, secret }, randomBytes(12));
  pipeline.push(arrived('VOTE', { pollUpdateMessage: { pollCreationMessageKey: { id: 'POLL', remoteJid: friend, fromMe: false }, vote } }));
  await pipeline.drain();
  const votes = recorded.flat().map((entry) => (entry.kind === 'message' ? entry.message.vote : entry.kind));
  assert.deepEqual(votes, ['', 'later']);
});

test('pipeline: a saved contact is recorded each time, and a repeated name of a sender once', async () => {
  const { pipeline, recorded } = pipelineWith({});
  const saved: BaileysEvent = { name: 'contacts.upsert', data: [{ id: friend, name: 'Ana' }] };
  const heard: BaileysEvent = { name: 'contacts.update', data: [{ id: friend, notify: 'Ana S' }] };
  for (const event of [saved, saved, heard, heard]) pipeline.push(event);
  await pipeline.drain();
  assert.equal(recorded.flat().filter(({ kind }) => kind === 'chat').length, 3);
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

test('pipeline: the first shared state is reported as a batch, and later changes one by one', async () => {
  for (const [synchronised, expected] of [
    [0, [['history', 'history', 'history']]],
    [1, [['news'], ['chatLabel'], ['chat']]],
  ] as const) {
    const { pipeline, recorded } = pipelineWith({ synchronised });
    for (const event of shared) pipeline.push(event);
    await pipeline.drain();
    assert.deepEqual(
      recorded.map((entries) => entries.map(({ kind }) => kind)),
      expected,
    );
  }
});

test('pipeline: the first shared state waits for a history under way, which has the addresses of people', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { pipeline, recorded, ids } = pipelineWith({ synchronised: 0, fetched: () => promise });
  for (const event of shared) pipeline.push(event);
  await setImmediate();
  assert.equal(recorded.length, 0);
  pipeline.push(arrived('of the past', { conversation: 'a' }));
  resolve();
  await setImmediate();
  await pipeline.drain();
  assert.deepEqual(ids(), ['of the past']);
  assert.deepEqual(
    recorded.map(([first]) => first?.kind),
    ['message', 'history'],
  );
});

test('pipeline: the first events wait until the names of groups are read, also through a storage outage', async () => {
  let readings = 0;
  const unread = (): Promise<void> | null => {
    readings += 1;
    if (readings < 3) return Promise.reject(new StorageUnavailable('away'));
    return readings === 3 ? setImmediate() : null;
  };
  const { pipeline, ids } = pipelineWith({ unread });
  for (const id of ['a', 'b']) pipeline.push(arrived(id, { conversation: id }));
  assert.deepEqual(ids(), []);
  assert.equal(await pipeline.drain(), true);
  assert.deepEqual(ids(), ['a', 'b']);
});

test('pipeline: a message whose addresses cannot be looked up is recorded with the known ones, and so are later messages', async () => {
  let looked = 0;
  const load = async (): Promise<void> => {
    looked += 1;
    if (looked === 1) throw new Error('a key that cannot be read');
  };
  const { pipeline, ids, surprises, logged } = pipelineWith({ load });
  for (const id of ['A', 'B']) pipeline.push(arrived(id, { conversation: id }));
  assert.equal(await pipeline.drain(), true);
  assert.deepEqual([ids(), surprises, logged], [['A', 'B'], [], ['platform.lookup-failed']]);
});

/** An object that throws when a field of it is read. */
const poison = new Proxy({}, { get: () => assert.fail('poison') });
const poisoned = [
  { name: 'messages.upsert', data: { type: 'append', messages: [poison, ...messagesOf('B')] } },
  { name: 'contacts.update', data: [poison] },
  { name: 'call', data: [poison] },
] as unknown as readonly BaileysEvent[];

test('pipeline: an event that cannot be converted affects no other event', async () => {
  const { pipeline, ids, surprises } = pipelineWith({});
  for (const event of [arrived('A', { conversation: 'a' }), ...poisoned, arrived('C', { conversation: 'c' })]) pipeline.push(event);
  assert.equal(await pipeline.drain(), true);
  assert.deepEqual([ids(), surprises], [['A', 'B', 'C'], []]);
});

test('pipeline: a crash is reported once, and pushed events do not count as recorded', async () => {
  const { pipeline, surprises } = pipelineWith({
    record: () => {
      throw new Error('no record');
    },
  });
  for (const id of ['A', 'B']) pipeline.push(arrived(id, { conversation: id }));
  assert.equal(await pipeline.drain(), false);
  pipeline.push(arrived('C', { conversation: 'C' }));
  assert.equal(await pipeline.drain(), false);
  assert.equal(surprises.length, 1);
});

test('pipeline: when its connection ends it drops events that wait for storage, and records none of them later', async () => {
  let away = true;
  const load = async (): Promise<void> => {
    if (away) throw new StorageUnavailable('away');
  };
  const { pipeline, ids, logged } = pipelineWith({ load });
  for (const id of ['A', 'B']) pipeline.push(arrived(id, { conversation: id }));
  const drained = pipeline.drain();
  pipeline.close();
  assert.equal(await drained, false);
  away = false;
  assert.equal(await pipeline.drain(), false);
  assert.deepEqual([ids(), logged], [[], []]);
});

test('pipeline: while storage is away the number of presences is bounded, and that of messages is not', async () => {
  let away = true;
  const load = async (): Promise<void> => {
    if (away) throw new StorageUnavailable('away');
  };
  const { pipeline, ids, recorded } = pipelineWith({ load });
  pipeline.push(arrived('first', { conversation: 'a' }));
  const presences = { [friend]: { lastKnownPresence: 'composing' } } as const;
  for (let n = 0; n < 3_000; n += 1) pipeline.push({ name: 'presence.update', data: { id: friend, presences } });
  pipeline.push(arrived('last', { conversation: 'b' }));
  away = false;
  assert.equal(await pipeline.drain(), true);
  assert.deepEqual(ids(), ['first', 'last']);
  assert.ok(recorded.length <= 1_003, `${recorded.length} events`);
});

const room = '120363000000000001@g.us';
const admin: Group = { ...sample, id: room, members: [{ id: friend, pn: friend, lid: '', isAdmin: true, isSuperAdmin: false }] };
const deletion: BaileysEvent = {
  name: 'messages.upsert',
  data: {
    type: 'append',
    messages: [
      {
        key: { id: 'DELETION', remoteJid: room, participant: friend, fromMe: false },
        message: { protocolMessage: { type: 0, key: { id: 'OF ANOTHER', remoteJid: room, participant: '222@lid' } } },
      },
    ],
  },
};

/** Pushes a deletion in a group about which `unknown` queries get no answer. Returns the right that was recorded with the deletion, and the number of queries. */
const deletedAfter = async (unknown: number, timers: { tick(ms: number): void }) => {
  let asked = 0;
  const group = async (): Promise<Group> => {
    asked += 1;
    if (asked <= unknown) throw new GroupUnknown();
    return admin;
  };
  const { pipeline, recorded, logged } = pipelineWith({ group });
  pipeline.push(deletion);
  pipeline.push(arrived('after it', { conversation: 'b' }));
  for (let n = 0; n < 20; n += 1) {
    await setImmediate();
    timers.tick(60_000);
  }
  assert.equal(await pipeline.drain(), true);
  const byAdmin = recorded.flat().flatMap((entry) => (entry.kind === 'deleted' ? [entry.byAdmin] : []));
  return { byAdmin, asked, logged, kinds: recorded.flat().map(({ kind }) => kind) };
};

test('pipeline: a deletion by an admin counts if the platform names the members only at a later query', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const expected = { byAdmin: [true], asked: 3, logged: [], kinds: ['deleted', 'message'] };
  assert.deepEqual(await deletedAfter(2, t.mock.timers), expected);
});

test('pipeline: a deletion does not count if the platform never names the members, and later events follow', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const expected = { byAdmin: [false], asked: 4, logged: [], kinds: ['deleted', 'message'] };
  assert.deepEqual(await deletedAfter(Infinity, t.mock.timers), expected);
});

test('pipeline: a deletion that waits for the members at the end of its connection is not recorded', async () => {
  const group = async (): Promise<Group> => {
    throw new GroupUnknown();
  };
  const { pipeline, recorded, logged } = pipelineWith({ group });
  pipeline.push(deletion);
  await setImmediate();
  pipeline.close();
  assert.equal(await pipeline.drain(), false);
  assert.deepEqual([recorded, logged], [[], []]);
});

const [friendLid, strangerLid] = ['333@lid', '222@lid'];

/** Keys that a deletion of a friend names, each with the number of queries for the members. The friend is an admin. */
const named: readonly (readonly [string, WAMessageKey, number])[] = [
  ['by fromMe', { fromMe: true }, 0],
  ['by the number', { participant: friend }, 0],
  ['by the number of a device', { participant: friend.replace('@', ':7@') }, 0],
  ['by the LID', { participant: friendLid }, 0],
  ['as another member', { participant: strangerLid }, 1],
  ['not at all', {}, 1],
  ['by an empty address', { participant: '' }, 1],
];

for (const [how, key, queries] of named)
  test(`pipeline: a deletion whose author is named ${how} ${queries > 0 ? 'counts as that of an admin' : 'asks for no members'}`, async () => {
    let asked = 0;
    const { pipeline, recorded } = pipelineWith({ group: async () => ((asked += 1), admin) });
    const alt = key.participant === friendLid ? { participantAlt: friendLid } : {};
    const from = { id: 'DELETION', remoteJid: room, participant: friend, fromMe: false, ...alt };
    const message = { protocolMessage: { type: 0, key: { id: 'TARGET', remoteJid: room, ...key } } };
    pipeline.push({ name: 'messages.upsert', data: { type: 'append', messages: [{ key: from, message }] } });
    assert.equal(await pipeline.drain(), true);
    const byAdmin = recorded.flat().flatMap((entry) => (entry.kind === 'deleted' ? [entry.byAdmin] : []));
    assert.deepEqual([asked, byAdmin], [queries, [queries > 0]]);
  });

const pastOf = (count: number): BaileysEvent => ({
  name: 'messaging-history.set',
  data: {
    chats: [{ id: friend }],
    contacts: [],
    messages: Array.from({ length: count }, (_, n) => ({
      key: { remoteJid: friend, fromMe: false, id: `P${n}` },
      message: { conversation: `text ${n}` },
      messageTimestamp: 1_000 + n,
    })),
    isLatest: true,
    progress: 100,
    syncType: 3,
  },
});

const pastIds = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap((entry) =>
    entry.kind === 'history' && entry.past.of === 'messages' ? entry.past.items.map(({ message }) => message.messageId) : [],
  );

test('history: thousands of messages leave turns to other work, and later events stay behind them', async () => {
  let turns = 0;
  const turned = async (): Promise<void> => void (turns += 1);
  const { pipeline, recorded, ids } = pipelineWith({ turned });
  pipeline.push(pastOf(1_000));
  pipeline.push(arrived('LIVE', { conversation: 'now' }));
  assert.ok(await pipeline.drain());
  assert.equal(pastIds(recorded.flat()).length, 1_000);
  assert.ok(turns >= 10, `${turns} turns`);
  assert.deepEqual([recorded.length, ids()], [2, ['LIVE']]);
});

test('history: a connection that ends in the middle of a history records none of it, and reports this', async () => {
  const { pipeline, recorded } = pipelineWith({
    turned: async () => pipeline.close(),
  });
  pipeline.push(pastOf(1_000));
  assert.equal(await pipeline.drain(), false);
  assert.deepEqual(recorded, []);
});
