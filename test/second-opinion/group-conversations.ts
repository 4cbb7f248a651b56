/** Tests each of the project's Signal ends in a group with a member on the library of Signal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomOf, shuffled } from '#test/support/random.ts';
import { type GroupEnd, SignalGroupPeer } from './group-peer.ts';

/** Runs the tests. `make` creates a new member without any keys. */
export const testGroups = (name: string, make: () => Promise<GroupEnd>): void => {
  for (const writer of ['own', 'peer'] as const) {
    const title = `${name}, group, ${writer === 'own' ? 'to' : 'from'} the peer`;
    const parties = async (): Promise<[from: GroupEnd, to: GroupEnd]> => {
      const [own, peer] = [await make(), new SignalGroupPeer()];
      const [from, to] = writer === 'own' ? [own, peer] : [peer, own];
      await to.learn(await from.distribution());
      return [from, to];
    };
    const passes = async (from: GroupEnd, to: GroupEnd, text: string): Promise<void> =>
      assert.equal(await to.read(await from.write(text)), text);

    test(`${title}: texts are read in order, late, out of order and after lost texts`, async () => {
      const [from, to] = await parties();
      for (let n = 0; n < 20; n += 1) await passes(from, to, `${n}`);
      const late = await from.write('late');
      for (let n = 0; n < 20; n += 1) await from.write('lost');
      await passes(from, to, 'after a gap');
      assert.equal(await to.read(late), 'late');
      const all: [string, Uint8Array][] = [];
      for (let n = 0; n < 20; n += 1) all.push([`${n}`, await from.write(`${n}`)]);
      for (const [text, message] of shuffled(all, randomOf(1))) assert.equal(await to.read(message), text);
      await passes(from, to, 'and on');
    });

    test(`${title}: a new member reads later texts and no earlier text`, async () => {
      const [from, to] = await parties();
      const before: Uint8Array[] = [];
      for (let n = 0; n < 5; n += 1) before.push(await from.write(`${n}`));
      const later = writer === 'own' ? new SignalGroupPeer() : await make();
      await later.learn(await from.distribution());
      for (let n = 0; n < 5; n += 1) await passes(from, later, `now ${n}`);
      for (const message of before) await assert.rejects(later.read(message));
      for (const [n, message] of before.entries()) assert.equal(await to.read(message), `${n}`);
    });

    test(`${title}: a member who leaves causes a new key, and earlier texts under the old key are still read`, async () => {
      const [from, to] = await parties();
      await passes(from, to, 'one');
      const late = await from.write('late');
      await from.renew();
      const distribution = await from.distribution();
      const fresh = await from.write('under the new key');
      await assert.rejects(to.read(fresh));
      await to.learn(distribution);
      assert.equal(await to.read(fresh), 'under the new key');
      assert.equal(await to.read(late), 'late');
      for (let n = 0; n < 5; n += 1) await passes(from, to, `${n}`);
    });

    test(`${title}: a text with the signature of another member is refused`, async () => {
      const [from, to] = await parties();
      await passes(from, to, 'one');
      const forged = Buffer.from(await from.write('two'));
      forged.set(Buffer.from(await from.write('three')).subarray(-64), forged.length - 64);
      await assert.rejects(to.read(forged));
    });
  }
};
