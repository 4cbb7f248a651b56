/** Tests the navigation of the dashboard in a real browser: its entries by role, by keyboard, and as a menu on a phone. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { objectionsTo } from '#test/support/access.ts';
import { Dashboard, desk, inBrowser, withoutBrowser } from '#test/support/dashboard.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { until } from '#test/support/until.ts';

/** A gateway of this file alone, because a global webhook cannot be deleted. */
const gateway = new GatewayProcess({});
let dashboard: Dashboard;
const password = 'a long first secret';

before(async () => {
  if (withoutBrowser !== '') return;
  await gateway.start();
  await gateway.call('POST', '/instance/create', { body: { name: 'shop' } });
  await gateway.call('POST', '/admin/users', { body: { name: 'vera', role: 'viewer', password } });
  dashboard = await Dashboard.signedIn(gateway.address);
});
after(async () => {
  await dashboard?.close();
  await gateway.close();
});

const entries = () => dashboard.page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
const names = async (): Promise<readonly string[]> => (await entries().allTextContents()).map((name) => name.trim());
const present = () => dashboard.page.locator('.pages a[aria-current="page"]');

inBrowser('each page of the navigation opens by the keyboard, and its entry is marked', async () => {
  const { page } = dashboard;
  assert.equal(await present().textContent(), 'Sessions');
  const all = await names();
  assert.deepEqual(all, [
    'Sessions',
    'Figures',
    'Alerts',
    'Proxies',
    'Global webhook',
    'Storage',
    'Import sessions',
    'People',
    'Audit log',
    'Configuration',
    'Version',
    'API',
  ]);
  for (const name of all.slice(1, -1)) {
    const entry = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true });
    await entry.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    assert.equal(await present().textContent(), name);
    // The focus moves one frame after the heading is shown.
    await page.locator('main:focus').waitFor();
  }
  await page.goBack();
  await page.getByRole('heading', { name: 'Configuration', level: 1 }).waitFor();
});

inBrowser('the page of a session marks the entry of sessions in the navigation', async () => {
  const { page } = dashboard;
  await dashboard.goto('/admin');
  await page.locator('.grid .row:visible').filter({ hasText: 'shop' }).click();
  await page.getByRole('heading', { name: 'shop' }).first().waitFor();
  assert.equal(await present().textContent(), 'Sessions');
});

inBrowser('without an address for updates the page of versions says how to check, and no server is asked', async () => {
  const { page } = dashboard;
  await dashboard.goto('/admin/about');
  await page.getByText('This server does not look for updates.').waitFor();
  assert.deepEqual(await objectionsTo(dashboard, 'version'), []);
});

inBrowser('a first global webhook is saved, and its secret is shown once', async () => {
  const { page } = dashboard;
  await dashboard.goto('/admin/global-webhook');
  await page.getByText('No global webhook yet').waitFor();
  assert.deepEqual(await objectionsTo(dashboard, 'no global webhook'), []);
  await page.getByRole('button', { name: 'Set the global webhook' }).click();
  await page.getByLabel(/^Sign deliveries/).check();
  await page.getByLabel('Address of the receiver').fill('http://127.0.0.1:9/hook');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('code.secret', { hasText: 'whsec_' }).waitFor();
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { name: 'http://127.0.0.1:9/hook' }).waitFor();
  await page.getByText('Signed.').waitFor();
  await page.getByText('No delivery failed since the start of the server.').waitFor();
});

inBrowser('on a phone a menu opens the pages, and closes by Escape or when a page is chosen', async () => {
  const { page } = dashboard;
  await page.setViewportSize({ width: 360, height: 740 });
  await dashboard.goto('/admin/people');
  const menu = page.getByRole('button', { name: 'Menu' });
  await menu.waitFor();
  assert.equal(await entries().count(), 0);
  await menu.press('Enter');
  await entries().first().waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate('document.activeElement.textContent.trim()'), 'Sessions');
  await page.keyboard.press('Escape');
  assert.equal(await entries().count(), 0);
  assert.equal(await page.evaluate('document.activeElement.textContent.trim()'), 'Menu');
  await menu.click();
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  // The menu closes after the page is painted.
  await until(async () => (await entries().count()) === 0, 'the menu is closed');
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'));
  await page.setViewportSize(desk);
  assert.deepEqual(await objectionsTo(dashboard, 'audit log'), []);
});

inBrowser('a viewer sees no navigation entries whose pages would be refused', async () => {
  const { page } = dashboard;
  await dashboard.signOut();
  await dashboard.signInAs('vera', password);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  assert.deepEqual(await names(), ['Sessions', 'Figures', 'Storage', 'People', 'Version', 'API']);
  for (const name of ['Storage', 'Version']) {
    await entries().filter({ hasText: name }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await page.locator('.facts').waitFor();
  }
  assert.deepEqual(dashboard.complaints, []);
});
