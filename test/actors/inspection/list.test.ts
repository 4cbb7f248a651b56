/** Tests the list of instances: its filters, its orders, and pages that stay consistent while rows change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ActorPage, ActorQuery } from '#actors/views.ts';
import { staged, type Stage } from '#test/actors/stage.ts';
import { settle } from '#test/fakes/world.ts';

const everything: ActorQuery = { states: [], causes: [], text: '', sort: 'trouble', descending: false, after: '', limit: 100 };

const pageOf = async ({ gateway }: Stage, change: Partial<ActorQuery> = {}): Promise<ActorPage> => {
  const page = await gateway.actors({ ...everything, ...change });
  assert.ok(page.ok);
  return page.value;
};

const idsOf = async (stage: Stage, change: Partial<ActorQuery> = {}): Promise<readonly string[]> =>
  (await pageOf(stage, change)).rows.map(({ id }) => id);

/** Starts two live sessions, one that waits, one hibernated, one that the platform refuses, and one that was never paired. */
const scene = async (): Promise<Stage> => {
  const stage = await staged([
    { id: 'live1', name: 'Bakery' },
    { id: 'live2', name: 'clinic' },
    { id: 'waits', name: 'Dental' },
    { id: 'sleeps', name: 'Every', wanted: 'asleep', owner: '5511900001234' },
    { id: 'refused', name: 'Fish' },
    { id: 'fresh', name: 'Garage', wanted: 'offline', jid: '', owner: '', lastDisconnect: null },
  ]);
  stage.link('waits').end(503);
  stage.link('refused').end(403);
  await settle();
  return stage;
};

test('actors: instances that need a person come first, then those in trouble, and all are counted', async () => {
  const stage = await scene();
  assert.deepEqual(await idsOf(stage), ['refused', 'waits', 'live1', 'live2', 'fresh', 'sleeps']);
  const { counts, total, next, rows } = await pageOf(stage);
  assert.deepEqual(counts, { connected: 2, connecting: 1, hibernated: 1, disconnected: 2, needsPerson: 1 });
  assert.deepEqual([total, next], [6, '']);
  assert.deepEqual(rows.map(({ id, state, reason, cause }) => [id, state, reason, cause]).slice(0, 3), [
    ['refused', 'disconnected.refused', '403: the account is locked', 'locked'],
    ['waits', 'connecting.waiting', '503: the platform is unavailable', 'connectionLost'],
    ['live1', 'connected', '', ''],
  ]);
  assert.equal(rows.find(({ id }) => id === 'sleeps')?.number, '…1234');
});

test('actors: an expired pairing is shown as the reason until a later session was live', async () => {
  const ended = {
    wanted: 'offline',
    jid: '',
    lastDisconnectReason: '408: the QR or pairing code ran out',
    lastDisconnectCause: 'pairingExpired',
  } as const;
  const stage = await staged([
    { id: 'expired', ...ended, lastActiveAt: 1_000, lastDisconnect: 5_000 },
    { id: 'unlinked', ...ended, lastActiveAt: 9_000, lastDisconnect: 5_000 },
  ]);
  const { rows, counts } = await pageOf(stage);
  assert.deepEqual(
    rows.map(({ id, cause, reason }) => [id, cause, reason]),
    [
      ['expired', 'pairingExpired', '408: the QR or pairing code ran out'],
      ['unlinked', '', ''],
    ],
  );
  assert.equal(counts['needsPerson'], 0);
});

const filters: readonly (readonly [title: string, change: Partial<ActorQuery>, ids: readonly string[]])[] = [
  ['a word of the interface', { states: ['connected'] }, ['live1', 'live2']],
  ['a path', { states: ['connecting.waiting'] }, ['waits']],
  ['the beginning of a path, or another', { states: ['disconnected', 'hibernated.asleep'] }, ['refused', 'fresh', 'sleeps']],
  ['the need of a person', { states: ['needsPerson'] }, ['refused']],
  ['a cause', { causes: ['locked', 'loggedOut'] }, ['refused']],
  ['a name in any case', { text: 'CLINIC' }, ['live2']],
  ['digits of the number that are shown', { text: '1234' }, ['sleeps']],
  ['words of a reason', { text: 'unavailable' }, ['waits']],
  ['nothing that fits', { text: 'nobody' }, []],
];
for (const [title, change, ids] of filters)
  test(`actors: the list can be filtered by ${title}`, async () => assert.deepEqual(await idsOf(await scene(), change), ids));

test('actors: the list is sorted by name, both ways', async () => {
  const stage = await scene();
  const names = ['live1', 'live2', 'waits', 'sleeps', 'refused', 'fresh'];
  assert.deepEqual(await idsOf(stage, { sort: 'name' }), names);
  assert.deepEqual(await idsOf(stage, { sort: 'name', descending: true }), names.toReversed());
});

test('actors: names are sorted in natural order, across pages', async () => {
  const names = ['shop 10', 'Shop 2', 'shop 1', 'Água', 'bakery', 'shop 2b', 'shop 007'];
  const stage = await staged(names.map((name, n) => ({ id: `r${n}`, name })));
  const found: string[] = [];
  for (let after: string | null = ''; after !== null;) {
    const { rows, next } = await pageOf(stage, { sort: 'name', limit: 3, after });
    found.push(...rows.map(({ name }) => name));
    after = next === '' ? null : next;
  }
  assert.deepEqual(found, ['Água', 'bakery', 'shop 1', 'Shop 2', 'shop 2b', 'shop 007', 'shop 10']);
});

test('actors: pages follow each other without gaps or doubles, also when rows leave in between', async () => {
  const stage = await scene();
  const first = await pageOf(stage, { sort: 'name', limit: 2 });
  assert.deepEqual(
    first.rows.map(({ id }) => id),
    ['live1', 'live2'],
  );
  await stage.world.answerOf(stage.gateway.remove('live2'));
  assert.deepEqual(await idsOf(stage, { sort: 'name', limit: 2, after: first.next }), ['waits', 'sleeps']);
  assert.equal((await stage.gateway.actors({ ...everything, after: 'nonsense' })).ok, false);
});

test('actors: the last hour is drawn from the steps', async () => {
  const stage = await staged(['r1']);
  await stage.world.time.pass(1_800_000);
  stage.link().end(503);
  stage.letIn();
  await stage.world.time.pass(600_000);
  const [row] = (await pageOf(stage)).rows;
  assert.match(row?.hour ?? '', /^\.+w?c+wc+$/);
  assert.equal(row?.hour.length, 24);
});
