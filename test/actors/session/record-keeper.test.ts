/** Tests the keeper of the record of an instance, with storage that comes and goes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailable } from '#actors/ports.ts';
import { RecordKeeper } from '#actors/session/record-keeper.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { settle, testPolicy, World } from '#test/fakes/world.ts';

function kept() {
  const world = new World();
  const workers = supervisedWorkers(world.ports, testPolicy, { instance: 'r1' });
  const input = { ...world.ports, record: world.register({ id: 'r1' }), workers };
  const keeper = new RecordKeeper(input);
  return { world, keeper, input, workers, stored: () => world.db.instances.get('r1') };
}

test('record-keeper: a note applies at once and is stored soon, and notes of one turn share a statement', async () => {
  const { world, keeper, stored } = kept();
  keeper.note({ profileName: 'A' });
  keeper.note({ profileName: 'B', owner: '55' });
  assert.equal(keeper.record.profileName, 'B');
  await keeper.flush();
  assert.equal(stored()?.profileName, 'B');
  assert.equal(stored()?.owner, '55');
  assert.equal(world.db.count('instances.update'), 1);
});

test('record-keeper: notes survive a storage outage, and later ones win', async () => {
  const { world, keeper, stored } = kept();
  world.db.away = true;
  keeper.note({ profileName: 'A', owner: '1' });
  await world.time.pass(2000);
  keeper.note({ profileName: 'B' });
  await world.time.pass(2000);
  world.db.away = false;
  await world.time.pass(1000);
  assert.deepEqual([stored()?.profileName, stored()?.owner], ['B', '1']);
  assert.equal(world.time.armed, 0);
});

test('record-keeper: a note that joined a save is stored later when storage takes long to fail', async () => {
  const { world, input, stored } = kept();
  const { instances, time } = world.ports;
  const slow = {
    ...instances,
    update: async (...change: Parameters<typeof instances.update>) => {
      await new Promise((resolve) => void time.setTimeout(() => resolve(null), world.db.away ? 3000 : 0));
      return await instances.update(...change);
    },
  };
  const patient = new RecordKeeper({ ...input, instances: slow });
  world.db.away = true;
  patient.note({ profileName: 'A' });
  await world.time.pass(3100);
  const saved = assert.rejects(patient.save({ name: 'new' }), StorageUnavailable);
  await world.time.pass(4000);
  await saved;
  world.db.away = false;
  await world.time.pass(10_000);
  assert.deepEqual([stored()?.profileName, stored()?.name === 'new'], ['A', false]);
  assert.equal(world.time.armed, 0);
});

test('record-keeper: a save fails visibly while storage is away, even while notes wait, and changes nothing', async () => {
  const { world, keeper } = kept();
  world.db.away = true;
  keeper.note({ owner: '1' });
  await settle();
  await assert.rejects(keeper.save({ name: 'new' }), StorageUnavailable);
  assert.equal(keeper.record.name, 'shop');
  assert.equal(keeper.record.owner, '1');
});

test('record-keeper: the last change wins, in memory and in storage, whether noted or saved', async () => {
  const { world, keeper, stored } = kept();
  world.db.away = true;
  keeper.note({ wanted: 'online' });
  await settle();
  world.db.away = false;
  await keeper.save({ wanted: 'offline' });
  await world.time.pass(5000);
  assert.deepEqual([keeper.record.wanted, stored()?.wanted], ['offline', 'offline']);
  const hold = Promise.withResolvers<void>();
  world.db.holds.set('instances.update', hold.promise);
  const saving = keeper.save({ wanted: 'asleep' });
  await settle();
  keeper.note({ wanted: 'online' });
  await settle();
  world.db.holds.clear();
  hold.resolve();
  await saving;
  await keeper.flush();
  assert.deepEqual([keeper.record.wanted, stored()?.wanted], ['online', 'online']);
});

test('record-keeper: a save whose answer is lost is undone in storage, and a newer note wins', async () => {
  const { world, keeper, stored } = kept();
  const before = keeper.record;
  const loseAnswer = (): (() => void) => {
    const hold = Promise.withResolvers<void>();
    world.db.holds.set('instances.update', hold.promise);
    return () => {
      world.db.holds.clear();
      hold.reject(new StorageUnavailable('no answer'));
    };
  };
  const lose = loseAnswer();
  const saved = assert.rejects(keeper.save({ wanted: 'unlinked', token: 'new', owner: '1' }), StorageUnavailable);
  await settle();
  assert.equal(stored()?.token, 'new');
  keeper.note({ owner: '2' });
  lose();
  await saved;
  await keeper.flush();
  assert.deepEqual([keeper.record.wanted, keeper.record.token, keeper.record.owner], [before.wanted, before.token, '2']);
  assert.deepEqual([stored()?.wanted, stored()?.token, stored()?.owner], [before.wanted, before.token, '2']);
});

test('record-keeper: a save that fails does not overwrite a token that cannot be decrypted', async () => {
  const { world, input, stored } = kept();
  const damaged = new RecordKeeper({ ...input, record: { ...input.record, token: '', unreadable: 'token' } });
  const { token } = stored()!;
  world.db.away = true;
  await assert.rejects(damaged.save({ token: 'new', name: 'other' }), StorageUnavailable);
  world.db.away = false;
  await world.time.pass(1000);
  assert.deepEqual([stored()?.token, damaged.waiting], [token, 0]);
  assert.equal(world.time.armed, 0);
});

test('record-keeper: saves run one after the other', async () => {
  const { keeper, stored } = kept();
  await Promise.all(['a', 'b', 'c'].map((name) => keeper.save({ name })));
  assert.deepEqual([keeper.record.name, stored()?.name], ['c', 'c']);
});

test('record-keeper: a crash is counted and the worker restarts, and noted changes are stored', async () => {
  const { world, keeper, workers, stored } = kept();
  const { time } = world;
  const { setTimeout } = time;
  world.db.away = true;
  time.setTimeout = () => {
    time.setTimeout = setTimeout;
    throw new Error('no timer');
  };
  keeper.note({ owner: '1' });
  await settle();
  assert.deepEqual(workers.crashes, { recordKeeper: 1 });
  world.db.away = false;
  const flushed = keeper.flush();
  await time.pass(2000);
  await flushed;
  assert.equal(stored()?.owner, '1');
  assert.equal(time.armed, 0);
});

test('record-keeper: a field that storage refuses affects no other field, and is not retried for ever', async () => {
  const { world, keeper, input, stored } = kept();
  const { instances } = input;
  let tries = 0;
  const choosy = new RecordKeeper({
    ...input,
    instances: {
      ...instances,
      update: async (...change: Parameters<typeof instances.update>) => {
        tries += 1;
        if (JSON.stringify(change).includes('bad')) throw new Error('value out of range');
        return await instances.update(...change);
      },
    },
  });
  choosy.note({ owner: '1', profileName: 'bad', wanted: 'asleep' });
  const saved = choosy.save({ name: 'new' });
  await choosy.flush();
  await saved;
  assert.deepEqual([stored()?.owner, stored()?.wanted, stored()?.name], ['1', 'asleep', 'new']);
  assert.notEqual(stored()?.profileName, 'bad');
  const before = tries;
  choosy.note({ owner: '2' });
  await choosy.flush();
  assert.deepEqual([stored()?.owner, tries], ['2', before + 1]);
  assert.deepEqual(
    world.log.of('record.refused').map(({ fields }) => fields['field']),
    ['profileName'],
  );
  assert.equal(keeper.record.name, 'shop');
});

test('record-keeper: a stop during the wait for a restart leaves no caller waiting', async () => {
  const { world, keeper, workers } = kept();
  world.db.away = true;
  world.time.setTimeout = (_fn, ms) => (ms === 500 ? assert.fail('no timer') : 0);
  keeper.note({ owner: '1' });
  await settle();
  const flushed = keeper.flush();
  keeper.stop();
  workers.stop();
  await flushed;
});
