/** Tests that unknown tokens cause few queries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenLookup } from '#actors/supervisor/registry.ts';
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
