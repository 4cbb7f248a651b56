/**
 * Tests the pages about the server in a real browser: proxies, the global webhook, storage, settings and version, with a real gateway, proxy and receiver.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { objectionsTo } from '#test/support/access.ts';
import { type Dashboard, inBrowser } from '#test/support/dashboard.ts';
import { dashboardStage } from '#test/support/dashboard-stage.ts';
import { adminToken } from '#test/support/gateway.ts';
import { openProxy, type TestProxy } from '#test/support/proxies.ts';
import { openReceiver, type Receiver } from '#test/support/receivers.ts';

let releases: Server | undefined;
/** Starts a server that answers like the release API of a code host. The gateway needs its address at the start. */
const releasesUrl = async (): Promise<string> => {
  releases ??= createServer((_request, response) => response.end(JSON.stringify({ tag_name: 'v99.1.0' })));
  if (!releases.listening) await new Promise<void>((resolve) => void releases?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(releases.address() as AddressInfo).port}/releases/latest`;
};

const stage = dashboardStage({
  ALLOW_PRIVATE_PROXIES: 'loopback',
  PROXY_CONNECT_MS: '20000',
  PROXY_TEST_MS: '20000',
  UPDATE_CHECK_URL: await releasesUrl(),
  WEBHOOK_QUICK_RETRIES_MS: '0,100',
});
let proxy: TestProxy | undefined;
let receiver: Receiver | undefined;
after(async () => {
  await proxy?.die();
  await receiver?.close();
  releases?.close();
});

const named = ({ page }: Dashboard, name: string | RegExp) => page.getByRole('button', { name });
const open = async (dashboard: Dashboard, path: string, title: string): Promise<void> => {
  await dashboard.goto(path);
  await dashboard.page.getByRole('heading', { name: title, level: 1 }).waitFor();
};

inBrowser('a proxy is set and tested for a session, and the failure of a proxy is shown', async () => {
  const { account, dashboard } = await stage();
  const { page } = dashboard;
  const { name } = (await account.seen()) as unknown as { readonly name: string };
  proxy = await openProxy('http', '127.0.0.2');
  await open(dashboard, '/admin/proxies-of-sessions', 'Proxies');
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
  await row.filter({ hasText: 'direct' }).waitFor();
  await named(dashboard, `Change the proxy of ${name}`).click();
  await page.getByLabel('Address of the proxy').fill(proxy.wrongUrl);
  await named(dashboard, 'Test and save').click();
  await page.getByRole('dialog').getByText('the proxy does not work').waitFor();
  assert.deepEqual(await objectionsTo(dashboard, 'proxy dialog'), []);
  await page.getByLabel('Address of the proxy').fill(proxy.url);
  await named(dashboard, 'Test and save').click();
  await page.getByText(`The proxy of ${name} is saved. The session connects again.`).waitFor();
  await row.filter({ hasText: 'own proxy' }).filter({ hasText: 'http://***:***@127.0.0.1' }).filter({ hasText: 'works' }).waitFor();
  await row.filter({ hasText: 'connected' }).waitFor();
  assert.ok(proxy.tunnels.length > 0);
  const before = proxy.tunnels.length;
  await named(dashboard, `Test the proxy of ${name}`).click();
  await page.getByText(`The proxy of ${name} works.`).waitFor();
  assert.ok(proxy.tunnels.length > before);
  assert.deepEqual(await objectionsTo(dashboard, 'proxies'), []);
  await proxy.die();
  await named(dashboard, `Test the proxy of ${name}`).click();
  await page.getByText('the proxy does not work').waitFor();
  // The session lost its proxy, and the page shows that without a reload.
  await named(dashboard, /in trouble 1/).click();
  await row.locator('.bad-outcome', { hasText: 'the proxy' }).waitFor();
  await proxy.revive();
  await named(dashboard, /^all/).click();
  await page.getByRole('searchbox').fill('no such session');
  await page.keyboard.press('Enter');
  await page.getByText('No session fits.').waitFor();
});

inBrowser('a name shows the codes of characters that would reverse the direction of the text', async () => {
  const { scene, dashboard } = await stage();
  await scene.gateway.call('POST', '/instance/create', { body: { name: 'shop \u202Elive' } });
  await open(dashboard, '/admin/proxies-of-sessions', 'Proxies');
  await dashboard.page.getByRole('rowheader', { name: 'shop [U+202E]live', exact: true }).waitFor();
});

inBrowser('a session returns to no proxy after the page has explained the consequence', async () => {
  const { account, dashboard } = await stage();
  const { page } = dashboard;
  const { name } = (await account.seen()) as unknown as { readonly name: string };
  await open(dashboard, '/admin/proxies-of-sessions', 'Proxies');
  await named(dashboard, `Change the proxy of ${name}`).click();
  await page.getByRole('dialog').getByLabel('Way').selectOption('none');
  await named(dashboard, 'Test and save').click();
  await page.getByText(`The proxy of ${name} is saved.`).waitFor();
  const { body } = await account.call('GET', '/instance/proxy');
  assert.equal(body['mode'], 'none');
});

inBrowser('the global webhook is changed, tested and paused, and its waiting and failed deliveries are shown', async () => {
  const { scene, account, id, dashboard } = await stage();
  const { page } = dashboard;
  receiver = await openReceiver();
  await open(dashboard, '/admin/global-webhook', 'Global webhook');
  await named(dashboard, 'Change').click();
  await page.getByLabel('Address of the receiver').fill(receiver.url);
  await named(dashboard, 'Save').click();
  await page.getByText('The webhook is saved.').waitFor();
  await named(dashboard, 'Test').click();
  await receiver.wait(({ body }) => body['test'] === true, 'the test');
  receiver.answer(503);
  await scene.write(account, 'does not arrive');
  const failures = page.getByRole('region', { name: 'Failed deliveries' });
  await failures.getByText('503').first().waitFor();
  const waiting = page.locator('.deliveries tr', { has: page.locator('.badge', { hasText: /waiting|parked/ }) });
  await waiting.first().waitFor();
  await waiting.first().getByRole('link', { name: id }).waitFor();
  assert.deepEqual(await objectionsTo(dashboard, 'global webhook'), []);
  await page.getByText(/^Waiting: \d+, .*Parked: \d/).waitFor();
  const requests: string[] = [];
  const note = (request: { url(): string }): void => void requests.push(new URL(request.url()).pathname);
  const began = performance.now();
  page.on('request', note);
  await page.waitForTimeout(7_000);
  page.off('request', note);
  const polls = requests.filter((path) => path === '/globalwebhook/deliveries').length;
  const most = Math.floor((performance.now() - began) / 3_000) + 1;
  assert.ok(polls >= 1 && polls <= most, `${polls} requests for the deliveries, of which one is due every 3 s; at most ${most}`);
  receiver.answer(200);
  await named(dashboard, 'Pause').click();
  await page.locator('.webhook .badge', { hasText: 'paused' }).waitFor();
  await named(dashboard, 'Resume').click();
  await page.locator('.webhook .badge', { hasText: 'on' }).waitFor();
});

inBrowser('storage shows the session with the most messages, and the rules of expiry', async () => {
  const { scene, account, id, dashboard } = await stage();
  const { page } = dashboard;
  // The session connects again, because its proxy was changed.
  await account.reaches('connected');
  await scene.works(account);
  await scene.write(account, 'kept');
  await open(dashboard, '/admin/disk-use', 'Storage');
  const messages = page.getByRole('region', { name: 'Most space for messages' });
  await messages.locator(`a[href="/admin/sessions/${id}"]`).waitFor();
  await page.getByText('Messages and receipts').waitFor();
  const rule = page.locator('.rules > div', { hasText: 'MESSAGES_KEEP_DAYS' });
  assert.match(String(await rule.textContent()), /180 days/);
  await page.getByText('All tables').click();
  await page.getByRole('rowheader', { name: 'signal_key' }).waitFor();
  assert.deepEqual(await objectionsTo(dashboard, 'storage'), []);
});

inBrowser('settings show value, source and default, and only whether a secret is set', async () => {
  const { dashboard } = await stage();
  const { page } = dashboard;
  await open(dashboard, '/admin/settings-in-force', 'Configuration');
  const setting = (name: string) =>
    page.locator('.setting').filter({ has: page.locator('dt > code', { hasText: new RegExp(`^${name}$`) }) });
  assert.match(String(await setting('WEBHOOK_QUICK_RETRIES_MS').textContent()), /0,100.*environment.*Default: /s);
  assert.match(String(await setting('MESSAGES_KEEP_DAYS').textContent()), /180.*default/s);
  assert.match(String(await setting('ADMIN_TOKEN').locator('dt').textContent()), /set\s*environment/);
  assert.ok(!(await page.content()).includes(adminToken));
  assert.deepEqual(await objectionsTo(dashboard, 'settings'), []);
  await page.getByLabel('Only settings that are not at their default').check();
  await setting('MESSAGES_KEEP_DAYS').waitFor({ state: 'detached' });
  await page.getByLabel('Name or text').fill('webhook_quick');
  assert.equal(await page.locator('.setting').count(), 1);
  await page.getByLabel('Name or text').fill('no such setting');
  await page.getByText('No setting fits.').waitFor();
});

inBrowser('the page of versions shows the running version, and a newer release if an address for updates is set', async () => {
  const { dashboard } = await stage();
  const { page } = dashboard;
  await open(dashboard, '/admin/about', 'Version');
  await page.getByText('Version 99.1.0 is available.').waitFor();
  const facts = String(await page.locator('.facts').textContent());
  assert.match(facts, /Dormouse\s*0\.\d+\.\d+/);
  assert.match(facts, /Baileys\s*7\./);
  assert.match(facts, /WhatsApp Web\s*2\.3000\./);
  assert.match(facts, /Node\s*2\d\./);
  assert.deepEqual(await objectionsTo(dashboard, 'version'), []);
  assert.deepEqual(dashboard.complaints, []);
});
