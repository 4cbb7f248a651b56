/** Kills a gateway between any two steps of a link with a passkey. The session is paired, or linking begins anew. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { root } from '#test/source-tree.ts';
import type { Account } from '#test/support/account.ts';
import { makeCode, OwnerBrowser, passkeyOf, reachesStage, scanned, sign } from '#test/support/passkeys.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

/** A clock that jumps by 301 s. The proof of the hand-off is valid for five minutes. After that the owner has to compare codes. */
const clock = {
  NODE_OPTIONS: `--import=${join(root, 'test/support/monotonic-jump.ts')}`,
  CLOCK_JUMP_MS: '301000',
  CONNECT_ANSWER_MS: '40000',
};

let scene: Scene;
before(async () => {
  scene = await Scene.open(clock);
});
after(() => scene.close());

const answer = async (account: Account): Promise<void> => {
  const { status, body } = await account.call('POST', '/instance/passkey', await sign(scene, account));
  assert.equal(status, 200, JSON.stringify(body));
};

const toCode = async (account: Account): Promise<void> => {
  scene.gateway.signal('SIGUSR2');
  await answer(account);
  await reachesStage(account, 'code');
};

const platformIsAt = (account: Account, stage: string) =>
  until(() => scene.platform.sandbox.passkey(account.number).stage === stage, `the platform is at the stage ${stage}`);

const steps: readonly (readonly [when: string, given: Parameters<typeof scanned>[1], go: (account: Account) => Promise<unknown>])[] = [
  ['after the scan', {}, async (account) => platformIsAt(account, 'requested')],
  ['while the owner is asked', {}, (account) => reachesStage(account, 'assertion')],
  ['after a code was made', {}, (account) => makeCode(account)],
  ['while the assertion is on its way', {}, async (account) => void (await answer(account))],
  [
    'after the assertion was verified',
    { fault: 'stall' },
    async (account) => {
      await answer(account);
      await platformIsAt(account, 'proven');
    },
  ],
  ['while the code is compared', {}, toCode],
  [
    'after the confirmation',
    {},
    async (account) => {
      await toCode(account);
      await account.call('POST', '/instance/passkey/confirm');
    },
  ],
];

/** Links the session from any state in which a kill left it, with the steps that a person can take. */
const links = async (account: Account): Promise<void> => {
  const { status, lastDisconnectReason } = await until(async () => {
    const seen = await account.seen();
    return (seen.status !== 'connecting' || seen.qrcode !== '') && seen;
  }, 'the session is paired, shows a picture, or rests');
  if (status === 'connected') return;
  assert.equal((await passkeyOf(account)).stage, 'none', lastDisconnectReason);
  await scene.platform.sandbox.givePasskey(account.number, {});
  await account.scan(scene.platform);
  await answer(account);
  await account.reaches('connected');
};

for (const [when, given, go] of steps)
  test(`passkey: a kill ${when} leaves no half-paired session`, async () => {
    const account = await scanned(scene, given);
    await go(account);
    await scene.gateway.end('SIGKILL');
    await scene.gateway.start();
    await links(account);
    await scene.works(account);
  });

test('passkey: a kill after a pairing code was typed leaves no half-paired session', async () => {
  const account = await scene.create();
  await scene.platform.sandbox.givePasskey(account.number, {});
  const { body } = await account.call('POST', '/instance/connect', { phone: account.number });
  const { paircode } = body['instance'] as { paircode: string };
  await scene.platform.sandbox.enterCode({ number: account.number, code: paircode });
  await reachesStage(account, 'assertion');
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  await links(account);
  await scene.works(account);
});

test('passkey: a code from before a kill reveals nothing of the next link, and its assertion is refused', async () => {
  const account = await scanned(scene);
  const code = await makeCode(account);
  const old = await sign(scene, account);
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  const owner = new OwnerBrowser(scene.gateway.address, code);
  const { status, body } = await owner.ask('GET', '/passkey');
  assert.deepEqual([status, body['stage'], body['options']], [200, 'none', null]);
  assert.equal((await owner.ask('POST', '/passkey', old)).status, 409);
  await links(account);
});
