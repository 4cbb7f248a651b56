/** Tests an account with a passkey in the dashboard, in a real browser: by the extension and by hand, with cancel and restart. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { root } from '#test/source-tree.ts';
import { objectionsTo } from '#test/support/access.ts';
import { inBrowser } from '#test/support/dashboard.ts';
import { button, dashboardStage, type DashboardStage, lit } from '#test/support/dashboard-stage.ts';
import { OwnerBrowser, sign } from '#test/support/passkeys.ts';

/** A gateway whose clock jumps by 301 s. The proof of the hand-off is valid for five minutes. After that the owner has to compare codes. */
const stage = dashboardStage({ NODE_OPTIONS: `--import=${join(root, 'test/support/monotonic-jump.ts')}`, CLOCK_JUMP_MS: '301000' });

/** Creates a session, opens its page, and scans the QR code of the page with the phone. */
const scannedOnPage = async ({ scene, dashboard }: DashboardStage) => {
  const account = await scene.create();
  await scene.platform.sandbox.givePasskey(account.number, {});
  await dashboard.goto(`/admin/sessions/${(await account.seen()).id}`);
  await dashboard.page.getByRole('button', { name: 'Link a phone' }).click();
  const qrcode = String(await dashboard.page.getByRole('dialog').getByRole('img', { name: 'QR code' }).getAttribute('src'));
  await scene.platform.scan({ qrcode, number: account.number, name: 'Ana' });
  await dashboard.page.getByText('This account asks for its passkey').waitFor();
  return account;
};

inBrowser('the page of a session creates a one-time code, and shows linking until the session is connected', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const account = await scannedOnPage(on);
  assert.match(String(await page.getByRole('link', { name: 'Download the extension' }).getAttribute('href')), /^\/admin\/extension\.zip$/);
  await button(on, 'Make a code').click();
  const first = String(await page.locator('.passkey output').textContent());
  await button(on, 'Make another code').click();
  await page.locator('.passkey output', { hasNotText: first }).waitFor();
  const link = decodeURIComponent(String(await page.getByRole('link', { name: 'Open WhatsApp Web' }).first().getAttribute('href')));
  const [, address = '', code = ''] = /^https:\/\/web\.whatsapp\.com\/#dormouse=(http:\/\/[^#]+)#(.{9})$/.exec(link) ?? [];
  assert.equal(address, on.scene.gateway.address);
  await page.getByText('Without the extension').click();
  assert.deepEqual(await objectionsTo(on.dashboard, 'a one-time code'), []);
  assert.equal((await new OwnerBrowser(address, code).signs(on.scene, account)).status, 200);
  await lit(on, 'connected').waitFor();
});

inBrowser('the page of a session accepts a pasted assertion, shows the code of the phone and confirms it', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const account = await scannedOnPage(on);
  await page.getByText('Without the extension').click();
  await page.locator('.passkey pre', { hasText: 'parseRequestOptionsFromJSON({"challenge"' }).waitFor();
  await page.getByLabel('The printed text').fill('nothing');
  await button(on, 'Send the text').click();
  await page.getByRole('alert').filter({ hasText: 'not the text' }).waitFor();
  await page.getByLabel('The printed text').fill(JSON.stringify(await sign(on.scene, account, 'https://evil.example')));
  await button(on, 'Send the text').click();
  await page.getByRole('alert').filter({ hasText: 'open https://web.whatsapp.com' }).waitFor();
  on.scene.gateway.signal('SIGUSR2');
  // The console prints a text with quotes around it.
  await page.getByLabel('The printed text').fill(`'${JSON.stringify(await sign(on.scene, account))}'`);
  await button(on, 'Send the text').click();
  await page.getByText('Compare this code with the phone').waitFor();
  assert.equal(await page.locator('.passkey output').textContent(), on.scene.platform.sandbox.passkey(account.number).code);
  assert.deepEqual(await objectionsTo(on.dashboard, 'the code of the phone'), []);
  await button(on, 'The phone shows the same code').click();
  await lit(on, 'connected').waitFor();
});

inBrowser('the page of a session reports a cancelled link, and can start again', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await scannedOnPage(on);
  await button(on, 'Cancel linking').click();
  await page.getByRole('dialog').getByText('linking was cancelled').waitFor();
  await button(on, 'Show new codes').click();
  await page.getByRole('dialog').getByRole('img', { name: 'QR code' }).waitFor();
  assert.deepEqual(on.dashboard.complaints, []);
});

inBrowser('the list of sessions shows that a session waits for a passkey', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  await scannedOnPage(on);
  await on.dashboard.goto('/admin');
  await page.locator('.row .c-why', { hasText: 'Waits for the passkey of its owner' }).waitFor();
});

inBrowser('the first run leads from the phone to the browser with the passkey', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const account = await on.scene.create();
  await on.scene.platform.sandbox.givePasskey(account.number, {});
  await on.dashboard.goto('/admin');
  await page.evaluate(`localStorage.setItem('firstRun', '${(await account.seen()).id}')`);
  await on.dashboard.goto('/admin/start');
  const qrcode = String(await page.getByRole('img', { name: 'QR code' }).getAttribute('src'));
  await on.scene.platform.scan({ qrcode, number: account.number, name: 'Ana' });
  await page.getByText('The phone is done for now').waitFor();
  await button(on, 'Make a code').click();
  const code = String(await page.locator('.passkey output').textContent());
  assert.equal((await new OwnerBrowser(on.scene.gateway.address, code).signs(on.scene, account)).status, 200);
  await page.getByLabel('Message').waitFor();
});
