/** Tests the connection to Chatwoot in the dashboard in a real browser, with a stand-in for a Chatwoot server that checks each request. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { objectionsTo } from '#test/support/access.ts';
import { accessToken, accountId, ChatwootStandIn, inboxId } from '#test/support/chatwoot/stand-in.ts';
import { inBrowser } from '#test/support/dashboard.ts';
import { button, type DashboardStage, dashboardStage } from '#test/support/dashboard-stage.ts';
import { until } from '#test/support/until.ts';

const stage = dashboardStage({ WEBHOOK_QUICK_RETRIES_MS: '0,100,200,600000' });

let opened: Promise<ChatwootStandIn> | undefined;
const chatwoot = (): Promise<ChatwootStandIn> => (opened ??= ChatwootStandIn.open());
after(async () => (await opened)?.close());

const config = async ({ account }: DashboardStage) => (await account.call('GET', '/chatwoot/config')).body;

inBrowser('the connection to Chatwoot is tested before it is saved, and the address for the inbox is shown', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const desk = await chatwoot();
  await on.dashboard.goto(`/admin/sessions/${on.id}/chatwoot`);
  await page.getByText('Not connected to an inbox.').waitFor();
  await page.getByLabel('Address of the server').fill(desk.url);
  await page.getByLabel('Access token').fill('wrong');
  await page.getByLabel('Account number').fill(String(accountId));
  await page.getByLabel('Inbox number').fill(String(inboxId));
  await button(on, 'Test the connection').click();
  await page.getByText(/The test failed after \d+ ms: Chatwoot does not take the access token/).waitFor();
  assert.partialDeepStrictEqual(await config(on), { chatwoot_enabled: false, chatwoot_url: '' });
  assert.deepEqual(await objectionsTo(on.dashboard, 'chatwoot test'), []);
  await page.getByLabel('Access token').fill(accessToken);
  await button(on, 'Test the connection').click();
  await page.getByText('Chatwoot knows the inbox.').waitFor();
  assert.partialDeepStrictEqual(await config(on), { chatwoot_url: '' });
  await page.getByLabel('Messages of agents begin with their name').check();
  await button(on, 'Save').click();
  await page.getByText('The connection is saved.').waitFor();
  assert.match(String(await page.locator('code.secret').textContent()), /\/chatwoot\/webhook\/\w{32}$/);
  assert.deepEqual(await config(on), {
    chatwoot_enabled: true,
    chatwoot_url: desk.url,
    chatwoot_account_id: accountId,
    chatwoot_inbox_id: inboxId,
    chatwoot_access_token: '***',
    chatwoot_ignore_groups: false,
    chatwoot_sign_messages: true,
    chatwoot_create_new_conversation: false,
  });
  assert.ok(!(await page.content()).includes(accessToken));
});

inBrowser('a stored Chatwoot token is kept for its server, another server needs a new token, and failures are shown', async () => {
  const on = await stage();
  const { page } = on.dashboard;
  const desk = await chatwoot();
  await on.dashboard.goto(`/admin/sessions/${on.id}/chatwoot`);
  await page.getByText('A token is stored, and is not shown.').waitFor();
  await button(on, 'Test the connection').click();
  await page.getByText('Chatwoot knows the inbox.').waitFor();
  await page.getByLabel('Address of the server').fill('http://127.0.0.1:9');
  await button(on, 'Save').click();
  await page.getByRole('alert').filter({ hasText: '“Access token” is required for another url' }).waitFor();
  await page.getByLabel('Address of the server').fill(desk.url);

  let isAway = true;
  desk.refusesAll = () => isAway;
  await on.scene.write(on.account, 'for the inbox');
  await page.locator('.badge', { hasText: 'failing' }).waitFor();
  assert.match(String(await page.locator('.last-error').textContent()), /500/);
  assert.deepEqual(await objectionsTo(on.dashboard, 'chatwoot'), []);
  await page.getByRole('link', { name: 'Deliveries that wait or failed' }).click();
  await page.locator('.deliveries').getByText('Chatwoot', { exact: true }).first().waitFor();
  isAway = false;

  await on.dashboard.goto(`/admin/sessions/${on.id}/chatwoot`);
  await page.getByLabel('The connection is on').uncheck();
  await button(on, 'Save').click();
  await page.getByText('The connection is saved.').waitFor();
  await until(async () => (await config(on))['chatwoot_enabled'] === false, 'the connection is off');
  await page.locator('.badge', { hasText: 'paused' }).waitFor();
  assert.deepEqual(on.dashboard.complaints, []);
});
