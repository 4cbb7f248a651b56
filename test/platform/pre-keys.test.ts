/** Tests one-time keys. A notice of the platform that few are left leads to some hundreds of new ones, and unused ones are deleted after two months. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as fc from 'fast-check';
import { afterCount, afterUpload, emptyNote, type SpentNote } from '#src/platform/keys/spent-keys.ts';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

let bench: Bench;
let instance: Instance;
const own = '5511900000941';
const day = 86_400_000;
/** Milliseconds by which the clock of the adapter is ahead. */
let ahead = 0;

before(async () => {
  bench = await startBench();
  instance = await connected(bench, own, {}, undefined, { now: () => Date.now() + ahead });
});
after(() => bench.stop());

const ids = (): readonly number[] =>
  [...instance.vault.stored.keys.keys()]
    .flatMap((key) => (key.startsWith('pre-key ') ? [Number(key.slice(8))] : []))
    .toSorted((a, b) => a - b);

let contacts = 5511900000950;
/** Makes the platform run short of keys, and lets a new contact write. Returns the newest key after the refill. */
const refilled = async (): Promise<number> => {
  const { sandbox } = bench.running;
  const newest = ids().at(-1) ?? 0;
  await sandbox.fault({ kind: 'keysUsedUp', number: own });
  const { id } = await sandbox.send(String((contacts += 1)), own, { kind: 'text', text: 'hello' });
  await instance.message(({ messageId }) => messageId === id, 'the text');
  await until(
    () => (ids().at(-1) ?? 0) >= newest + 396,
    () => `396 keys are stored: ${(ids().at(-1) ?? 0) - newest}`,
  );
  await until(() => bench.running.sandbox.people().find(({ number }) => number === own)?.devices[0]?.queued === 0, 'all is acknowledged');
  return ids().at(-1) ?? 0;
};

test('keys: when few are left, the platform gets 400 in pieces, and the notice is acknowledged', async () => {
  for (let round = 0; round < 2; round += 1) {
    const before = ids().length;
    await refilled();
    // First messages use up some keys.
    assert.ok(ids().length >= before + 390, `${ids().length - before} more`);
  }
  assert.deepEqual(bench.running.sandbox.stats().unknown, {});
  assert.deepEqual(instance.surprises, []);
});

test('keys: a repeated notice does not lead to more keys than are missing', async () => {
  const before = ids().length;
  const content = [{ tag: 'count', attrs: { value: '4' } }];
  await bench.running.sandbox.inject(own, {
    tag: 'notification',
    attrs: { from: '@s.whatsapp.net', type: 'encrypt', id: 'N1', t: '1' },
    content,
  });
  // The refill after a later notice begins when the first refill is over.
  await refilled();
  assert.ok(ids().length <= before + 405, `${ids().length - before} more`);
});

test('keys: keys that were given out and not used are deleted after 60 days, but not because of a clock jump', async () => {
  const newest = await refilled();
  const stays = (id: number): boolean => ids().some((one) => one <= id);
  ahead += 400 * day;
  // The platform has given out its keys of the last refill, and this is recorded. Keys of the first days were recorded before.
  await refilled();
  assert.ok(stays(1_000), 'a clock that jumped counts 30 days');
  ahead += 25 * day;
  await refilled();
  assert.ok(stays(newest - 60), '25 days');
  ahead += 25 * day;
  await refilled();
  assert.ok(stays(newest - 60), '50 days');
  ahead += 11 * day;
  await refilled();
  const left = ids();
  assert.ok(!stays(newest - 60), `left are ${left.slice(0, 3).join()} of ${left.length}`);
  // Keys that the platform may have had at the time of the request, with a margin.
  assert.ok(stays(newest), 'keys that it may still have had stay');
  const { id } = await bench.running.sandbox.send('5511900000948', own, { kind: 'text', text: 'from a new contact' });
  await instance.message(({ messageId }) => messageId === id, 'the text of a new contact');
  assert.deepEqual(instance.surprises, []);
});

test('spent keys: no key is deleted that the platform has or had within 60 days, and few marks are kept', () => {
  const steps = fc.array(
    fc.record({ hours: fc.integer({ min: 0, max: 1_200 }), used: fc.integer({ min: 0, max: 400 }), lost: fc.boolean() }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      let note: SpentNote = emptyNote;
      let [now, next] = [1_000 * day, 1];
      /** Keys on the platform, oldest first, and the time at which each key left the platform. */
      const platform: number[] = [];
      const gone = new Map<number, number>();
      for (const { hours, used, lost } of all) {
        now += hours * 3_600_000;
        for (const id of platform.splice(0, used)) gone.set(id, now);
        const counted = afterCount(note, platform.length, now);
        note = counted.note;
        const { expired } = counted;
        if (expired !== null) {
          assert.ok(!platform.some((id) => id <= expired), 'it is on the platform');
          for (const [id, at] of gone) if (id <= expired) assert.ok(now - at >= 60 * day, `key ${id} left ${(now - at) / day} days ago`);
        }
        while (platform.length < 400) {
          const [from, to] = [next, next + Math.min(50, 400 - platform.length) - 1];
          next = to + 1;
          for (let id = from; id <= to; id += 1) platform.push(id);
          // The reply was lost. The platform has the keys, and the gateway does not know this.
          if (!lost) note = afterUpload(note, [from, to]);
        }
      }
      assert.ok(note.left.length <= 62 && note.uploads.length <= 451, `${note.left.length} marks, ${note.uploads.length} uploads`);
    }),
  );
});
