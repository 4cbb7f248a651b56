/** Tests each of the project's Signal ends with a peer on the library of Signal. Each message is read at the first attempt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sent } from '#test/platform/parties.ts';
import { randomOf } from '#test/support/random.ts';
import { type End, SignalPeer } from './ends.ts';

export interface OwnEnd extends End {
  loseSessions(): Promise<void>;
}

/** The number of crossed pairs, and of messages that each pair exchanges. */
const pairs = 6;
const messages = 40;

const passes = async (from: End, to: End, text: string): Promise<Sent['type']> => {
  const sent = await from.write(text);
  assert.equal(await to.read(sent), text);
  return sent.type;
};

/** Exchanges messages at random. Some messages arrive late or in another order. */
export const exchange = async (one: End, other: End, random: () => number): Promise<void> => {
  type Lane = { readonly from: End; readonly to: End; readonly onTheWay: { readonly text: string; readonly sent: Sent }[] };
  const lanes: readonly [Lane, Lane] = [
    { from: one, to: other, onTheWay: [] },
    { from: other, to: one, onTheWay: [] },
  ];
  const arrive = async ({ to, onTheWay }: Lane): Promise<void> => {
    const [next] = onTheWay.splice(random() < 0.8 ? 0 : Math.floor(random() * onTheWay.length), 1);
    if (next) assert.equal(await to.read(next.sent), next.text);
  };
  for (let n = 0; n < messages;) {
    const lane = lanes[random() < 0.5 ? 0 : 1];
    if (random() < 0.5) await arrive(lane);
    else lane.onTheWay.push({ text: `${n}`, sent: await lane.from.write(`${n++}`) });
  }
  for (const lane of lanes) while (lane.onTheWay.length > 0) await arrive(lane);
};

/** Lets both ends write before they read, each in a session that this end began. */
export const cross = async (one: End, other: End): Promise<void> => {
  await Promise.all([one.meet(other.bundle()), other.meet(one.bundle())]);
  const [first, second] = [await one.write('first'), await other.write('second')];
  assert.deepEqual([first.type, second.type], ['pkmsg', 'pkmsg']);
  assert.equal(await other.read(first), 'first');
  assert.equal(await one.read(second), 'second');
};

export interface Subject {
  readonly name: string;
  /** Creates an end that has no session. */
  make(): Promise<OwnEnd>;
  /** Creates the same end with another identity key. */
  linkAnew(): Promise<OwnEnd>;
}

type Scenario = (own: OwnEnd, peer: SignalPeer, subject: Subject) => Promise<void>;

const begins =
  (beginner: 'own' | 'peer'): Scenario =>
  async (own, peer) => {
    const [first, second] = beginner === 'own' ? [own, peer] : [peer, own];
    await first.meet(second.bundle());
    for (const text of ['one', 'two']) assert.equal(await passes(first, second, text), 'pkmsg');
    for (const text of ['three', 'four']) assert.equal(await passes(second, first, text), 'msg');
    assert.equal(await passes(first, second, 'five'), 'msg');
    await exchange(own, peer, randomOf(1));
  };

const archives: Scenario = async (own, peer) => {
  await cross(own, peer);
  const late: { readonly to: End; readonly text: string; readonly sent: Sent }[] = [];
  for (let round = 0; round < 6; round += 1) {
    for (const [from, to] of [
      [own, peer],
      [peer, own],
    ] as const) {
      late.push({ to, text: `late ${round}`, sent: await from.write(`late ${round}`) });
      await from.meet(to.bundle());
      assert.equal(await passes(from, to, `new session ${round}`), 'pkmsg');
      await passes(to, from, `answer ${round}`);
    }
  }
  for (const { to, text, sent } of late.toReversed()) assert.equal(await to.read(sent), text);
  await exchange(own, peer, randomOf(2));
};

const asksAgain =
  (loser: 'own' | 'peer'): Scenario =>
  async (own, peer) => {
    await cross(own, peer);
    await exchange(own, peer, randomOf(3));
    const [from, to] = loser === 'own' ? [peer, own] : [own, peer];
    await (loser === 'own' ? own.loseSessions() : peer.loseSessions());
    await assert.rejects(to.read(await from.write('unreadable')));
    // The second request contains the keys for a new session.
    await from.meet(to.bundle());
    assert.equal(await passes(from, to, 'unreadable'), 'pkmsg');
    await exchange(own, peer, randomOf(4));
  };

const peerInstalledAnew: Scenario = async (own, peer) => {
  await cross(own, peer);
  await exchange(own, peer, randomOf(5));
  const again = new SignalPeer();
  const forTheOld = await own.write('in the old session');
  await assert.rejects(again.read(forTheOld));
  await again.meet(own.bundle());
  assert.equal(await passes(again, own, 'under a new key'), 'pkmsg');
  assert.equal(await passes(own, again, 'in the new session'), 'msg');
  await exchange(own, again, randomOf(6));
};

const linkedAnew: Scenario = async (own, peer, { linkAnew }) => {
  await cross(own, peer);
  await exchange(own, peer, randomOf(7));
  const again = await linkAnew();
  await again.meet(peer.bundle());
  assert.equal(await passes(again, peer, 'under a new key'), 'pkmsg');
  await exchange(again, peer, randomOf(8));
};

const scenarios: readonly (readonly [sentence: string, Scenario])[] = [
  ['a conversation that it begins', begins('own')],
  ['a conversation that the peer begins', begins('peer')],
  ['archived sessions, in which messages are still under way', archives],
  ['it lost its sessions and asks for a message again', asksAgain('own')],
  ['the peer lost its sessions and asks for a message again', asksAgain('peer')],
  ['the peer is installed anew under the same address', peerInstalledAnew],
  ['it is linked anew, under a new key', linkedAnew],
  [
    'a signed key of somebody else is noticed',
    async (own, peer) => {
      const { signedPreKey } = new SignalPeer().bundle();
      await assert.rejects(peer.meet({ ...own.bundle(), signedPreKey }));
    },
  ],
  ...Array.from({ length: pairs }, (_, seed): readonly [string, Scenario] => [
    `crossed sessions (seed ${seed})`,
    async (own, peer) => {
      await cross(own, peer);
      await exchange(own, peer, randomOf(seed));
    },
  ]),
];

export const testConversations = (subject: Subject): void => {
  for (const [sentence, run] of scenarios)
    test(`${subject.name}: ${sentence}`, async () => run(await subject.make(), new SignalPeer(), subject));
};
