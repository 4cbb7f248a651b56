/** Tests a failing receiver in the dashboard from its first failures on, with the real gateway, the simulated platform and a real receiver. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { objectionsTo } from '#test/support/access.ts';
import { inBrowser } from '#test/support/dashboard.ts';
import { dashboardStage } from '#test/support/dashboard-stage.ts';
import { openReceiver, type Receiver } from '#test/support/receivers.ts';
import { until } from '#test/support/until.ts';

/** Settings for three attempts at once, and a fourth one long after the end of the test. */
const stage = dashboardStage({ WEBHOOK_QUICK_RETRIES_MS: '0,100,200,600000' });

const receivers: Receiver[] = [];
after(() => Promise.all(receivers.map((receiver) => receiver.close())));

inBrowser('a failing receiver is shown at once with its error, rate, session, and the waiting deliveries', async () => {
  const { scene, account, id, dashboard } = await stage();
  const { page } = dashboard;
  const receiver = await openReceiver();
  receivers.push(receiver);
  await account.call('POST', '/webhook', { url: receiver.url, events: ['messages'], enabled: true });
  await scene.write(account, 'arrives');
  await receiver.wait(({ type }) => type === 'messages', 'the first message');
  receiver.answer(503);
  await scene.write(account, 'does not arrive');

  await dashboard.goto('/admin');
  const row = page.locator('.row.of-person', { hasText: 'connected' });
  await row.waitFor();
  const { host } = new URL(receiver.url);
  assert.match(String(await row.locator('.c-why').textContent()), new RegExp(`^the receiver ${host} fails: .*503`));

  await dashboard.goto(`/admin/sessions/${id}`);
  await page.locator('.why.of-person .reason', { hasText: `the receiver ${host} fails` }).waitFor();

  await dashboard.goto(`/admin/sessions/${id}/webhooks`);
  const card = page.locator('.webhook', { hasText: receiver.url });
  await card.locator('.badge', { hasText: 'failing' }).waitFor();
  await card.getByText('25 % delivered: 1 of the last 4 attempts.').waitFor();
  assert.match(String(await card.locator('.last-error').textContent()), /^Last error, \d\d:\d\d:\d\d: .*503/);
  const waiting = page.locator('.deliveries tr', { has: page.locator('.badge', { hasText: 'waiting' }) });
  await waiting.locator('.number', { hasText: '3' }).waitFor();
  assert.match(String(await waiting.locator('.because').textContent()), /503/);
  assert.deepEqual(await objectionsTo(dashboard, 'webhooks'), []);

  receiver.answer(200);
  // After a change of the webhook the gateway tries its receiver at once.
  const [webhook] = (await account.call('GET', '/webhook')).body as unknown as readonly { readonly id: string }[];
  await account.call('POST', '/webhook', { action: 'update', ...webhook, url: receiver.url, events: ['messages'], enabled: true });
  await dashboard.goto('/admin');
  await page.locator('.row.of-connected').waitFor();
});

inBrowser('an open delivery shows request, response and attempts, and a filter selects the deliveries of one receiver', async () => {
  const { scene, account, id, dashboard } = await stage();
  const { page } = dashboard;
  const [good, bad] = [await openReceiver(), await openReceiver()];
  receivers.push(good, bad);
  const add = (url: string, more: object = {}) =>
    account.call('POST', '/webhook', { action: 'add', url, events: ['messages'], enabled: true, ...more });
  await add(good.url, { secret: true, headers: { Authorization: 'Bearer hidden' } });
  await add(bad.url);
  bad.answer(503);
  for (const text of ['first', 'second', 'third']) await scene.write(account, text);
  await until(() => good.posted.length === 3, 'three messages arrive');

  await dashboard.goto(`/admin/sessions/${id}/webhooks`);
  const rows = page.locator('.deliveries tbody tr');
  await page.getByLabel('Receiver', { exact: true }).selectOption(new URL(bad.url).host);
  const waiting = rows.filter({ hasText: '503' }).first();
  await waiting.locator('.number', { hasText: '3' }).waitFor();
  // The keyboard opens and closes the dialog.
  await waiting.getByRole('button', { name: /^Details of messages/ }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Delivery: messages' });
  await dialog.locator('.tries li').nth(2).waitFor();
  assert.deepEqual(await dialog.locator('.tries pre').allTextContents(), ['out of order']);
  assert.match(
    String(await dialog.locator('.tries li').first().textContent()),
    /^\s*\d\d:\d\d:\d\d\s*[\d,]+ ms\s*.*503 Service Unavailable\s*$/,
  );
  assert.deepEqual(await objectionsTo(dashboard, 'delivery'), []);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await page.getByLabel('Receiver', { exact: true }).selectOption(new URL(good.url).host);
  // Three deliveries of the other receiver wait as well.
  await until(async () => (await rows.filter({ hasText: 'delivered' }).count()) === 3, 'the deliveries of one receiver');
  await rows
    .first()
    .getByRole('button', { name: /^Details of messages/ })
    .click();
  const [headers, payload] = [dialog.getByRole('group', { name: 'Headers' }), dialog.getByRole('group', { name: 'Payload' })];
  assert.match(String(await headers.textContent()), /^Authorization: \*\*\*$[^]*^webhook-signature: \*\*\*$/m);
  const sent = JSON.parse(String(await payload.textContent())) as { token: string; message: { text: string } };
  // Responses to the dashboard contain no token.
  assert.deepEqual([sent.token, sent.message.text], ['', 'third']);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await dialog.waitFor({ state: 'detached' });
});

inBrowser('an open delivery has its own address, Back closes it, and another user can open the address', async () => {
  const { id, dashboard } = await stage();
  const { page } = dashboard;
  const list = `/admin/sessions/${id}/webhooks`;
  const pathname = () => new URL(page.url()).pathname;
  const open = page.getByRole('button', { name: /^Details of messages/ }).first();
  const dialog = page.getByRole('dialog', { name: 'Delivery: messages' });
  await dashboard.goto(`/admin/sessions/${id}`);
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await open.click();
  await dialog.waitFor();
  const shared = pathname();
  assert.match(shared, new RegExp(`^${list}/[^/]+$`));
  await page.goBack();
  await dialog.waitFor({ state: 'detached' });
  await page.waitForURL(`**${list}`);
  await page.goForward();
  await dialog.waitFor();
  // The button with the cross goes back in the history too, so that Back does not open the dialog again.
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await dialog.waitFor({ state: 'detached' });
  await page.waitForURL(`**${list}`);
  await page.goBack();
  await page.locator('.chart').waitFor();

  await dashboard.goto(shared);
  await dialog.getByRole('group', { name: 'Payload' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.waitForURL(`**${list}`);

  await dashboard.goto('/admin/global-webhook');
  await open.click();
  await dialog.waitFor();
  const global = pathname();
  assert.match(global, /^\/admin\/global-webhook\/[^/]+$/);
  await page.goBack();
  await dialog.waitFor({ state: 'detached' });
  await dashboard.goto(global);
  await dialog.getByRole('group', { name: 'Payload' }).waitFor();
  await dashboard.goto(`${list}/gone~msg_gone`);
  await page.getByRole('dialog', { name: 'Delivery' }).getByRole('alert').waitFor();
});

inBrowser('selected deliveries are sent again, and a time filter selects the events of a period', async () => {
  const { scene, account, id, dashboard } = await stage();
  const { page } = dashboard;
  const good = await openReceiver();
  receivers.push(good);
  await account.call('POST', '/webhook', { action: 'add', url: good.url, events: ['messages'], enabled: true });
  for (const text of ['first', 'second', 'third']) await scene.write(account, text);
  await until(() => good.posted.length === 3, 'three messages arrive');
  await dashboard.goto(`/admin/sessions/${id}/webhooks`);
  await page.getByLabel('Receiver', { exact: true }).selectOption(new URL(good.url).host);
  const rows = page.locator('.deliveries tbody tr');
  await until(async () => (await rows.filter({ hasText: 'delivered' }).count()) === 3, 'the deliveries of one receiver');
  good.forget();
  const replay = page.getByRole('button', { name: /^Replay selected/ });
  assert.equal(await replay.isDisabled(), true);
  await rows.nth(0).getByRole('checkbox').check();
  await rows.nth(2).getByRole('checkbox').check();
  assert.deepEqual(await objectionsTo(dashboard, 'selection'), []);
  await page.getByRole('button', { name: 'Replay selected (2)' }).click();
  await page.getByText('Sent again: 2').waitFor();
  await until(() => good.posted.length === 2, 'the selected deliveries arrive');
  assert.deepEqual(good.posted.map(({ body }) => (body['message'] as { text: string }).text).toSorted(), ['first', 'third']);
  await until(async () => (await rows.filter({ hasText: 'delivered' }).count()) === 3, 'they are delivered again');
  // A delivery that still waits in the list cannot be selected. The list may show such a state for a moment.
  await until(async () => {
    if ((await page.getByRole('button', { name: 'Replay selected (3)' }).count()) === 1) return true;
    await page.getByLabel('Select all shown').click();
    return false;
  }, 'all deliveries are selected');
  await page.getByLabel('Events until').fill('2020-01-01T00:00');
  await page.getByText('No deliveries').waitFor();
  assert.equal(good.posted.length, 2);
});
