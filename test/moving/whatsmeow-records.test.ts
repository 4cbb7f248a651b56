/** Tests that Signal records from the format of whatsmeow continue, with a peer on the library of Signal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { senderKeyOf, type SessionRecord, sessionRecordOf } from '#src/moving/whatsmeow/records.ts';
import { quietConsole, repairSenderKeys } from '#src/platform/link/library-patches.ts';
import { type End, SignalPeer } from '#test/second-opinion/ends.ts';
import { SignalGroupPeer } from '#test/second-opinion/group-peer.ts';
import { MovingDevice } from '#test/support/whatsmeow/mover.ts';
import { goSenderKeyOf, goSessionOf } from '#test/support/whatsmeow/records.ts';

quietConsole();
repairSenderKeys();

const jid = '2002@lid';
const address = '2002_1.0';
const group = '3003@g.us';
const senderKeyName = `${group}::2002_1::0`;

class Mover extends MovingDevice implements End {
  meet(session: ReturnType<MovingDevice['bundle']>) {
    return this.repository.injectE2ESession({ jid, session });
  }
  write(text: string) {
    return this.repository.encryptMessage({ jid, data: Buffer.from(text) });
  }
  async read({ type, ciphertext }: Awaited<ReturnType<End['write']>>) {
    return Buffer.from(await this.repository.decryptMessage({ jid, type, ciphertext })).toString();
  }
  get session(): SessionRecord {
    return this.record('session', address) as SessionRecord;
  }
}

const passes = async (from: End, to: End, text: string): Promise<string> => {
  const sent = await from.write(text);
  assert.equal(await to.read(sent), text);
  return sent.type;
};

const parties = (): readonly [Mover, SignalPeer] => [new Mover(), new SignalPeer()];

for (const beginner of ['the device', 'the contact'] as const) {
  test(`session record: a conversation that ${beginner} began goes on after every step`, async () => {
    const [own, peer] = parties();
    const [first, second] = beginner === 'the device' ? [own, peer] : [peer, own];
    await first.meet(second.bundle());
    for (const [from, to] of [
      [first, second],
      [first, second],
      [second, first],
      [second, first],
      [first, second],
      [second, first],
      [first, second],
    ] as const) {
      await passes(from, to, `from ${from === own ? 'the device' : 'the contact'}`);
      own.move();
    }
    assert.equal(await passes(own, peer, 'last'), 'msg');
  });
}

test('session record: an unanswered first message stays a first message', async () => {
  const [own, peer] = parties();
  await own.meet(peer.bundle());
  const lost = await own.write('under way');
  own.move();
  assert.equal(await passes(own, peer, 'after the move'), 'pkmsg');
  assert.equal(await peer.read(lost), 'under way');
  assert.equal(await passes(peer, own, 'answer'), 'msg');
});

test('session record: a contact can continue in an archived session', async () => {
  const [own, peer] = parties();
  await own.meet(peer.bundle());
  await passes(own, peer, 'one');
  await passes(peer, own, 'two');
  const late = await peer.write('in the old session');
  await own.meet(peer.bundle());
  await own.write('in the new session');
  own.move();
  const states = Object.values(own.session._sessions);
  assert.deepEqual(
    states.map(({ indexInfo }) => indexInfo.closed === -1),
    [true, false],
  );
  assert.equal(await own.read(late), 'in the old session');
});

test('session record: a conversion and back keeps everything except for skipped messages, old copies and times', async () => {
  const [own, peer] = parties();
  await peer.meet(own.bundle());
  await passes(peer, own, 'one');
  await passes(own, peer, 'two');
  await passes(peer, own, 'three');
  const before = own.session;
  own.move();
  const plain = ({ _sessions }: SessionRecord) =>
    Object.values(_sessions).map(({ indexInfo: { used: _used, created: _created, ...index }, _chains, ...rest }) => ({
      ...rest,
      index,
      open: Object.entries(_chains).filter(([, chain]) => chain.chainKey.key !== undefined),
    }));
  const [closed, kept] = [plain(before), plain(own.session)];
  const known = new Set(closed.flatMap(({ open }) => open.map(([key]) => key)));
  assert.deepEqual(
    kept.map((session) => ({ ...session, open: session.open.filter(([key]) => known.has(key)) })),
    closed,
  );
});

test('session record: a skipped message is refused so that the contact sends it again', async () => {
  const [own, peer] = parties();
  await peer.meet(own.bundle());
  await passes(peer, own, 'one');
  await passes(own, peer, 'two');
  const late = await peer.write('late');
  await passes(peer, own, 'later');
  await passes(own, peer, 'answer');
  await passes(peer, own, 'once more');
  own.move();
  await assert.rejects(own.read(late), /No matching sessions/);
  assert.equal(await passes(peer, own, 'goes on'), 'msg');
});

test('session record: a skipped first message replaces the session, and fails because its key was used', async () => {
  const [own, peer] = parties();
  await peer.meet(own.bundle());
  const late = await peer.write('late');
  await passes(peer, own, 'later');
  own.move();
  assert.equal(own.session, undefined);
  await assert.rejects(own.read(late), /Invalid PreKey ID/);
});

test('session record: whatsmeow keeps no chain under the signed pre-key when it begins, and remembers that key', async () => {
  const [own, peer] = parties();
  await own.meet(peer.bundle());
  const text = goSessionOf(own.session, own.creds)?.toString() ?? '';
  const [chain] = JSON.parse(text).SessionState.ReceiverChains;
  assert.equal(chain.ChainKey.Index, 0);
  const [entry] = Object.values(sessionRecordOf(Buffer.from(text), 1_000)?._sessions ?? {});
  assert.equal(entry?.currentRatchet.lastRemoteEphemeralKey, chain.SenderRatchetKeyPublic);
  assert.deepEqual(
    Object.values(entry?._chains ?? {}).map(({ chainType }) => chainType),
    [1],
  );
  assert.deepEqual([entry?.indexInfo.baseKeyType, entry?.indexInfo.used, entry?.indexInfo.closed], [1, 1_000, -1]);
});

test('session record: of two copies of a state the current one is used', async () => {
  const [own, peer] = parties();
  await own.meet(peer.bundle());
  const old = JSON.parse(goSessionOf(own.session, own.creds)?.toString() ?? '');
  await passes(own, peer, 'one');
  await passes(peer, own, 'two');
  const now = JSON.parse(goSessionOf(own.session, own.creds)?.toString() ?? '');
  const both = Buffer.from(JSON.stringify({ ...now, PreviousStates: [old.SessionState] }));
  own.set('session', address, sessionRecordOf(both, Date.now()));
  assert.equal(Object.keys(own.session._sessions).length, 1);
  assert.equal(await passes(own, peer, 'three'), 'msg');
});

const broken: readonly (readonly [title: string, change: (state: Record<string, unknown>) => Record<string, unknown>])[] = [
  ['without a sending chain', (state) => ({ ...state, SenderChain: null })],
  ['with a short root key', (state) => ({ ...state, RootKey: 'AAAA' })],
  ['with a counter that is no number', (state) => ({ ...state, PreviousCounter: 'one' })],
  ['without a receiving chain', (state) => ({ ...state, ReceiverChains: null })],
];
for (const [title, change] of broken) {
  test(`session record: a state ${title} is refused in words`, async () => {
    const [own, peer] = parties();
    await own.meet(peer.bundle());
    const { SessionState } = JSON.parse(goSessionOf(own.session, own.creds)?.toString() ?? '');
    const record = Buffer.from(JSON.stringify({ SessionState: change(SessionState), PreviousStates: [] }));
    assert.throws(() => sessionRecordOf(record, 1), { name: 'UnreadableRecord', message: 'the record is broken' });
  });
}

for (const [title, record, message] of [
  ['that begins with another byte', Buffer.from([0x0a, 0x7b]), 'the record is not in the JSON form of whatsmeow'],
  ['that is empty', Buffer.alloc(0), 'the record is not in the JSON form of whatsmeow'],
  ['that ends in the middle', Buffer.from('{"SessionState":{'), 'the record is broken'],
  ['of another shape', Buffer.from('{"SenderKeyStates":7}'), 'the record is broken'],
] as const) {
  test(`signal record: one ${title} is refused in words`, () => {
    assert.throws(() => sessionRecordOf(record, 1), { name: 'UnreadableRecord', message });
    assert.throws(() => senderKeyOf(record), { name: 'UnreadableRecord', message });
  });
}

const groupOf = async () => {
  const [own, peer] = [new Mover(), new SignalGroupPeer()];
  await own.repository.processSenderKeyDistributionMessage({
    authorJid: jid,
    item: { groupId: group, axolotlSenderKeyDistributionMessage: await peer.distribution() },
  });
  const read = async (msg: Uint8Array) => Buffer.from(await own.repository.decryptGroupMessage({ group, authorJid: jid, msg })).toString();
  return { own, peer, read };
};

test('sender key record: a member is read after the move, also its earlier messages', async () => {
  const { own, peer, read } = await groupOf();
  assert.equal(await read(await peer.write('one')), 'one');
  const late = await peer.write('late');
  assert.equal(await read(await peer.write('later')), 'later');
  own.move();
  assert.equal(await read(await peer.write('after the move')), 'after the move');
  assert.equal(await read(late), 'late');
});

test('sender key record: a member that was given a new key is read under both', async () => {
  const { own, peer, read } = await groupOf();
  const old = await peer.write('under the old key');
  await peer.renew();
  await own.repository.processSenderKeyDistributionMessage({
    authorJid: jid,
    item: { groupId: group, axolotlSenderKeyDistributionMessage: await peer.distribution() },
  });
  own.move();
  assert.equal(await read(await peer.write('under the new key')), 'under the new key');
  assert.equal(await read(old), 'under the old key');
});

test('sender key record: the own key continues after its last message', async () => {
  const [own, peer] = [new Mover(), new SignalGroupPeer()];
  const write = (text: string) => own.repository.encryptGroupMessage({ group, meId: '1001@lid', data: Buffer.from(text) });
  const first = await write('one');
  await peer.learn(first.senderKeyDistributionMessage);
  assert.equal(await peer.read(first.ciphertext), 'one');
  own.move();
  const second = await write('two');
  assert.equal(await peer.read(second.ciphertext), 'two');
});

test('sender key record: private keys of others are empty, whether whatsmeow wrote null or zeros', async () => {
  const { own } = await groupOf();
  const stored = own.record('sender-key', senderKeyName) as Uint8Array;
  const [nulls, zeros] = [false, true].map((form) => senderKeyOf(goSenderKeyOf(stored, form))?.toString());
  assert.equal(nulls, zeros);
  assert.match(String(nulls), /"private":\{"type":"Buffer","data":""\}/);
});

test('sender key record: one without any key is left out', () => {
  assert.equal(senderKeyOf(Buffer.from('{"SenderKeyStates":null}')), null);
});
