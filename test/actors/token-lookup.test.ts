/** Tests the look-up of instances that a node does not know: few queries, and no instance that was removed during the query. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Register } from '#actors/commands/register.ts';
import { Registry, TokenLookup } from '#actors/supervisor/registry.ts';
import { instance } from '#test/contract/samples.ts';
import { FakeTime } from '#test/fakes/time.ts';

test('token lookup: an unknown token is queried once in ten seconds, another one at once, and an overlong one never', async () => {
  const time = new FakeTime();
  const known = new Set<string>();
  let asked = 0;
  const byToken = async (token: string) => {
    asked += 1;
    return known.has(token) ? instance.record : null;
  };
  const lookup = new TokenLookup({ time, instances: { byToken } as never });
  for (let n = 0; n < 100; n += 1) assert.equal(await lookup.find('forgotten'), null);
  assert.equal(asked, 1);
  known.add('new').add('forgotten');
  assert.equal((await lookup.find('new'))?.id, instance.record.id);
  await time.pass(10_001);
  assert.equal((await lookup.find('forgotten'))?.id, instance.record.id);
  assert.equal(await lookup.find('x'.repeat(501)), null);
  assert.equal(asked, 3);
});

test('look-up: an instance that is removed during the query does not come back', async () => {
  const registry = new Registry(() => assert.fail('no cell is needed'));
  const answers: (() => void)[] = [];
  const answered = async (): Promise<typeof instance.record> => {
    await new Promise<void>((resolve) => answers.push(resolve));
    return instance.record;
  };
  const register = new Register({
    ports: { time: new FakeTime(), stepLog: {} as never, instances: { byToken: answered, some: async () => [await answered()] } as never },
    registry,
    cluster: { ownership: { mayAct: () => false } } as never,
    chores: { wakeRemover: () => undefined },
    forget: (id) => registry.forget(id),
  });
  const { id, token } = instance.record;
  const late = [register.lookUp(token), register.exists(id)];
  // Another node removes the instance after the queries began, and this node learns of it before their answers.
  registry.register(instance.record);
  registry.forget(id);
  for (const answer of answers) answer();
  assert.deepEqual(await Promise.all(late), [null, false]);
  assert.equal(registry.size, 0);
  const known = register.lookUp(token);
  answers.at(-1)?.();
  assert.deepEqual([await known, registry.byToken(token)], [id, id], 'a later query counts again');
});
