/** Tests the admin token over several starts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdminToken } from '#actors/commands/server.ts';
import { World } from '#test/fakes/world.ts';

const cooldown = 3_600_000;

test('admin: without a token in the environment the first start makes one, and later starts keep it', async () => {
  const { ports } = new World();
  const first = await AdminToken.load(ports, null, cooldown);
  assert.match(first.made ?? '', /^[A-Za-z0-9]{50}$/);
  assert.ok(first.matches(first.made ?? ''));
  assert.ok(!first.matches('') && !first.matches('other'));
  const second = await AdminToken.load(ports, null, cooldown);
  assert.equal(second.made, null);
  assert.ok(second.matches(first.made ?? ''));
});

test('admin: only a hash is stored', async () => {
  const world = new World();
  const { made } = await AdminToken.load(world.ports, null, cooldown);
  assert.ok(![...world.db.settings.values()].join().includes(made ?? 'x'));
});

test('admin: the token of the environment counts until it is rotated, and counts again when it is changed', async () => {
  const { ports } = new World();
  const first = await AdminToken.load(ports, 'one', cooldown);
  assert.ok(first.matches('one') && first.made === null);
  const rotated = await first.rotate();
  assert.ok(rotated.ok);
  assert.ok(first.matches(rotated.value) && !first.matches('one'));
  const second = await AdminToken.load(ports, 'one', cooldown);
  assert.ok(second.matches(rotated.value) && !second.matches('one'));
  const third = await AdminToken.load(ports, 'two', cooldown);
  assert.ok(third.matches('two') && !third.matches(rotated.value));
  const fourth = await AdminToken.load(ports, null, cooldown);
  assert.ok(fourth.matches('two'));
});

test('admin: a second rotation within the cooldown is refused with the time to wait, also if both arrive at once', async () => {
  const { ports, time } = new World();
  const admin = await AdminToken.load(ports, 'one', cooldown);
  const both = await Promise.all([admin.rotate(), admin.rotate()]);
  const [won] = both.filter((result) => result.ok);
  const [lost] = both.filter((result) => !result.ok);
  assert.ok(won?.ok && admin.matches(won.value));
  assert.ok(lost && !lost.ok);
  assert.deepEqual([lost.refusal.reason, lost.refusal.retryAfter], ['limited', 3600]);
  assert.deepEqual(lost.refusal.pause, { from: time.now(), to: time.now() + cooldown });
  await time.pass(cooldown);
  assert.ok((await admin.rotate()).ok);
});

test('admin: a rotation that cannot be stored changes nothing', async () => {
  const { ports, db } = new World();
  const admin = await AdminToken.load(ports, 'one', cooldown);
  db.away = true;
  await assert.rejects(admin.rotate());
  assert.ok(admin.matches('one'));
  db.away = false;
  assert.ok((await admin.rotate()).ok);
});

test('admin: nodes that start at once on a new database share one token, which one of them made', async () => {
  const { ports } = new World();
  const nodes = await Promise.all([1, 2, 3].map(() => AdminToken.load(ports, null, cooldown)));
  const [made, ...others] = nodes.flatMap((node) => node.made ?? []);
  assert.deepEqual(others, []);
  assert.ok(nodes.every((node) => node.matches(made ?? '')));
});

for (const pause of [cooldown, 0])
  test(`admin: of rotations on several nodes at once one wins, the others are told to wait and know its token (cooldown of ${pause} ms)`, async () => {
    const { ports } = new World();
    const nodes = await Promise.all([1, 2, 3].map(() => AdminToken.load(ports, 'one', pause)));
    const results = await Promise.all(nodes.map((node) => node.rotate()));
    const [token, ...others] = results.flatMap((result) => (result.ok ? [result.value] : []));
    assert.deepEqual(others, []);
    assert.ok(nodes.every((node) => node.matches(token ?? '') && !node.matches('one')));
    const refused = results.flatMap((result) => (result.ok ? [] : [result.refusal.reason]));
    assert.deepEqual(refused, ['limited', 'limited']);
  });
