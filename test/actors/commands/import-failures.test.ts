/** Tests imports during a failure of the database: what is stored afterwards, and what a repeated import finds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImportRequest } from '#actors/gateway.ts';
import { StorageUnavailable, type ArrivingSession } from '#actors/ports.ts';
import { World } from '#test/fakes/world.ts';

const request: ImportRequest = { from: 'folder', secret: '', dryRun: false, into: '', only: [], signal: new AbortController().signal };

const session: ArrivingSession = {
  name: 'shop',
  identity: { jid: '551:7@s.whatsapp.net', lid: '9@lid', owner: '551', profileName: 'Shop', isBusiness: false, platform: 'android' },
  credentials: '{}',
  keys: [],
  token: 'a-token-of-the-source',
  proxy: '',
  webhooks: [],
  settings: {},
  lost: [],
  notes: [],
};

async function* nothing(): AsyncIterable<Uint8Array> {}

test('import: if the answer to the storing of a new instance is lost in an outage, a repetition imports the session', async () => {
  const world = new World();
  const gateway = await world.start();
  world.moving.sources.arrivals = [{ found: 'session', session }];
  const { instances } = world.ports;
  const { remove } = instances;
  let isAway = true;
  instances.remove = (...given) => (isAway ? Promise.reject(new StorageUnavailable('away')) : remove(...given));
  world.db.losses.add('sessions.land');
  await assert.rejects(() => world.answerOf(gateway.importSessions(nothing(), request)), StorageUnavailable);
  assert.equal(world.db.instances.size, 1, 'the database has stored the instance');
  isAway = false;
  await world.time.pass(2_000);
  assert.equal(world.db.instances.size, 0);
  const again = await world.answerOf(gateway.importSessions(nothing(), request));
  assert.ok(again.ok);
  assert.deepEqual(
    again.value.map(({ outcome, token }) => [outcome, token]),
    [['imported', 'a-token-of-the-source']],
  );
});
