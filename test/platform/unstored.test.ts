/** Tests arrivals that cannot be stored. The platform keeps and repeats them, through the real protocol. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Entry } from '#actors/model.ts';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

const own = '5511900000801';
const friend = '5511900000802';

let bench: Bench;
let instance: Instance;
before(async () => {
  bench = await startBench();
  await bench.running.sandbox.putPerson({ number: friend, name: 'Friend' });
  instance = await connected(bench, own);
});
after(() => bench.stop());

/** Stanzas that the platform keeps for the account's linked device. */
const kept = (): number => {
  const person = bench.running.sandbox.people().find(({ number }) => number === own);
  return person?.devices.reduce((sum, { queued }) => sum + queued, 0) ?? -1;
};

const reconnect = async (): Promise<void> => {
  await instance.link.close();
  instance.open();
  await instance.fact('platform.opened');
};

const entryOf = (pick: (entry: Entry) => boolean): Promise<Entry> => instance.entries.wait((entry) => pick(entry) && entry, 'an entry');

/** Writes from the phone of the account to the friend, so that the friend has a message to confirm. Returns its id. */
const written = async (): Promise<string> => {
  const { id } = await bench.running.sandbox.send(own, friend, { kind: 'text', text: 'to be read' });
  await instance.message(({ messageId }) => messageId === id);
  return id;
};

interface Case {
  readonly title: string;
  /** Causes the arrival. Returns a function that recognises its entry. */
  happen(): Promise<(entry: Entry) => boolean>;
}

const cases: readonly Case[] = [
  {
    title: 'a read receipt',
    async happen() {
      const id = await written();
      await bench.running.sandbox.receipt(friend, { type: 'read', ids: [id] });
      return (entry) => entry.kind === 'status' && entry.status === 'Read' && entry.messageIds.includes(id);
    },
  },
  {
    title: 'the new name of a group',
    async happen() {
      const { jid } = await bench.running.sandbox.createGroup({ subject: 'Before', creator: friend, participants: [own] });
      await bench.running.sandbox.updateGroup(jid, friend, { action: 'subject', text: `After ${jid}` });
      return (entry) => entry.kind === 'news' && JSON.stringify(entry).includes(`After ${jid}`);
    },
  },
  {
    title: 'a call',
    async happen() {
      const { id } = await bench.running.sandbox.call(friend, own, { step: 'offer' });
      return (entry) => entry.kind === 'news' && JSON.stringify(entry).includes(id);
    },
  },
];

for (const { title, happen } of cases)
  test(`unstored: ${title} that was lost before its commit comes again with the next connection, and once only after it`, async () => {
    await until(() => kept() === 0, 'the platform keeps nothing');
    const { recorded } = instance.recorder;
    let lose = (_stored: boolean): void => undefined;
    const lost = new Promise<boolean>((resolve) => (lose = resolve));
    instance.recorder.recorded = () => lost;
    const isIt = await happen();
    await entryOf(isIt);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(kept() > 0, 'it is not acknowledged');
    lose(false);
    const before = instance.entries.all.length;
    await instance.link.close();
    instance.recorder.recorded = recorded;
    assert.ok(kept() > 0);
    instance.open();
    await instance.fact('platform.opened');
    await until(
      () => instance.entries.all.slice(before).some(isIt),
      () => 'it comes again',
    );
    await until(
      () => kept() === 0,
      () => `it is acknowledged; ${kept()} stanzas are kept`,
    );
    const then = instance.entries.all.length;
    await reconnect();
    assert.equal(instance.entries.all.slice(then).some(isIt), false);
  });

test('unstored: a message that crashes the session each time is set aside, and one that crashes it once is not lost', async () => {
  const { record } = instance.recorder;
  const crashOn = (text: string, times: number): void => {
    let left = times;
    instance.recorder.record = (entries) => {
      if (left > 0 && JSON.stringify(entries).includes(text)) {
        left -= 1;
        throw new Error(`no ${text}`);
      }
      record(entries);
    };
  };
  /** Opens the session until it stays open. Returns the number of crashes. */
  const crashes = async (arrived: () => boolean): Promise<number> => {
    for (let count = 0; count < 10; count += 1) {
      const before = instance.facts.all.length;
      instance.open();
      const ended = (): boolean => instance.facts.all.slice(before).some(({ type }) => type === 'platform.closed');
      await until(() => ended() || arrived(), 'it crashes or it does not');
      if (!ended()) return count;
    }
    return assert.fail('it crashes for ever');
  };
  const arrived = (text: string) => () => instance.entries.all.some((entry) => entry.kind === 'message' && entry.message.text === text);
  for (const [n, text, times, seen] of [
    [1, 'once', 1, true],
    [2, 'poison', 100, false],
  ] as const) {
    await instance.link.close();
    crashOn(text, times);
    await bench.running.sandbox.send(friend, own, { kind: 'text', text });
    await bench.running.sandbox.send(friend, own, { kind: 'text', text: `behind number ${n}` });
    const count = await crashes(arrived(`behind number ${n}`));
    assert.ok(seen ? count === 1 : count > 1 && count <= 6, `${text}: ${count} crashes`);
    assert.equal(arrived(text)(), seen);
  }
  assert.equal(instance.surprises.length > 1, true);
  instance.recorder.record = record;
});
