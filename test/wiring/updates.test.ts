/** Tests the lookup of the newest release, with a real server on this machine. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createUpdates, isLater, releaseIn, remembered } from '#src/wiring/facts.ts';

let server: Server;
let asked = 0;
let answer: { status: number; body: string } = { status: 200, body: '' };

before(async () => {
  server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(answer.body);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
after(() => {
  server.close();
});

const clock = { ms: 1_000_000 };
const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/releases/latest?key=hidden`;
const updates = (allow: readonly string[] = ['loopback']) => createUpdates({ url: url(), version: '0.1.0', allow, now: () => clock.ms });

const versions: readonly (readonly [later: string, earlier: string])[] = [
  ['0.2.0', '0.1.9'],
  ['v1.0.0', '0.9.0'],
  ['0.1.10', '0.1.9'],
  ['0.2.0', '0.2.0-rc.1'],
];
for (const [later, earlier] of versions)
  test(`updates: ${later} is later than ${earlier}`, () => {
    assert.equal(isLater(later, earlier), true);
    assert.equal(isLater(earlier, later), false);
    assert.equal(isLater(later, later), false);
  });

test('updates: the newest version is read from the answers of a code forge, a list of releases and a package registry', () => {
  const page = 'https://forge.example.com/releases/1';
  assert.deepEqual(releaseIn({ tag_name: 'v1.2.3', html_url: page }), { version: '1.2.3', page });
  assert.deepEqual(releaseIn([{ tag_name: '1.2.3', html_url: 'javascript:alert(1)' }]), { version: '1.2.3', page: '' });
  assert.deepEqual(releaseIn({ version: '1.2.3-rc.1' }), { version: '1.2.3-rc.1', page: '' });
  for (const other of [null, {}, [], 'text', { tag_name: 'nightly' }]) assert.equal(releaseIn(other), null);
});

test('updates: without a configured address no request is sent', async () => {
  const before = asked;
  assert.equal((await createUpdates({ url: null, version: '0.1.0', allow: [], now: Date.now })()).checks, false);
  assert.equal(asked, before);
});

test('updates: one request answers all callers, and its answer is cached for six hours', async () => {
  const [look, before] = [updates(), asked];
  answer = { status: 200, body: JSON.stringify({ tag_name: 'v0.2.0' }) };
  const all = await Promise.all([look(), look(), look()]);
  assert.deepEqual(
    all.map(({ latest, isNewer, error }) => [latest, isNewer, error]),
    [1, 2, 3].map(() => ['0.2.0', true, '']),
  );
  clock.ms += 6 * 3_600_000 - 1;
  await look();
  assert.equal(asked, before + 1);
  clock.ms += 1;
  await look();
  assert.equal(asked, before + 2);
});

test('updates: after a failure the last answer stays, and the next request follows after a minute; the error names no address', async () => {
  const look = updates();
  answer = { status: 200, body: JSON.stringify({ tag_name: 'v0.2.0' }) };
  await look();
  clock.ms += 6 * 3_600_000;
  answer = { status: 404, body: 'no' };
  assert.deepEqual((({ latest, error }) => [latest, error])(await look()), ['0.2.0', 'the server answered 404']);
  clock.ms += 60_000;
  answer = { status: 200, body: '<html>' };
  assert.equal((await look()).error, 'the answer is no JSON');
  clock.ms += 60_000;
  answer = { status: 200, body: '{}' };
  assert.equal((await look()).error, 'the answer names no version');
});

test('updates: an address of this machine is refused unless ALLOW_PRIVATE_RECEIVERS allows it', async () => {
  const before = asked;
  const { error } = await updates([])();
  assert.match(error, /not allowed/);
  assert.ok(!error.includes('hidden'));
  assert.equal(asked, before);
});

test('cached requests: simultaneous callers share a request, and a failure is not cached', async () => {
  let calls = 0;
  let fails = true;
  const ask = remembered(
    async () => {
      calls += 1;
      if (fails) throw new Error('away');
      return calls;
    },
    1_000,
    () => clock.ms,
  );
  await assert.rejects(ask(), /away/);
  fails = false;
  assert.deepEqual(await Promise.all([ask(), ask()]), [2, 2]);
  clock.ms += 1_000;
  assert.equal(await ask(), 3);
});
