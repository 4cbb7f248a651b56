/** A receiver that fails, as the dashboard shows it from its first failures on: with the real gateway, the simulated platform and a real receiver. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { objectionsTo } from '#test/support/access.ts';
import { inBrowser } from '#test/support/dashboard.ts';
import { dashboardStage } from '#test/support/dashboard-stage.ts';
import { openReceiver, type Receiver } from '#test/support/receivers.ts';

/** Three attempts at once, and the fourth when the test is long over. */
const stage = dashboardStage({ WEBHOOK_QUICK_RETRIES_MS: '0,100,200,600000' });

const receivers: Receiver[] = [];
after(() => Promise.all(receivers.map((receiver) => receiver.close())));

inBrowser('a receiver that fails is seen at once: its error, its rate, tries and reasons of what waits, and its session', async () => {
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
  assert.match(String(await card.textContent()), /25 % delivered: 1 of the last 4 attempts\./);
  assert.match(String(await card.locator('.last-error').textContent()), /^Last error, \d\d:\d\d:\d\d: .*503/);
  const waiting = page.locator('.deliveries tr', { has: page.locator('.badge', { hasText: 'waiting' }) });
  await waiting.locator('.number', { hasText: '3' }).waitFor();
  assert.match(String(await waiting.locator('.because').textContent()), /503/);
  assert.deepEqual(await objectionsTo(dashboard, 'webhooks'), []);

  receiver.answer(200);
  // A change of the webhook gives its receiver a fresh chance.
  const [webhook] = (await account.call('GET', '/webhook')).body as unknown as readonly { readonly id: string }[];
  await account.call('POST', '/webhook', { action: 'update', ...webhook, url: receiver.url, events: ['messages'], enabled: true });
  await dashboard.goto('/admin');
  await page.locator('.row.of-connected').waitFor();
});
