/** Tests the consequences of failing proxies, and the choice of managed proxies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskedProxy, noProxy, type ProxyCatalogue, type ProxySettings } from '#actors/model.ts';
import { classify, type CloseCause } from '#actors/policy/close-cause.ts';
import { anotherProxy, chooseProxies } from '#actors/policy/proxy-choice.ts';
import { Proxying } from '#actors/session/proxying.ts';
import { World } from '#test/fakes/world.ts';

const custom: ProxySettings = { ...noProxy, mode: 'custom', url: 'http://own', fallback: true, managedUrl: 'http://managed' };

const stage = (settings: ProxySettings | null, direct = true) => {
  const state = { settings, at: 0 };
  const proxying = new Proxying({
    instance: 'r1',
    policy: { direct, primaryEvery: 600_000 },
    log: new World().log,
    stable: 60_000,
    isUnreadable: () => false,
    settings: () => state.settings,
    another: () => 'http://another',
    note: ({ proxy = null }) => void (state.settings = proxy),
    now: () => state.at,
  });
  const close = (cause: CloseCause = 'proxyFailed') => proxying.closed({ cause, reaction: 'backOff', sentence: 'it died' });
  const way = (): string => {
    const route = proxying.route();
    return route.via === 'proxy' ? route.url : route.via;
  };
  return { state, proxying, close, way };
};

test('proxying: the fallback is used after two failures in a row, and its reason is shown', () => {
  const { state, close, way } = stage(custom);
  assert.equal(way(), 'http://own');
  close();
  assert.equal(way(), 'http://own');
  state.at = 5;
  close();
  assert.equal(way(), 'http://managed');
  assert.deepEqual([state.settings?.fallbackSince, state.settings?.fallbackReason], [5, 'custom_failed_internal:it died']);
});

test('proxying: failures of other causes do not lead to the fallback', () => {
  const { close, way } = stage(custom);
  for (let n = 0; n < 5; n += 1) close('connectionLost');
  assert.equal(way(), 'http://own');
});

test('proxying: a failure after a long connection is a first one', () => {
  const { state, proxying, close, way } = stage(custom);
  close();
  way();
  proxying.live();
  state.at = 60_000;
  close();
  assert.equal(way(), 'http://own');
});

test('proxying: without a fallback the proxy is retried for ever', () => {
  const { close, way } = stage({ ...custom, fallback: false, managedUrl: '' });
  for (let n = 0; n < 9; n += 1) close();
  assert.equal(way(), 'http://own');
});

test('proxying: the proxy itself is tried again after a time, and the fallback ends when the proxy works', () => {
  const { state, proxying, close, way } = stage(custom);
  close();
  close();
  assert.equal(way(), 'http://managed');
  state.at = 600_000;
  assert.equal(way(), 'http://own');
  close();
  assert.equal(way(), 'http://managed', 'one try in each period');
  state.at = 1_200_000;
  assert.equal(way(), 'http://own');
  proxying.live();
  assert.equal(state.settings?.fallbackSince, null);
  assert.equal(way(), 'http://own');
});

test('proxying: a managed proxy that fails twice is replaced', () => {
  const { close, way } = stage({ ...noProxy, mode: 'internal', managedUrl: 'http://managed' });
  close();
  assert.equal(way(), 'http://managed');
  close();
  assert.equal(way(), 'http://another');
});

const directness: readonly (readonly [string, ProxySettings | null, boolean, string])[] = [
  ['none', null, true, 'direct'],
  ['none, and direct is not allowed', null, false, 'nowhere'],
  ['internal without a catalogue', { ...noProxy, mode: 'internal' }, true, 'direct'],
  ['internal without a catalogue, and direct is not allowed', { ...noProxy, mode: 'internal' }, false, 'nowhere'],
  ['a fallback without a catalogue, and direct is not allowed', { ...custom, managedUrl: '', fallbackSince: 0 }, false, 'nowhere'],
];
for (const [title, settings, direct, expected] of directness)
  test(`proxying: ${title}`, () => assert.equal(stage(settings, direct).way(), expected));

test('classify: a proxy that failed is waited for, and says what it did', () => {
  const situation = { pairing: true, restarts: 0, restartLimit: 2, unknowns: 1, unknownLimit: 3, takeOvers: 0, pairedAt: 0, now: 0 };
  const verdict = classify({ code: null, message: 'it refuses connections', data: { reason: 'proxyFailed' } }, situation);
  assert.deepEqual(verdict, { cause: 'proxyFailed', reaction: 'backOff', sentence: 'the proxy failed: it refuses connections' });
  assert.equal(classify({ code: null, message: '', data: { reason: 'proxyMissing' } }, situation).reaction, 'refuse');
});

const city = (value: string, state: string, proxies: readonly string[]) => ({
  value,
  label: value,
  state,
  stateLabel: state,
  rawCity: `${value}_raw`,
  proxies,
});
const catalogue: ProxyCatalogue = [
  {
    value: 'br',
    label: 'Brazil',
    proxies: ['http://{country}-{state}-{city}-{session}@all'],
    cities: [city('campinas', 'sp', ['http://c1', 'http://c2']), city('santos', 'sp', []), city('rio', 'rj', ['http://r1'])],
  },
  { value: 'pt', label: 'Portugal', proxies: ['http://p1'], cities: [] },
];

const choices: readonly (readonly [string, readonly [string, string, string], readonly string[] | string])[] = [
  ['a city with proxies of its own', ['br', '', 'campinas'], ['http://c1', 'http://c2']],
  ["a city without any takes the country's", ['br', 'sp', 'santos'], ['http://br-sp-santos_raw-s1@all']],
  ['a state', ['br', 'rj', ''], ['http://r1']],
  ['a country', ['br', '', ''], ['http://br---s1@all', 'http://c1', 'http://c2', 'http://r1']],
  ['any place', ['', '', ''], ['http://br---s1@all', 'http://c1', 'http://c2', 'http://r1', 'http://p1']],
  ['an unknown country', ['xx', '', ''], 'the catalogue of managed proxies has no such country'],
  ['an unknown state', ['br', 'xx', ''], 'the catalogue of managed proxies has no such state'],
  ['a city of another state', ['br', 'rj', 'campinas'], 'the catalogue of managed proxies has no such city'],
  ['a city without a country', ['', '', 'rio'], 'the catalogue of managed proxies has no such place without proxy_managed_country'],
];
for (const [title, [country, state, town], expected] of choices) {
  test(`chooseProxies: ${title}`, () => {
    const chosen = chooseProxies(catalogue, { country, state, city: town }, 's1', 0);
    assert.deepEqual(chosen.ok ? chosen.urls : chosen.message, expected);
  });
}

test('chooseProxies: a random value chooses the first proxy, and the others follow', () => {
  const chosen = chooseProxies(catalogue, { country: 'br', state: '', city: 'campinas' }, 's1', 0.99);
  assert.deepEqual(chosen.ok && chosen.urls, ['http://c2', 'http://c1']);
});

test('anotherProxy: it is never the same one, and null when there is no other', () => {
  const parts = { proxies: { catalogue }, chance: { random: () => 0, hex: () => 's1' } };
  assert.equal(anotherProxy(parts, { country: 'br', state: '', city: 'campinas' }, 'http://c1'), 'http://c2');
  assert.equal(anotherProxy(parts, { country: 'pt', state: '', city: '' }, 'http://p1'), '');
  assert.equal(anotherProxy({ ...parts, proxies: { catalogue: null } }, { country: '', state: '', city: '' }, ''), '');
});

test('maskedProxy: it shows no part of the credentials, whatever they contain', () => {
  for (const [url, shown] of [
    ['http://user:pass@host:1', 'http://***:***@host:1'],
    ['socks5://user:p@ss@host:1', 'socks5://***:***@host:1'],
    ['http:user:pass@host:1', 'http://***:***@host:1'],
    ['http:/user:pass@host:1', 'http://***:***@host:1'],
    [String.raw`http:\\user:pass@host:1`, 'http://***:***@host:1'],
    ['http://us\ner:pass@host:1', 'http://***:***@host:1'],
    ['http:/\n/user:pass@host:1', 'http://***:***@host:1'],
    ['socks5:user:pass@host:1', '***'],
    ['http://user:pass@', '***'],
    ['http://host:1', 'http://host:1'],
    ['', ''],
  ] as const)
    assert.equal(maskedProxy(url), shown);
});
