/** Tests the browser of an account owner, which has a one-time code and no token: its rights, and the limits of a code. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { root } from '#test/source-tree.ts';
import type { Account } from '#test/support/account.ts';
import { makeCode, OwnerBrowser, reachesStage, scanned, sign } from '#test/support/passkeys.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const refused = 'this code does not count: it was used, has expired, or was never made. Ask for a new one';
/** A clock that jumps by 301 s. The proof of the hand-off is valid for five minutes. After that the owner has to compare codes. */
const clock = { NODE_OPTIONS: `--import=${join(root, 'test/support/monotonic-jump.ts')}`, CLOCK_JUMP_MS: '301000' };

let scene: Scene;
before(async () => {
  scene = await Scene.open(clock);
});
after(() => scene.close());

const browserOf = (code: string): OwnerBrowser => new OwnerBrowser(scene.gateway.address, code);
const ownerOf = async (account: Account): Promise<OwnerBrowser> => browserOf(await makeCode(account));

const isRefused = async (browser: OwnerBrowser): Promise<void> => {
  const { status, body } = await browser.ask('GET', '/passkey');
  assert.deepEqual([status, body], [401, { error: refused }]);
};

test('passkey code: a browser links the account with the code, and reads nothing but the state of the link', async () => {
  const account = await scanned(scene);
  const owner = await ownerOf(account);
  assert.match(owner.code, /^[2-9A-HJKMNP-TV-Z]{4}-[2-9A-HJKMNP-TV-Z]{4}$/);
  const { body: seen } = await owner.ask('GET', '/passkey');
  assert.deepEqual([Object.keys(seen).toSorted(), seen['stage']], [['code', 'expires', 'options', 'stage'], 'assertion']);
  const { status, body } = await owner.signs(scene, account);
  assert.equal(status, 200, JSON.stringify(body));
  const follower = owner.with(body['ticket']);
  await until(
    async () => (await follower.ask('GET', '/passkey')).body['stage'] === 'linked',
    'the browser sees that the account is linked',
  );
  await account.reaches('connected');
  await scene.works(account);
});

test('passkey code: after five minutes the browser shows the code of the phone for comparison, and confirms it', async () => {
  const account = await scanned(scene);
  const owner = await ownerOf(account);
  scene.gateway.signal('SIGUSR2');
  const { body } = await owner.signs(scene, account);
  const follower = owner.with(body['ticket']);
  const code = await until(async () => {
    const { body: seen } = await follower.ask('GET', '/passkey');
    return seen['stage'] === 'code' && seen['code'];
  }, 'the browser sees the code to compare');
  assert.equal(code, scene.platform.sandbox.passkey(account.number).code);
  const { status, body: after } = await follower.ask('POST', '/passkey/confirm');
  assert.deepEqual([status, ['phone', 'linked', 'none'].includes(String(after['stage']))], [200, true]);
  await account.reaches('connected');
});

test('passkey code: a used code, a replaced code and an invented code are refused with the same sentence', async () => {
  const account = await scanned(scene);
  const replaced = await ownerOf(account);
  const owner = await ownerOf(account);
  await isRefused(replaced);
  await isRefused(browserOf('ZZZZ-ZZZZ'));
  await isRefused(browserOf('x'.repeat(500)));
  const { body } = await browserOf(owner.code.replace('-', ' ').toLowerCase()).signs(scene, account);
  await isRefused(owner);
  const again = await owner.with(body['ticket']).ask(
    'POST',
    '/passkey',
    await scene.platform.sandbox.signWithPasskey(account.number, {
      challenge: 'AAAA',
      timeout: 1,
      rpId: 'whatsapp.com',
      allowCredentials: [],
      userVerification: 'required',
      extensions: { uvm: true },
    }),
  );
  assert.deepEqual([again.status, again.body['error']], [409, refused]);
  await account.reaches('connected');
});

test('passkey code: a cancelled link invalidates its code', async () => {
  const account = await scanned(scene);
  const owner = await ownerOf(account);
  assert.equal((await account.call('DELETE', '/instance/passkey')).status, 200);
  await isRefused(owner);
  assert.equal((await account.call('POST', '/instance/passkey/link', {})).status, 409);
});

test('passkey code: a code is invalid after a reset, because the next link may be for another account', async () => {
  const account = await scanned(scene);
  const owner = await ownerOf(account);
  assert.equal((await owner.ask('GET', '/passkey')).status, 200);
  const { status, body } = await account.call('POST', '/instance/reset');
  assert.equal(status, 200, JSON.stringify(body));
  await isRefused(owner);
});

test('passkey code: an assertion of another page is refused, and the code stays valid', async () => {
  const account = await scanned(scene);
  const owner = await ownerOf(account);
  const { status, body } = await owner.ask('POST', '/passkey', await sign(scene, account, 'https://evil.example'));
  assert.deepEqual([status, /open https:\/\/web\.whatsapp\.com/.test(String(body['error']))], [400, true]);
  assert.equal((await owner.signs(scene, account)).status, 200);
  await account.reaches('connected');
});

test('passkey code: an assertion that was used before is refused in the next link', async () => {
  const account = await scanned(scene, { fault: 'stall' });
  const old = await sign(scene, account);
  assert.equal((await (await ownerOf(account)).ask('POST', '/passkey', old)).status, 200);
  await reachesStage(account, 'phone');
  await account.call('DELETE', '/instance/passkey');
  await account.reaches('disconnected');
  await account.scan(scene.platform);
  const { status, body } = await (await ownerOf(account)).ask('POST', '/passkey', old);
  assert.deepEqual([status, /another challenge/.test(String(body['error']))], [400, true]);
});

test('passkey code: two accounts link at once, each with its own code and passkey', async () => {
  const accounts = await Promise.all([scanned(scene), scanned(scene)]);
  const owners = await Promise.all(accounts.map(ownerOf));
  const [one, other] = [owners[0]!, owners[1]!];
  const crossed = await one.ask('POST', '/passkey', await sign(scene, accounts[1]));
  assert.deepEqual([crossed.status, /another challenge/.test(String(crossed.body['error']))], [400, true]);
  const answers = await Promise.all([one.signs(scene, accounts[0]), other.signs(scene, accounts[1])]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  for (const account of accounts) await account.reaches('connected');
});

test('passkey code: only one of two browsers with the same code is accepted', async () => {
  const account = await scanned(scene);
  const owner = await ownerOf(account);
  const assertion = await sign(scene, account);
  const answers = await Promise.all([owner.ask('POST', '/passkey', assertion), owner.ask('POST', '/passkey', assertion)]);
  const statuses = answers.map(({ status }) => status).toSorted();
  assert.equal(statuses[0], 200);
  assert.ok([401, 409].includes(statuses[1] ?? 0), String(statuses));
  await account.reaches('connected');
});

test('passkey code: a code opens nothing else of its instance, and a token of the instance is not accepted as a code', async () => {
  const account = await scanned(scene);
  const { code } = await ownerOf(account);
  for (const path of ['/instance/status', '/instance/passkey', '/webhook', '/sse?events=messages'])
    for (const headers of [{ 'passkey-code': code }, { token: code }, { admintoken: code }])
      assert.equal((await fetch(scene.gateway.address + path, { headers: { ...headers } as Record<string, string> })).status, 401, path);
  await isRefused(browserOf(account.token));
});

// This is the last test, because it locks this machine out for a minute.
test('passkey code: guesses are limited, and above the limit even a valid code is refused', async () => {
  const account = await scanned(scene);
  const owner = await ownerOf(account);
  const guesses = Array.from({ length: 40 }, (_, n) => browserOf(`AAAA-A${String(n).padStart(3, '2').replaceAll(/[01]/g, '9')}`));
  const statuses = (await Promise.all(guesses.map((guess) => guess.ask('GET', '/passkey')))).map(({ status }) => status);
  assert.ok(statuses.filter((status) => status === 401).length <= 20, String(statuses));
  const { status, headers } = await owner.ask('GET', '/passkey');
  assert.deepEqual([status, Number(headers.get('retry-after')) > 0], [429, true]);
});
