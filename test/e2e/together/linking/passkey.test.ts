/** Tests linking of accounts with a passkey over HTTP. The simulated platform checks every step. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { passkeyOf, reachesStage, scanned, sign } from '#test/support/passkeys.ts';
import { Scene } from '#test/support/scene.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.strict();
});
after(() => scene.close());

const scannedNow = (given?: Parameters<typeof scanned>[1]): Promise<Account> => scanned(scene, given);

const answer = async (account: Account): Promise<void> => {
  const { status, body } = await account.call('POST', '/instance/passkey', await sign(scene, account));
  assert.equal(status, 200, JSON.stringify(body));
};

test('passkey: a scanned account is linked with the assertion of its owner, and sends', async () => {
  const account = await scannedNow();
  const { body } = await account.call('GET', '/instance/status');
  assert.equal((body['status'] as { passkey?: { stage: string } }).passkey?.stage ?? 'assertion', 'assertion');
  await answer(account);
  await account.reaches('connected');
  assert.equal((await passkeyOf(account)).stage, 'none');
  await scene.works(account);
});

test('passkey: an account is linked by pairing code in the same way', async () => {
  const account = await scene.create();
  await scene.platform.sandbox.givePasskey(account.number, {});
  const { body } = await account.call('POST', '/instance/connect', { phone: account.number });
  const { paircode } = body['instance'] as { paircode: string };
  await scene.platform.sandbox.enterCode({ number: account.number, code: paircode });
  await answer(account);
  await account.reaches('connected');
  await scene.works(account);
});

test('passkey: an assertion of another page is refused before anything is sent', async () => {
  const account = await scannedNow();
  const { status, body } = await account.call('POST', '/instance/passkey', await sign(scene, account, 'https://evil.example'));
  assert.equal(status, 400);
  assert.match(String(body['error']), /open https:\/\/web\.whatsapp\.com/);
  assert.equal(scene.platform.sandbox.passkey(account.number).stage, 'requested');
  await answer(account);
  await account.reaches('connected');
});

test('passkey: an assertion for another challenge is refused before anything is sent', async () => {
  const account = await scannedNow();
  const { options } = await reachesStage(account, 'assertion');
  const old = await scene.platform.sandbox.signWithPasskey(account.number, { ...options!, challenge: 'AAAA' });
  const { status, body } = await account.call('POST', '/instance/passkey', old);
  assert.deepEqual([status, /another challenge/.test(String(body['error']))], [400, true]);
});

test('passkey: a refusal of the platform is named in the reason', async () => {
  const account = await scannedNow({ fault: 'refuse' });
  await answer(account);
  const { lastDisconnectReason } = await account.reaches('disconnected');
  assert.match(lastDisconnectReason, /passkey/);
});

for (const [query, sentence, given] of [
  ['md/get/passkey_request_options', /asked for a passkey, and did not say for which/, { fault: 'bare' }],
  ['md/get/ref', /did not accept the passkey/, {}],
  ['md/set/passkey_prologue', /did not accept the passkey/, {}],
  ['md/set/companion_nonce', /answer to the passkey cannot be read/, {}],
  ['md/set/encrypted_pairing_request', /did not link the device after the passkey/, {}],
] as const)
  test(`passkey: a refused ${query} ends linking with a reason, and the next scan links the account`, async () => {
    const { sandbox } = scene.platform;
    await sandbox.fault({ kind: 'refuseQuery', query, code: 403, times: 1 });
    const account = await scannedNow(given);
    if (query !== 'md/get/passkey_request_options') await answer(account);
    const { lastDisconnectReason } = await account.reaches('disconnected');
    assert.match(lastDisconnectReason, sentence);
    assert.equal((await passkeyOf(account)).stage, 'none');
    await account.scan(scene.platform);
    await answer(account);
    await account.reaches('connected');
  });

test('passkey: a cancel while the phone waits for a confirmation ends linking, and the next scan links the account', async () => {
  const account = await scannedNow({ fault: 'stall' });
  await answer(account);
  await reachesStage(account, 'phone');
  assert.equal((await account.call('DELETE', '/instance/passkey')).status, 200);
  const { lastDisconnectReason } = await account.reaches('disconnected');
  assert.match(lastDisconnectReason, /cancelled/);
  await scene.platform.sandbox.givePasskey(account.number, {});
  await account.scan(scene.platform);
  await answer(account);
  await account.reaches('connected');
});

test('passkey: the gateway requests missing options from the platform', async () => {
  const account = await scannedNow({ fault: 'bare' });
  await answer(account);
  await account.reaches('connected');
});

test('passkey: a repeated continuation of the platform changes nothing', async () => {
  const account = await scannedNow({ fault: 'twice' });
  await answer(account);
  await account.reaches('connected');
});

test('passkey: a cancel before the assertion ends linking, and the next scan links the account', async () => {
  const account = await scannedNow();
  await reachesStage(account, 'assertion');
  assert.equal((await account.call('DELETE', '/instance/passkey')).status, 200);
  const { lastDisconnectReason } = await account.reaches('disconnected');
  assert.match(lastDisconnectReason, /cancelled/);
  assert.equal((await account.call('DELETE', '/instance/passkey')).status, 409);
  await account.scan(scene.platform);
  await answer(account);
  await account.reaches('connected');
});

test('passkey: calls at the wrong moment are refused with an explanation', async () => {
  const account = await scene.create();
  const assertion = {
    id: 'AAAA',
    rawId: 'AAAA',
    type: 'public-key',
    response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' },
  };
  const early = await account.call('POST', '/instance/passkey', assertion);
  assert.deepEqual([early.status, /does not ask for a passkey/.test(String(early.body['error']))], [409, true]);
  assert.equal((await account.call('POST', '/instance/passkey/confirm')).status, 409);
});
