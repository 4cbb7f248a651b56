/** Links an account of the simulated platform with a real browser, the extension and an authenticator. The platform verifies the signature. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after } from 'node:test';
import { root } from '#test/source-tree.ts';
import type { Account } from '#test/support/account.ts';
import { inBrowser } from '#test/support/dashboard.ts';
import { PasskeyBrowser } from '#test/support/passkey-browser.ts';
import { makeCode, passkeyOf, reachesStage } from '#test/support/passkeys.ts';
import { Scene } from '#test/support/scene.ts';

/** A clock that jumps by 301 s. The proof of the hand-off is valid for five minutes. After that the owner has to compare codes. */
const clock = { NODE_OPTIONS: `--import=${join(root, 'test/support/monotonic-jump.ts')}`, CLOCK_JUMP_MS: '301000' };

interface Stage {
  readonly scene: Scene;
  readonly browser: PasskeyBrowser;
}

const open = async (): Promise<Stage> => {
  const scene = await Scene.open(clock);
  return { scene, browser: await PasskeyBrowser.open(scene.gateway.address) };
};
let opened: Promise<Stage> | undefined;
const stage = (): Promise<Stage> => (opened ??= open());
after(async () => {
  const { scene, browser } = (await opened?.catch(() => undefined)) ?? {};
  await browser?.close();
  await scene?.close();
});

/** Creates an account whose passkey is in the browser, and whose phone has scanned the QR code. */
const scanned = async ({ scene, browser }: Stage): Promise<Account> => {
  const account = await scene.create();
  const { sandbox } = scene.platform;
  const registration = await browser.register(await sandbox.passkeyOptions(account.number));
  await sandbox.givePasskey(account.number, { registration });
  await account.scan(scene.platform);
  return account;
};

const linkOf = async ({ scene }: Stage, account: Account): Promise<string> => `${scene.gateway.address}#${await makeCode(account)}`;

inBrowser('the extension signs on the page of the platform, and the account is linked', async () => {
  const on = await stage();
  const { page } = on.browser;
  const account = await scanned(on);
  await on.browser.follow(await linkOf(on, account));
  await page.getByText(new URL(on.scene.gateway.address).host).waitFor();
  assert.equal(new URL(page.url()).hash, '');
  await page.getByRole('button', { name: 'Sign with the passkey' }).click();
  await page.getByText('The account is linked').waitFor();
  await account.reaches('connected');
  await on.scene.works(account);
});

inBrowser('the extension shows the code of the phone, and links nothing before the owner confirms the code', async () => {
  const on = await stage();
  const { page } = on.browser;
  const account = await scanned(on);
  await on.browser.follow(await linkOf(on, account));
  on.scene.gateway.signal('SIGUSR2');
  await page.getByRole('button', { name: 'Sign with the passkey' }).click();
  await page.getByText('Compare this code').waitFor();
  assert.equal(await page.locator('dormouse-panel output').textContent(), on.scene.platform.sandbox.passkey(account.number).code);
  // A click by a script of the page does not count as a user gesture.
  await page.evaluate(`document.querySelector('dormouse-panel').shadowRoot.querySelector('button.main').click()`);
  assert.equal((await passkeyOf(account)).stage, 'code');
  await page.getByRole('button', { name: 'The phone shows the same code' }).click();
  await page.getByText('The account is linked').waitFor();
  await account.reaches('connected');
});

inBrowser('a link can be pasted, and a wrong link or a used code is refused with an explanation', async () => {
  const on = await stage();
  const { page } = on.browser;
  const account = await scanned(on);
  const link = await linkOf(on, account);
  await on.browser.follow('');
  await page.getByRole('textbox', { name: 'Link' }).fill('ABCD-2345');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('This is not a link of a gateway').waitFor();
  await page.getByRole('textbox', { name: 'Link' }).fill(link);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign with the passkey' }).click();
  await page.getByText('The account is linked').waitFor();
  await on.browser.follow(link);
  await page.getByText('this code does not count').waitFor();
});

inBrowser('a browser without the passkey says so, and linking continues to wait', async () => {
  const on = await stage();
  const { page } = on.browser;
  const { sandbox } = on.scene.platform;
  const account = await on.scene.create();
  await sandbox.givePasskey(account.number, {});
  await account.scan(on.scene.platform);
  const link = await linkOf(on, account);
  await on.browser.follow(link);
  await page.getByRole('button', { name: 'Sign with the passkey' }).click();
  await page.getByText('Nothing was signed').waitFor();
  assert.equal((await reachesStage(account, 'assertion')).stage, 'assertion');
});

inBrowser('the extension runs on no other page, and no page reaches the gateway with a code', async () => {
  const on = await stage();
  const { page } = on.browser;
  const account = await scanned(on);
  const link = await linkOf(on, account);
  await page.goto(`https://evil.example/#dormouse=${encodeURIComponent(link)}`);
  assert.equal(await page.locator('dormouse-panel').count(), 0);
  const asked = await page.evaluate(async (given) => {
    const { origin, hash } = new URL(given);
    return fetch(`${origin}/passkey`, { headers: { 'passkey-code': hash.slice(1) } }).then(
      () => 'answered',
      () => 'refused',
    );
  }, link);
  assert.equal(asked, 'refused');
});
