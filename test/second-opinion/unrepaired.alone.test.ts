/** Tests the library without the repairs of this project. The suite finds the fault, so a fixed version of the library would be noticed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Curve } from '@whiskeysockets/baileys';
import { quietConsole } from '#src/platform/link/library-patches.ts';
import { makeContact } from '#test/platform/parties.ts';
import { randomOf } from '#test/support/random.ts';
import { cross, exchange } from './conversations.ts';
import { type End, SignalPeer } from './ends.ts';
import { SignalGroupPeer } from './group-peer.ts';

quietConsole();

const jid = '2002@lid';

const bare = (): End => {
  const { repository, bundle } = makeContact();
  return {
    bundle,
    meet: (session) => repository.injectE2ESession({ jid, session }),
    write: (text) => repository.encryptMessage({ jid, data: Buffer.from(text) }),
    read: async ({ type, ciphertext }) => Buffer.from(await repository.decryptMessage({ jid, type, ciphertext })).toString(),
  };
};

test('unrepaired library: some of eight pairs that write at the same time lose messages', async () => {
  const seeds = Array.from({ length: 8 }, (_, seed) => seed);
  const lost = await Promise.all(
    seeds.map(async (seed) => {
      const [own, peer] = [bare(), new SignalPeer()];
      await cross(own, peer);
      return exchange(own, peer, randomOf(seed)).then(
        () => 0,
        () => 1,
      );
    }),
  );
  // The millisecond of the last use decides which session is tried first, so a pair can succeed by chance.
  assert.notEqual(
    lost.reduce<number>((sum, one) => sum + one, 0),
    0,
  );
});

test('unrepaired library: it accepts invalid signatures', async () => {
  assert.equal(Curve.verify(Curve.generateKeyPair().public, Buffer.from('anything'), Buffer.alloc(64)), true);
  const [own, peer, stranger] = [bare(), new SignalPeer(), new SignalPeer()];
  await own.meet({ ...peer.bundle(), signedPreKey: stranger.bundle().signedPreKey });
});

test('unrepaired library: a group message that arrives after a later one cannot be read', async () => {
  const [{ repository }, peer] = [makeContact(), new SignalGroupPeer()];
  const group = '3003@g.us';
  const item = { groupId: group, axolotlSenderKeyDistributionMessage: await peer.distribution() };
  await repository.processSenderKeyDistributionMessage({ authorJid: jid, item });
  const read = async (msg: Uint8Array) => Buffer.from(await repository.decryptGroupMessage({ group, authorJid: jid, msg })).toString();
  const late = await peer.write('late');
  assert.equal(await read(await peer.write('later')), 'later');
  await assert.rejects(read(late), /Expected Buffer/);
});
