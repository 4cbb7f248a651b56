/** Tests the recorder of a session while the store of refused entries is full. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recorderOf } from '#actors/session/recording.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { entry } from '#test/actors/delivery/recorder-bench.ts';
import { testPolicy, World } from '#test/fakes/world.ts';

test('recording: a refused entry for which there is no room stays first and pauses the session until there is room', async () => {
  const world = new World();
  const record = world.register({ id: 'r1' });
  const bad = entry(1);
  const refused = Object.assign(new Error('no number'), { code: '22003' });
  const journal: typeof world.ports.journal = {
    ...world.ports.journal,
    commit: (instance, entries, targets) =>
      entries.includes(bad) ? Promise.reject(refused) : world.journal.commit(instance, entries, targets),
  };
  const room = { isFull: true };
  const kept: string[] = [];
  const store: typeof world.ports.refused = {
    ...world.ports.refused,
    keep: async (claim, one, error) => {
      if (room.isFull) return false;
      kept.push(`${claim.instanceId} ${one === bad} ${error}`);
      return true;
    },
  };
  const ports = { ...world.ports, journal, refused: store };
  const workers = supervisedWorkers(ports, testPolicy, { instance: 'r1' });
  const recorder = recorderOf({ ports, policy: testPolicy, record: () => record, targets: () => [], workers, committed: () => undefined });
  recorder.record([bad, entry(2)]);
  const stored = recorder.recorded();
  await world.time.pass(60_000);
  assert.equal(recorder.trouble, 'no more refused entries can be kept for a session: try them again, or discard them (GET /admin/refused)');
  assert.deepEqual([recorder.waiting, kept, world.log.of('entries.lost'), world.journal.groups], [2, [], [], []]);
  room.isFull = false;
  await world.time.pass(1_000);
  assert.deepEqual([recorder.trouble, recorder.waiting, kept], ['', 0, ['r1 true 22003']]);
  assert.deepEqual(world.journal.groups, [[entry(2)]]);
  assert.equal(await stored, true, 'nothing is lost');
  recorder.stop();
});
