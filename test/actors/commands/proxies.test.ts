/** Tests the lock that keeps changes of the proxy of one instance apart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProxyRegion } from '#actors/model.ts';
import { settle } from '#test/fakes/world.ts';
import { refusalOf, staged } from '../stage.ts';

const region: ProxyRegion = { country: 'br', state: '', city: '' };
const catalogue = [{ value: 'br', label: 'Brazil', proxies: ['http://slow.test'], cities: [] }];

test('proxy: while a change is tested, another change and a connect with a region are refused', async () => {
  const { world, gateway } = await staged([{ id: 'r1', wanted: 'offline' }]);
  const verdict = Promise.withResolvers<string>();
  Object.assign(world.proxies, { catalogue, verdicts: { 'http://slow.test': verdict.promise } });
  const first = gateway.changeProxy('r1', { mode: 'internal', region });
  await settle();
  const others = [gateway.connect('r1', { region }), gateway.changeProxy('r1', { mode: 'internal', region })];
  assert.deepEqual((await Promise.all(others)).map(refusalOf), ['conflict', 'conflict']);
  assert.deepEqual(world.proxies.tested, ['http://slow.test']);
  verdict.resolve('');
  assert.ok((await first).ok);
});

test('proxy: while a connect tests the proxy of its region, a change is refused, and accepted afterwards', async () => {
  const { world, gateway } = await staged([{ id: 'r1', wanted: 'offline' }]);
  const verdict = Promise.withResolvers<string>();
  Object.assign(world.proxies, { catalogue, verdicts: { 'http://slow.test': verdict.promise } });
  const connect = gateway.connect('r1', { region });
  await settle();
  assert.equal(refusalOf(await gateway.changeProxy('r1', { mode: 'none', confirmNone: true })), 'conflict');
  verdict.resolve('it refuses connections');
  assert.equal(refusalOf(await connect), 'unavailable');
  assert.ok((await gateway.changeProxy('r1', { mode: 'none', confirmNone: true })).ok);
});

test('proxy: the fallback can be switched on while the proxy fails, and asked for alone the proxy is tested and refused', async () => {
  const { world, gateway } = await staged([{ id: 'r1', wanted: 'offline' }]);
  const url = 'http://own.test:3128';
  const other = 'http://other.test:3128';
  const verdicts: Record<string, string> = { [url]: '', [other]: 'it refuses connections' };
  Object.assign(world.proxies, { verdicts });
  assert.ok((await gateway.changeProxy('r1', { url })).ok);
  verdicts[url] = 'it refuses connections';
  assert.equal(refusalOf(await gateway.changeProxy('r1', { url })), 'invalid');
  for (const fallback of [true, false]) {
    assert.ok((await gateway.changeProxy('r1', { url, fallback })).ok);
    const shown = gateway.proxy('r1');
    assert.ok(shown.ok && shown.value.settings.fallback === fallback && shown.value.settings.url === url);
  }
  assert.equal(refusalOf(await gateway.changeProxy('r1', { url: other, fallback: true })), 'invalid');
});
